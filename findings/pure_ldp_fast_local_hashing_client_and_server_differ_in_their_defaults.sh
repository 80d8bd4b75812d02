#!/usr/bin/env bash
# pure-ldp 1.2.0, FastLHClient(epsilon, d, k) hashes to 2 values, FastLHServer(epsilon, d, k) decodes about e^epsilon
# + 1: the default of use_olh is False for one and True for the other. Guessed: a client and a server with the same
# arguments fit. Nothing warns, and estimates shrink. Expected by algebra, g the server's number: (2 p - 1) / (g p' -
# 1) of the truth where g is even (p = e^epsilon / (e^epsilon + 1), p' = e^epsilon / (e^epsilon + g - 1)), and 0 where
# it is odd.
# The script has 40,000 reports, half of value 1 and half of 2, and 2000 hash functions, which the package fixes. Both
# errors together are about 0.03 at epsilon 1; it allows 0.06.
# Seen, share of value 1 (right: 0.5): epsilon 1: 0.220 (by algebra 0.256), epsilon 3: -0.001 (0). With use_olh=True
# for both: 0.484 and 0.496.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==1.26.4" "scipy==1.15.3" "scikit-learn==1.5.2" "statsmodels==0.14.4" \
  "pandas==2.2.3" "xxhash==3.5.0" "bitarray==3.0.0"
"$folder/venv/bin/pip" install --quiet --no-deps "pure-ldp==1.2.0"
cat > "$folder/seen.py" << 'CODE'
import math
import random
import numpy as np
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, FastLHServer
np.random.seed(0)
random.seed(0)
n, d, hashes = 40_000, 8, 2000
for epsilon, expected in ((1.0, 0.257), (3.0, 0.0)):
    for options, right in (({}, expected), ({"use_olh": True}, 0.5)):
        client, server = FastLHClient(epsilon, d, hashes, **options), FastLHServer(epsilon, d, hashes, **options)
        server.aggregate_all([client.privatise(1 if i % 2 else 2) for i in range(n)])
        share = server.estimate_all([1], suppress_warnings=True)[0] / n
        print(f"epsilon {epsilon}, {options or 'defaults'}: client has {client.g} hash values, server {server.g}, "
              f"share of value 1: {share:.3f}")
        assert abs(share - right) < 0.06, "changed"
CODE
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
