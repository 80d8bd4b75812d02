#!/usr/bin/env bash
# GeoPrivacy 0.0.4, batch_laplace_noise(n, eps, seed=7): planar Laplace noise, "seed for reproducibility" (its
# docstring). Guessed: the same n independent points each time. It assigns to random.seed instead of calling it, and
# seeds NumPy anew for each point: all points have one angle, their radii are unseeded, and random.seed is the number
# 7 from then on.
# Seen: 500 points at 1 angle, the other calls at 500; another batch has other radii; random.seed is 7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "GeoPrivacy==0.0.4" "numpy==1.26.4" "scipy==1.15.3" "networkx==3.4.2"
cat > "$folder/seen.py" << 'CODE'
import random
import numpy as np
from GeoPrivacy.mechanism import batch_laplace_noise
def angles(points):
    return len(np.unique(np.round(np.arctan2(points[:, 1], points[:, 0]), 9)))
free = batch_laplace_noise(500, 1.0)
first, again = batch_laplace_noise(500, 1.0, seed=7), batch_laplace_noise(500, 1.0, seed=7)
print("angles without a seed:", angles(free), "with a seed:", angles(first))
print("two batches with the same seed are equal:", bool(np.array_equal(first, again)))
print("random.seed is now", random.seed)
assert angles(free) == 500 and angles(first) == 1 and not np.array_equal(first, again) and random.seed == 7, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
