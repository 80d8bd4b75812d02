"""The lines of criteria.csv and of verdicts.csv say what the kept table of their commit says."""

from __future__ import annotations

import csv
import io
import subprocess

import pytest
from texts import ROOT, read

from tensorldp_papers.claims.criteria import Criterion, criteria

KEPT = "results/reference/claims.csv"


def kept_at(commit: str) -> dict[str, dict[str, str]]:
    """The kept claims of a commit, by id."""
    shown = subprocess.run(["git", "show", f"{commit}:{KEPT}"], cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode:
        pytest.skip(f"this checkout has not the history of {commit}")
    return {row["id"]: row for row in csv.DictReader(io.StringIO(shown.stdout))}


def test_no_criterion_was_edited_after_its_commit() -> None:
    by_commit: dict[str, list[Criterion]] = {}
    for lines in criteria().values():
        for line in lines:
            by_commit.setdefault(line.commit, []).append(line)
    by_commit.pop("", None)
    for commit, lines in by_commit.items():
        kept = kept_at(commit)
        for line in lines:
            assert (kept[line.id]["claim"], kept[line.id]["expected"]) == (line.claim, line.expected), (commit, line.id)


def test_the_history_of_verdicts_is_that_of_the_kept_table() -> None:
    lines = list(csv.DictReader(io.StringIO(read("results/reference/verdicts.csv"))))
    assert {line["id"] for line in lines} == {row["id"] for row in csv.DictReader(io.StringIO(read(KEPT)))}
    tables = {commit: kept_at(commit) for commit in {line["commit"] for line in lines} - {""}}
    made = [line for line in lines if line["commit"]]
    assert [line for line in made if tables[line["commit"]][line["id"]]["verdict"] != line["verdict"]] == []
