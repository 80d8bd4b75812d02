"""The numbers on the pages of mathematics come out, and their formulas are rendered."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "mathematics.md", *sorted((DOCS / "mathematics").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_examples_come_out(page: Path) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    examples = "".join(re.findall(r"```pycon\n(.*?)```", page.read_text(), re.DOTALL))
    report: list[str] = []
    runner.run(parser.get_doctest(examples, {}, page.name, str(page), 0), out=report.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_formulas_are_ones_that_github_renders(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    assert text.count("$$") % 2 == 0
    for formula in re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL):
        assert formula.count("{") == formula.count("}"), formula
        assert "\n\n" not in formula, formula
    inline = re.findall(r"(?<!\$)\$([^$]+)\$(?!\$)", re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL))
    assert inline
    for formula in inline:
        assert formula.count("{") == formula.count("}"), formula
        assert formula == formula.strip(), formula  # GitHub takes "$ x" for a price
        assert "\\{" not in formula, formula  # Markdown eats the backslash
        assert len(re.findall(r"[<>]", formula)) == 0, formula
