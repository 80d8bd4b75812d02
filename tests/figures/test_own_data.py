"""A user's own data are not taken for what a paper shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_up import table, words
from report_page import audits, claims, metrics

from tensorldp_papers.papers.tvg.figures import draw_tvg
from tensorldp_papers.plots.curves import draw_study
from tensorldp_papers.plots.notebook import load
from tensorldp_papers.plots.words import origin, own_data, with_own_data
from tensorldp_papers.report.data import explorer_data
from tensorldp_papers.report.report import _description

SOURCE = "TLDP, Figure 1"


@pytest.mark.parametrize(
    ("datasets", "said"),
    [
        (["mnist", "digits"], SOURCE),
        (["mine"], f"Your data, as in {SOURCE}"),
        (["mine", "digits"], f"{SOURCE}; your own data: mine"),
    ],
)
def test_a_title_that_names_a_paper_says_that_the_data_are_the_users(datasets: list[str], said: str) -> None:
    assert with_own_data(SOURCE, datasets) == said


def test_a_study_of_the_users_own_is_called_what_the_user_calls_it() -> None:
    assert with_own_data("Irises", ["mine"]) == "Irises"
    assert own_data(["mine"], "my-paper") == []
    assert origin("Figure 1", "ours", ["mine"], "my-paper") == "Figure 1 of the source (ours)."


def test_figures_of_each_paper_pass_their_data_sets_on() -> None:
    mine = table(dataset="mine")
    tvg = table([("idn", (1.0, 2.0), 1.0)], study="tvg_features", dataset="mine", variant="unit=batch")
    figures = [draw_study(mine, "tldp_type1", source=SOURCE), draw_tvg(tvg, "tvg_features", source="TVG, Figure 4")]
    for figure in figures:
        assert any(text.startswith("Your data, as in T") for text in words(figure))


def test_the_report_and_its_explorer_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = metrics().assign(dataset="mine")
    study: dict[str, Any] = {
        "study": "tldp_type1",
        "title": "Type I",
        "figure": "Figure 1",
        "source": "TLDP, Table 2",
        "paper": "tldp",
    }
    said = "Your data, mine, by the method of Figure 1 of the source (TLDP, Table 2), which lacks them."
    assert said in _description(study, "A caption.", rows)
    data = explorer_data(rows, [study], claims=claims(), audits=audits(), guarantees=None)
    assert data["studies"]["tldp_type1"]["own"] == ["mine"]
    rows.to_parquet(tmp_path / "metrics.parquet")
    load(str(tmp_path / "metrics.parquet"), str(tmp_path / "figures"), "tldp_type1")
    assert capsys.readouterr().out == "Your data, mine, by the method of the source, which lacks them.\n"


def test_what_no_source_shows_is_of_no_source() -> None:
    assert origin("", "this project", ["mnist"], "frontier") == "In no source's figures (this project)."
