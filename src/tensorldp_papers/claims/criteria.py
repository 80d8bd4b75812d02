"""When each claim's criterion was set, and what an earlier one gave: a room's criteria.csv, a line a criterion.

A criterion is the claim's words, what is expected of it, and the numbers in its check. Its line has the date, the
first commit whose kept table was decided by it, the verdict before it if data had been seen, and the reason for it. A
verdict that changes with a rule for all claims has a line, too, but not one that more runs decide. Lines are added and
never edited; the last one counts. rules.csv beside this file has the numbers of the rules for all claims, alike.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tensorldp_papers.claim_registry import listed
from tensorldp_papers.room_folders import room_files


@dataclass(frozen=True)
class Criterion:
    """A criterion of a claim.

    Attributes:
        id: the claim's.
        date: when it was set, as YYYY-MM-DD.
        commit: the first commit with it; empty until there is a later one.
        claim, expected: the claim's words and what is expected.
        numbers: those in its check, rising; empty for criteria before 2026-11-28.
        was: the verdict by the criterion before it; empty for the first one, and if no data had been seen.
        reason: why it took the place of the one before.
    """

    id: str
    date: str
    commit: str
    claim: str
    expected: str
    numbers: str
    was: str
    reason: str


@cache
def criteria() -> dict[str, list[Criterion]]:
    """Returns the criteria of each claim of the rooms, by id, from the first to the one that counts."""
    found: dict[str, list[Criterion]] = {}
    files = room_files("criteria.csv")
    for module in filter(files.__contains__, listed()):
        for row in csv.DictReader(files[module].read_text().splitlines()):
            found.setdefault(row["id"], []).append(Criterion(**row))
    return found


@cache
def rules() -> list[dict[str, str]]:
    """Returns the numbers of the rules for all claims with their dates and reasons, the last of which count."""
    return list(csv.DictReader(files("tensorldp_papers.claims").joinpath("rules.csv").read_text().splitlines()))


def changed() -> dict[str, list[Criterion]]:
    """Returns the criteria of the claims for which one was set after data had been seen, by id."""
    return {id: lines for id, lines in criteria().items() if any(line.was for line in lines)}


def in_words(id: str) -> tuple[str, str]:
    """Returns a claim's criterion as date and commit, and its verdicts by earlier ones; empty if it has no line."""
    lines = criteria().get(id, [])
    since = f"{lines[-1].date} {lines[-1].commit}".strip() if lines else ""
    return since, "; ".join(f"{line.was} until {line.date}" for line in lines if line.was)
