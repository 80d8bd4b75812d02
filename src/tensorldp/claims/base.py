"""What a claim is, how it is registered, and what its check finds."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from tensorldp.errors import InputError

if TYPE_CHECKING:
    from tensorldp.claims.evidence import Evidence

Verdict = Literal["reproduced", "not reproduced", "refuted", "not run at this scale", "not checkable"]
MODULES = (
    "tldp_theorems",
    "tldp_errors",
    "tldp_runs",
    "tldp_type3",
    "pldp_theorems",
    "pldp_runs",
    "latent_theorems",
    "latent_runs",
    "lecture_theorems",
    "lecture_runs",
    "tvg_theorems",
    "tvg_noise",
    "tvg_runs",
)


class NotRun(Exception):
    """The runs that a claim needs are not among the results; the message says which."""


@dataclass(frozen=True)
class Claim:
    """One statement of a source, as catalogue.csv lists it.

    Attributes:
        id: a letter for the source and a number.
        source: tldp, pldp-fl, dp-lecture, tvg or latent.
        place: where the source says it.
        claim: the statement.
        kind: theorem, cost, empirical or descriptive.
    """

    id: str
    source: str
    place: str
    claim: str
    kind: str


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        holds: whether the claim holds; None where it cannot be checked, with the reason in `observed`.
        observed: the numbers, in words.
        evidence: a test, a file of the results or a function of the library; the runs used are added by themselves.
    """

    holds: bool | None
    observed: str
    evidence: str = ""


Check = Callable[["Evidence"], Finding]


@dataclass(frozen=True)
class Registered:
    """A claim's check, and what the claim would lead one to expect."""

    check: Check
    expected: str


CHECKS: dict[str, Registered] = {}


def claim(id: str, *, expected: str) -> Callable[[Check], Check]:
    """Register the check of a claim of the catalogue.

    Raises:
        InputError: if the id is not in the catalogue or has a check already.
    """
    if id not in catalogue():
        raise InputError(f"the claim {id} is not in claims/catalogue.csv: add its line first")
    if id in CHECKS:
        raise InputError(f"the claim {id} has two checks: {CHECKS[id].check.__name__} and another")

    def register(check: Check) -> Check:
        CHECKS[id] = Registered(check, expected)
        return check

    return register


def cannot_be_checked(reason: str) -> Finding:
    """The finding of a claim that no computation can decide."""
    return Finding(None, reason, "a reason, no computation")


@cache
def catalogue() -> dict[str, Claim]:
    """All claims by id, in the order of the file."""
    text = files("tensorldp.claims").joinpath("catalogue.csv").read_text()
    return {row["id"]: Claim(**row) for row in csv.DictReader(text.splitlines())}


def load_checks() -> dict[str, Registered]:
    """The checks of all claims; importing the modules registers them."""
    for module in MODULES:
        import_module(f"tensorldp.claims.{module}")
    return CHECKS


def verdict(claim: Claim, finding: Finding) -> Verdict:
    """A finding in the words of the table: a theorem that fails is refuted, a measurement is not reproduced."""
    if finding.holds is None:
        return "not checkable"
    if finding.holds:
        return "reproduced"
    return "refuted" if claim.kind == "theorem" else "not reproduced"
