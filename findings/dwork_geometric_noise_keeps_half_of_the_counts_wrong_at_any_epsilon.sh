#!/usr/bin/env bash
# dwork 0.0.13 adds geometric_noise(epsilon) to whole numbers. Guessed: the two-sided geometric distribution, which is
# 0 with chance tanh(epsilon / 2), and nearly always at a large epsilon. It returns 0 at most half the time: the
# chance is (1 - e^-epsilon) / 2. Its epsilon is not above the stated one, only the error is larger.
# The script draws 200,000 numbers; the source is the operating system's, so it has no seed. It allows 5 standard
# errors and more: a false alarm has a chance of 2e-6.
# Seen: epsilon 1: 0 in 0.317 of the draws (two-sided geometric: 0.462), mean square 2.33 (1.84). Epsilon 5: 0 in
# 0.498 (0.987), mean square 0.512 (0.0137), 37 times as much.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps "dwork==0.0.13"
cat > "$folder/seen.py" << 'CODE'
import math
from dwork.mechanisms import geometric_noise
n = 200_000
for epsilon in (1.0, 5.0):
    p = math.exp(-epsilon)
    draws = [geometric_noise(epsilon) for _ in range(n)]
    zeros, square = draws.count(0) / n, sum(x * x for x in draws) / n
    expected, right = (1 - p) / 2, math.tanh(epsilon / 2)
    theirs, best = ((1 + p) / (1 - p)) ** 2 / 2, 2 * p / (1 - p) ** 2
    print(f"epsilon {epsilon}: 0 in {zeros:.4f} (two-sided geometric {right:.4f}), "
          f"mean square {square:.4f} (by its code {theirs:.4f}, two-sided geometric {best:.4f})")
    assert abs(zeros - expected) < 5 * math.sqrt(expected * (1 - expected) / n), "changed"
    assert abs(square / theirs - 1) < 0.05, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
