"""The platform's files: what continuous integration runs exists, covers what it should, and guides name real steps."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from references import ROOT

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
SCRIPT = re.compile(r"\.ci/(\w+)")


def commands(workflow: dict[str, Any]) -> list[str]:
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


def test_steps_are_scripts_that_run_here() -> None:
    for name, workflow in WORKFLOWS.items():
        for command in commands(workflow):
            script = SCRIPT.search(command)
            assert command.startswith("make ") or (script and (ROOT / ".ci" / script[1]).is_file()), (name, command)
        for job in workflow["jobs"].values():
            assert job["timeout-minutes"] <= 90
        assert workflow["permissions"] == {"contents": "read"}


def test_ci_covers_systems_pythons_and_versions() -> None:
    matrix = WORKFLOWS["ci"]["jobs"]["library"]["strategy"]["matrix"]["include"]
    jobs = WORKFLOWS["ci"]["jobs"].values()
    plain = {
        step["with"]["python-version"] for job in jobs for step in job["steps"] if "python" in step.get("uses", "")
    }
    assert {row["os"] for row in matrix} == {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert {row["python"] for row in matrix} | plain >= {"3.11", "3.12", "3.13"}
    assert {row["versions"] for row in matrix} == {"pinned", "newest", "lowest", "alone"}
    run = {
        name for workflow in WORKFLOWS.values() for command in commands(workflow) for name in SCRIPT.findall(command)
    }
    assert {"run", "library", "wheel", "docs", "files", "audit"} <= run
    assert WORKFLOWS["weekly"][True]["schedule"]  # YAML 1.1 reads the key `on` as true


def test_what_the_guides_say_to_run_exists() -> None:
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {script for page in pages for script in re.findall(r"bash (\.ci/\w+)", page.read_text())}
    targets = {target for page in pages for target in re.findall(r"`make ([a-z-]+)", page.read_text())}
    makefile = (ROOT / "Makefile").read_text()
    assert {".ci/run", ".ci/wheel", ".ci/docs", ".ci/library"} <= named
    assert all((ROOT / script).is_file() for script in named)
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


@pytest.mark.parametrize(
    "name",
    [
        "LICENSE",
        "CITATION.cff",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md",
        "SECURITY.md",
        "codemeta.json",
    ],
)
def test_what_platforms_look_for_is_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 200


def test_issue_forms_and_the_template_of_pull_requests() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = {path.stem: yaml.safe_load(path.read_text()) for path in folder.glob("*.yml") if path.stem != "config"}
    assert forms.keys() >= {"mechanism", "paper", "verdict"}
    for form in forms.values():
        assert form["name"]
        assert form["description"]
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 0
        for field in form["body"]:
            assert field["type"] in {"markdown", "input", "textarea", "dropdown", "checkboxes"}
            assert field["type"] == "markdown" or field["attributes"]["label"]
    assert "make test" in (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text()


def test_scripts_are_bash_that_stops_at_the_first_error() -> None:
    for path in (ROOT / ".ci").iterdir():
        if path.is_file() and not path.suffix:
            assert path.read_text().startswith("#!/usr/bin/env bash\n"), path.name
            assert "set -euo pipefail" in path.read_text(), path.name
