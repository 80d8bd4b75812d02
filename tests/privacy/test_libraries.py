"""The survey of other libraries: its files are well-formed, its page is the tables', and honest ones stay so."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "libraries"
sys.path.insert(0, str(FOLDER))
import run as survey  # noqa: E402

each_package = pytest.mark.parametrize("name", survey.NAMES)
MOST_LINES = 2  # of a wrapper of a randomizer; an accountant is asked in another way by each package


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(survey.TABLES[name], keep_default_na=False)


def lines(function: ast.FunctionDef) -> int:
    """How many lines of a function have code, its first among them not."""
    return len(
        {statement.lineno for part in function.body for statement in ast.walk(part) if hasattr(statement, "lineno")}
    )


@each_package
def test_wrappers_of_randomizers_have_at_most_two_lines(name: str) -> None:
    functions = [
        part
        for part in ast.parse((FOLDER / "packages" / f"{name}.py").read_text()).body
        if isinstance(part, ast.FunctionDef) and any("randomizer" in ast.unparse(one) for one in part.decorator_list)
    ]
    assert {function.name: lines(function) for function in functions if lines(function) > MOST_LINES} == {}


@each_package
def test_a_file_pins_its_package_and_quotes_each_claim(name: str) -> None:
    package = survey.package_of(name)
    assert package.name.lower().replace("-", "_") == name
    assert all("==" in pin for pin in package.beside)
    stated: list[Any] = [*package.randomizers, *package.accountants]
    assert stated
    assert len({each.name for each in stated}) == len(stated)
    assert all(each.says and each.where for each in stated)


@each_package
def test_a_randomizer_is_called_honest_as_our_algebra_has_it(name: str) -> None:
    for each in survey.package_of(name).randomizers:
        if each.exact is not None:
            assert each.honest == (each.exact <= each.epsilon + 1e-9), each.name
        assert each.honest or each.note, each.name


def test_the_page_is_that_of_the_tables() -> None:
    assert survey.PAGE.read_text() == survey.page(table("randomizers"), table("accountants"))


def test_the_tables_have_every_function_of_the_files() -> None:
    packages = [survey.package_of(name) for name in survey.NAMES]
    checked = {(package.name, package.version, each.name) for package in packages for each in package.randomizers}
    asked = {
        (package.name, package.version, accountant.name, case.name)
        for package in packages
        for accountant, case in survey.questions(package)
    }
    assert set(table("randomizers")[["package", "version", "function"]].itertuples(index=False, name=None)) == checked
    assert (
        set(table("accountants")[["package", "version", "function", "case"]].itertuples(index=False, name=None))
        == asked
    )


def test_the_survey_is_as_wide_as_it_says_and_refutes_nothing_honest() -> None:
    found = table("randomizers")
    assert len(found) >= 60
    assert set(found.verdict[found.honest == "yes"]) == {"not refuted"}
    packages = {*found.package, *table("accountants").package}
    assert len(packages) >= 25


@pytest.mark.weekly
@each_package
def test_honest_functions_stay_honest(name: str, tmp_path: Path) -> None:
    """At the confidence of the survey, 95 % over all packages; packages come from the index."""
    survey.in_own_process(name, tmp_path)
    found = survey.results(name, tmp_path)["randomizers"]
    honest = [each.name for each in survey.package_of(name).randomizers if each.honest]
    assert {each: found[each]["verdict"] for each in honest} == dict.fromkeys(honest, "not refuted")
