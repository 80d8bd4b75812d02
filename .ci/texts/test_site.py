"""The documentation's site, as far as no build is needed: `bash .ci/docs` builds it, warnings being errors."""

from __future__ import annotations

import ast
import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from browser import open_browser
from docs_html import MANY, definitions, with_pictures, with_sorting, with_tooltips
from texts import DOCS, ROOT, read, tree

from tensorldp_papers.rooms import papers

CONFIG = read("mkdocs.yml")


def constant(name: str) -> dict[str, Any]:
    """A constant of the hook, which is not imported: its libraries are in the site's environment only."""
    for node in tree(ROOT / ".ci" / "docs_pages.py").body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return dict(ast.literal_eval(node.value))
    raise AssertionError(name)


def test_every_page_is_in_the_navigation_once_and_nothing_else_is() -> None:
    sections = yaml.safe_load(CONFIG[CONFIG.index("\nnav:") :])["nav"]
    entries = [pages for section in sections for pages in section.values()]
    shown = [page for pages in entries for page in ([pages] if isinstance(pages, str) else flat(pages))]
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    made = {*constant("ELSEWHERE").values(), "claims/index.md", *(f"claims/{key}.md" for key in papers())}
    assert sorted(shown) == sorted(written | made | {f"reference/{name}.md" for name in constant("REFERENCE")})


def flat(pages: list[dict[str, str]]) -> list[str]:
    return [page for entry in pages for page in entry.values()]


def test_what_the_site_takes_from_elsewhere_is_there() -> None:
    assert all((ROOT / path).is_file() for path in constant("ELSEWHERE"))
    modules = [f"{name.replace('.', '/')}.py" for names in constant("REFERENCE").values() for name in names]
    packages = [ROOT / "src" / package for package in ("tensorldp", "tensorldp_papers")]
    assert [name for name in modules if not any((package / name).is_file() for package in packages)] == []


def test_every_claim_has_a_page() -> None:
    paths = list((ROOT / "src" / "tensorldp_papers" / "papers").glob("*/claims.csv"))
    assert len(paths) == 5
    assert {row["source"] for path in paths for row in csv.DictReader(read(path).splitlines())} <= papers().keys()


def test_nothing_is_loaded_from_elsewhere_and_templates_are_no_pages() -> None:
    assert not re.search(r"https?://|extra_javascript|extra_css", CONFIG)
    assert "font: false" in CONFIG
    assert "\nexclude_docs: templates/\n" in CONFIG


def test_every_term_of_the_glossary_has_a_first_sentence_in_plain_text() -> None:
    glossary = read("docs/glossary.md")
    found = definitions(glossary)
    assert len(found) == len(re.findall(r"^### ", glossary, re.MULTILINE))
    assert [text for text in found.values() if not re.fullmatch(r"[A-Z][^`*$\\\[\]]{,197}\.", text)] == []
    assert found["types-i-to-iii"].startswith("These are TLDP's three experiments")


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ('href="../glossary.html#atom"', 'href="../glossary.html#atom" title="An atom is &quot;it&quot;."'),
        ('href="glossary.html#none"', None),
        ('href="other.html#atom"', None),
        ('href="glossary.html"', None),
    ],
)
def test_a_link_to_the_glossary_shows_the_definition(link: str, wanted: str | None) -> None:
    shown = with_tooltips(f"<a {link}>atom</a>", {"atom": 'An atom is "it".'})
    assert shown == f"<a {wanted or link}>atom</a>"
    assert with_tooltips(shown, {"atom": "Another."}) == shown


def test_a_table_of_many_rows_sorts_by_a_click_on_a_head(tmp_path: Path) -> None:
    cells = [("b, c", "0.0971"), ("a", "3,072"), ("d", "chance"), *((f"e{i}", str(i)) for i in range(1, MANY - 2))]
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    table = f"<table><thead><tr><th>card</th><th>ε</th></tr></thead><tbody>{body}</tbody></table>"
    few = table.replace("<tr><td>d</td><td>chance</td></tr>", "")
    assert with_sorting(few) == few
    page = tmp_path / "page.html"
    page.write_text(f"<meta charset=utf-8>{with_sorting(table)}")
    with open_browser() as browser:
        browser.open(page)
        column = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[arguments[0]].textContent)"
        for head, wanted in ((1, ["chance", "0.0971", "1"]), (0, ["a", "b, c", "d"])):
            browser.find(f"th:nth-child({head + 1}) button").click()
            assert browser.ask(column, head)[:3] == wanted
            browser.find(f"th:nth-child({head + 1}) button").click()
            assert browser.ask(column, head)[-3:] == wanted[::-1]
            assert browser.ask("[...document.querySelectorAll('th')].map(head => head.ariaSort)")[head] == "descending"


def test_a_figure_has_another_file_on_a_phone_where_there_is_one() -> None:
    image = '<p><img alt="a &gt; b" src="../figures/one.svg"></p>'
    phone = '<source media="(max-width: 860px)" srcset="../figures/one_phone.svg">'
    shown = with_pictures(image, "papers/tldp.md", {"figures/one_phone.svg"}.__contains__)
    assert shown == image.replace("<img", f"<picture>{phone}<img").replace("></p>", "></picture></p>")
    assert with_pictures(shown, "papers/tldp.md", lambda path: True) == shown
    without = '<img src="figures/two.svg"><img src="figures/one.png">'
    assert with_pictures(without, "frontier.md", {"figures/one_phone.svg"}.__contains__) == without


def test_the_readmes_own_picture_is_found_on_the_site() -> None:
    source = (
        '<picture>\n<source media="m" srcset="docs/figures/a_phone.svg">\n<img src="docs/figures/a.svg">\n</picture>'
    )
    assert with_pictures(source, "index.md", lambda path: True) == source.replace("docs/", "")
