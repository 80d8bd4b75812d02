#!/usr/bin/env bash
# ldp-toolbox 0.1.3, LocalHashing.get_asr: "the adversarial success rate of the LH mechanism". It counts as if exactly
# k / g of k values had the reported hash. Guessed: it is the chance that its attack is right, as with the other
# protocols. Right, from the binomial number of other values with that hash: p g (1 - (1 - 1/g)^k) / k + (1 - p) (1 -
# 1/g)^(k - 1) / k.
# The script also runs the attack 40,000 times (draws by numba are unseeded) and allows 5 standard errors: a false
# alarm has a chance of 3e-6.
# Seen: 2 values, binary hashes, epsilon 1: 0.7311, right 0.6155. 4 values, optimal, ln 3: 0.5, right 0.3945. 4
# values, optimal, epsilon 2: 0.5, right 0.5065. 100 values, optimal, epsilon 1: 0.0186, right 0.0190.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==2.2.6" "numba==0.61.2" "xxhash==3.5.0" "joblib==1.5.1"
"$folder/venv/bin/pip" install --quiet --no-deps "ldp-toolbox==0.1.3"
cat > "$folder/seen.py" << 'CODE'
import math
import numpy as np
from ldp_toolbox.protocols.frequency.lh import LocalHashing
cases = ((2, 1.0, False, 0.7311, 0.6155), (4, math.log(3), True, 0.5, 0.3945),
         (4, 2.0, True, 0.5, 0.5065), (100, 1.0, True, 0.0186, 0.0190))
for k, epsilon, optimal, expected, right in cases:
    protocol, n = LocalHashing(k, epsilon, optimal=optimal), 40_000
    g = protocol.g
    p, other = math.exp(epsilon) / (math.exp(epsilon) + g - 1), 1 - 1 / g
    exact = p * g * (1 - other**k) / k + (1 - p) * other ** (k - 1) / k
    seen = np.mean([protocol.attack(protocol.obfuscate(int(v))) == v for v in np.random.randint(k, size=n)])
    says = protocol.get_asr()
    print(f"k = {k}, g = {g}, epsilon {epsilon:.4f}: says {says:.4f}, right {exact:.4f}, its attack {seen:.4f}")
    assert abs(says - expected) < 1e-4 and abs(exact - right) < 1e-4, "changed"
    assert abs(seen - exact) < 5 * math.sqrt(exact * (1 - exact) / n), "the attack is another one"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
