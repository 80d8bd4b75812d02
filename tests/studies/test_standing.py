"""What a cell's guarantee stands on: audits, checks, or nothing."""

import math
from pathlib import Path
from typing import Any

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run.audit_table import AUDITED, NOT_AUDITED, NOTHING, REFUTED, standing_table, stop_if_refuted

AUDIT = {"samples": 100, "refuted": False, "claimed": 1.0, "delta": 0.0, "event": "e", "note": ""}
Found = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]


def cell(
    *audits: dict[str, Any], epsilon: float = 1.0, options: dict[str, Any] | None = None, metric: str = "accuracy"
) -> Found:
    key = {"study": "s", "dataset": "d", "variant": "v", "mechanism": "m", "epsilon": "1", "options": options or {}}
    guarantee = {"epsilon": epsilon, "pure_epsilon": math.inf}
    return {"cell": key, "rows": [{"metric": metric, "value": 1.0}]}, guarantee, list(audits)


@pytest.mark.parametrize(
    ("found", "checks", "standing"),
    [
        (cell(AUDIT), {}, AUDITED),
        (cell({**AUDIT, "samples": 0, "note": "no density"}), {}, NOT_AUDITED),
        (cell(), {}, NOT_AUDITED),
        (cell(metric="accuracy_perturbed_test"), {}, AUDITED),
        (cell(AUDIT, {**AUDIT, "refuted": True}), {}, REFUTED),
        (cell(AUDIT, epsilon=math.inf), {}, NOTHING),
        (cell(), {"m": {"refuted": False, "tried": True, "reason": ""}}, AUDITED),
        (cell(AUDIT), {"m": {"refuted": True, "tried": True, "reason": "why"}}, REFUTED),
        (cell(options={"a": 1}), {"m": {"refuted": True, "tried": True, "reason": "why"}}, NOT_AUDITED),
        (cell(options={"a": 1}), {"m+a=1": {"refuted": True, "tried": True, "reason": "why"}}, REFUTED),
    ],
)
def test_standings(found: Found, checks: dict[str, Any], standing: str) -> None:
    table = standing_table([found], checks)
    assert table["standing"].tolist() == [standing]
    assert table["epsilon"].tolist() == [1.0]


def test_a_refuted_guarantee_stops_with_one_sentence_and_a_page(tmp_path: Path) -> None:
    path, page = tmp_path / "standing.csv", tmp_path / "report.html"
    standing_table([cell(AUDIT)], {}).to_csv(path, index=False)
    stop_if_refuted(path, page)
    assert not page.exists()
    standing_table([cell({**AUDIT, "refuted": True, "event": "<b>"})], {}).to_csv(path, index=False)
    with pytest.raises(InputError, match="the guarantee of m is refuted in 1 cell, first s at epsilon 1") as raised:
        stop_if_refuted(path, page)
    assert "\n" not in str(raised.value)
    assert "<b>" not in page.read_text()
    assert 'role="alert"' in page.read_text()
    with pytest.raises(InputError, match="cannot be read"):
        stop_if_refuted(tmp_path / "missing.csv", page)
