#!/usr/bin/env bash
# pycanon 1.3.6, l_diversity and t_closeness: what a table's groups have in common. Guessed: the order of its rows does
# not matter. Groups are found by the labels of the rows and read by position, so that after shuffling a group has the
# values of others: a table whose older half all has the same illness counts as diverse. After rows are suppressed,
# labels exceed positions and it raises IndexError. k_anonymity only counts labels, and is right.
# The script draws nothing but a permutation with a fixed seed; reset_index(drop=True) gives the right values again.
# Seen: l-diversity 1 and t-closeness 0.375; shuffled 2 and 0.25; shuffled with new labels 1 and 0.375; one row
# suppressed: IndexError. pandas 3.1.1, numpy 2.4.6.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==2.4.6" "pandas==3.1.1"
"$folder/venv/bin/pip" install --quiet --no-deps "pycanon==1.3.6"
cat > "$folder/seen.py" << 'CODE'
import pandas as pd
from pycanon import anonymity

table = pd.DataFrame({"age": ["60 to 69"] * 4 + ["70 to 79"] * 4, "illness": [*"aaaa", *"abcd"]})
shuffled = table.sample(frac=1, random_state=0)


def found(rows):
    k = anonymity.k_anonymity(rows, ["age"])
    return k, anonymity.l_diversity(rows, ["age"], ["illness"]), anonymity.t_closeness(rows, ["age"], ["illness"])


print("k, l, t:", found(table), "shuffled", found(shuffled), "and relabelled", found(shuffled.reset_index(drop=True)))
assert found(table) == found(shuffled.reset_index(drop=True)) == (4, 1, 0.375), "changed"
assert found(shuffled) == (4, 2, 0.25), "changed"
try:
    print("one row suppressed:", anonymity.l_diversity(table.drop(0), ["age"], ["illness"]))
    raise SystemExit("changed")
except IndexError as error:
    print("one row suppressed: IndexError:", error)
CODE
"$folder/venv/bin/python" "$folder/seen.py"
