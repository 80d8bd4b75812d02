"""TLDP, Algorithms 1 and 2: keep each element with probability p, else add Laplace or Gaussian noise.

As printed they are not epsilon-LDP for the tensor: the noise is calibrated per element, and an element that is kept
exactly gives its record away with certainty. `curve` gives the true guarantee.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, PureCurve
from tensorldp.curves.product import AtomCurve
from tensorldp.errors import InputError, check_real, check_word, shown
from tensorldp.mechanisms.additive_noise import GAUSSIAN, LAPLACE, StatedRange
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.exact_draws import discrete_laplace
from tensorldp.mechanisms.randomized_response import MOST, alphabet_size
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import numpy_generator, sparse_positions, uniform

PIECE = 1 << 20  # elements whose coins are tossed at once


class Tldp(StatedRange):
    """What the four share: the noise of one element, and the retention that goes with it."""

    status = "as printed"
    epsilon_unit = "element"
    note = (
        "the nominal epsilon is per element, not per record; an element kept exactly (probability p) "
        "has no finite epsilon"
    )
    leaves_input = True

    @property
    def scale(self) -> float:
        """b = Delta / epsilon of Laplace noise, or sigma = Delta / sqrt(2 epsilon) of Gaussian noise (Theorem 1)."""
        return self.range / (self.epsilon if self.law is LAPLACE else math.sqrt(2.0 * self.epsilon))

    @property
    def isotropic_sigma(self) -> None:
        return None  # an element that is kept has noise 0, wherever it is: additive, but not Gaussian

    @property
    def log_retention(self) -> float:
        """log p, p = e^u / (c + e^u), u = -(I - 1) epsilon, c = 2b or sigma sqrt(2 pi); exact where p underflows."""
        u = -(self.size - 1) * self.epsilon
        return u - float(np.logaddexp(self.law.log_inverse_peak(self.scale), u))

    @property
    def retention(self) -> float:
        """p, the probability that an element of weight 0 is kept; 0.0 where float64 underflows."""
        return math.exp(self.log_retention) if self.log_retention > -745.0 else 0.0

    def keep_factors(self, x: Tensor) -> Tensor | None:
        """1 - w per element of the batch `x` (shape broadcasts to it), or None where every weight is 0."""
        return None

    def _keep_factors_at(self, values: Tensor, places: Tensor) -> Tensor | None:
        """1 - w of elements with these values at these places of their records, or None where every weight is 0."""
        return None

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        out = super()._randomize(x, generator)
        flat, flat_out = x.reshape(-1), out.view(-1)
        for start in range(0, len(flat) if self.retention else min(1, len(flat)), PIECE):
            piece = flat[start : start + PIECE]
            kept = torch.from_numpy(sparse_positions(len(piece), self.retention, generator))
            coins = uniform((len(kept),), generator)
            if len(kept) == 0:
                continue
            kept = kept.to(x.device)
            keep = self._keep_factors_at(piece[kept], (start + kept) % self.size)
            if keep is not None:
                kept = kept[coins < keep.double()]
            flat_out[start : start + PIECE][kept] = piece[kept]
        return out

    def _expected_kept(self) -> float:
        """The sum over elements of 1 - w at `worst_input`, times p: the expected number of kept elements."""
        return self.size * self.retention

    def _atom(self) -> float:
        """1 - prod(1 - p_i): the probability that at least one element is kept."""
        return -math.expm1(self.size * math.log1p(-self.retention)) if self.retention < 1.0 else 1.0

    def _log_keepers(self) -> float:
        """log of the largest sum of 1 - w over the elements of a record."""
        return math.log(self.size)

    def _imbalance(self) -> float:
        """The largest log ratio of the chances that two records keep no element."""
        return 0.0

    def squared_error(self) -> float:
        return self.law.variance(self.scale) * (self.size - self._expected_kept())

    def curve(self) -> PrivacyCurve:
        atom = self._atom()
        # where the atom underflows it is the sum of the chances to be kept, with p the only small factor
        log_atom = math.log(atom) if atom > 0.0 else self._log_keepers() + self.log_retention
        return AtomCurve.over(super().curve(), atom, log_atom, self._imbalance())

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = self._flat(y), self._flat(x), self._flat(x_prime)
        ratio = self.law.loss(y, x, x_prime) / self.law.loss_unit(self.scale)
        p = self.retention
        if p == 0.0:
            return ratio.sum(dim=1)
        keep, keep_prime = (
            torch.full_like(z, p)
            if (w := self.keep_factors(z.reshape(-1, *self.shape))) is None
            else (w * p).expand(z.shape[0], *self.shape).reshape(-1, self.size).double()
            for z in (x, x_prime)
        )
        ratio = ratio + torch.log1p(-keep) - torch.log1p(-keep_prime)
        differs, same, same_prime = x != x_prime, y == x, y == x_prime
        ratio = torch.where(~differs & same, (keep.log() - keep_prime.log()).nan_to_num(0.0).expand_as(ratio), ratio)
        gives_away = (differs & same & (keep > 0)).any(dim=1)
        gives_away_prime = (differs & same_prime & (keep_prime > 0)).any(dim=1)
        total = ratio.sum(dim=1)
        total = torch.where(gives_away, torch.full_like(total, math.inf), total)
        return torch.where(gives_away_prime, torch.full_like(total, -math.inf), total)


class _Weighted(Tldp):
    """Algorithm 2: p_i = (1 - w_i) p. The noise is the same, so privacy changes only through the atoms.

    Args:
        weights: a tensor in [0, 1] that broadcasts to the record's shape; None takes the record's own grey level
            (x - low) / (high - low), as the paper does for MNIST.
    """

    weights: Tensor | None = None

    def _prepare(self) -> None:
        super()._prepare()
        weights, self.weights = self.weights, None
        self.additive = weights is not None
        if weights is None:
            self.note += "; weights computed from the private record are part of it, p_i depends on x_i"
            return
        try:
            w = torch.as_tensor(weights, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise InputError(f"weights of {self.name} must be numbers in [0, 1], got {shown(weights)}") from None
        try:
            w = w.expand(self.shape)
        except RuntimeError:
            raise InputError(
                f"weights of {self.name} must broadcast to the record's shape {self.shape}, got {tuple(w.shape)}"
            ) from None
        if not bool(((w >= 0) & (w <= 1)).all()):
            raise InputError(
                f"weights of {self.name} must lie in [0, 1], got values from {float(w.min()):g} to {float(w.max()):g}"
            )
        self.weights = w

    def keep_factors(self, x: Tensor) -> Tensor:
        if self.weights is None:
            return 1.0 - ((x - self.box.low) / self.box.width).clamp(0.0, 1.0)
        return (1.0 - self.weights).to(x.device)

    def _keep_factors_at(self, values: Tensor, places: Tensor) -> Tensor:
        if self.weights is None:
            return self.keep_factors(values)
        return (1.0 - self.weights).reshape(-1).to(values.device)[places]

    def _expected_kept(self) -> float:
        factors = 0.0 if self.weights is None else float((1.0 - self.weights).sum())
        return factors * self.retention

    def _atom(self) -> float:
        if self.weights is None or self.retention in (0.0, 1.0):
            return super()._atom()
        return -math.expm1(float(torch.log1p(-(1.0 - self.weights) * self.retention).sum()))

    def _imbalance(self) -> float:
        """Of a record of weight 1, which keeps nothing, and one of weight 0: docs/mathematics/curves.md#atoms."""
        if self.weights is not None:
            return 0.0
        log_odds = -(self.size - 1) * self.epsilon - self.law.log_inverse_peak(self.scale)  # log(p / (1 - p))
        return self.size * float(np.logaddexp(0.0, log_odds))

    def _log_keepers(self) -> float:
        if self.weights is None:
            return super()._log_keepers()
        keepers = float((1.0 - self.weights).sum())
        return math.log(keepers) if keepers > 0.0 else -math.inf

    def worst_input(self) -> Tensor:
        return self.box.constant(self.box.high if self.weights is None else self.box.low)


@register
class TldpLaplace(Tldp):
    """TLDP-L: b = Delta / epsilon and p = e^(epsilon - I Delta/b) / (2b + e^(epsilon - I Delta/b)).

    Args:
        delta_range: Delta; default high - low. The printed 256 for bytes is an option.
    """

    name = "tldp-l"
    formula = r"x_i \text{ with probability } p, \text{ else } x_i + \mathrm{Lap}(\Delta / \varepsilon)"
    source = "TLDP, Algorithm 1 (Laplace), Theorem 1(1)"
    law = LAPLACE
    leaves_input = True


@register
class TldpGaussian(Tldp):
    """TLDP-G: sigma^2 = Delta^2 / (2 epsilon) and p = e^u / (sigma sqrt(2 pi) + e^u), u = -(I - 1) epsilon.

    Args:
        delta_range: Delta; default high - low. The printed 256 for bytes is an option.
    """

    name = "tldp-g"
    formula = r"x_i \text{ with probability } p, \text{ else } x_i + \mathcal{N}(0, \Delta^2 / (2 \varepsilon))"
    source = "TLDP, Algorithm 1 (Gaussian), Theorem 1(2)"
    law = GAUSSIAN
    leaves_input = True


@register
class TldpLaplaceWeighted(_Weighted):
    """TLDP-L with weights (Algorithm 2, Theorem 3(1)); see `_Weighted` for `weights`."""

    name = "tldp-l-w"
    formula = r"x_i \text{ with probability } (1 - w_i) p, \text{ else } x_i + \mathrm{Lap}(\Delta / \varepsilon)"
    source = "TLDP, Algorithm 2 (Laplace), Theorem 3(1)"
    law = LAPLACE
    leaves_input = True


@register
class TldpGaussianWeighted(_Weighted):
    """TLDP-G with weights (Algorithm 2, Theorem 3(2)); see `_Weighted` for `weights`."""

    name = "tldp-g-w"
    formula = (
        r"x_i \text{ with probability } (1 - w_i) p, \text{ else } x_i + \mathcal{N}(0, \Delta^2 / (2 "
        r"\varepsilon))"
    )
    source = "TLDP, Algorithm 2 (Gaussian), Theorem 3(2)"
    law = GAUSSIAN
    leaves_input = True


CURVE_VALUES = 1024  # the largest alphabet whose exact curve is built
# Draws of Exp(1) in floats lie up to 2^-50 apart. From this rate on 2^20 of them or more fall on each whole number, so
# that its mass, and with it the loss of one step, is right to a millionth; at lower rates whole numbers are drawn.
LEAST_RATE = 2.0**-30
REACH = 64.0  # scales of noise, beyond which lies e^-64 of it: all nearer sums are whole numbers that float64 has
MOST_CLAMPED = 1 << 20  # steps of an alphabet whose clamped errors, one for each value, are computed


def _exponential(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    if generator.device.type == "cpu":
        return torch.from_numpy(numpy_generator(generator).standard_exponential(shape))
    return torch.empty(shape, dtype=torch.float64, device=generator.device).exponential_(generator=generator)


def two_sided_geometric(shape: tuple[int, ...], rate: float, generator: torch.Generator) -> Tensor:
    """Whole numbers, float64, with P(Z = k) = tanh(rate/2) e^(-rate |k|): a difference of two geometric draws.

    floor(Exp(1) / rate) is geometric without forming 1 - e^-rate, which cancels for small rates. Below `LEAST_RATE` 1 /
    rate is taken as a whole number.
    """
    if rate < LEAST_RATE:
        drawn = discrete_laplace(math.prod(shape), round(1.0 / rate), 1, numpy_generator(generator))
        return torch.from_numpy(drawn).to(generator.device, torch.float64).view(shape)
    first = _exponential(shape, generator).div_(rate).floor_()
    return first.sub_(_exponential(shape, generator).div_(rate).floor_())


@register
class TldpDiscrete(Mechanism):
    """Keep an element with probability p, else add a two-sided geometric noise of scale b = 1/s.

    The nominal epsilon is per element and holds exactly: with D = high - low, s = (1 - rho) epsilon / D and p / (1 -
    p) = (e^(rho epsilon) - 1) tanh(s/2) for unbounded outputs. A record of I elements has exactly I epsilon. At rho 0
    the curve is exact on up to 1024 values, else mostly an upper bound. See
    docs/mathematics/samplers.md#tldp-on-whole-numbers.

    Args:
        rho: the share in [0, 1) of the budget that pays for the retention, or "best" for the least error.
        output: "unbounded", or "clamped" to the domain, which allows its own p.
    """

    name = "tldp-discrete"
    formula = r"x_i \text{ with probability } p, \text{ else } x_i + Z, P(Z = k) = \tanh(s/2) e^{-s \lvert k \rvert}"
    epsilon_unit = "element"
    acts_on = "element"
    on_grid = True
    block_bytes = 4 << 20
    domain_kind = "box"
    integer = True
    source = "TLDP on a finite alphabet: docs/mathematics/samplers.md#tldp-on-whole-numbers"
    note = "the nominal epsilon is per element, not per record"
    leaves_input = True

    rho: float | Literal["best"] = 0.0
    output: Literal["unbounded", "clamped"] = "unbounded"

    def _prepare(self) -> None:
        super()._prepare()
        self.top = alphabet_size(self.name, self.box) - 1
        check_word("output of tldp-discrete", self.output, "unbounded", "clamped")
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
        farthest = max(abs(self.box.low), abs(self.box.high))
        if farthest + REACH / self.rate > MOST:
            raise InputError(
                f"epsilon and rho of {self.name} must leave room for {REACH:.0f} scales of noise between its whole "
                f"numbers and 2^53, got noise of scale {1.0 / self.rate:.3g} on numbers up to {farthest:g}"
            )

    def _calibrate(self, rho: float) -> tuple[float, float]:
        """s and log(p / (1 - p)) that spend epsilon exactly, or a little less below `LEAST_RATE`."""
        rate = (1.0 - rho) * self.epsilon / self.top
        if rate < LEAST_RATE:
            rate = 1.0 / math.ceil(1.0 / rate)
        spare = rho * self.epsilon
        if spare == 0.0:
            return rate, -math.inf
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
        optimum = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
        return float(optimum.x) if optimum.fun < values[0] else 0.0

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
