#!/usr/bin/env bash
# eeprivacy 0.0.5, PrivateVectorClampedMeanLaplace draws one number and adds it to each element of the mean vector.
# Guessed: elements have noise of their own, as those of PrivateVectorClampedMeanGaussian have.
# Seen: differences between elements of the private mean are those of the exact mean, [1, 2, 3].
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==1.26.4" "scipy==1.15.3"
"$folder/venv/bin/pip" install --quiet --no-deps "eeprivacy==0.0.5"
cat > "$folder/seen.py" << 'CODE'
import numpy as np
from eeprivacy.operations import PrivateVectorClampedMeanGaussian, PrivateVectorClampedMeanLaplace
vectors = [[1.0, 2.0, 4.0, 7.0], [1.0, 2.0, 4.0, 7.0]]
known = {"lower_bound": 0.0, "upper_bound": 10.0, "k": 4, "N": 2}
for kind, delta, same in ((PrivateVectorClampedMeanLaplace, 0.0, True), (PrivateVectorClampedMeanGaussian, 1e-5, False)):
    steps = np.diff(kind(**known).execute(vectors=vectors, epsilon=1.0, delta=delta))
    print(kind.__name__, "steps between elements:", np.round(steps, 6))
    assert np.allclose(steps, [1.0, 2.0, 3.0]) == same, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
