"""The numbers on the pages of mathematics and on checking come out, and formulas are rendered."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pandas as pd
import pytest

from tensorldp.audit.thresholds import upper_bound

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / "mathematics.md", *sorted((ROOT / "docs" / "mathematics").glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


@each_page
def test_the_examples_come_out(page: Path) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    examples = "".join(re.findall(r"```pycon\n(.*?)```", page.read_text(), re.DOTALL))
    report: list[str] = []
    runner.run(parser.get_doctest(examples, {}, page.name, str(page), 0), out=report.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(report)


@each_page
def test_formulas_are_ones_that_github_renders(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    prose, displayed = "".join(text.split("$$")[::2]), text.split("$$")[1::2]
    inline = re.findall(r"\$([^$]+)\$", prose)
    assert text.count("$$") % 2 == 0
    assert inline
    assert [formula for formula in [*displayed, *inline] if formula.count("{") != formula.count("}")] == []
    assert [formula for formula in displayed if "\n\n" in formula] == []
    # GitHub takes "$ x" for a price, Markdown eats the backslash of "\{", and "<" begins a tag
    assert [formula for formula in inline if formula != formula.strip() or re.search(r"\\\{|[<>]", formula)] == []


def test_the_page_on_checking_has_what_was_measured_of_the_planted_lies() -> None:
    page = (ROOT / "docs" / "checking.md").read_text()
    lies, honest = (pd.read_csv(ROOT / "benchmarks" / f"{name}.csv") for name in ("lies", "false_alarms"))
    found, runs = (int(lies[key].sum()) for key in ("refuted", "runs"))
    assert f"learning from 200,000 releases at most | {runs:,} | {found:,} |" in page
    wrong, checks = (int(honest[key].sum()) for key in ("refuted", "runs"))
    most = 100 * float(upper_bound(wrong, checks, 0.05))
    assert f"at confidence 0.95 | {checks:,} | {wrong}, so at most {most:.2f} % in truth |" in page
