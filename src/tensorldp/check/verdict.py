"""What a check found, as an object, as JSON and in words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tensorldp.audit.confidence import log_ratio_bound
from tensorldp.check.search import Breach


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it was claimed.

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
    """

    kind: str
    text: str
    log_evidence: float
    epsilon: float | None = None
    delta: float | None = None
    pair: str = ""
    records: tuple[list[float], list[float]] | None = None
    view: str = ""
    event: str = ""
    hits: int = 0
    other_hits: int = 0
    trials: int = 0
    histogram: dict[str, list[float]] | None = field(default=None, repr=False)

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
        epsilon_lower: no guarantee below this epsilon holds at `delta_lower`, at `confidence`.
        findings: what is wrong, claims first.
        attempts: what was tried.
        floating_point: whether floats are part of the claim (True) or leaks by floats alone are reported beside it.
        samples, seconds: releases of each record, and processor time.
    """

    subject: str
    claim: str
    refuted: bool
    epsilon_lower: float
    delta_lower: float
    findings: tuple[Finding, ...]
    attempts: tuple[Attempt, ...]
    confidence: float
    floating_point: bool
    seed: int
    samples: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        word = "REFUTED" if self.refuted else "not refuted"
        lines = [
            f"{self.subject}: {word}",
            f"  claimed: {self.claim}",
            f"  proved:  epsilon >= {self.epsilon_lower:.4g} at delta {self.delta_lower:.3g} "
            f"(confidence {self.confidence:g})",
        ]
        lines += [f"  {finding.kind}: {finding.text}" for finding in self.findings]
        lines += [
            f"  {tried.name}: {tried.outcome}" for tried in self.attempts if tried.outcome.startswith("not tried")
        ]
        lines.append(f"  {self.samples} releases of each record, {self.seconds:.1f} s, seed {self.seed}")
        return "\n".join(lines)


SHOWN = 64  # elements of a record that a report keeps


def breach_finding(kind: str, breach: Breach, histogram: dict[str, list[float]] | None) -> Finding:
    """The finding that a breach is."""
    event, trail = breach.event, breach.trail
    first, second = ("x'", "x") if event.swapped else ("x", "x'")
    share, other = breach.hits / breach.trials, breach.other_hits / breach.trials
    if trail.view.local:
        said = "it should be the same, as the record observed did not change"
    else:
        allowed = math.exp(event.epsilon) * other + event.delta
        said = f"epsilon {event.epsilon:.4g} and delta {event.delta:.3g} allow {min(1.0, allowed):.4g} at most"
    text = (
        f'in {trail.view.name}, the event "{event}" has frequency {share:.4g} under {first} and {other:.4g} under '
        f"{second} ({trail.pair.name}; {breach.trials} releases of each); {said}"
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
        trail.view.name,
        str(event),
        breach.hits,
        breach.other_hits,
        breach.trials,
        histogram,
    )


def epsilon_bound(hits: int, other_hits: int, trials: int, error: float, delta: float) -> float:
    """A lower bound on epsilon at `delta` from an event fixed beforehand, at least 0."""
    bound = float(log_ratio_bound(np.array(hits), np.array(other_hits), trials, error, delta))
    return max(0.0, bound) if bound == bound else 0.0
