"""The files of the kept results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

SCALES = ("quick", "desk", "paper")
METRICS, SERIES, AUDITS = "metrics.parquet", "series.parquet", "audits.csv"
STANDING = "standing.csv"
CLAIMS, RUNS, PIECES = "claims.csv", "runs.json", "pieces.csv"


def read_table(path: Path) -> pd.DataFrame | None:
    """A table of either kind, None where there is none."""
    if not path.exists():
        return None
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
