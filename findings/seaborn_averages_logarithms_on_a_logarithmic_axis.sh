#!/usr/bin/env bash
# seaborn 0.13.2: lineplot(estimator="mean") draws the geometric mean where the vertical axis is already logarithmic, and the
# arithmetic one where the scale is set afterwards. The same call with the same data gives two lines.
# Seen: 50.5 on a linear axis, 10 on a logarithmic one, for the values 1 and 100.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet seaborn==0.13.2 matplotlib==3.11.2 pandas==3.1.1
MPLBACKEND=Agg MPLCONFIGDIR="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

table = pd.DataFrame({"at": [1, 1], "value": [1.0, 100.0]})
means = {}
for scale in ("linear", "log"):
    ax = Figure().subplots()
    ax.set_yscale(scale)
    sns.lineplot(table, x="at", y="value", estimator="mean", errorbar=None, ax=ax)
    means[scale] = round(float(ax.lines[0].get_ydata()[0]), 6)
print("seaborn", sns.__version__, means)
assert means == {"linear": 50.5, "log": 10.0}, means
PYTHON
