"""What a release consists of agrees, and what platforms read is there and names real steps."""

from __future__ import annotations

import re

import pytest
from texts import ROOT, data, read

import tensorldp

CITATION = data("CITATION.cff")
PROJECT = data("pyproject.toml")["project"]
SECTION = re.compile(r"## (Unreleased|(\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2}))")
WORKFLOWS = {path.stem: data(str(path)) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
FORMS = {path.stem: data(str(path)) for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")}


def test_one_version_and_one_license_everywhere() -> None:
    assert PROJECT["version"] == tensorldp.__version__ == CITATION["version"]
    assert PROJECT["license"] == CITATION["license"]
    assert read("LICENSE").startswith(f"{PROJECT['license']} License")


def test_what_an_index_is_told_is_what_the_citation_says() -> None:
    assert [author["name"] for author in PROJECT["authors"]] == [author["name"] for author in CITATION["authors"]]
    assert PROJECT["keywords"] == CITATION["keywords"]
    said = read("CITATION.cff").replace("arXiv:", "https://arxiv.org/abs/").replace("doi: ", "https://doi.org/")
    assert [address for address in PROJECT["urls"].values() if address not in said] == []


def test_the_readme_shows_the_version_the_license_and_the_oldest_python() -> None:
    python = f"{PROJECT['requires-python'].removeprefix('>=')} or later"
    for name, text in (("python", python), ("license", PROJECT["license"]), ("version", PROJECT["version"])):
        assert f">{text}</text>" in read(f"docs/badges/{name}.svg")
        assert f"{text}](docs/badges/{name}.svg)" in read("README.md")


def test_codemeta_says_what_the_citation_says() -> None:
    """`bash .ci/files` makes it anew with cffconvert and compares the whole file."""
    found = data("codemeta.json")
    assert found["@type"] == "SoftwareSourceCode"
    assert found["name"] == CITATION["title"] == PROJECT["name"]
    assert [found["version"], found.get("keywords")] == [CITATION["version"], CITATION.get("keywords")]
    assert found["description"] == CITATION["abstract"].strip()
    assert found["license"] == f"https://spdx.org/licenses/{CITATION['license']}"
    assert [author["name"] for author in found["author"]] == [author["name"] for author in CITATION["authors"]]
    assert found.get("datePublished") == CITATION.get("date-released")


def test_the_changelog_is_in_order_and_its_newest_release_is_the_version() -> None:
    headings = [line for line in read("CHANGELOG.md").splitlines() if line.startswith("## ")]
    assert [line for line in headings if not SECTION.fullmatch(line)] == []
    assert headings[0] == "## Unreleased"
    released = [found.group(2, 3) for line in headings[1:] if (found := SECTION.fullmatch(line))]
    numbers = [tuple(map(int, str(version).split("."))) for version, _ in released]
    assert numbers == sorted(set(numbers), reverse=True)
    assert [date for _, date in released] == sorted((date for _, date in released), reverse=True)
    assert released[0] == (tensorldp.__version__, str(CITATION["date-released"]))


def test_a_release_is_told_in_120_lines_under_the_headings_that_readers_expect() -> None:
    for section in re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1:]:
        assert len(section.splitlines()) <= 120, section.splitlines()[0]
        kinds = re.findall(r"^### (.*)$", section, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]


@pytest.mark.parametrize(
    "name", ["LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"]
)
def test_what_platforms_look_for_is_there(name: str) -> None:
    assert len(read(name)) > 200


def test_snakemakes_catalogue_is_told_what_it_asks_for() -> None:
    entry = data(".snakemake-workflow-catalog.yml")
    assert entry.keys() == {"usage"}
    assert entry["usage"].keys() == {"mandatory-flags", "software-stack-deployment", "report"}
    assert entry["usage"]["mandatory-flags"].keys() == {"desc", "flags"}
    assert entry["usage"]["software-stack-deployment"] == {"conda": False}


def test_issue_forms_and_the_template_of_pull_requests() -> None:
    forms = {name: form for name, form in FORMS.items() if name != "config"}
    assert forms.keys() >= {"mechanism", "paper", "verdict"}
    for form in forms.values():
        assert form["name"]
        assert form["description"]
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields) > 0
        assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
        assert all(field["attributes"]["label"] for field in fields)
    assert "make test" in read(".github/PULL_REQUEST_TEMPLATE.md")


def test_steps_of_ci_are_scripts_that_run_here() -> None:
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    scripts = {script for command in commands for script in re.findall(r"\.ci/(\w+)", command)}
    assert all(command.startswith(("make ", "bash .ci/")) for command in commands)
    assert {"run", "library", "wheel", "docs", "files", "audit", "publish"} <= scripts
    assert all((ROOT / ".ci" / script).is_file() for script in scripts)
    assert all(job["timeout-minutes"] <= 90 for job in jobs)
    assert {name for name, flow in WORKFLOWS.items() if flow["permissions"] != {"contents": "read"}} == {"pages"}
    assert WORKFLOWS["weekly"][True]["schedule"]  # YAML 1.1 reads the key `on` as true


def test_ci_covers_systems_pythons_and_versions() -> None:
    matrix = WORKFLOWS["ci"]["jobs"]["library"]["strategy"]["matrix"]["include"]
    steps = [step.get("with", {}) for job in WORKFLOWS["ci"]["jobs"].values() for step in job["steps"]]
    assert {row["os"] for row in matrix} == {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert {row["python"] for row in matrix} | {step.get("python-version") for step in steps} >= {
        "3.11",
        "3.12",
        "3.13",
    }
    assert {row["versions"] for row in matrix} == {"pinned", "newest", "lowest", "alone"}


def test_scripts_are_bash_that_stops_at_the_first_error() -> None:
    for path in (ROOT / ".ci").iterdir():
        if path.is_file() and not path.suffix:
            assert read(path).startswith("#!/usr/bin/env bash\n"), path.name
            assert "set -euo pipefail" in read(path), path.name
