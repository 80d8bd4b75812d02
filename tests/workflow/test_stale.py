"""What an edited source file computes again, as a dry run of a finished project lists it."""

from __future__ import annotations

import re

import pytest
from conftest import Project
from faults import edited, pending

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
REPORT = "results/report.html"
STAGES = {"perturb", "train", "evaluate", "privacy"}
EVERY = {"tldp_type1", "tldp_type2", "tldp_type3"}


def statement(name: str) -> dict[str, str]:
    """An edit that changes what a file does not what it computes."""
    return {name: "\n_edited = 1\n"}


@pytest.mark.parametrize(
    ("name", "studies"),
    [
        ("tensorldp/randomness.py", EVERY),
        ("tensorldp/curves/base.py", EVERY),
        ("tensorldp_papers/nets/networks.py", EVERY),
        ("tensorldp_papers/nets/classify.py", EVERY),
        ("tensorldp_papers/papers/tldp/learning.py", {"tldp_type1", "tldp_type2"}),
        ("tensorldp_papers/papers/tldp/federated.py", {"tldp_type3"}),
        ("tensorldp/mechanisms/sampled_coordinates.py", set()),  # no cell has it
        ("tensorldp_papers/papers/tvg/covariance.py", set()),
        ("tensorldp_papers/plots/style.py", set()),
        ("tensorldp_papers/claims/table.py", set()),
    ],
)
def test_an_edited_file_computes_the_cells_that_may_import_it(finished: Project, name: str, studies: set[str]) -> None:
    with edited(finished, statement(f"src/{name}")):
        found = pending(finished, REPORT)
    assert {result.split("/")[0] for result in found} == studies


@pytest.mark.parametrize(
    ("name", "mechanisms"),
    [
        ("tldp.py", {"tldp-l", "tldp-g"}),
        ("laplace.py", {"laplace"}),
        ("additive_noise.py", {"tldp-l", "tldp-g", "laplace"}),
    ],
)
def test_an_edited_mechanism_computes_its_own_cells(finished: Project, name: str, mechanisms: set[str]) -> None:
    with edited(finished, statement(f"src/tensorldp/mechanisms/{name}")):
        assert {result.split("/")[3] for result in pending(finished, REPORT)} == mechanisms


@pytest.mark.parametrize(
    ("script", "parts"),
    [("privacy", {"guarantee", "audit"}), ("evaluate", {"seed"}), ("train", {"seed"}), ("report", set())],
)
def test_an_edited_script_computes_what_it_writes(finished: Project, script: str, parts: set[str]) -> None:
    with edited(finished, statement(f"workflow/scripts/{script}.py")):
        found = pending(finished, REPORT)
    assert {re.split(r"[~.]", result.rpartition("/")[2])[0] for result in found} == parts


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("src/tensorldp/mechanisms/sampled_coordinates.py", {"error_table", "claims", "privacy_figure", "report"}),
        ("src/tensorldp_papers/papers/tldp/claims.csv", {"claims", "report"}),
        ("src/tensorldp_papers/data/tabular.py", {"prepare", "extract_features"}),
        ("src/tensorldp_papers/plots/style.py", {"report", "privacy_figure", "figure_tldp_type1", "figure_tldp_type3"}),
        ("workflow/scripts/collect.py", {"collect_study"}),
    ],
)
def test_an_edited_file_runs_the_tables_and_figures_that_depend_on_it(
    finished: Project, name: str, rules: set[str]
) -> None:
    edit = statement(name) if name.endswith(".py") else {name: "\n"}
    with edited(finished, edit):
        planned = {rule for rule, _ in finished.planned()}
    assert rules <= planned
    assert planned & STAGES == (STAGES if "prepare" in rules else set())


def test_comments_docstrings_and_touched_files_run_nothing(finished: Project) -> None:
    files = [*finished.folder.glob("src/**/*.py"), *finished.folder.glob("workflow/scripts/*.py")]
    assert len(files) > 150
    names = [str(path.relative_to(finished.folder)) for path in files]
    with edited(finished, dict.fromkeys(names, '\n# a comment\n\n"""A text that stands alone."""\n')):
        assert finished.planned() == []
    assert finished.planned() == []  # as after a checkout and back: all have new times
