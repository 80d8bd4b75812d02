"""What a check found, as an object, as JSON, in words and as a page that needs no network."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tensorldp.audit.thresholds import log_ratio_bound
from tensorldp.check.claim import Claim
from tensorldp.check.gambling import Reach
from tensorldp.check.search import Breach
from tensorldp.files import writable_folder, write_json, write_text
from tensorldp.pages import rendered

FEW = 2000  # releases of each record of a pair: on fewer, the first line of a verdict says on how many it rests


@dataclass(frozen=True)
class Finding:
    """One thing that differs from what was claimed.

    Attributes:
        kind: "guarantee" where the claim is refuted, "locality" where a release depends on other records,
            "declaration" where the declared density contradicts the declared curve, "floating point" where only the
            floats that are released give the record away, "density", "squared error", "noise", "independence" or
            "running time" where something else that is declared or expected is wrong.
        text: one sentence.
        log_evidence: log of the e-value, or of 1 / the p-value.
        epsilon, delta: the claimed point that is contradicted, where there is one.
        pair, event: what refutes it.
        hits, other_hits, trials: how often the event was seen under the likelier record and under the other.
        distance: of the two records, where the claim scales with one.
    """

    kind: str
    text: str = field(repr=False)
    log_evidence: float
    epsilon: float | None = None
    delta: float | None = None
    pair: str = field(default="", repr=False)
    records: tuple[list[float], list[float]] | None = field(default=None, repr=False)
    view: str = field(default="", repr=False)
    event: str = ""
    hits: int = field(default=0, repr=False)
    other_hits: int = field(default=0, repr=False)
    trials: int = field(default=0, repr=False)
    histogram: dict[str, list[float]] | None = field(default=None, repr=False)
    distance: float | None = field(default=None, repr=False)

    REFUTES = ("guarantee", "locality", "declaration")


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
            why there is none. Where the claim has a metric, the epsilon for each unit of distance.
        findings: what is wrong, claims first.
        attempts: what was tried.
        floating_point: whether floats are part of the claim (True) or leaks only by floats are reported separately.
        samples, seconds: releases of each record, and processor time.
        reach: the least lies that would have been found, None where the claim is refuted or counting cannot refute it.
        dtype: the format of the records that were handed out.
        metric: the name of the distance that the claim scales with, empty where it does not.
        rests_on: releases of each record of the pair that the search saw most; None where nothing was searched.
        notes: what a user should know of how a function was called and its releases were read.
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
        each = f" for each unit of {self.metric} distance" if self.metric else ""
        return f"epsilon >= {self.epsilon_lower:.4g}{each} at delta {self.delta_lower:.3g}"

    def as_dict(self) -> dict[str, Any]:
        """Returns the verdict as plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        word = "REFUTED" if self.refuted else ", ".join(["not refuted", self.few] if self.few else ["not refuted"])
        there = [
            f.epsilon / f.distance if f.epsilon is not None and f.distance else f.epsilon
            for f in self.findings
            if f.kind in f.REFUTES and f.delta == self.delta_lower
        ]
        claimed = "".join(f", where the claim has {epsilon:.4g}" for epsilon in there[:1] if epsilon is not None)
        lines = [
            f"{self.subject}: {word}",
            f"  claimed: {self.claim}",
            f"  proved:  {self.proved}{claimed} (confidence {self.confidence:g})",
        ]
        lines += [] if self.reach is None else [f"  would have found: {self.reach}"]
        lines += [f"  {finding.kind}: {finding.text}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [
            f"  {tried.name}: {tried.outcome}" for tried in self.attempts if tried.outcome.startswith("not tried")
        ]
        lines.append(
            f"  {self.samples} releases of each {self.dtype} record, {self.seconds:.1f} s of processor time, "
            f"seed {self.seed}"
        )
        return "\n".join(lines)


SHOWN = 64  # elements of a record that a report keeps


def breach_finding(kind: str, breach: Breach, histogram: dict[str, list[float]] | None, claim: Claim) -> Finding:
    """Builds the finding for a breach of the claim."""
    trail, lead, event = breach.trail, breach.lead, breach.lead.event
    first, second = ("x'", "x") if event.swapped else ("x", "x'")
    share, other = lead.hits / lead.trials, lead.other_hits / lead.trials
    if trail.observer.local:
        expected = "it should be the same, as the record observed did not change"
    else:
        allowed = math.exp(event.epsilon) * other + event.delta
        expected = f"epsilon {event.epsilon:.4g} and delta {event.delta:.3g} allow {min(1.0, allowed):.4g} at most"
    metric = None if trail.observer.local else claim.metric
    distance = None if metric is None else metric.between(trail.pair.x, trail.pair.x_prime)
    apart = "" if metric is None else f", {distance:.4g} apart in {metric.name}"
    text = (
        f'in {trail.observer.name}, the event "{event}" has frequency {share:.4g} under {first} and {other:.4g} under '
        f"{second} ({trail.pair.name}{apart}; {lead.trials} releases of each); {expected}"
    )
    records = tuple(record.reshape(-1)[:SHOWN].tolist() for record in (trail.pair.x, trail.pair.x_prime))
    return Finding(
        kind,
        text,
        breach.log_evidence,
        event.epsilon,
        event.delta,
        trail.pair.name,
        records,  # type: ignore[arg-type]
        trail.observer.name,
        str(event),
        lead.hits,
        lead.other_hits,
        lead.trials,
        histogram,
        distance,
    )


def epsilon_bound(hits: int, other_hits: int, trials: int, error: float, delta: float) -> float:
    """Computes a lower bound on epsilon at `delta` from an event fixed beforehand, at least 0."""
    bound = float(log_ratio_bound(np.array(hits), np.array(other_hits), trials, error, delta))
    return max(0.0, bound) if bound == bound else 0.0


WIDTH, HEIGHT = 640, 200


def verdict_folder(folder: Path) -> Path:
    """Returns the folder, made if need be; refuses one where the verdict cannot be written."""
    return writable_folder(folder, "the verdict", ("verdict.json", "verdict.html"))


def write_verdict(folder: Path, verdict: Verdict) -> Path:
    """Writes verdict.json and verdict.html into `folder`, whole or not at all; returns the page's path."""
    folder = verdict_folder(Path(folder))
    write_json(folder / "verdict.json", verdict.as_dict())
    write_text(folder / "verdict.html", page(verdict))
    return folder / "verdict.html"


def page(verdict: Verdict) -> str:
    """Builds the page: what is claimed, what is proved, what was tried, and what refutes it."""
    pictures = [_bars(finding.histogram) if finding.histogram else None for finding in verdict.findings]
    findings = list(zip(verdict.findings, pictures, strict=True))
    folder = files("tensorldp.check")
    return rendered(folder, "verdict.html", verdict=verdict, findings=findings, width=WIDTH, height=HEIGHT)


def _bars(histogram: dict[str, list[float]]) -> dict[str, Any]:
    """Computes rectangles of both histograms, and where the threshold lies, in the picture's coordinates."""
    edges = histogram["edges"]
    top = max(*histogram["x"], *histogram["x'"], 1.0)
    step = WIDTH / (len(edges) - 1)
    bars = {
        name: [
            {"x": index * step, "y": HEIGHT * (1 - count / top), "width": step, "height": HEIGHT * count / top}
            for index, count in enumerate(histogram[key])
        ]
        for name, key in (("first", "x"), ("second", "x'"))
    }
    span = edges[-1] - edges[0]
    place = min(max((histogram["threshold"][0] - edges[0]) / span, 0.0), 1.0) * WIDTH
    return {**bars, "threshold": place, "low": edges[0], "high": edges[-1]}
