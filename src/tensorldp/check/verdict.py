"""What a check found, as an object, as JSON, in words and as a page that needs no network."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tensorldp.audit.thresholds import log_ratio_bound
from tensorldp.check.claim import distance_of
from tensorldp.check.finding import Finding
from tensorldp.check.gambling import Reach
from tensorldp.check.picture import picture
from tensorldp.errors import joined
from tensorldp.files import json_text, writable_folder, write_text
from tensorldp.pages import rendered
from tensorldp.version import __version__

SCHEMA_VERSION = 1  # of a verdict's JSON, which `verdict.schema.json` describes
FEW = 2000  # releases of each record of a pair: on fewer, the first line of a verdict says on how many it rests


@dataclass(frozen=True)
class Attempt:
    """One thing that was tried: its share of the error, what it cost, and what came out."""

    name: str
    error: float
    samples: int
    seconds: float
    outcome: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        subject, claim: what was checked and what it claims.
        refuted: whether the claim is refuted, at `confidence` over all that was tried.
        epsilon_lower: no guarantee below this epsilon holds at `delta_lower`, at `confidence`; 0 where `no_bound` says
            why there is none. Where the claim has a metric, the epsilon for each unit of distance, or at `distance`.
        findings: what is wrong, claims first.
        attempts: what was tried.
        floating_point: whether floats are part of the claim (True) or leaks only by floats are reported separately.
        samples, seconds: releases of each record, and processor time.
        reach: the least lies that would have been found, None where the claim is refuted or counting cannot refute it.
        dtype: the format of the records that were handed out.
        metric: the name of the distance that the claim scales with, empty where it does not.
        rests_on: releases of each record of the pair that the search saw most; None where nothing was searched.
        notes: what a user should know of how a function was called and its releases were read.
        command: what repeats the check: the call of `privacy.check` with all its arguments, or a shell command.
        by_clock: whether the clock decided how many releases there were, so that another machine may draw others.
        distance: how far from each other the records of that bound are, where a curve is claimed for each distance.
        closest: the event that the lower bound comes from where the claim is not refuted; None where there is none.
        record: what a record is, such as "4 float64 numbers from 0 to 1".
    """

    subject: str
    claim: str = field(repr=False)
    refuted: bool
    epsilon_lower: float
    delta_lower: float
    findings: tuple[Finding, ...] = field(repr=False)
    attempts: tuple[Attempt, ...] = field(repr=False)
    confidence: float
    floating_point: bool = field(repr=False)
    seed: int = field(repr=False)
    samples: int
    seconds: float = field(repr=False)
    no_bound: str = field(default="", repr=False)
    reach: Reach | None = field(default=None, repr=False)
    dtype: str = field(default="float64", repr=False)
    metric: str = field(default="", repr=False)
    rests_on: int | None = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    command: str = field(default="", repr=False)
    by_clock: bool = field(default=False, repr=False)
    closest: Finding | None = field(default=None, repr=False)
    record: str = field(default="", repr=False)
    distance: float | None = field(default=None, repr=False)

    @property
    def telling(self) -> Finding | None:
        """Returns the finding whose event refutes the claim, or else comes closest to it; None without an event."""
        kinds = {*Finding.REFUTES, *(("floating point",) if self.floating_point else ())}
        found = [finding for finding in self.findings if finding.kind in kinds and finding.trials]
        return found[0] if found else None if self.refuted else self.closest

    @property
    def event(self) -> str:
        """Returns the event of `telling` in words, such as "element 3 is 1 or more"; empty where there is none."""
        return self.telling.in_words if self.telling is not None else ""

    @property
    def few(self) -> str:
        """Returns on how few releases a claim is not refuted, empty where they are `FEW` or more."""
        if self.refuted or self.rests_on is None or self.rests_on >= FEW:
            return ""
        return f"on {self.rests_on} releases of each record"

    @property
    def proved(self) -> str:
        """Returns the lower bound on epsilon, or why there is none."""
        if self.no_bound:
            return f"no bound: {self.no_bound}"
        each = of_distance(self.metric, self.distance)
        return f"epsilon {self._least} {self.epsilon_lower:.4g}{each} at delta {self.delta_lower:.3g}"

    @property
    def _least(self) -> str:
        """Returns ">" where the bound is the claim that is refuted, which is then too small itself."""
        refuting = [one for one in self.findings if one.kind in one.REFUTES and one.delta == self.delta_lower]
        each = [(one.distance or 1.0) if self.distance is None else 1.0 for one in refuting]
        claimed = {one.epsilon / unit for one, unit in zip(refuting, each, strict=True) if one.epsilon is not None}
        return ">" if self.refuted and self.epsilon_lower in claimed else ">="

    def summary(self) -> str:
        """Returns three to five plain sentences.

        They say what was claimed, what came out and at which confidence, the event in words, what a failed attempt
        means, and how to repeat the check.
        """
        sentences = [self._claimed(), self._outcome(), self._event(), self._meaning()]
        if self.command:
            clock = ", though a machine of another speed may draw more or fewer releases" if self.by_clock else ""
            sentences.append(f"It is repeated by `{self.command}`{clock}.")
        return " ".join(sentence for sentence in sentences if sentence)

    def _claimed(self) -> str:
        an = "an (epsilon, delta) of " if self.claim.startswith("(") else ""
        floats = ", the floats that are released included" if self.floating_point else ""
        return f"It is claimed that {self.subject} has {an}{self.claim}{floats}{self._a_record}."

    @property
    def _a_record(self) -> str:
        return f"; a record is {self.record}" if self.record else ""

    def _outcome(self) -> str:
        each = of_distance(self.metric, self.distance)
        bound = f"epsilon is at least {self.epsilon_lower:.4g}{each} at delta {self.delta_lower:.3g}"
        if self.refuted:
            proved = f"no bound on epsilon was had, as {self.no_bound}" if self.no_bound else bound
            return f"The claim is refuted at confidence {self.confidence:g}: {proved}."
        few = f" {self.few}" if self.few else ""
        proved = (
            f"no bound on epsilon was had ({self.no_bound})" if self.no_bound else f"what is proved is that {bound}"
        )
        kinds = list(dict.fromkeys(finding.kind for finding in self.findings))
        beside = f"; beside the claim there are findings of {joined(kinds, 'and')}" if kinds else ""
        return f"The claim is not refuted{few} at confidence {self.confidence:g}; {proved}{beside}."

    def _event(self) -> str:
        told = self.telling
        if told is None:
            return f"What refutes it: {self.findings[0].text}." if self.refuted and self.findings else ""
        other = "x" if told.likelier == "x'" else "x'"
        exact = "" if self.refuted else f" if the frequency under {other} is exact"  # it may be off by chance
        allowed = "" if told.limit is None else f"; the claim allows {told.limit:.4g} at most{exact}"
        seen = " and ".join(f"{told.shares[name]:.4g} under {name}" for name in (told.likelier, other))
        what = "What refutes it" if self.refuted else "What tells two records apart best"
        rests = f"{told.pair}; {told.trials} releases of each"
        return f"{what}: in {told.view}, {told.in_words}; its frequency is {seen} ({rests}){allowed}."

    def _meaning(self) -> str:
        if self.refuted:
            return f"A true claim is called refuted with a chance of {1.0 - self.confidence:.2g} at most."
        found = f": the check would have found {self.reach}" if self.reach is not None else ""
        return f"An attempt that failed proves nothing{found}."

    def picture(self) -> str:
        """Draws the two records' laws on the event of `telling`.

        Returns:
            The text of an SVG: the frequencies of the event under both records with what the claim allows, and
            histograms of the event's statistic where they are known; empty where there is no event.
        """
        return picture(self.telling) if self.telling is not None else ""

    def as_dict(self) -> dict[str, Any]:
        """Returns the verdict as plain values for JSON, as `verdict.schema.json` describes them."""
        return {
            **asdict(self),
            "schema_version": SCHEMA_VERSION,
            "tensorldp": __version__,
            "summary": self.summary(),
            "findings": [finding.as_dict() for finding in self.findings],
            "closest": None if self.closest is None else self.closest.as_dict(),
        }

    def to_json(self) -> str:
        """Returns the verdict as JSON text, infinities as the word "inf"."""
        return json_text(self.as_dict())

    def __str__(self) -> str:
        word = "REFUTED" if self.refuted else ", ".join(["not refuted", self.few] if self.few else ["not refuted"])
        there = [
            f.epsilon / f.distance if f.epsilon is not None and f.distance and self.distance is None else f.epsilon
            for f in self.findings
            if f.kind in f.REFUTES and f.delta == self.delta_lower
        ]
        claimed = "".join(f", where the claim has {epsilon:.4g}" for epsilon in there[:1] if epsilon is not None)
        lines = [
            f"{self.subject}: {word}",
            f"  claimed: {self.claim}{self._a_record}",
            f"  proved:  {self.proved}{claimed} (confidence {self.confidence:g})",
        ]
        lines += [] if self.reach is None else [f"  would have found: {self.reach}"]
        lines += [f"  {finding.kind}: {finding.text}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [
            f"  {tried.name}: {tried.outcome}" for tried in self.attempts if tried.outcome.startswith("not tried")
        ]
        lines.append(
            f"  {self.samples} releases of each record, {self.seconds:.1f} s of processor time, seed {self.seed}"
        )
        lines += [f"  event:   {self.event}"] if self.refuted and self.event else []
        return "\n".join(lines)


def of_distance(metric: str, distance: float | None) -> str:
    """Says of which distance a bound is: of each unit, or of one where a curve is claimed for each; empty without."""
    if not metric or distance is None:
        return f" for each unit of {distance_of(metric)}" if metric else ""
    return f" of records {distance:.4g} apart in {metric}"


def epsilon_bound(hits: int, other_hits: int, trials: int, error: float, delta: float) -> float:
    """Computes a lower bound on epsilon at `delta` from an event fixed beforehand, at least 0."""
    bound = float(log_ratio_bound(np.array(hits), np.array(other_hits), trials, error, delta))
    return max(0.0, bound) if bound == bound else 0.0


def verdict_folder(folder: Path) -> Path:
    """Returns the folder, made if need be; refuses one where the verdict cannot be written."""
    return writable_folder(folder, "the verdict", ("verdict.json", "verdict.html"))


def write_verdict(folder: Path, verdict: Verdict) -> Path:
    """Writes verdict.json and verdict.html into `folder`, whole or not at all; returns the page's path."""
    folder = verdict_folder(Path(folder))
    write_text(folder / "verdict.json", verdict.to_json() + "\n")
    write_text(folder / "verdict.html", page(verdict))
    return folder / "verdict.html"


def page(verdict: Verdict) -> str:
    """Builds the page: what is claimed, what is proved, what was tried, and what refutes it."""
    shown = [*verdict.findings, *([verdict.closest] if verdict.closest is not None else [])]
    findings = [(finding, picture(finding, alone=False) if finding.trials else "") for finding in shown]
    folder = files("tensorldp.check")
    return rendered(folder, "verdict.html", verdict=verdict, findings=findings)
