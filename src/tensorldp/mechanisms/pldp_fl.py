"""PDPM and PLU-FedOA of PLDP-FL: a random release of each parameter, with a personal budget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.curves.base import DELTA_FLOOR, PrivacyCurve, RepeatedCurve, epsilon_at
from tensorldp.curves.discrete import SMALL_LOSS
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.mechanisms.additive_noise import LAPLACE, AdditiveNoise
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import check_generator, complement, complement_each, uniform, uniform_each

MIXED_COUNT = 128  # up to this many elements, every mixture of directions is tried
BLOCK = 64  # mixtures at a time, the masses of each from those of the one before ...
RAREST_MISS = 1e-3  # ... where no mass above 1e-30 was smaller than floats can hold: 1e-3^64 = 1e-192


@dataclass(frozen=True)
class PdpmCurve(RepeatedCurve):
    """`count` PDPM elements, each at either end of its interval.

    An element's two outcomes (the positive one, or either of the others) have the log ratios (epsilon,
    -ln((E+1)/2)) from the upper end and (ln((E+1)/2), -epsilon) from the lower, E = e^epsilon. So the profile is the
    largest over the number of elements that start from the upper end. All upper is the worst except for an effect of
    the lattice; above 128 elements that effect is bounded by moving epsilon up by one lattice step, and the curve is
    marked as not exact. The step is not proved for every count and epsilon; `holds` proves it at one of them.
    """

    nominal: float
    count: int = 1

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.count <= MIXED_COUNT

    @property
    def pure_epsilon(self) -> float:
        return self.nominal * self.count

    @property
    def _fall(self) -> float:
        """Returns ln((E + 1) / 2)."""
        if self.nominal < SMALL_LOSS:
            return math.log1p(math.expm1(self.nominal) / 2.0)
        return float(np.logaddexp(self.nominal, 0.0)) - math.log(2.0)

    @property
    def _step(self) -> float:
        """Returns the step of the lattice that the losses of all elements lie on."""
        return self.nominal + self._fall

    @property
    def _chance(self) -> float:
        """Returns the probability of the positive outcome from the upper end."""
        return 1.0 / (1.0 + 2.0 * math.exp(-self.nominal))

    @cached_property
    def _mixtures(self) -> list[tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]]]]:
        return [self._law(upper) for upper in range(self.count + 1)]

    def _law(self, upper: int) -> tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]]]:
        """Returns masses and log ratios when `upper` elements start from the upper end."""
        from scipy.stats import binom

        lower = self.count - upper
        low = 1.0 / (math.exp(min(self.nominal, 700.0)) + 2.0)
        first = binom.pmf(np.arange(upper + 1), upper, self._chance)
        second = binom.pmf(np.arange(lower + 1), lower, low)
        steps = np.arange(-lower, upper + 1, dtype=np.float64)
        return np.convolve(first, second[::-1]), steps * self._step + (lower - upper) * self._fall

    def forward(self, epsilon: float) -> float:
        """Computes delta(epsilon), also of a negative epsilon, when every element starts from the upper end."""
        from scipy.stats import binom

        n, chance, step = self.count, self._chance, self._step
        spread = math.sqrt(n * chance * (1.0 - chance))
        start = max(0, math.ceil((epsilon + n * self._fall) / step - 1e-9))
        start = max(start, math.floor(n * chance - 14.0 * spread - 40.0))  # fewer hits have a mass below 1e-40
        stop = min(n, math.ceil(max(start, n * chance) + 14.0 * spread + 40.0))
        hits = np.arange(start, stop + 1)
        return float(
            np.dot(binom.pmf(hits, n, chance), -np.expm1(np.minimum(0.0, epsilon - (hits * step - n * self._fall))))
        )

    def holds(self, epsilon: float, delta: float) -> bool:
        """Returns whether delta(epsilon) <= delta, by trying all mixtures but those that a bound on moments leaves out.

        The larger the nominal epsilon, the fewer are left: 11,000 of 917,280 elements at 1, all at 0.2.

        Args:
            epsilon: of the whole record, > 0.
            delta: in (0, 1).
        """
        tried = range(self._most_lower(epsilon, delta) + 1)
        blocks = (tried[first : first + BLOCK] for first in range(0, len(tried), BLOCK))
        return all(found <= delta for block in blocks for found in self._mixed(block, epsilon))

    def _most_lower(self, epsilon: float, delta: float) -> int:
        """Computes how many elements may start from the lower end before the bound on moments is below delta."""
        from scipy.optimize import minimize_scalar

        chance, low = math.log(self._chance), -math.log(math.exp(min(self.nominal, 700.0)) + 2.0)
        rest, other = math.log1p(-math.exp(chance)), math.log1p(-math.exp(low))

        def needed(log_order: float) -> float:
            order = math.exp(log_order)
            upper, lower = (
                float(np.logaddexp((order + 1.0) * p - order * q, (order + 1.0) * p_rest - order * q_rest))
                for p, q, p_rest, q_rest in ((chance, low, rest, other), (low, chance, other, rest))
            )
            peak = order * log_order - (order + 1.0) * math.log1p(order)  # of e^(-order x) (1 - e^(-x)), a log
            excess = self.count * upper - order * epsilon + peak - math.log(delta)
            return excess / (upper - lower) if excess > 0.0 else 0.0

        found = minimize_scalar(needed, bounds=(math.log(1e-6), math.log(1e3)), method="bounded")
        return min(self.count, math.ceil(found.fun))

    def _mixed(self, lowers: range, epsilon: float) -> Iterator[float]:
        """Computes delta(epsilon) for each number of elements that start from the lower end, `BLOCK` at most.

        Masses below 1e-30 are left out.
        """
        from scipy.signal import lfilter
        from scipy.stats import binom

        chance, step, low = self._chance, self._step, 1.0 / (math.exp(min(self.nominal, 700.0)) + 2.0)
        spread = 12.0 * math.sqrt(self.count * chance * (1.0 - chance))
        cases, start, stop = [], self.count, 0
        for lower in lowers:
            upper, middle = self.count - lower, lower * (1.0 - low)
            margin = 12.0 * math.sqrt(middle * low) + 30.0
            falls = np.arange(max(0, math.floor(middle - margin)), min(lower, math.ceil(middle + margin)) + 1)
            offset = upper * self._fall + lower * self.nominal  # the loss is step * (hits + falls) - offset
            least = math.ceil((epsilon + offset) / step - 1e-9)  # hits and falls of a loss that is not below epsilon
            cases.append((upper, falls, epsilon + offset, least))
            start = min(start, max(0, least - int(falls[-1])))
            stop = max(stop, min(upper, math.ceil(max(least - falls[0], upper * chance + spread)) + 30))
        hits = np.arange(start, stop + 1)
        mass = binom.pmf(hits, cases[0][0], chance)
        for upper, falls, bound, least in cases:
            if 1.0 - chance < RAREST_MISS:
                mass = binom.pmf(hits, upper, chance)
            elif upper < cases[0][0]:  # of one element less than before
                mass = mass * (upper + 1 - hits) / ((upper + 1) * (1.0 - chance))
            above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)  # from so many hits on
            lost = np.append(lfilter([1.0], [1.0, -math.exp(-step)], mass[::-1])[::-1], 0.0)  # e^-step for each more
            first = np.clip(least - falls - start, 0, len(hits))
            gaps = above[first] - np.exp(np.minimum(bound - step * (falls + start + first), 0.0)) * lost[first]
            yield float(np.dot(binom.pmf(falls, self.count - upper, 1.0 - low), gaps))

    def _delta(self, epsilon: float) -> float:
        if epsilon >= self.pure_epsilon:
            return 0.0
        if self.count > MIXED_COUNT:
            return self.forward(epsilon - self._step)
        return max(float(np.dot(mass, -np.expm1(np.minimum(0.0, epsilon - loss)))) for mass, loss in self._mixtures)

    def _epsilon(self, delta: float) -> float:
        if self.count <= MIXED_COUNT:
            return super()._epsilon(delta)
        n, chance, step = self.count, self._chance, self._step
        return epsilon_at(
            lambda e: math.log(max(self.delta(e), DELTA_FLOOR)),
            math.log(delta),
            mean=n * (chance * step - self._fall) + step,
            spread=math.sqrt(n * chance * (1.0 - chance)) * step,
            top=self.pure_epsilon,
        )


@register
class Pdpm(Mechanism):
    """PLDP-FL's three-outcome mechanism per scalar weight, unbiased on [c - L/2, c + L/2].

    With v = w - c and E = e^epsilon: v + noise is L(E+3)/(2(E-1)) with probability
    P1 = v(E-1)/(L(E+2)) + (E+1)/(2(E+2)), and -L(E+1)/(E-1) or 0 with (1-P1)/2 each (the source's lost minus signs
    restored). The nominal epsilon is per element: a record of I elements has I epsilon.
    Its curve at a delta is exact for up to 128 elements (`PdpmCurve`).
    """

    name = "pdpm"
    formula = (
        r"c + L(E+3) / (2(E-1)) \text{ with probability } P_1, \text{ else } c - L(E+1)/(E-1) \text{ or } "
        r"c, E = e^\varepsilon"
    )
    epsilon_unit = "element"
    acts_on = "element"
    block_bytes = 2 << 20
    domain_kind = "box"
    source = "PLDP-FL, Algorithm 2"
    status = "as printed"
    note = "the nominal epsilon is per element (one scalar weight), not per record"
    leaves_input = True

    @property
    def outcomes(self) -> tuple[float, float, float]:
        """Returns the three released offsets from the centre: the positive one, the negative one and 0."""
        w, length = math.exp(-self.epsilon), self.box.width
        gap = -math.expm1(-self.epsilon)
        return length * (1.0 + 3.0 * w) / (2.0 * gap), -length * (1.0 + w) / gap, 0.0

    @cached_property
    def _values(self) -> Tensor:
        """Returns what is released, (3,), in float64: numbers would be float32."""
        return torch.tensor([self.box.centre + v for v in self.outcomes], dtype=torch.float64)

    def positive_probability(self, offset: float) -> float:
        """Computes P1 at v = `offset` from the centre."""
        w = math.exp(-self.epsilon)
        return (0.5 + offset / self.box.width + w * (0.5 - offset / self.box.width)) / (1.0 + 2.0 * w)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        coin = uniform(tuple(x.shape), generator)
        rest = complement(coin, partial(uniform, source=generator))
        return self._outcome(x, coin.to(x.device), rest.to(x.device))

    def privatize_each(self, x: Tensor, generators: Sequence[torch.Generator]) -> Tensor:
        flat, domain = self._examined(x.flatten(0, 1))
        one_block = x[0].numel() * x.element_size() <= self.block_bytes
        if domain is not None or not one_block or x.device.type != "cpu":
            return super().privatize_each(x, generators)
        sources = [check_generator(own, flat) for own in generators]
        coin = uniform_each(x[0].numel(), sources)
        rest = complement_each(coin, sources)
        return self._in_range(self._outcome(flat, coin.view(flat.shape), rest.view(flat.shape))).view(x.shape)

    def _outcome(self, x: Tensor, coin: Tensor, rest: Tensor) -> Tensor:
        """Returns the releases that coins, uniform on (0, 1), decide on; `rest` is 1 - coin."""
        w = math.exp(-self.epsilon)
        above = (x.double() - self.box.low).div_(self.box.width).clamp_(0.0, 1.0)  # no cancellation at the ends
        first = (1.0 - above).mul_(w).add_(above).div_(1.0 + 2.0 * w)
        other = (1.0 + above).mul_(w)
        other.add_(above.neg_().add_(1.0)).div_(1.0 + 2.0 * w)  # 1 - first
        up, down, none = self._values.to(x.device)
        positive = torch.where(first < other, coin < first, rest > other)
        return torch.where(positive, up, torch.where(rest > other.div_(2.0), down, none)).to(x.dtype)

    def variance(self, offset: float) -> float:
        """Computes the variance of one element's release at v = `offset`."""
        first = self.positive_probability(offset)
        up, down, _ = self.outcomes
        return first * up**2 + (1.0 - first) / 2.0 * down**2 - offset**2

    def _worst_offset(self) -> float:
        """Computes v* = min(L/2, L(-E^2 + 2E + 7) / (8(E - 1)(E + 2)))."""
        w, length = math.exp(-self.epsilon), self.box.width
        top = length * (-1.0 + 2.0 * w + 7.0 * w * w) / (8.0 * -math.expm1(-self.epsilon) * (1.0 + 2.0 * w))
        return min(length / 2.0, top)

    def squared_error(self) -> float:
        return self.size * self.variance(self._worst_offset())

    def worst_input(self) -> Tensor:
        return self.box.constant(min(self.box.high, self.box.centre + self._worst_offset()))

    def curve(self) -> PrivacyCurve:
        return PdpmCurve(self.epsilon, self.size)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.box.constant(self.box.high), self.box.constant(self.box.low)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        # P1 and 1 - P1 at t = 2v/L, up to a factor and free of cancellation at the ends
        w = math.exp(-self.epsilon)
        y, x, x_prime = ((self._flat(z) - self.box.centre) * (2.0 / self.box.width) for z in (y, x, x_prime))
        up, other = (
            [torch.log((1.0 + sign * t) + w * (2.0 - sign - sign * t)) for t in (x, x_prime)] for sign in (1.0, -1.0)
        )
        above = y > self.outcomes[0] / self.box.width
        return torch.where(above, up[0] - up[1], other[0] - other[1]).sum(dim=1)


@register
class PluFedOa(AdditiveNoise):
    """PLU-FedOA: Lap(2c / epsilon) per parameter clipped to [-c, c]; the server's weights are `fedoa_weights`.

    Rebuilt from what PLDP-FL says about it. The nominal epsilon is per element: a record of I elements has I epsilon.
    """

    name = "plu-fedoa"
    formula = r"x_i + \mathrm{Lap}(R / \varepsilon)"
    epsilon_unit = "element"
    domain_kind = "box"
    law = LAPLACE
    leaves_input = True
    server_weights = "inverse variance"
    source = "[yang2021], from what PLDP-FL says about it"
    status = "reconstructed"
    note = "the nominal epsilon is per element (one parameter), not per record"

    @property
    def scale(self) -> float:
        """Returns 2c / epsilon, the Laplace scale, in the unit of the data."""
        return self.box.width / self.epsilon

    def curve(self) -> PrivacyCurve:
        return LaplaceCurve(shift=self.epsilon, count=self.size)


def fedoa_weights(epsilons: Sequence[float], counts: Sequence[float]) -> list[float]:
    """Computes the server's weights a_i = n_i epsilon_i^2 / sum_j n_j epsilon_j^2 (inverse noise variance), of sum 1.

    Clients without noise (epsilon `math.inf`) divide all the weight by their counts, in the limit.
    """
    top = max(epsilons)
    weights = [
        n * ((1.0 if e == top else 0.0) if math.isinf(top) else (e / top) ** 2)
        for e, n in zip(epsilons, counts, strict=True)
    ]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
