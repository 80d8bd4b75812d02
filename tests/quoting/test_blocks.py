"""The computed tables of docs/evidence.md."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.quoting.marks import kept_table, open_table, with_block

ROOT = Path(__file__).parents[2]


def test_a_block_is_replaced_and_the_rest_stays() -> None:
    text = "before\n<!-- a: begin -->\nold\n<!-- a: end -->\nafter <!-- b: begin -->\n"
    found = with_block(text, "a", "new")
    assert found == "before\n<!-- a: begin -->\n\nnew\n\n<!-- a: end -->\nafter <!-- b: begin -->\n"
    assert with_block(found, "a", "new") == found
    for wrong in ("", "<!-- a: end --><!-- a: begin -->", text + text):
        with pytest.raises(InputError, match=r"must have <!-- a: begin --> and then <!-- a: end -->"):
            with_block(wrong, "a", "new")


def test_cells_are_counted_by_their_seeds() -> None:
    own = {"study": "s", "dataset": "d", "scale": "desk", "variant": "v", "precision": "float32"}
    cells = [("none", "inf", 0), ("m", "1", 0), ("m", "1", 1), ("m", "2", 0), ("m", "2", 1), ("n", "1", 0)]
    rows = [
        {**own, "mechanism": name, "epsilon": float(epsilon), "seed": seed, "metric": metric}
        for name, epsilon, seed in cells
        for metric in ("accuracy", "weighted_f1")
    ]
    rows[-1]["precision"] = "compiled"
    line = kept_table(pd.DataFrame(rows)).splitlines()[-1]
    assert line == "| `s` | d | desk | 2 of 1 seed, 2 of 2 seeds | 2 | compiled, float32 |"


def test_open_claims_say_what_they_need() -> None:
    claims = pd.DataFrame(
        {
            "id": ["X1", "X2", "X3"],
            "claim": ["a", "b", "c"],
            "verdict": ["refuted", "undecided", "not run at this scale"],
            "wanted": ["", "two seeds; and 3 more", float("nan")],
            "observed": ["", "0.5", "needs s on d, after which the accuracy is 0.1"],
        }
    )
    lines = open_table(claims).splitlines()
    assert lines[0] == "2 of 3 claims."
    assert lines[-2:] == ["| X2: b | undecided | two seeds |", "| X3: c | not run at this scale | needs s on d |"]


def test_the_page_is_that_of_the_kept_results() -> None:
    text = (ROOT / "docs" / "evidence.md").read_text()
    reference = ROOT / "results" / "reference"
    page = with_block(text, "kept", kept_table(pd.read_parquet(reference / "metrics.parquet")))
    page = with_block(page, "open", open_table(pd.read_csv(reference / "claims.csv")))
    assert page == text, "run: python workflow/scripts/quotes.py --write"
