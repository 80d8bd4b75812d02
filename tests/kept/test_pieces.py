"""The summaries of the kept results are those of their rows."""

from __future__ import annotations

import io

import pandas as pd
from kept_runs import ROOT

from tensorldp.kept.pieces import pieces_table, run_facts
from tensorldp.kept.provenance import read_provenance
from tensorldp.runtime.files import read_json

REFERENCE = ROOT / "results" / "reference"


def test_summaries_are_those_of_the_kept_rows() -> None:
    """Otherwise run `python workflow/scripts/reference.py --decide`."""
    rows = pd.read_parquet(REFERENCE / "metrics.parquet")
    expected = pieces_table(rows, read_provenance(REFERENCE)).to_csv(index=False)
    pd.testing.assert_frame_equal(pd.read_csv(REFERENCE / "pieces.csv"), pd.read_csv(io.StringIO(expected)))
    facts = {study: run_facts(part) for study, part in rows.groupby("study", observed=True)}
    assert read_json(REFERENCE / "runs.json") == facts


def test_what_is_kept_stays_small() -> None:
    assert sum(path.stat().st_size for path in REFERENCE.iterdir()) < 25e6
