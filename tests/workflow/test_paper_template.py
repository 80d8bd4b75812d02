"""docs/adding-a-paper.md is followed to the letter: a paper from outside the package, up to the exported claims."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from conftest import ROOT, make_project
from pages import follow

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("paper")]


def test_the_template_paper_has_its_figure_guarantees_and_verdicts(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.configure()
    follow(project.folder, "adding-a-paper.md")
    claims = pd.read_csv(tmp_path / "results" / "claims.csv").set_index("id")
    assert claims.loc["TEMPLATE1", "verdict"] == "reproduced"
    assert claims.loc["TEMPLATE2", "verdict"] in {"reproduced", "not reproduced", "undecided"}
    assert (tmp_path / "results" / "figures" / "template_data.svg").stat().st_size > 0
    table = pd.read_parquet(tmp_path / "results" / "studies" / "template_data" / "metrics.parquet")
    mine = table[table["mechanism"] == "template-laplace"]
    assert mine["guarantee_pure_epsilon"].tolist() == pytest.approx((mine["epsilon"] / 2).tolist(), rel=1e-9)
    exported = json.loads((tmp_path / "claims" / "claims.json").read_text())
    jsonschema.validate(exported, json.loads((tmp_path / "claims" / "claims.schema.json").read_text()))
    (record,) = (r for r in exported["claims"] if r["id"] == "TEMPLATE1")
    assert (record["source"], record["place"]) == ("template", "Theorem 1")
    changed = [
        path
        for path in (ROOT / "src").rglob("*.py")
        if (tmp_path / path.relative_to(ROOT)).read_bytes() != path.read_bytes()
    ]
    assert not changed
