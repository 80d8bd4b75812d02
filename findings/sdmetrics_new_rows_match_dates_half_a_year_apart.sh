#!/usr/bin/env bash
# sdmetrics 0.32.0, NewRowSynthesis counts rows of a synthetic table that are not in the real one; numbers match
# within 1 % ("how close two numerical values have to be"). Dates are compared as nanoseconds since 1970, so that 1 %
# is 200 days in 2024 and under 4 days in 1970. Guessed: a date matches itself, or at least a date nearby.
# Seen: of 100 dates that are all 150 days later than any real one, none is new for 2024; for 1975 all 100 are. As
# numbers of days since 2024 the same dates are all new.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "sdmetrics==0.32.0" "pandas==2.3.3" "numpy==2.2.6"
cat > "$folder/seen.py" << 'CODE'
import numpy as np
import pandas as pd
from sdmetrics.single_table import NewRowSynthesis
days = np.arange(1, 11)
for year, expected in ((2024, 0), (1975, 100)):
    start = pd.Timestamp(f"{year}-01-01")
    real = pd.DataFrame({"born": start + pd.to_timedelta(days, unit="D")})
    other = pd.DataFrame({"born": start + pd.to_timedelta(np.tile(days + 159, 10), unit="D")})
    metadata = {"columns": {"born": {"sdtype": "datetime"}}}
    found = NewRowSynthesis.compute_breakdown(real, other, metadata)
    print(f"dates in {year}, 150 days and more apart: {found['num_new_rows']} of {len(other)} rows are new")
    assert found["num_new_rows"] == expected, "changed"
numbers = {"columns": {"born": {"sdtype": "numerical"}}}
real, other = pd.DataFrame({"born": days}), pd.DataFrame({"born": np.tile(days + 159, 10)})
found = NewRowSynthesis.compute_breakdown(real, other, numbers)
print(f"as numbers of days: {found['num_new_rows']} of {len(other)} rows are new")
assert found["num_new_rows"] == 100, "changed"
CODE
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
