#!/usr/bin/env bash
# multi-freq-ldpy 0.2.5, RSpFD_GRR_Client releases a tuple of d values: one is randomised, d - 1 are fake. Its epsilon
# ("privacy guarantee" in its docstring) holds for two tuples that differ in one value. Guessed: for any two tuples,
# as local privacy is defined. Right for those: ln(d (e^epsilon - 1) + 1); whichever value was sampled, it differs.
# The script divides the chances of one release for two tuples, with unseeded draws (numba has its own stream). It
# allows 5 standard errors: a false alarm has a chance of 1e-6.
# Seen, for 3 values of 2 kinds at epsilon 1: 0.988 +- 0.016 where one value differs, 1.811 +- 0.015 where all do
# (right: 1.000 and 1.817).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "multi-freq-ldpy==0.2.5" "numpy==1.26.4" "numba==0.61.2" "xxhash==3.5.0"
cat > "$folder/seen.py" << 'CODE'
import math
import numpy as np
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_GRR_Client
d, epsilon, draws = 3, 1.0, 150_000
def count(values, release):
    return sum(RSpFD_GRR_Client(values, [2] * d, d, epsilon) == release for _ in range(draws))
whole = math.log(d * (math.exp(epsilon) - 1) + 1)
for other, release, right in (([1, 0, 0], [0, 1, 1], epsilon), ([1, 1, 1], [0, 0, 0], whole)):
    a, b = count([0, 0, 0], release), count(other, release)
    seen, error = math.log(a / b), math.sqrt(1 / a + 1 / b)
    print(f"[0, 0, 0] against {other}: epsilon {seen:.3f} +- {error:.3f}, by the formula {right:.4f}")
    assert abs(seen - right) < 5 * error, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
