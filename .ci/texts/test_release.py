"""What a release consists of agrees: versions, the changelog, the citation and the sources that it names."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
import yaml
from references import BIB, ROOT, entries, plain

import tensorldp
from tensorldp_papers.citations import PAPERS, Paper

SECTION = re.compile(r"^## (Unreleased|(\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2}))$")


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    return found


def sections() -> list[tuple[str, str]]:
    """(version, date) of each section of the changelog, the newest first; ("", "") for what is unreleased."""
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    found = [SECTION.match(line) for line in headings]
    wrong = [line for line, match in zip(headings, found, strict=True) if not match]
    assert not wrong, wrong
    return [(match[2] or "", match[3] or "") for match in found if match]


def test_one_version_everywhere(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == tensorldp.__version__ == citation["version"]
    assert project["license"] == citation["license"]
    assert (ROOT / "LICENSE").read_text().startswith(f"{project['license']} License")


def test_codemeta_says_what_the_citation_says(citation: dict[str, Any]) -> None:
    """`bash .ci/files` makes it anew with cffconvert and compares the whole file."""
    found = json.loads((ROOT / "codemeta.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert found["@type"] == "SoftwareSourceCode"
    assert {key: found[key] for key in ("name", "version", "keywords")} == {
        key: citation[key] for key in ("name", "version", "keywords") if key in citation
    } | {"name": citation["title"]}
    assert found["name"] == project["name"]
    assert found["description"] == citation["abstract"].strip()
    assert found["license"] == f"https://spdx.org/licenses/{citation['license']}"
    assert [author["name"] for author in found["author"]] == [author["name"] for author in citation["authors"]]
    assert found.get("datePublished") == citation.get("date-released")


def test_the_changelog_is_in_order_and_its_newest_release_is_the_version(citation: dict[str, Any]) -> None:
    (first, _), *released = sections()
    assert first == "", "the section Unreleased comes first"
    numbers = [tuple(map(int, version.split("."))) for version, _ in released]
    assert numbers == sorted(set(numbers), reverse=True)
    assert [date for _, date in released] == sorted((date for _, date in released), reverse=True)
    newest = released[0] if released else (tensorldp.__version__, "")  # before the first release there is no date
    assert newest == (tensorldp.__version__, str(citation.get("date-released", "")))


def test_the_citation_lists_the_five_sources_in_full(citation: dict[str, Any]) -> None:
    found = {
        Paper(
            short="",
            title=reference["title"],
            authors=tuple(f"{author['given-names']} {author['family-names']}" for author in reference["authors"]),
            year=reference["year"],
            identifier=identifier(reference),
        )
        for reference in citation["references"]
    }
    wanted = {Paper("", p.title, p.authors, p.year, identifier=p.identifier) for p in PAPERS.values()}
    assert found == wanted


def identifier(reference: dict[str, Any]) -> str:
    """The identifier of a reference of CITATION.cff as `Paper` writes it."""
    if "doi" in reference:
        return f"doi:{reference['doi']}"
    return next((entry["value"] for entry in reference.get("identifiers", ())), "")


def test_journals_and_pages_are_the_bibliographys(citation: dict[str, Any]) -> None:
    bibliography = {plain(fields["title"]): fields for fields in entries(BIB.read_text()).values()}
    for reference in citation["references"]:
        fields = bibliography[reference["title"]]
        pages = "--".join(reference[key] for key in ("start", "end") if key in reference)
        mine = {"journal": reference.get("journal"), "volume": reference.get("volume"), "pages": pages or None}
        assert mine == {key: fields.get(key) for key in mine}, reference["title"]
        assert reference.get("issue") == fields.get("number"), reference["title"]
        assert reference.get("notes") == fields.get("note"), reference["title"]
