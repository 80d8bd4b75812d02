"""The kept results that the repository has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
from kept_runs import REFERENCE

from tensorldp_papers.kept.merge import summarise
from tensorldp_papers.kept.provenance import METRICS, PIECES, PROVENANCE, SEEDED, STANDING, among
from tensorldp_papers.run.table import CELL


def test_summaries_are_those_of_the_kept_rows(tmp_path: Path) -> None:
    """Otherwise run `python workflow/scripts/reference.py --decide`."""
    for name in (METRICS, PROVENANCE):
        shutil.copy(REFERENCE / name, tmp_path)
    summarise(tmp_path)
    assert (tmp_path / PIECES).read_text() == (REFERENCE / PIECES).read_text()


def test_what_is_noted_is_of_kept_rows_and_each_cell_has_a_standing_and_all_stay_small() -> None:
    rows, noted = pd.read_parquet(REFERENCE / METRICS), pd.read_parquet(REFERENCE / PROVENANCE)
    assert among(noted, rows, SEEDED).all()
    assert among(rows, pd.read_csv(REFERENCE / STANDING), CELL).all()
    assert sum(path.stat().st_size for path in REFERENCE.iterdir()) < 25e6
