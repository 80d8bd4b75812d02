"""What a mechanism declares, compared with itself and with its releases: curve, density and error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

from tensorldp.audit.thresholds import Reals, quantum_of, rounded
from tensorldp.check.betting import CAUTION
from tensorldp.check.claim import Claim
from tensorldp.check.observers import releases
from tensorldp.check.pairs import Pair
from tensorldp.check.target import Target
from tensorldp.mechanisms.base import Mechanism
from tensorldp.randomness import generator

ROUNDING = 1e-6  # of a loss: a larger excess is not a rounding error
MATERIAL = 0.02  # of the stated squared error: less does not matter


@dataclass(frozen=True)
class Contradiction:
    """Two declarations, or a declaration and releases, that contradict each other.

    Attributes:
        about: "curve", "density" or "squared error".
        text: what was found, in a sentence.
    """

    about: str
    text: str
    log_evidence: float
    pair: Pair


def curve_against_density(
    target: Target, claim: Claim, tried: Sequence[Pair], *, samples: int, error: float, seed: int
) -> Contradiction | None:
    """Tests whether the declared density's hockey-stick divergence exceeds the claimed delta at some pair and epsilon.

    delta(epsilon) is at least E max(0, 1 - e^(epsilon - L)) over y ~ M(x), L the declared loss: a mean in [0, 1],
    tested by betting on the second half of the releases what the first half suggests. A pure claim bounds L itself
    at every release of any record, so that one release above it is a proof.
    """
    likely = []
    for index, pair in enumerate(tried):
        for second in (False, True):
            x, x_prime = (pair.x_prime, pair.x) if second else (pair.x, pair.x_prime)
            ratio = target.likelihood_ratio(x, x_prime)
            if ratio is None:
                return None
            blocks = _releases(target, pair, second, samples, seed, "curve", index)
            loss = np.concatenate([ratio(seen).numpy() for seen in blocks])
            for epsilon, delta in claim.at(pair.x, pair.x_prime):
                excess = loss - epsilon > ROUNDING * max(1.0, epsilon)
                gain = np.where(excess, -np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)
                likely.append((_mean_exceeds(gain, delta), pair, epsilon, delta, float(np.nanmax(loss))))
    if not likely:
        return None
    total = _mean_evidence([item[0] for item in likely])
    if total < math.log(1.0 / error):
        return None
    _, pair, epsilon, delta, largest = max(likely, key=lambda item: item[0])
    text = (
        f"the declared density contradicts the declared curve: at epsilon {epsilon:.6g} it has a delta above "
        f"{delta:.3g}, the largest loss seen being {largest:.6g}"
    )
    return Contradiction("curve", text, total, pair)


def _mean_evidence(logs: Sequence[float]) -> float:
    """Computes the log of the mean of e-values, which is one too."""
    return float(np.logaddexp.reduce(logs)) - math.log(len(logs))


def _mean_exceeds(values: Reals, bound: float) -> float:
    """Computes a log e-value for "the mean of values in [0, 1] is at most `bound`"."""
    if bound == 0.0:
        return math.inf if (values > 0.0).any() else 0.0
    half = len(values) // 2
    first, second = values[:half], values[half:]
    lead = first.mean() - bound
    error = math.sqrt((first.var() + bound / half) / half)
    if lead <= CAUTION * error:
        return 0.0
    stake = min((lead - CAUTION * error) / (first.var() + lead**2), 0.9 / bound)
    return float(np.log1p(stake * (second - bound)).sum())


def density_against_sampler(
    target: Target, tried: Sequence[Pair], *, samples: int, error: float, seed: int
) -> Contradiction | None:
    """Tests whether releases follow the density that the mechanism declares.

    Of a release of x or of x', each with a chance of 1/2, the declared loss L says that it is x's with probability
    1 / (1 + e^-L). Whatever set of releases one looks at, x must be right that often: the test bets on sets of
    losses, single elements, their sum, norm, largest and a random projection, the ends of their ranges too. The first
    half of the releases chooses the set and the second settles the bet.
    """
    evidence = []
    for index, pair in enumerate(tried):
        ratio = target.likelihood_ratio(pair.x, pair.x_prime)
        if ratio is None:
            return None
        coins = torch.rand(samples, generator=torch.Generator().manual_seed(seed)) < 0.5
        sides = [_releases(target, pair, second, samples, seed, "density", index) for second in (False, True)]
        losses, columns, start = [], [], 0
        for mine, other in zip(*sides, strict=True):
            seen = torch.where(coins[start : start + len(mine), None], mine, other)
            losses.append(ratio(seen).numpy())
            columns.append(_columns(seen.numpy()))
            start += len(mine)
        loss = np.concatenate(losses)
        declared = 1.0 / (1.0 + np.exp(-np.clip(loss, -700, 700)))
        declared = np.where(np.isnan(declared), 0.5, declared)
        evidence.append((_miscalibrated(coins.numpy() - declared, loss, np.concatenate(columns)), pair))
    if not evidence:
        return None
    total = _mean_evidence([item[0] for item in evidence])
    if total < math.log(1.0 / error):
        return None
    pair = max(evidence, key=lambda item: item[0])[1]
    text = f"releases do not follow the declared density (pair: {pair.name})"
    return Contradiction("density", text, total, pair)


def _columns(seen: Reals) -> Reals:
    """Returns the first elements of releases, the largest size, the sum, the norm and a random projection."""
    columns = [*seen[:, :8].T, np.abs(seen).max(axis=1)]
    if seen.shape[1] > 1:
        direction = np.random.default_rng(0).standard_normal(seen.shape[1])
        columns += [seen.sum(axis=1), np.linalg.norm(seen, axis=1), seen @ direction]
    return np.stack(columns, axis=1)


def _miscalibrated(surprise: Reals, loss: Reals, columns: Reals) -> float:
    """Computes a log e-value for "the mean of `surprise` is 0 on every set of releases"; surprises are in [-1, 1]."""
    half = len(loss) // 2
    best: tuple[float, Callable[[slice], Reals], float] | None = None
    rare = 8.0 / half  # a few releases at either end
    for column in (np.nan_to_num(loss), *columns.T):
        column = rounded(column, quantum_of(column))
        for cut in np.unique(np.quantile(column[:half], [0.0, rare, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0 - rare])):
            for above in (True, False):
                inside = column >= cut if above else column <= cut
                first = np.where(inside[:half], surprise[:half], 0.0)
                spread = float(first.std()) + 1.0 / half
                score = float(first.mean()) / spread * math.sqrt(half)
                if best is None or abs(score) > abs(best[0]):
                    stake = math.copysign(max(0.0, abs(score) - CAUTION) / abs(score or 1.0), score)
                    stake *= min(0.5, abs(float(first.mean())) / spread**2)
                    best = (score, lambda part, inside=inside: np.where(inside[part], surprise[part], 0.0), stake)
    if best is None or abs(best[0]) <= CAUTION:
        return 0.0
    return float(np.log1p(best[2] * best[1](slice(half, None))).sum())


def stated_error(
    mechanism: Mechanism, tried: Sequence[Pair], *, samples: int, error: float, seed: int
) -> Contradiction | None:
    """Tests whether the mean squared error at the worst input is the stated one, and no other record's is larger.

    By Johnson's t, as squared errors have no bound: the error rate is that of its normal approximation. Differences
    below 2 % of the stated error are accepted.
    """
    stated = mechanism.squared_error()
    if stated is None:
        return None
    target = Target.of(mechanism, None)
    worst = mechanism.worst_input()
    records = [("its worst input", worst)] + [(pair.name, pair.x) for pair in tried[:4]]
    least = -float(ndtri(error / (2 * len(records))))
    for name, record in records:
        pair = Pair(name, record, record)
        blocks = _releases(target, pair, False, samples, seed, "error", name)
        errors = np.concatenate([((seen - record.reshape(-1)) ** 2).sum(dim=1).numpy() for seen in blocks])
        lead, score = float(errors.mean()) - stated, skewed_score(errors, stated)
        if record is worst:
            lead, score = abs(lead), abs(score)
        if score > least and lead > MATERIAL * stated:
            text = f"the mean squared error at {name} is {errors.mean():.6g}, stated is {stated:.6g}"
            return Contradiction("squared error", text, min(score, 1e3) ** 2 / 2.0, pair)
    return None


def skewed_score(values: Reals, mean: float) -> float:
    """Computes the standard errors by which the mean exceeds `mean`, corrected for the values' skewness [johnson1978].

    Without the correction a mean of few squared errors is called too small eight times as often as is meant.
    """
    scale = max(float(np.abs(values).max()), abs(mean)) or 1.0  # a score has no unit, and powers of large ones overflow
    values, mean = values / scale, mean / scale
    spread, lead = float(values.std()), float(values.mean()) - mean
    if spread <= 1e-12 * abs(mean):
        return 0.0 if abs(lead) <= 1e-9 * abs(mean) else math.copysign(math.inf, lead)
    third = float(((values - values.mean()) ** 3).mean())
    corrected = lead + third / (6.0 * spread**2 * values.size) + third * lead**2 / (3.0 * spread**4)
    return corrected / (spread / math.sqrt(values.size))


def _releases(target: Target, pair: Pair, second: bool, samples: int, *seed: object) -> Iterator[Tensor]:
    source = generator("check", "release", target.name, second, *seed)
    for block in releases(target, pair.x_prime if second else pair.x, samples, source):
        yield block.double()
