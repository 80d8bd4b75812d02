"""What a claim is, how it is registered, and what its check finds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from string import Formatter
from typing import Any, Literal, TypeVar

from tensorldp.errors import InputError, unknown
from tensorldp_papers.claim_registry import CLAIMS, KINDS, listed
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.evidence import NotRun as NotRun

Verdict = Literal[
    "reproduced",
    "holds with a condition",
    "mixed",
    "not reproduced",
    "refuted",
    "undecided",
    "not run at this scale",
    "not checkable",
]


ConditionKind = Literal["restriction", "reading", "slip"]
"""What the condition of a claim is: a restriction of it, one reading of its words, or a slip that the source mends."""


@dataclass(frozen=True)
class Claim:
    """One statement of a source, as a paper's claims.csv or a plug-in lists it.

    Attributes:
        id: a letter for the source and a number.
        source: the key of its paper, as in a room.yaml.
        place: where the source says it.
        claim: the statement.
        kind: theorem, cost, empirical or descriptive.
        test: what shows its check to be right: a test, or a function; empty where the runs are all of its evidence.

    Raises:
        InputError: if the kind is another.
    """

    id: str
    source: str
    place: str
    claim: str
    kind: str
    test: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown(f"kind of the claim {self.id}", self.kind, KINDS)


@dataclass(frozen=True)
class Number:
    """A number that a check found.

    Attributes:
        name: what it is of.
        value: the number.
        unit: its unit; empty for shares, ratios, scores and epsilons.
        low, high: its confidence interval, where it has one.
        seeds: of a mean over seeds how many; 0 for what no run measured.
    """

    name: str
    value: float
    unit: str = ""
    low: float | None = None
    high: float | None = None
    seeds: int = 0


def named(values: Mapping[str, float], unit: str = "") -> tuple[Number, ...]:
    """Returns the numbers of these names, all in one unit."""
    return tuple(Number(name, float(value), unit) for name, value in values.items())


@dataclass(frozen=True)
class Need:
    """What would decide a claim that is not decided, or one of its comparisons.

    Attributes:
        words: all of it.
        missing: what is not there or weaker than the source's, in short.
        seeds: how many would do; infinite where no look has as many, 0 where more seeds are not what is missing.
    """

    words: str
    missing: tuple[str, ...] = ()
    seeds: float = 0


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        holds: whether the claim holds; None where the evidence is too weak, or where it cannot be checked at all, with
            the reason in `observed`.
        observed: the numbers, in words.
        evidence: a file or a reason in the place of the claim's `test`; the runs used are added by themselves.
        condition: what a claim needs to hold; the table has it only for claims that hold.
        wanted: what would decide a claim whose `holds` is None; empty where nothing could.
        mixed: whether some of what the claim speaks of has what it says, and some the opposite; `holds` is None then.
        numbers: those behind the words of `observed`, of a statement one for each comparison.
        needs: what `wanted` says, part by part; the whole of it where none are given.
        absent: the data sets that the condition names as not run.
    """

    holds: bool | None
    observed: str
    evidence: str = ""
    condition: str = ""
    wanted: str = ""
    mixed: bool = False
    numbers: tuple[Number, ...] = ()
    needs: tuple[Need, ...] = ()
    absent: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        holds: bool | None,
        observed: str,
        numbers: Mapping[str, float] | Iterable[Number],
        condition: str = "",
        mixed: bool = False,
    ) -> Finding:
        """Returns a finding whose words, `observed` and `condition`, show its numbers by name: `{largest ratio:.3f}`.

        A mapping has numbers without a unit. In doubled braces a brace is meant.

        Raises:
            KeyError: if the words name a number that is not among them.
        """
        numbers = named(numbers) if isinstance(numbers, Mapping) else tuple(numbers)
        values = {number.name: number.value for number in numbers}
        said, needed = (_WITH_NUMBERS.vformat(words, (), values) for words in (observed, condition))
        return cls(holds, said, condition=needed, mixed=mixed, numbers=numbers)


class _ByName(Formatter):
    """Takes what stands before the colon as a name, whatever it is made of."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name


_WITH_NUMBERS = _ByName()

Check = Callable[[Evidence], Finding]
AnyCheck = TypeVar("AnyCheck", bound=Callable[..., Finding])
"""A `Check`, or one without an argument, which reads no results."""


@dataclass(frozen=True)
class Registered:
    """A claim, its check, and what the claim would lead one to expect."""

    claim: Claim
    check: Check
    expected: str
    condition_is: ConditionKind = "restriction"


def claim(
    statement: str | Claim, *, expected: str, condition_is: ConditionKind = "restriction", **options: Any
) -> Callable[[AnyCheck], AnyCheck]:
    """Registers the check of a claim; use as a decorator.

    A check takes the `Evidence`, or nothing if it reads no results: then a process computes its finding once.

    Args:
        statement: the id of a line of a claims.csv, or from outside the package the whole `Claim`.
        expected: what the results would show if the claim holds, in words of the claims table.
        condition_is: what the condition under which it may hold is.
        options: what a check of several claims gets for this one.

    Raises:
        InputError: if the id is not in the catalogue, or the claim has a check already.
    """
    about = _about(statement)

    def register(check: AnyCheck) -> AnyCheck:
        CLAIMS.add(about.id, Registered(about, _of_evidence(check, options), expected, condition_is), check.__module__)
        return check

    return register


def not_checkable(room: str, reasons: Mapping[str | Claim, tuple[str, str]]) -> None:
    """Registers claims that no computation can decide.

    Args:
        room: the module that does so, its `__name__`.
        reasons: by claim, as `claim` takes it, what it would lead one to expect, and why nothing decides it.

    Raises:
        InputError: as `claim`.
    """
    for statement, (expected, reason) in reasons.items():
        about, check = _about(statement), _of_evidence(cannot_be_checked, {"reason": reason})
        CLAIMS.add(about.id, Registered(about, check, expected), room)


def cannot_be_checked(reason: str) -> Finding:
    """Returns the finding of a claim that no computation can decide."""
    return Finding(None, reason, "a reason, no computation")


def _about(statement: str | Claim) -> Claim:
    if isinstance(statement, str) and statement not in _listed():
        raise InputError(f"the claim {statement} is not in a claims.csv of a paper: give a Claim in place of its id")
    return _listed()[statement] if isinstance(statement, str) else statement


def _of_evidence(check: Callable[..., Finding], options: dict[str, Any]) -> Check:
    """A check with its options as a function of the evidence; without such an argument it runs once."""
    parameters = inspect.signature(check).parameters.values()
    given = partial(check, **options)
    if any(one.default is one.empty and one.name not in options for one in parameters):
        return wraps(check)(given) if options else check
    once = cache(given)
    return wraps(check)(lambda _: once())


def _listed() -> dict[str, Claim]:
    return {row["id"]: Claim(**row) for rows in listed().values() for row in rows}


def catalogue() -> dict[str, Claim]:
    """Returns all claims by id: those that rooms list in their order, then others from outside, sorted."""
    outside = {name: CLAIMS.get(name).claim for name in CLAIMS.names() if CLAIMS.module(name) is None}
    return {**_listed(), **outside}


def load_checks() -> dict[str, Registered]:
    """Returns the checks of all claims by id.

    Raises:
        InputError: if a plug-in or an entry point cannot be imported.
    """
    return CLAIMS.all()


def verdict(claim: Claim, finding: Finding) -> Verdict:
    """Returns a finding in the words of the table: a theorem that fails is refuted, a measurement is not reproduced."""
    if finding.mixed:
        return "mixed"
    if finding.holds is None:
        return "undecided" if finding.wanted else "not checkable"
    if finding.holds:
        return "holds with a condition" if finding.condition else "reproduced"
    return "refuted" if claim.kind == "theorem" else "not reproduced"
