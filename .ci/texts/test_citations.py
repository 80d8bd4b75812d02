"""Citations lead somewhere: to an entry of docs/references.bib, or to a section or a file of this repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from texts import DOCS, PAGES, ROOT, anchors, data, files, named, read

from tensorldp_papers.rooms import papers

CITATION = re.compile(r"\[([a-z]+(?:19|20)\d\d[a-z]?)\]")
ENTRY = re.compile(r"@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},?\n)+)\}\n")
FIELD = re.compile(r"^  (\w+) = \{(.*?)\},?$", re.MULTILINE)
REQUIRED = {"article": "journal", "inproceedings": "booktitle"}
# docs/mathematics.md#gaussian and the like, in code, prose or a link; a page's own folder is `docs` or is left out
SECTION = re.compile(r"\b(?:docs/)?([\w-]+(?:/[\w-]+)?\.md)#([\w-]+)")
DOCUMENT = re.compile(r"(?<![\w/.*-])((?:[\w-]+/)*[\w-]+\.(?:md|bib|txt|pdf|rst|tex))\b")
# names that stand for files which a user, a run or an archive has
ELSEWHERE = {"glove.6B.100d.txt", "entry_points.txt", "requirements.txt"}
FOLDERS = ("src", "workflow", "tests", "docs", "notebooks", "benchmarks")
CITING = [PAGES[0], *files(*FOLDERS, suffixes={".py", ".md", ".yaml", ".smk", ".ipynb", ".html"})]


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of a BibTeX file, {key: {field: value}}; ValueError where it is not well-formed."""
    text = re.sub(r"^%.*\n", "", text, flags=re.MULTILINE)
    found = {key: {"type": kind} | dict(FIELD.findall(fields)) for kind, key, fields in ENTRY.findall(text)}
    if ENTRY.sub("", text).strip() or len(found) != len(ENTRY.findall(text)):
        raise ValueError("not every entry is well-formed and has a key of its own")
    for (_, key, fields), values in zip(ENTRY.findall(text), found.values(), strict=True):
        if len(values) != 1 + fields.count("\n") or any(not balanced(value) for value in values.values()):
            raise ValueError(f"{key}: a field is there twice, or its braces are not closed")
    return found


def balanced(value: str) -> bool:
    depths = [value[:end].count("{") - value[:end].count("}") for end in range(len(value) + 1)]
    return min(depths) == depths[-1] == 0


def plain(value: str) -> str:
    """A field without TeX: its braces go, and accents lose their commands and their letters' marks."""
    return re.sub(r"\\['`^\"~]", "", value).replace("\\i", "i").replace("{", "").replace("}", "")


BIB = entries(read("docs/references.bib"))


def test_a_broken_bibliography_is_noticed() -> None:
    good = "@misc{a2000,\n  title = {A {B}},\n  year = {2000}\n}\n"
    assert entries(good) == {"a2000": {"type": "misc", "title": "A {B}", "year": "2000"}}
    for old, new in ((good, good + good), (" = ", " "), (good, "words"), ("title", "year"), ("B}", "B")):
        with pytest.raises(ValueError, match=r"entr|field"):
            entries(good.replace(old, new))


@pytest.mark.parametrize("key", BIB)
def test_every_entry_says_who_what_when_and_where(key: str) -> None:
    fields = BIB[key]
    assert {"author", "title", "year", REQUIRED.get(fields["type"], "title")} <= fields.keys()
    assert key == f"{re.sub(r'[^a-z]', '', plain(fields['author']).split(',')[0].lower())}{fields['year']}"
    assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1234/none"))
    assert re.fullmatch(r"\d{4}\.\d{4,5}", fields.get("eprint", "0000.0000"))


def test_every_citation_has_an_entry_and_every_entry_is_cited() -> None:
    cited = {(key, named(path)) for path in CITING for key in CITATION.findall(read(path))}
    assert [one for one in sorted(cited) if one[0] not in BIB] == []
    assert BIB.keys() - {key for key, _ in cited} - {paper.citation for paper in papers().values()} == set()


@pytest.mark.parametrize("key", papers())
def test_a_source_is_the_same_in_code_bibliography_citation_file_and_readme(key: str) -> None:
    paper, fields = papers()[key], BIB[papers()[key].citation]
    names = [" ".join(reversed(name.split(", "))) for name in plain(fields["author"]).split(" and ")]
    assert (paper.short, paper.title, str(paper.year)) == (fields["shorthand"], plain(fields["title"]), fields["year"])
    assert list(paper.authors) == names
    wanted = f"doi:{fields['doi']}" if "doi" in fields else f"arXiv:{fields['eprint']}" if "eprint" in fields else ""
    assert paper.identifier == wanted

    (reference,) = [one for one in data("CITATION.cff")["references"] if one["title"] == paper.title]
    assert [f"{author['given-names']} {author['family-names']}" for author in reference["authors"]] == names
    other = next((one["value"] for one in reference.get("identifiers", ())), "")
    assert (reference["year"], f"doi:{reference['doi']}" if "doi" in reference else other) == (paper.year, wanted)
    pages = "--".join(reference[end] for end in ("start", "end") if end in reference) or None
    theirs = [reference.get(name) for name in ("journal", "volume", "issue", "notes")]
    assert [*theirs, pages] == [fields.get(name) for name in ("journal", "volume", "number", "note", "pages")]

    flat = " ".join(read("README.md").split())
    entry = flat[flat.index(f"**{paper.short}**: ") :].split(" - ")[0]
    assert [word for word in (paper.title, fields["year"], *names, wanted.split(":")[-1]) if word not in entry] == []


def test_the_citation_file_has_no_other_sources() -> None:
    assert len(data("CITATION.cff")["references"]) == len(papers())


def test_every_section_that_is_cited_exists() -> None:
    missing = []
    for path in CITING:
        for page, section in SECTION.findall(read(path)):
            target = next((p for p in (DOCS / page, path.parent / page, ROOT / page) if p.exists()), None)
            if target is None or section not in anchors(target):
                missing.append(f"{named(path)}: {page}#{section}")
    assert missing == []


def test_no_document_is_cited_that_is_not_here() -> None:
    here = [f"/{named(path)}" for path in CITING]  # a document may be named by the end of its path
    missing = []
    for path in (path for path in CITING if path.suffix == ".py" and not named(path).startswith("tests/")):
        for name in DOCUMENT.findall(read(path)):
            near = any((folder / name).exists() for folder in (ROOT, DOCS, path.parent))
            if not near and Path(name).name not in ELSEWHERE and not any(one.endswith(f"/{name}") for one in here):
                missing.append(f"{named(path)}: {name}")
    assert missing == []
