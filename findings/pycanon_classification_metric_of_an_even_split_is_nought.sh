#!/usr/bin/env bash
# pycanon 1.3.6, classification_metric: the share of records whose class is not that of the majority of their group.
# Guessed: a group that two classes share evenly is the worst, with half of its records outside one majority. It is the
# best: a class is penalised only where its count differs from the largest one, so that in a tie nobody is.
# Nothing is drawn. Seen for a group of ten: six and four records 0.4; five and five 0.0; ten classes of one record 0.0.
# pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==2.4.6" "pandas==3.1.1" "scipy==1.17.1"
"$folder/venv/bin/pip" install --quiet --no-deps "pycanon==1.3.6"
cat > "$folder/seen.py" << 'CODE'
import pandas as pd
from pycanon.metrics import classification_metric

for classes, expected in (("aaaaaabbbb", 0.4), ("aaaaabbbbb", 0.0), ("abcdefghij", 0.0)):
    table = pd.DataFrame({"age": ["60 to 69"] * 10, "class": [*classes]})
    value = classification_metric(table, table, ["age"], ["class"])
    print(f"{classes}: {value:.1f}")
    assert value == expected, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
