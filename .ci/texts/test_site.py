"""The documentation's site, as far as no build is needed: `bash .ci/docs` builds it, warnings being errors."""

from __future__ import annotations

import ast
import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

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


def changes() -> ModuleType:
    """What the site changes in pages, in a file that needs no library."""
    spec = importlib.util.spec_from_file_location("docs_html", HOOK.with_name("docs_html.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_templates_are_no_pages_of_the_site() -> None:
    assert "\nexclude_docs: templates/\n" in (ROOT / "mkdocs.yml").read_text()


def test_every_term_of_the_glossary_has_a_first_sentence_in_plain_text() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    found = changes().definitions(glossary)
    assert len(found) == len(re.findall(r"^### ", glossary, re.MULTILINE))
    for anchor, sentence in found.items():
        assert re.fullmatch(r"[A-Z][^`*$\\\[\]]+\.", sentence), anchor
        assert len(sentence) < 200, anchor
    assert found["types-i-to-iii"].startswith("These are TLDP's three experiments")


def test_a_link_to_the_glossary_shows_the_definition() -> None:
    terms = {"atom": 'An atom is "it".'}
    link = '<a href="../glossary.html#atom">atom</a>'
    wanted = '<a href="../glossary.html#atom" title="An atom is &quot;it&quot;.">atom</a>'
    assert changes().with_tooltips(link, terms) == wanted
    assert changes().with_tooltips(wanted, terms) == wanted
    for other in (
        '<a href="glossary.html#none">x</a>',
        '<a href="other.html#atom">x</a>',
        '<a href="glossary.html">x</a>',
    ):
        assert changes().with_tooltips(other, terms) == other


def test_a_figure_has_another_file_on_a_phone() -> None:
    image = '<p><img alt="a > b" src="../figures/one.svg"></p>'.replace(" > ", " &gt; ")
    phone = '<source media="(max-width: 860px)" srcset="../figures/one_phone.svg">'
    asked: list[str] = []

    def here(path: str) -> bool:
        asked.append(path)
        return path == "figures/one_phone.svg"

    shown = changes().with_pictures(image, "papers/tldp.md", here)
    assert shown == image.replace("<img", f"<picture>{phone}<img").replace("></p>", "></picture></p>")
    assert changes().with_pictures(shown, "papers/tldp.md", here) == shown
    assert asked == ["figures/one_phone.svg"]
    without = '<img src="figures/two.svg"><img src="figures/one.png">'
    assert changes().with_pictures(without, "frontier.md", here) == without


def test_the_readmes_own_picture_is_found_on_the_site() -> None:
    source = (
        '<picture>\n<source media="m" srcset="docs/figures/a_phone.svg">\n<img src="docs/figures/a.svg">\n</picture>'
    )
    assert changes().with_pictures(source, "index.md", lambda path: True) == source.replace("docs/", "")
