#!/usr/bin/env bash
# seaborn 0.13.2 with matplotlib 3.11.2: lineplot(errorbar=("pi", 100), err_style="bars") hands matplotlib the
# distances of the smallest and largest value from the mean. Guessed: where all values of a group are equal, the bar
# has no length. The mean of equal floats may be the next float, so that one distance is -1e-17, and matplotlib
# refuses a negative one. Seeds that all end at chance level give such a group: an accuracy of 0.1 in three runs is
# enough.
# Seen: [0.1] * 3 and [0.3] * 10 raise ValueError, "'yerr' must not contain negative values"; [0.5] * 3 does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet seaborn==0.13.2 matplotlib==3.11.2 pandas==3.1.1
MPLBACKEND=Agg MPLCONFIGDIR="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

for value, count, expected in ((0.1, 3, True), (0.3, 10, True), (0.5, 3, False)):
    table = pd.DataFrame({"at": [1] * count, "value": [value] * count})
    said = ""
    try:
        sns.lineplot(table, x="at", y="value", errorbar=("pi", 100), err_style="bars", ax=Figure().subplots())
    except ValueError as error:
        said = str(error)
    print(f"[{value}] * {count}: mean minus value {table.value.mean() - value:.1e}; {said or 'drawn'}")
    assert ("negative" in said) == expected, "changed"
PYTHON
