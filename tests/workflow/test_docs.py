"""A newcomer follows docs/: each block of code is run, and what the pages promise comes about."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT, Project, make_project
from pages import follow

FOLLOWED = (
    "getting-started.md",
    "planning.md",
    "checking.md",
    "privacy-pitfalls.md",
    "frontier.md",
    "protecting-a-table.md",
    "reading-a-guarantee.md",
    "changing-a-run.md",
    "your-first-mechanism.md",
)
ADDING = ("adding-a-mechanism.md", "adding-a-dataset.md", "adding-a-study.md", "adding-a-claim.md")


def project_of(folder: Path) -> Project:
    """A copy with what the pages speak of, and the user's own config.yaml."""
    project = make_project(folder)
    shutil.copy(ROOT / "config.yaml", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "results" / "reference", folder / "results" / "reference")
    shutil.copytree(
        ROOT / "tests" / "mechanisms", folder / "tests" / "mechanisms", ignore=shutil.ignore_patterns("__pycache__")
    )
    return project


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of someone who has added a mechanism, a data set, a study and a claim by the book."""
    project = project_of(tmp_path_factory.mktemp("newcomer"))
    for page in ADDING:
        follow(project.folder, page)
    return project.folder


SLOW = {"changing-a-run.md"}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.weekly) if page in SLOW else page for page in FOLLOWED]
)
@pytest.mark.workflow
@pytest.mark.xdist_group("docs")
def test_what_a_page_shows_comes_out(page: str, tmp_path: Path) -> None:
    follow(project_of(tmp_path).folder, page)


@pytest.mark.workflow
@pytest.mark.xdist_group("docs")
def test_a_newcomer_changes_nothing_of_the_package(newcomer: Path) -> None:
    for folder in ("src", "workflow/rules", "workflow/scripts"):
        files = {
            path.relative_to(newcomer): path.read_bytes()
            for path in (newcomer / folder).rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }
        assert files
        assert [name for name, content in files.items() if (ROOT / name).read_bytes() != content] == []


@pytest.mark.workflow
@pytest.mark.xdist_group("docs")
def test_a_newcomers_mechanism_data_and_study_are_in_the_results(newcomer: Path) -> None:
    table = pd.read_parquet(newcomer / "results" / "metrics.parquet")
    assert set(table["study"]) == {"iris_data"}
    assert set(table["dataset"]) == {"iris"}
    assert set(table["mechanism"]) == {"none", "laplace", "tldp-l", "one-element"}
    mine = table[table["mechanism"] == "one-element"]
    assert mine["guarantee_pure_epsilon"].tolist() == pytest.approx(mine["epsilon"].tolist(), rel=1e-12)
    audits = pd.read_csv(newcomer / "results" / "privacy" / "audits.csv")
    audited = audits[(audits["mechanism"] == "one-element") & (audits["kind"] == "likelihood ratio")]
    assert (audited["epsilon_lower"] > 0).any()
    assert (audited["epsilon_lower"] <= audited["guarantee_pure_epsilon"]).all()


@pytest.mark.workflow
@pytest.mark.xdist_group("docs")
def test_a_newcomers_claims_have_computed_verdicts(newcomer: Path) -> None:
    claims = pd.read_csv(newcomer / "results" / "claims.csv").set_index("id")
    assert claims.loc["M01", "verdict"] == "reproduced"
    assert claims.loc["M02", "verdict"] in {"reproduced", "not reproduced", "undecided"}
    gap, low, high = map(float, re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", str(claims.loc["M02", "observed"]))[:3])
    assert low <= gap <= high
    assert (low > 0) == (claims.loc["M02", "verdict"] == "reproduced")


@pytest.mark.workflow
@pytest.mark.xdist_group("docs")
def test_a_newcomers_work_has_its_section_in_the_report(newcomer: Path) -> None:
    page = (newcomer / "results" / "report.html").read_text()
    section = page[page.index('<h2 id="paper-mine">') : page.index('<h2 id="privacy">')]
    assert section.count("<picture>") == 2
    assert "one-element" in section
    assert 'id="claim-M02"' in page
