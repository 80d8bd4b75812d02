#!/usr/bin/env bash
# nprr 0.1.4 draws its uniform answer on a grid of G + 1 points by rounding a continuous one, so that each end of the grid
# has half the chance of a point inside. Guessed: r_from_G_eps(10, 1) gives epsilon 1, as its docstring says.
# Seen: an answer at an end has odds of 4.12 for two records, so epsilon 1.42; with G = 1 it is 1, as stated.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==1.26.4" "scipy==1.15.3"
"$folder/venv/bin/pip" install --quiet --no-deps --target "$folder/nprr" "nprr==0.1.4"
cd "$folder/nprr/nprr"  # the package's own import needs a compiler; its mechanisms do not
cat > "$folder/seen.py" << 'CODE'
import sys, types
import numpy as np
sys.path.insert(0, ".")
nprr = types.ModuleType("nprr"); nprr.__path__ = ["."]; sys.modules["nprr"] = nprr
from nprr.mechanisms import nprr as release, r_from_G_eps
np.random.seed(0)
for G, expected in ((1, 1.0), (10, 1.417)):
    r = r_from_G_eps(G, 1.0)
    ends = [np.mean(release(np.full(2_000_000, x), r, G) == 0.0) for x in (0.0, 1.0)]
    seen = np.log(ends[0] / ends[1])
    print(f"G = {G}: epsilon {seen:.3f} at an end")
    assert abs(seen - expected) < 0.02, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
