#!/usr/bin/env bash
# multi-freq-ldpy 0.2.5, VAR_Long_Pure(p1, q1, p2, q2, n, f) is said to be the variance of its longitudinal protocols.
# In it the chance of a reported one rises with f by 2 p1 (p2 - q2) + 2 q2 - 1, which is (p1 - q1) (p2 - q2) only
# where both rounds are symmetric, as in L-SUE. Guessed: it holds for L-OSUE, too. There it does not rise with f at
# all.
# The script takes L_OSUE_Client at eps_perm 2, eps_1 1, and counts ones in 200,000 reports with the value and
# without. Draws are unseeded (numba has its own stream); it allows 5 standard errors of these counts: a false alarm
# has a chance of 1e-6.
# Seen: variance 3.683 at f = 0, 0.5 and 1. Right: 3.683, 4.433 and 4.683; from the draws: 3.693, 4.432 and 4.683.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "multi-freq-ldpy==0.2.5" "numpy==1.26.4" "numba==0.61.2" "xxhash==3.5.0"
cat > "$folder/seen.py" << 'CODE'
import numpy as np
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
from multi_freq_ldpy.long_freq_est.Variance_LONG_PURE import VAR_Long_Pure
perm, one, n = np.exp(2.0), np.exp(1.0), 200_000
p1, q1 = 1 / 2, 1 / (perm + 1)  # the first round of L-OSUE, and the second
p2 = (one * perm - 1) / (one * perm + perm - one - 1)
q2 = 1 - p2
chance = {1: p1 * p2 + (1 - p1) * q2, 0: q1 * p2 + (1 - q1) * q2}  # of a one, with the value and without
drawn = {}
for f, value in ((0, 1), (1, 0)):  # the share of ones at place 0
    drawn[f] = np.mean([L_OSUE_Client(value, 2, 2.0, 1.0)[0] for _ in range(n)])
    assert abs(drawn[f] - chance[f]) < 5 * np.sqrt(chance[f] * (1 - chance[f]) / n), "another protocol than thought"
def variance(share, with_, without):
    g = share * with_ + (1 - share) * without
    return g * (1 - g) / ((p1 - q1) * (p2 - q2)) ** 2
for f, expected, right in ((0, 3.6827, 3.6827), (0.5, 3.6827, 4.4327), (1, 3.6827, 4.6827)):
    says, is_ = VAR_Long_Pure(p1, q1, p2, q2, 1, f), variance(f, chance[1], chance[0])
    print(f"f = {f}: says {says:.4f}, right {is_:.4f}, from draws {variance(f, drawn[1], drawn[0]):.4f}")
    assert abs(says - expected) < 1e-4 and abs(is_ - right) < 1e-4, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
