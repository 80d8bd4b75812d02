"""A newcomer follows docs/: each block of code is run, and what the pages promise comes about."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from pages import follow
from project import ROOT, make_project

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("forks"), pytest.mark.xdist_group("newcomer")]

ADDING = ("adding-a-mechanism.md", "adding-a-dataset.md", "adding-a-study.md", "adding-a-claim.md", "adding-a-paper.md")
READ = ("checking.md", "frontier.md", "protecting-a-table.md", "reading-a-guarantee.md", "privacy-pitfalls.md")
LONG = (("getting-started.md",), ("planning.md",), ("your-first-mechanism.md",), ("changing-a-run.md",), ADDING)


def folder_of(folder: Path) -> Path:
    """A copy with what the pages speak of, and the user's own config.yaml."""
    make_project(folder)
    shutil.copy(ROOT / "config.yaml", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("results/reference", "tests/mechanisms"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of someone who has added a mechanism, a data set, a study, a claim and a paper by the book."""
    folder = folder_of(tmp_path_factory.mktemp("newcomer"))
    # the claim's run has the mechanism and the study; weekly tests make all that the pages make
    follow(folder, ADDING, planned=(*ADDING[:3:2], "leaves.yaml"))
    return folder


@pytest.mark.parametrize(
    "pages",
    [
        *((page,) for page in ("../README.md", *READ)),
        *(pytest.param(pages, marks=pytest.mark.weekly) for pages in LONG),
    ],
)
def test_what_pages_show_comes_out(pages: tuple[str, ...], tmp_path: Path) -> None:
    follow(folder_of(tmp_path / "read"), pages)


def test_a_newcomer_changes_nothing_of_the_package(newcomer: Path) -> None:
    for folder in ("src", "workflow/rules", "workflow/scripts"):
        files = {
            path.relative_to(newcomer): path.read_bytes()
            for path in (newcomer / folder).rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }
        assert files
        assert [name for name, content in files.items() if (ROOT / name).read_bytes() != content] == []


def study(newcomer: Path, name: str, table: str) -> Path:
    return newcomer / "results" / "studies" / name / table


def test_a_newcomers_mechanism_data_and_study_are_in_the_results(newcomer: Path) -> None:
    table = pd.read_parquet(study(newcomer, "iris_data", "metrics.parquet"))
    assert set(table["dataset"]) == {"iris"}
    assert set(table["mechanism"]) == {"none", "laplace", "tldp-l", "one-element"}
    mine = table[table["mechanism"] == "one-element"]
    assert mine["guarantee_pure_epsilon"].tolist() == pytest.approx(mine["epsilon"].tolist(), rel=1e-12)
    audits = pd.read_csv(study(newcomer, "iris_data", "audits.csv"))
    audited = audits[(audits["mechanism"] == "one-element") & (audits["kind"] == "likelihood ratio")]
    assert (audited["epsilon_lower"] > 0).any()
    assert (audited["epsilon_lower"] <= audited["guarantee_pure_epsilon"]).all()


def test_a_newcomers_work_has_its_section_and_its_verdicts_in_the_report(newcomer: Path) -> None:
    page = (newcomer / "results" / "report.html").read_text()
    section = page[page.index('<h2 id="paper-mine">') : page.index('<h2 id="privacy">')]
    assert section.count("<picture>") == 2
    assert "one-element" in section
    verdicts = dict(re.findall(r'id="claim-(M0\d)".*?data-verdict="([^"]+)"', page, re.DOTALL))
    assert verdicts["M01"] == "reproduced"
    assert verdicts["M02"] in {"reproduced", "not reproduced", "undecided"}
    observed = page[page.index('id="claim-M02"') :].partition("<dt>observed</dt><dd>")[2].partition("</dd>")[0]
    gap, low, high = map(float, re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", observed)[:3])
    assert low <= gap <= high
    assert (low > 0) == (verdicts["M02"] == "reproduced")


def test_a_paper_from_outside_has_its_figure_guarantees_and_verdicts(newcomer: Path) -> None:
    claims = pd.read_csv(newcomer / "results" / "claims.csv").set_index("id")
    assert claims.loc["TEMPLATE1", "verdict"] == "reproduced"
    assert claims.loc["TEMPLATE2", "verdict"] in {"reproduced", "not reproduced", "undecided"}
    assert (newcomer / "results" / "figures" / "template_data.svg").stat().st_size > 0
    table = pd.read_parquet(study(newcomer, "template_data", "metrics.parquet"))
    mine = table[table["mechanism"] == "template-laplace"]
    assert mine["guarantee_pure_epsilon"].tolist() == pytest.approx((mine["epsilon"] / 2).tolist(), rel=1e-9)
    exported = json.loads((newcomer / "claims" / "claims.json").read_text())
    jsonschema.validate(exported, json.loads((newcomer / "claims" / "claims.schema.json").read_text()))
    (record,) = (r for r in exported["claims"] if r["id"] == "TEMPLATE1")
    assert (record["source"], record["place"]) == ("template", "Theorem 1")
