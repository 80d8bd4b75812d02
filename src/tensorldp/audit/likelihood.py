"""A lower bound on epsilon from releases of the mechanism's worst pair of records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from tensorldp.audit.observed import observed
from tensorldp.audit.thresholds import (
    QUANTUM,
    Reals,
    ThresholdEvent,
    log_ratio_bound,
    lower_bound,
    tail_counts,
    upper_bound,
)
from tensorldp.errors import InputError, check_real, check_whole
from tensorldp.mechanisms.base import Mechanism, check_instance
from tensorldp.memory import check_memory
from tensorldp.randomness import generator

Statistic = Callable[[Tensor], Tensor]
BATCH_ELEMENTS = 1 << 20
MAX_BATCH = 1 << 16
COORDINATES = 8  # single coordinates to examine, evenly spaced


def releases(mechanism: Mechanism, record: Tensor, count: int, *seed: object) -> Iterator[Tensor]:
    """Yields `count` releases of a record in batches of float64: in float32 a noisy value can round to its input."""
    source = generator("audit", mechanism.name, *seed)
    step = min(MAX_BATCH, max(1, BATCH_ELEMENTS // mechanism.size))
    record = record.double()
    for start in range(0, count, step):
        rows = min(step, count - start)
        batch = record.expand(rows, *record.shape).clone(memory_format=torch.contiguous_format)
        form, seen = observed(mechanism.name, mechanism.privatize(batch, source), rows)
        if form.shape != tuple(record.shape) or not form.dtype.is_floating_point:
            raise InputError(f"an audit takes releases of real floats of the record's shape, got {form}")
        yield seen.reshape(rows, *record.shape)


def statistics(mechanism: Mechanism, x: Tensor, x_prime: Tensor, likelihood: bool) -> dict[str, Statistic]:
    """Returns what the audit looks at in a release; each is larger, if anything, under x than under x'.

    Only "likelihood ratio" believes the mechanism. The others see only the releases: how far they lie towards x
    along x - x', all together and coordinate by coordinate, and how many elements equal x rather than x'.
    """
    change = (x - x_prime).reshape(-1)
    middle = ((x + x_prime) / 2.0).reshape(-1)
    looked_at: dict[str, Statistic] = {}
    if likelihood:
        looked_at["likelihood ratio"] = lambda y: mechanism.log_likelihood_ratio(y.clone(), x.clone(), x_prime.clone())
    unit = change / change.norm()
    looked_at["projection on x - x'"] = lambda y: (y.reshape(y.shape[0], -1) - middle) @ unit
    differs = change != 0
    first, second = x.reshape(-1)[differs], x_prime.reshape(-1)[differs]

    def equality(y: Tensor) -> Tensor:
        seen = y.reshape(y.shape[0], -1)[:, differs]
        return ((seen == first).sum(dim=1) - (seen == second).sum(dim=1)).double()

    looked_at["elements equal to x less those equal to x'"] = equality
    places = torch.nonzero(differs).reshape(-1)
    if places.numel() > 1:
        chosen = places[torch.linspace(0, places.numel() - 1, min(COORDINATES, places.numel())).long()]
        for place in chosen.unique().tolist():
            looked_at[f"element {place}"] = _coordinate(place, math.copysign(1.0, float(change[place])))
    return looked_at


def _coordinate(place: int, sign: float) -> Statistic:
    return lambda y: sign * y.reshape(y.shape[0], -1)[:, place]


def collect(
    mechanism: Mechanism, record: Tensor, count: int, wanted: dict[str, Statistic], *seed: object
) -> dict[str, Reals]:
    """Computes each statistic of `count` releases; one that is not a number counts as 0, which tells nothing."""
    out = {name: np.empty(count) for name in wanted}
    start = 0
    for y in releases(mechanism, record, count, *seed):
        for name, statistic in wanted.items():
            out[name][start : start + y.shape[0]] = (
                torch.nan_to_num(statistic(y).double(), nan=0.0, posinf=math.inf, neginf=-math.inf).cpu().numpy()
            )
        start += y.shape[0]
    return out


MAX_THRESHOLDS = 1000
ELEMENT_BYTES = 8 * 12  # of memory for each element of a record: both records, a release, and what is computed from it


@dataclass(frozen=True)
class Audit:
    """What an audit of one mechanism found.

    Attributes:
        epsilon_lower: no (epsilon, delta) guarantee below this holds, at `confidence`; in nats.
        delta: the delta of the guarantee under test.
        pair: the two records that were released.
        event: the set of releases that tells them apart.
        confidence: the chance, before sampling, that epsilon_lower does not exceed the truth.
        samples: releases of each record; half chose the event, half measured it.
        unit: the unit that the pair differs in.
        atom_lower: at the same confidence, a lower bound on the chance that a release is impossible under the other
            record, if the mechanism's own likelihood ratio is right about which releases are.
        hits, other_hits: how many releases of the second half lie in the event: those of the record for which it is
            likelier, and those of the other.
    """

    epsilon_lower: float
    delta: float
    pair: tuple[Tensor, Tensor] = field(repr=False)
    event: str = field(repr=False)
    confidence: float
    samples: int
    unit: str
    atom_lower: float = field(default=0.0, repr=False)
    hits: int = field(default=0, repr=False)
    other_hits: int = field(default=0, repr=False)

    def bound_at(self, confidence: float) -> float:
        """Computes `epsilon_lower` at another confidence: the event was fixed before the releases counted here.

        Raises:
            InputError: if the confidence is not between 0 and 1.
        """
        confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
        bound = log_ratio_bound(self.hits, self.other_hits, self.samples // 2, 1.0 - confidence, self.delta)
        return max(0.0, float(bound))


def audit(
    mechanism: Mechanism,
    *,
    samples: int,
    confidence: float = 0.95,
    seed: int = 0,
    delta: float = 0.0,
    likelihood: bool = True,
    pair: tuple[Tensor, Tensor] | None = None,
) -> Audit:
    """Tries to prove that a mechanism's epsilon at `delta` is larger than it says.

    Releases each record of the worst pair `samples` times in float64. The first half of the releases chooses the
    event with the largest P(S|x) to P(S|x') ratio among thresholds of the likelihood ratio and of statistics that
    do not trust the mechanism; the second half alone bounds ln((P(S|x) - delta) / P(S|x')) by [clopper1934],
    so that nothing chosen after seeing data needs a correction. The mechanism's guarantee is never consulted.

    Args:
        mechanism: the mechanism under test.
        samples: releases of each record, >= 20.
        confidence: in (0, 1).
        seed: for the releases.
        delta: in [0, 1).
        likelihood: False leaves out the mechanism's own likelihood ratio, for mechanisms without one.
        pair: two records to use instead of `mechanism.worst_pair()`.

    Raises:
        InputError: if an argument is out of range, the mechanism has no density and `likelihood` is True, or its unit
            is an element and the records differ in more.
    """
    (result,) = audits(
        mechanism, samples=samples, deltas=[delta], confidence=confidence, seed=seed, likelihood=likelihood, pair=pair
    )
    return result


def audits(
    mechanism: Mechanism,
    *,
    samples: int,
    deltas: list[float],
    confidence: float = 0.95,
    seed: int = 0,
    likelihood: bool = True,
    pair: tuple[Tensor, Tensor] | None = None,
) -> list[Audit]:
    """Audits at several deltas on the same releases; each bound holds at `confidence` by itself, not all together.

    Raises:
        InputError: as `audit`.
    """
    x, x_prime, half, error = _checked(mechanism, samples, confidence, pair)
    deltas = [check_real("delta", delta, low=0.0, high=1.0, open_high=True) for delta in deltas]
    wanted = statistics(mechanism, x, x_prime, likelihood)
    first = collect(mechanism, x, half, wanted, seed, "choose", "x")
    second = collect(mechanism, x_prime, half, wanted, seed, "choose", "x'")
    events = [
        max((_best(name, first[name], second[name], error, delta) for name in wanted), key=lambda pair: pair[0])[1]
        for delta in deltas
    ]
    del first, second
    needed = {*(event.statistic for event in events), *(["likelihood ratio"] if likelihood else [])}
    wanted = {name: wanted[name] for name in needed}
    fresh = (
        collect(mechanism, x, half, wanted, seed, "measure", "x"),
        collect(mechanism, x_prime, half, wanted, seed, "measure", "x'"),
    )
    results = []
    for delta, event in zip(deltas, events, strict=True):
        mine, other = (event.hits(side[event.statistic]) for side in (fresh if event.above else fresh[::-1]))
        bound = float(log_ratio_bound(mine, other, half, error, delta))
        results.append(
            Audit(
                max(0.0, bound),
                delta,
                (x, x_prime),
                str(event),
                float(confidence),
                samples,
                mechanism.unit,
                _atom(fresh, half, error) if likelihood else 0.0,
                mine,
                other,
            )
        )
    return results


def audit_profile(
    mechanism: Mechanism,
    *,
    epsilons: list[float],
    samples: int,
    confidence: float = 0.95,
    seed: int = 0,
    pair: tuple[Tensor, Tensor] | None = None,
) -> list[float]:
    """Computes lower bounds on delta at each epsilon, all together at `confidence`: P(S|x) - e^epsilon P(S|x').

    S = {log likelihood ratio > epsilon}, the event at which delta is attained (Neyman and Pearson). The error is
    split equally over the epsilons (union bound); both halves of the samples are used, as the events are fixed.

    Raises:
        InputError: if an argument is out of range or the mechanism has no density.
    """
    x, x_prime, _, error = _checked(mechanism, samples, confidence, pair)
    if not epsilons:
        raise InputError("audit_profile needs at least one epsilon")
    levels = [check_real("epsilon", epsilon, low=0.0) for epsilon in epsilons]
    wanted: dict[str, Statistic] = {
        "ratio": lambda y: mechanism.log_likelihood_ratio(y.clone(), x.clone(), x_prime.clone())
    }
    mine = collect(mechanism, x, samples, wanted, seed, "profile", "x")["ratio"]
    other = collect(mechanism, x_prime, samples, wanted, seed, "profile", "x'")["ratio"]
    share = error / len(levels) / 2.0
    bounds = []
    for level in levels:
        edge = level + QUANTUM * max(1.0, level)
        high = float(upper_bound(np.count_nonzero(other > edge), samples, share))
        low = float(lower_bound(np.count_nonzero(mine > edge), samples, share))
        bounds.append(max(0.0, low - math.exp(min(level + math.log(high), 700.0))))
    return bounds


def _checked(
    mechanism: Mechanism, samples: int, confidence: float, pair: tuple[Tensor, Tensor] | None
) -> tuple[Tensor, Tensor, int, float]:
    check_instance("an audit", mechanism)
    samples = check_whole("samples of an audit", samples, low=20)
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    check_memory(f"an audit of {mechanism.name} on records", mechanism.size, ELEMENT_BYTES)
    x, x_prime = (z.double() for z in (mechanism.worst_pair() if pair is None else pair))
    if bool((x == x_prime).all()):
        raise InputError("an audit needs two records that differ, got the same twice")
    changed = int((x != x_prime).sum())
    if mechanism.unit == "element" and changed > 1:
        raise InputError(
            f"the guarantee of {mechanism.name} is for one element, and the records of the audit differ in {changed}"
        )
    return x, x_prime, samples // 2, 1.0 - confidence


def _best(name: str, mine: Reals, other: Reals, error: float, delta: float) -> tuple[float, ThresholdEvent]:
    """Returns the threshold and direction of a statistic whose bound would be the largest on these samples."""
    quantum, thresholds, counts = tail_counts(mine, other, MAX_THRESHOLDS)
    candidates = []
    for above in (True, False):  # a statistic is larger under x, if anything, and smaller under x'
        hits, other_hits = counts[above] if above else counts[above][::-1]
        scores = log_ratio_bound(hits, other_hits, mine.size, error, delta)
        best = int(np.argmax(scores))
        event = ThresholdEvent(name, float(thresholds[best]), above, quantum=quantum)
        candidates.append((float(scores[best]), event))
    return max(candidates, key=lambda pair: pair[0])


def _atom(fresh: tuple[dict[str, Reals], dict[str, Reals]], half: int, error: float) -> float:
    """Computes a lower bound on the mass where the ratio is infinite; 0 if releases of the other record reach it."""
    mine, other = (side["likelihood ratio"] for side in fresh)
    bounds = [0.0]
    for values, others, sign in ((mine, other, 1.0), (other, mine, -1.0)):
        if not (others == sign * math.inf).any():
            bounds.append(float(lower_bound(np.count_nonzero(values == sign * math.inf), half, error / 2.0)))
    return max(bounds)
