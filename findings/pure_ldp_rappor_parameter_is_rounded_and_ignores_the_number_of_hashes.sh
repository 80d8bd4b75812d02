#!/usr/bin/env bash
# pure-ldp 1.2.0, RAPPORClient.convert_eps_to_f(epsilon) gives "the equivalent privacy parameter f", and
# convert_f_to_eps (f, k) the epsilon of it with k hash functions. Guessed: one undoes the other. The first knows no
# k, and rounds f to two decimals. Right for k hash functions: f = 2 / (1 + e^(epsilon / (2 k))), unrounded.
# Seen: epsilon 1 becomes 0.979 with one hash function and 1.958 with two. Epsilon 10 and 11 both give f = 0.01, so
# 10.587, which is more than 10. From epsilon 12 on f is 0, so that bits are not randomised (right: 0.00495).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==1.26.4" "scipy==1.15.3" "scikit-learn==1.5.2" "statsmodels==0.14.4" \
  "pandas==2.2.3" "xxhash==3.5.0" "bitarray==3.0.0"
"$folder/venv/bin/pip" install --quiet --no-deps "pure-ldp==1.2.0"
cat > "$folder/seen.py" << 'CODE'
import math
from pure_ldp.frequency_oracles.rappor import RAPPORClient
client = RAPPORClient(0.5, 16, [[str.__len__]], num_of_cohorts=1)
cases = ((1, 0.76, 0.979, 1.958), (10, 0.01, 10.587, 21.173), (11, 0.01, 10.587, 21.173), (12, 0.0, None, None))
for epsilon, f, one, two in cases:
    given = client.convert_eps_to_f(epsilon)
    back = [round(client.convert_f_to_eps(given, k), 3) for k in (1, 2)] if given else [None, None]
    right = [2 / (1 + math.exp(epsilon / (2 * k))) for k in (1, 2)]
    print(f"epsilon {epsilon}: f = {given} (right {right[0]:.5f}, with two hashes {right[1]:.5f}), so epsilon {back}")
    assert given == f and back == [one, two], "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
