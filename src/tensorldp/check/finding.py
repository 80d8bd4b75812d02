"""One thing that a check found, with the event that shows it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from tensorldp.check.claim import Claim
from tensorldp.check.events import Event
from tensorldp.check.observers import Observer
from tensorldp.check.pairs import Pair
from tensorldp.check.records import Records
from tensorldp.check.search import Breach
from tensorldp.check.words import in_words
from tensorldp.errors import shown


@dataclass(frozen=True)
class Finding:
    """One thing that differs from what was claimed.

    Attributes:
        kind: "guarantee" where the claim is refuted, "locality" where a release depends on other records,
            "declaration" where the declared density contradicts the declared curve, "floating point" where only the
            floats that are released give the record away, "density", "squared error", "noise", "independence" or
            "running time" where something else that is declared or expected is wrong; "lower bound" for the event that
            the lower bound on epsilon comes from where the claim is not refuted.
        text: one sentence.
        log_evidence: log of the e-value, or of 1 / the p-value.
        epsilon, delta: the claimed point that is contradicted, where there is one; of a lower bound, the one at its
            delta.
        pair, event: what refutes it.
        hits, other_hits, trials: how often the event was seen under the likelier record and under the other.
        distance: of the two records, where the claim scales with one.
        statistic, threshold, above: the event: that the statistic is at least the threshold, or at most if not `above`.
        likelier: the record under which it comes up more often, "x" or "x'"; empty without an event.
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
    statistic: str = field(default="", repr=False)
    threshold: float | None = field(default=None, repr=False)
    above: bool | None = field(default=None, repr=False)
    likelier: str = field(default="", repr=False)

    REFUTES = ("guarantee", "locality", "declaration")

    @property
    def in_words(self) -> str:
        """Returns the event in words, such as "element 3 is 1 or more"; empty without an event."""
        if self.threshold is None or self.above is None:
            return ""
        return in_words(self.statistic, self.threshold, self.above)

    @property
    def shares(self) -> dict[str, float]:
        """Returns how often the event came up, as a share of the releases, under "x" and under "x'"; empty without."""
        if not self.trials:
            return {}
        first, second = self.hits / self.trials, self.other_hits / self.trials
        return {"x": second, "x'": first} if self.likelier == "x'" else {"x": first, "x'": second}

    @property
    def limit(self) -> float | None:
        """Returns the share that the claim allows under the likelier record, given the other's; None where none is."""
        if not self.trials or self.epsilon is None or self.delta is None:
            return None
        other = self.other_hits / self.trials
        if self.kind == "locality":
            return other
        return _allowed(self.epsilon, self.delta, other)

    def as_dict(self) -> dict[str, Any]:
        """Returns the finding as plain values for JSON."""
        return {**asdict(self), "event_in_words": self.in_words, "limit": self.limit}


def _allowed(epsilon: float, delta: float, other: float) -> float:
    """Computes e^epsilon other + delta, 1 at most."""
    return 1.0 if math.isinf(epsilon) else min(1.0, math.exp(min(epsilon, 700.0)) * other + delta)


SHOWN = 64  # elements of a record that a report keeps


def breach_finding(
    kind: str,
    breach: Breach,
    histogram: dict[str, list[float]] | None,
    claim: Claim,
    kind_of_records: Records | None = None,
) -> Finding:
    """Builds the finding for a breach of the claim."""
    trail, lead = breach.trail, breach.lead
    counts = (lead.hits, lead.other_hits, lead.trials)
    return event_finding(
        kind, trail.observer, trail.pair, lead.event, counts, breach.log_evidence, histogram, claim, kind_of_records
    )


def event_finding(
    kind: str,
    observer: Observer,
    pair: Pair,
    event: Event,
    counts: tuple[int, int, int],
    log_evidence: float,
    histogram: dict[str, list[float]] | None,
    claim: Claim,
    kind_of_records: Records | None = None,
) -> Finding:
    """Builds the finding for an event; `counts` are hits of the likelier record, of the other, and releases of each.

    Records that are categories are named.
    """
    hits, others, trials = counts
    first, second = ("x'", "x") if event.swapped else ("x", "x'")
    share, other = hits / trials, others / trials
    if observer.local:
        expected = "it should be the same, as the record observed did not change"
    elif math.isinf(event.epsilon):
        expected = "nothing is claimed of these two records"
    else:
        allowed = _allowed(event.epsilon, event.delta, other)
        expected = f"epsilon {event.epsilon:.4g} and delta {event.delta:.3g} allow {allowed:.4g} at most"
        expected += " if the second frequency is exact" if kind == "lower bound" else ""
    metric = None if observer.local else claim.metric
    distance = None if metric is None else metric.between(pair.x, pair.x_prime)
    apart = "" if metric is None else f", {distance:.4g} apart in {metric.name}"
    chosen = pair.name
    if kind_of_records is not None and kind_of_records.values:
        value, other_value = kind_of_records.given(torch.stack((pair.x, pair.x_prime)))
        chosen = f"x is {shown(value)}, x' is {shown(other_value)}"
    text = (
        f'in {observer.name}, the event "{event}" has frequency {share:.4g} under {first} and {other:.4g} under '
        f"{second} ({chosen}{apart}; {trials} releases of each); {expected}"
    )
    records = tuple(record.reshape(-1)[:SHOWN].tolist() for record in (pair.x, pair.x_prime))
    return Finding(
        kind,
        text,
        log_evidence,
        event.epsilon,
        event.delta,
        pair.name,
        records,  # type: ignore[arg-type]
        observer.name,
        str(event),
        hits,
        others,
        trials,
        histogram,
        distance,
        event.statistic,
        event.threshold,
        event.above,
        first,
    )
