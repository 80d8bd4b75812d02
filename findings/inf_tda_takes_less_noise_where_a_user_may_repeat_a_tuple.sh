#!/usr/bin/env bash
# inf-tda 0.1, inf_tda(data, budget, contribution=m, distinct_tuples=False): a user may contribute a tuple repeatedly,
# which allows more than distinct tuples do. Guessed: it has at least the noise of distinct_tuples=True. It has less:
# the sensitivity is sqrt(2 m) for repeated tuples and sqrt(2) m for distinct ones. Right for repeated tuples: sqrt(2)
# m, by the distance of two tables where one user moves all m from one tuple to another.
# The script takes epsilon and delta of the noise for that distance by mpmath, for one level.
# Seen for m = 9: sensitivity 4.243, right 12.728; a budget of epsilon 1 at delta 1e-6 is 2.56.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "inf-tda==0.1" "opendp==0.14.1" "pandas==2.3.3" "numpy==2.2.6" "mpmath==1.3.0"
cat > "$folder/seen.py" << 'CODE'
import numpy as np
from InfTDA.differential_privacy import get_rho_from_budget, make_gaussian_noise
from InfTDA.mechanism import get_sensitivity
from mpmath import exp, mp, mpf, ncdf
mp.dps = 30
m, budget = 9, (1.0, 1e-6)
tables = np.array([m, 0, 3]), np.array([0, m, 3])  # one user's m contributions are to one tuple or to another
right = np.linalg.norm(tables[0] - tables[1])
says = {distinct: get_sensitivity(m, "bounded", distinct) for distinct in (True, False)}
noise = make_gaussian_noise(says[False], get_rho_from_budget(budget))
sigma = np.std(noise(np.zeros(200_000, dtype=int).tolist()))  # its relative error is 0.2 %
def epsilon_of(delta, mu):
    low, high = mpf(0), mpf(100)
    for _ in range(60):
        e = (low + high) / 2
        low, high = (e, high) if ncdf(mu / 2 - e / mu) - exp(e) * ncdf(-mu / 2 - e / mu) > delta else (low, e)
    return float(high)
seen = epsilon_of(mpf("1e-6"), mpf(right / sigma))
print(f"sensitivity: distinct {says[True]:.3f}, repeated {says[False]:.3f}; two tables differ by {right:.3f}")
print(f"noise {sigma:.2f}, so epsilon {seen:.3f} where {budget[0]} is the budget, at delta {budget[1]}")
assert abs(says[False] - 4.2426) < 1e-3 and abs(right - 12.7279) < 1e-3 and abs(seen - 2.557) < 0.05, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
