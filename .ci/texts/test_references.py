"""Citations lead somewhere: to an entry of docs/references.bib, or to a section or a file of this repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from references import BIB, ROOT, anchors, citations, entries, plain, texts

from tensorldp_papers.citations import PAPERS

REQUIRED = {"article": "journal", "inproceedings": "booktitle"}
# docs/mathematics.md#gaussian and the like, in code, prose or a link; a page's own folder is `docs` or is left out
SECTION = re.compile(r"\b(?:docs/)?([\w-]+(?:/[\w-]+)?\.md)#([\w-]+)")
DOCUMENT = re.compile(r"(?<![\w/.*-])((?:[\w-]+/)*[\w-]+\.(?:md|bib|txt|pdf|rst|tex))\b")
# names that stand for files which a user, a run or an archive has
ELSEWHERE = {"glove.6B.100d.txt", "entry_points.txt", "requirements.txt"}


@pytest.fixture(scope="module")
def found() -> dict[Path, str]:
    return texts()


@pytest.fixture(scope="module")
def bib() -> dict[str, dict[str, str]]:
    return entries(BIB.read_text())


def test_a_broken_bibliography_is_noticed() -> None:
    good = "@misc{a2000,\n  title = {A {B}},\n  year = {2000}\n}\n"
    assert entries(good) == {"a2000": {"type": "misc", "title": "A {B}", "year": "2000"}}
    for broken in (good + good, good.replace(" = ", " "), "words", good.replace("title", "year")):
        with pytest.raises(ValueError, match=r"entr|field"):
            entries(broken)


def test_every_entry_says_who_what_when_and_where(bib: dict[str, dict[str, str]]) -> None:
    for key, fields in bib.items():
        assert {"author", "title", "year"} <= fields.keys(), key
        assert key == f"{re.sub(r'[^a-z]', '', plain(fields['author']).split(',')[0].lower())}{fields['year']}"
        assert REQUIRED.get(fields["type"], "title") in fields, key
        assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1234/none")), key
        assert re.fullmatch(r"\d{4}\.\d{4,5}", fields.get("eprint", "0000.0000")), key


def test_every_citation_has_an_entry_and_every_entry_is_cited(
    found: dict[Path, str], bib: dict[str, dict[str, str]]
) -> None:
    cited = citations({path: text for path, text in found.items() if path != Path(__file__)})
    assert {key: paths for key, paths in cited.items() if key not in bib} == {}
    cited |= {paper.citation: set() for paper in PAPERS.values()}
    assert sorted(bib.keys() - cited.keys()) == []


@pytest.mark.parametrize("key", PAPERS)
def test_the_sources_are_the_bibliographys(key: str, bib: dict[str, dict[str, str]]) -> None:
    paper = PAPERS[key]
    fields = bib[paper.citation]
    names = [" ".join(reversed(name.split(", "))) for name in plain(fields["author"]).split(" and ")]
    assert (paper.short, paper.title, str(paper.year)) == (fields["shorthand"], plain(fields["title"]), fields["year"])
    assert list(paper.authors) == names
    wanted = f"doi:{fields['doi']}" if "doi" in fields else f"arXiv:{fields['eprint']}" if "eprint" in fields else ""
    assert paper.identifier == wanted


def test_the_readme_names_each_source_in_full() -> None:
    text = (ROOT / "README.md").read_text()
    flat = " ".join(text.split())
    for paper in PAPERS.values():
        place = flat.index(f"**{paper.short}**: ")
        entry = flat[place : flat.index(" - ", place) if " - " in flat[place:] else None]
        assert paper.title in entry, paper.short
        assert str(paper.year) in entry, paper.short
        assert all(name in entry for name in paper.authors), paper.short
        assert paper.identifier.split(":")[-1] in entry, paper.short


def test_every_section_that_is_cited_exists(found: dict[Path, str]) -> None:
    missing = []
    for path, text in found.items():
        for page, section in SECTION.findall(text if path != Path(__file__) else ""):
            target = next((p for p in (ROOT / "docs" / page, path.parent / page, ROOT / page) if p.exists()), None)
            if target is None or section not in anchors(target):
                missing.append(f"{path.relative_to(ROOT)}: {page}#{section}")
    assert missing == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_links_lead_to_pages_and_sections(page: Path) -> None:
    for target, section in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)", page.read_text()):
        path = (page.parent / target) if target else page
        assert path.exists(), target
        assert not section or section in anchors(path), f"{target}#{section}"


def test_no_document_is_cited_that_is_not_here(found: dict[Path, str]) -> None:
    missing = []
    here = [f"/{path.relative_to(ROOT)}" for path in found]  # a document may be named by the end of its path
    for path, text in found.items():
        if path.suffix != ".py" or "tests" in path.relative_to(ROOT).parts:
            continue
        for name in DOCUMENT.findall(text):
            near = (ROOT / name, ROOT / "docs" / name, path.parent / name)
            if Path(name).name in ELSEWHERE or any(other.endswith(f"/{name}") for other in here):
                continue
            if not any(place.exists() for place in near):
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert missing == []
