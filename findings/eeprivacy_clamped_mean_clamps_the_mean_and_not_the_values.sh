#!/usr/bin/env bash
# eeprivacy 0.0.5, PrivateClampedMean(lower_bound, upper_bound): "bounding sensitivity with clamping". Guessed: values
# are clamped, as in PrivateClampedSum of the same module, and then averaged. It clamps the noisy mean of the values
# as they are, so that one outlier moves it by any amount: its noise has the scale of clamped values.
# The script uses epsilon 1000, where noise does not matter: a false alarm has a chance of e^-100.
# Seen for 99 zeros and a 2000 with bounds 0 and 10: mean 10.0 (right: 0.1), while the sum is 10.0 (right).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==1.26.4" "scipy==1.15.3"
"$folder/venv/bin/pip" install --quiet --no-deps "eeprivacy==0.0.5"
cat > "$folder/seen.py" << 'CODE'
import numpy as np
from eeprivacy.operations import PrivateClampedMean, PrivateClampedSum
values, bounds = [0.0] * 99 + [2000.0], {"lower_bound": 0.0, "upper_bound": 10.0}
right = np.clip(values, 0.0, 10.0)
mean = PrivateClampedMean(**bounds).execute(values=values, epsilon=1000.0)
total = PrivateClampedSum(**bounds).execute(values=values, epsilon=1000.0)
print(f"mean {mean:.3f}, of clamped values {right.mean():.3f}; sum {total:.3f}, of clamped values {right.sum():.3f}")
assert mean == 10.0 and abs(right.mean() - 0.1) < 1e-9 and abs(total - right.sum()) < 1.0, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
