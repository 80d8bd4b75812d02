"""What an edited source file runs again, as a dry run of a finished project lists it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]

CELLS = {"perturb", "train", "evaluate", "guarantee", "audit"}


@contextmanager
def edited(project: Project, texts: dict[str, str]) -> Iterator[None]:
    """Append texts to files of a project, then restore them."""
    paths = {project.folder / name: text for name, text in texts.items()}
    kept = {path: path.read_bytes() for path in paths}
    try:
        for path, text in paths.items():
            path.write_bytes(kept[path] + text.encode())
        yield
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("studies/guarantee.py", {"guarantee"}),
        ("privacy/auditing/likelihood.py", {"audit", "collect_audits", "privacy_figure"}),
        ("training/linear_heads.py", {"perturb", "train", "evaluate", "guarantee"}),
        ("mechanisms/duchi.py", {"error_table", "claims", "privacy_figure"}),
        ("claims/catalogue.csv", {"claims"}),
        ("data/tabular.py", {"prepare", "extract_features", *CELLS}),
        ("figures/style.py", {"report", "privacy_figure", "figure_tldp_type1", "figure_tldp_type3"}),
    ],
)
def test_an_edited_file_runs_what_imports_it_and_what_follows(finished: Project, name: str, rules: set[str]) -> None:
    with edited(finished, {f"src/tensorldp/{name}": "\n_edited = 1\n" if name.endswith(".py") else "\n"}):
        planned = {rule for rule, _ in finished.planned()}
    if rules & (CELLS - {"audit"}):
        rules = rules | {"collect", "collect_audits", "claims", "privacy_figure", "figure_tldp_type1"}
    assert rules | {"report"} <= planned
    assert planned & CELLS == rules & CELLS


def test_an_edited_mechanism_runs_its_own_cells(finished: Project) -> None:
    with edited(finished, {"src/tensorldp/mechanisms/tldp.py": "\n_edited = 1\n"}):
        jobs = [wildcards for rule, wildcards in finished.planned() if rule in CELLS]
    assert {re.search(r"mechanism=([\w-]+)", wildcards).group(1) for wildcards in jobs} == {"tldp-l", "tldp-g"}  # type: ignore[union-attr]


def test_an_edited_script_or_notebook_runs_its_own_rule(finished: Project) -> None:
    with edited(finished, {"workflow/scripts/audit.py": "\n_edited = 1\n"}):
        assert {rule for rule, _ in finished.planned()} & CELLS == {"audit"}


def test_comments_and_touched_files_run_nothing(finished: Project) -> None:
    files = [*finished.folder.glob("src/tensorldp/**/*.py"), *finished.folder.glob("workflow/scripts/*.py")]
    assert len(files) > 150
    names = [str(path.relative_to(finished.folder)) for path in files]
    with edited(finished, dict.fromkeys(names, "\n# a comment\n")):
        assert finished.planned() == []
    assert finished.planned() == []
