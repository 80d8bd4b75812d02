"""Where the guarantees of kept cells stand."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.kept.standing import add_standings, kept_standing
from tensorldp.kept.tables import AUDITS, METRICS, STANDING
from tensorldp.studies.standing import COLUMNS, NOTHING, REFUTED, TRIED, UNTRIED

SHARED: dict[str, Any] = {"study": "s", "dataset": "d", "variant": "v", "epsilon": 1.0}
BOUNDS = {"tried": 1.0, "alone": 1.0, "unbounded": math.inf, "refuted": 1.0, "above": 1.0}
BESIDE = {**SHARED, "guarantee_epsilon": 0.9, "guarantee_pure_epsilon": 1.0, "samples": 100, "event": "e"}
ROWS: list[dict[str, Any]] = [
    {**BESIDE, "mechanism": "tried", "delta": 0.0, "epsilon_lower": 0.95, "refuted": False},
    {**BESIDE, "mechanism": "alone", "delta": 0.0, "epsilon_lower": 0.0, "samples": 0, "refuted": False},
    {**BESIDE, "mechanism": "refuted", "delta": 1e-5, "epsilon_lower": 0.95, "refuted": True},
    {**BESIDE, "mechanism": "above", "delta": 0.0, "epsilon_lower": 1.01, "refuted": False},
]
METRIC_ROWS = [
    {**SHARED, "mechanism": name, "seed": seed, "guarantee_epsilon": epsilon, "guarantee_pure_epsilon": epsilon}
    for name, epsilon in BOUNDS.items()
    for seed in (0, 1)
]


@pytest.mark.parametrize("says", [False, True])
def test_standings_follow_from_the_kept_audits(says: bool) -> None:
    audits = pd.DataFrame(ROWS)
    found = kept_standing(pd.DataFrame(METRIC_ROWS), audits if says else audits.drop(columns="refuted"))
    assert found.columns.tolist() == COLUMNS
    assert dict(zip(found["mechanism"], found["standing"], strict=True)) == {
        "tried": TRIED,
        "alone": UNTRIED,
        "unbounded": NOTHING,
        "refuted": REFUTED,
        "above": TRIED if says else REFUTED,
    }
    reasons = dict(zip(found["mechanism"], found["reason"], strict=True))
    assert reasons["refuted"].startswith("an audit of 100 releases proves epsilon 0.95")


def test_a_standing_that_a_run_gave_stays_and_the_others_are_added(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=METRICS):
        add_standings(tmp_path)
    pd.DataFrame(METRIC_ROWS).to_parquet(tmp_path / METRICS)
    add_standings(tmp_path)
    assert not (tmp_path / STANDING).exists()
    pd.DataFrame(ROWS).to_csv(tmp_path / AUDITS, index=False)
    given = pd.DataFrame([{**SHARED, "mechanism": "tried", "standing": REFUTED, "reason": "a check"}])
    given.to_csv(tmp_path / STANDING, index=False)
    add_standings(tmp_path)
    found = pd.read_csv(tmp_path / STANDING)
    assert sorted(found["mechanism"]) == sorted(BOUNDS)
    row = found[found["mechanism"] == "tried"].iloc[0]
    assert (row["standing"], row["reason"]) == (REFUTED, "a check")
    first = (tmp_path / STANDING).read_bytes()
    add_standings(tmp_path)
    assert (tmp_path / STANDING).read_bytes() == first
