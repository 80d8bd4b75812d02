"""The documentation's site, as far as no build is needed: `bash .ci/docs` builds it, warnings being errors."""

from __future__ import annotations

import ast
import csv
import re
from pathlib import Path

import yaml
from references import ROOT

from tensorldp_papers.citations import PAPERS

HOOK = ROOT / ".ci" / "docs_pages.py"


def nav() -> list[str]:
    """Every page of the navigation, in its order."""
    text = (ROOT / "mkdocs.yml").read_text()
    part = yaml.safe_load(text[text.index("\nnav:") :])["nav"]
    return [page for section in part for pages in section.values() for page in flat(pages)]


def flat(pages: str | list[dict[str, str]]) -> list[str]:
    return [pages] if isinstance(pages, str) else [page for entry in pages for page in entry.values()]


def constant(name: str) -> dict[str, object]:
    """A constant of the hook, which is not imported: its libraries are in the site's environment only."""
    for node in ast.parse(HOOK.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            found: dict[str, object] = ast.literal_eval(node.value)
            return found
    raise AssertionError(name)


def test_every_page_is_in_the_navigation_once_and_nothing_else_is() -> None:
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {*map(str, constant("ELSEWHERE").values()), "claims/index.md"}
    made |= {f"claims/{key}.md" for key in PAPERS} | {f"reference/{name}.md" for name in constant("REFERENCE")}
    assert sorted(nav()) == sorted(written | made)


def test_what_the_site_takes_from_elsewhere_is_there() -> None:
    assert all((ROOT / path).is_file() for path in constant("ELSEWHERE"))
    for modules in constant("REFERENCE").values():
        assert isinstance(modules, tuple)
        for module in modules:
            path = f"{module.replace('.', '/')}.py"
            assert any((ROOT / "src" / package / path).is_file() for package in ("tensorldp", "tensorldp_papers")), (
                module
            )


def test_every_claim_has_a_page() -> None:
    paths = list((ROOT / "src" / "tensorldp_papers" / "papers").glob("*/claims.csv"))
    assert len(paths) == 5
    for path in paths:
        with path.open(newline="") as file:
            assert {row["source"] for row in csv.DictReader(file)} <= PAPERS.keys()


def test_nothing_is_loaded_from_elsewhere() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    assert not re.search(r"https?://|extra_javascript|extra_css", text)
    assert "font: false" in text


def test_ci_builds_the_site() -> None:
    steps = Path(ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "bash .ci/docs" in steps
