"""What docs/checking.md says of the planted lies is what was measured."""

from __future__ import annotations

import json
from pathlib import Path

from tensorldp.audit.thresholds import upper_bound

ROOT = Path(__file__).parents[1]


def test_the_page_on_checking_has_the_totals() -> None:
    page = (ROOT / "docs" / "checking.md").read_text()
    lies = json.loads((ROOT / "benchmarks" / "lies.json").read_text())
    honest = json.loads((ROOT / "benchmarks" / "false_alarms.json").read_text())["rows"]
    found, runs = (sum(row[key] for row in lies) for key in ("refuted", "runs"))
    assert f"200,000 releases of a pair at most | {runs:,} | {found:,} |" in page
    wrong, checks = (sum(row[key] for row in honest) for key in ("refuted", "runs"))
    most = 100 * float(upper_bound(wrong, checks, 0.05))
    assert f"at confidence 0.95 | {checks:,} | {wrong}, so at most {most:.2f} % in truth |" in page
