"""TLDP made sound: whole numbers, a two-sided geometric noise and a retention that the budget pays for."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.curves.pure import PureCurve
from tensorldp.errors import InputError, check_real
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.randomized_response import alphabet_size
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import numpy_generator, sparse_positions

CURVE_VALUES = 1024  # the largest alphabet whose exact curve is built
MOST_CLAMPED = 1 << 20  # steps of an alphabet whose clamped errors, one for each value, are computed


def _exponential(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    if generator.device.type == "cpu":
        return torch.from_numpy(numpy_generator(generator).standard_exponential(shape))
    return torch.empty(shape, dtype=torch.float64, device=generator.device).exponential_(generator=generator)


def two_sided_geometric(shape: tuple[int, ...], rate: float, generator: torch.Generator) -> Tensor:
    """Whole numbers, float64, with P(Z = k) = tanh(rate/2) e^(-rate |k|): a difference of two geometric draws.

    floor(Exp(1) / rate) is geometric without forming 1 - e^-rate, which cancels for small rates.
    """
    first = _exponential(shape, generator).div_(rate).floor_()
    return first.sub_(_exponential(shape, generator).div_(rate).floor_())


@register
class TldpDiscrete(Mechanism):
    """Keep an element with probability p, else add a two-sided geometric noise of scale b = 1/s.

    The nominal epsilon is per element and holds exactly: with D = high - low, s = (1 - rho) epsilon / D and p / (1 -
    p) = (e^(rho epsilon) - 1) tanh(s/2) for unbounded outputs. A record of I elements has exactly I epsilon.
    See docs/mathematics/samplers.md#tldp-on-whole-numbers.

    Args:
        rho: the share in [0, 1) of the budget that pays for the retention, or "best" for the least error.
        output: "unbounded", or "clamped" to the domain, which allows its own p.
    """

    name = "tldp-discrete"
    formula = r"x_i \text{ with probability } p, \text{ else } x_i + Z, P(Z = k) = \tanh(s/2) e^{-s \lvert k \rvert}"
    label = "TLDP, discrete"
    family = "tldp-laplace"
    epsilon_unit = "element"
    acts_on = "element"
    on_grid = True
    block_bytes = 4 << 20
    domain_kind = "box"
    integer = True
    source = "TLDP on a finite alphabet: docs/mathematics/samplers.md#tldp-on-whole-numbers"
    note = "the nominal epsilon is per element, not per record"

    rho: float | Literal["best"] = 0.0
    output: Literal["unbounded", "clamped"] = "unbounded"

    def _prepare(self) -> None:
        super()._prepare()
        self.top = alphabet_size(self.name, self.box) - 1
        if self.output not in ("unbounded", "clamped"):
            raise InputError(f"output of tldp-discrete must be 'unbounded' or 'clamped', got {self.output!r}")
        if self.output == "clamped" and self.top > MOST_CLAMPED:
            raise InputError(
                f"output of tldp-discrete may be 'clamped' on up to {MOST_CLAMPED + 1} values, got {self.top + 1}"
            )
        self.additive = self.output == "unbounded"
        if self.rho == "best":
            rho = self._best_rho()
        elif isinstance(self.rho, str):
            raise InputError(f"rho of tldp-discrete must be a number in [0, 1) or 'best', got {self.rho!r}")
        else:
            rho = check_real("rho of tldp-discrete", self.rho, low=0.0, high=1.0, open_high=True)
        self.rho = rho
        self.rate, self.log_odds = self._calibrate(rho)

    def _calibrate(self, rho: float) -> tuple[float, float]:
        """s and log(p / (1 - p)) that spend epsilon exactly."""
        rate = (1.0 - rho) * self.epsilon / self.top
        if rho == 0.0:
            return rate, -math.inf
        spare = rho * self.epsilon
        log_tanh = math.log(math.tanh(rate / 2.0))
        if self.output == "unbounded":
            return rate, spare + math.log(-math.expm1(-spare)) + log_tanh
        # the larger of the two losses: at an end, and one step from it
        at_end = spare + math.log(-math.expm1(-spare)) - math.log1p(math.exp(-rate))
        if self.top == 1:
            return rate, at_end
        inner = spare + rate
        return rate, min(at_end, inner + math.log(-math.expm1(-inner)) + log_tanh)

    @property
    def retention(self) -> float:
        """p."""
        return math.exp(-float(np.logaddexp(0.0, -self.log_odds)))

    @property
    def _log_noise(self) -> float:
        """log(1 - p)."""
        return -float(np.logaddexp(0.0, self.log_odds))

    def _element_errors(self, rate: float, log_odds: float) -> npt.NDArray[np.float64]:
        """E (M(x) - x)^2 of one element: one number if unbounded, one for each x = 0 .. D if clamped."""
        noise = math.exp(-float(np.logaddexp(0.0, log_odds)))
        if self.output == "unbounded":
            half = math.sinh(min(rate / 2.0, 350.0))
            return np.array([noise / (2.0 * half * half)])
        k = np.arange(self.top)
        # sum over one side of min(j, n)^2 P(Z = j), by its increments (2n + 1) q^(n+1) / (1 + q)
        side = np.concatenate(([0.0], np.cumsum((2 * k + 1) * np.exp(-rate * (k + 1))))) / (1.0 + math.exp(-rate))
        return noise * (side + side[::-1])

    def _best_rho(self) -> float:
        from scipy.optimize import minimize_scalar

        def error(rho: float) -> float:
            return math.log(max(float(self._element_errors(*self._calibrate(rho)).max()), 1e-300))

        grid = np.linspace(0.0, 0.999, 334)
        values = [error(float(rho)) for rho in grid]
        best = int(np.argmin(values))
        low, high = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
        found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
        return float(found.x) if found.fun < values[0] else 0.0

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        out = x.double() + two_sided_geometric(tuple(x.shape), self.rate, generator)
        if self.output == "clamped":
            out.clamp_(self.box.low, self.box.high)
        out = out.to(x.dtype)
        kept = torch.from_numpy(sparse_positions(x.numel(), self.retention, generator)).to(x.device)
        out.view(-1)[kept] = x.reshape(-1)[kept]
        return out

    def squared_error(self) -> float:
        return self.size * float(self._element_errors(self.rate, self.log_odds).max())

    def worst_input(self) -> Tensor:
        return self.box.constant(self.box.low + int(np.argmax(self._element_errors(self.rate, self.log_odds))))

    def curve(self) -> PrivacyCurve:
        clamped_retention = self.output == "clamped" and self.log_odds > -math.inf
        if clamped_retention or self.top >= CURVE_VALUES:
            return PureCurve(self.size * self.epsilon)
        steps = range(self.top, -self.top - 1, -2)  # of the rate; keeping an element has a loss of its own
        losses = tuple(self.rate * step for step in steps) if self.log_odds == -math.inf else None
        return DiscreteCurve(*self._dominating_pair(), count=self.size, losses=losses)

    def _dominating_pair(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The laws of the outputs < 0, 0, 1, .., D, > D from x = 0, and from x = D, which is its mirror image."""
        centre = self._log_noise + math.log(math.tanh(self.rate / 2.0))
        tail = self._log_noise - self.rate - math.log1p(math.exp(-self.rate))
        levels = [centre - self.rate * k for k in range(self.top + 1)]
        if self.log_odds == -math.inf:  # equal ratios merge
            ends = self._log_noise - math.log1p(math.exp(-self.rate))
            law = (ends, *levels[1:-1], ends - self.rate * self.top)
        else:
            kept = float(np.logaddexp(levels[0], self._log_noise + self.log_odds))
            law = (tail, kept, *levels[1:], tail - self.rate * self.top)
        return law, law[::-1]

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        first, second = self.box.low, self.box.high
        if self.output == "clamped" and self.log_odds > -math.inf and self.top > 1:
            q = math.exp(-self.rate)
            ratio = math.exp(min(self.log_odds, 700.0)) * (1.0 + q)
            if self.rate + math.log1p(ratio) < math.log1p(ratio / -math.expm1(-self.rate)):
                first += 1.0  # an inner value has no clamped tail, so that keeping it tells more
        return self.box.constant(first), self.box.constant(second)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        return (self._log_mass(y, x) - self._log_mass(y, x_prime)).sum(dim=1)

    def _log_mass(self, y: Tensor, x: Tensor) -> Tensor:
        y, x = self._flat(y), self._flat(x)
        centre = math.log(math.tanh(self.rate / 2.0))
        mass = centre - self.rate * (y - x).abs()
        if self.output == "clamped":
            end = (y == self.box.low) | (y == self.box.high)
            mass = torch.where(end, -self.rate * (y - x).abs() - math.log1p(math.exp(-self.rate)), mass)
        mass = mass + self._log_noise
        if self.log_odds == -math.inf:
            return mass
        kept = torch.full_like(mass, self._log_noise + self.log_odds)
        return torch.where(y == x, torch.logaddexp(mass, kept), mass)
