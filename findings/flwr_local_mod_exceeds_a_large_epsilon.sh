#!/usr/bin/env bash
# flwr 1.42.0, LocalDpMod(clipping_norm, sensitivity, epsilon, delta) adds Gaussian noise of the classical size,
# sensitivity sqrt(2 ln(1.25 / delta)) / epsilon. That is proved for epsilon below 1; any epsilon is taken, without a
# warning. Guessed: the "privacy budget" and "failure probability" of its docstring hold, or a large epsilon is
# refused.
# The script measures the noise of a million zeros (error 0.1 %) and finds epsilon and delta of it by mpmath.
# Seen at delta 1e-5: epsilon 1 is 0.751, 10 is 10.39, 50 is 96.4, and 100 is 300. At epsilon 50 its delta is 0.59.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "flwr==1.42.0" "numpy==2.2.6" "mpmath==1.3.0"
cat > "$folder/seen.py" << 'CODE'
from types import SimpleNamespace
import numpy as np
from flwr.app import ArrayRecord, RecordDict
from flwr.clientapp.mod import LocalDpMod
from mpmath import exp, log, mp, mpf, ncdf, sqrt
mp.dps = 40
def delta_of(epsilon, mu):
    return ncdf(mu / 2 - epsilon / mu) - exp(epsilon) * ncdf(-mu / 2 - epsilon / mu)
def epsilon_of(delta, mu):
    low, high = mpf(0), mpf(1000)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, mu) > delta else (low, middle)
    return high
def message(value):  # what the mod reads of a message; a real one is made by a running task only
    content = RecordDict({"model": ArrayRecord([np.full(1_000_000, value)])})
    return SimpleNamespace(content=content, has_error=lambda: False)
np.random.seed(0)
for epsilon, expected in ((1.0, 0.75098), (10.0, 10.39388), (50.0, 96.4339), (100.0, 300.140)):
    answer = LocalDpMod(1.0, 1.0, epsilon, 1e-5)(message(0.0), None, lambda sent, context: message(1e-9))
    seen = answer.content["model"].to_numpy_ndarrays()[0].std()
    sigma = sqrt(2 * log(mpf("1.25e5"))) / epsilon
    right, delta = epsilon_of(mpf("1e-5"), 1 / sigma), delta_of(mpf(epsilon), 1 / sigma)
    print(f"epsilon {epsilon}: noise {seen:.5f}, by the formula {float(sigma):.5f}; "
          f"so epsilon {float(right):.5g} at delta 1e-5, delta {float(delta):.3g} at epsilon {epsilon}")
    assert abs(seen / float(sigma) - 1) < 0.005 and abs(float(right) / expected - 1) < 1e-4, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
