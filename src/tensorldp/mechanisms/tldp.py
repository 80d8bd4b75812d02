"""TLDP, Algorithms 1 and 2: keep each element with probability p, else add Laplace or Gaussian noise.

As printed they are not epsilon-LDP for the tensor: the noise is calibrated per element, and an element that is
kept exactly gives its record away with certainty. `curve` says what is true.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from tensorldp.curves.atom import AtomCurve
from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError, shown
from tensorldp.mechanisms.additive_noise import GAUSSIAN, LAPLACE, StatedRange
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import sparse_positions, uniform

PIECE = 1 << 20  # elements whose coins are tossed at once


class _Tldp(StatedRange):
    status = "as printed"
    epsilon_unit = "element"
    note = (
        "the nominal epsilon is per element, not per record; an element kept exactly (probability p) "
        "has no finite epsilon"
    )

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

    def _log_atom(self) -> float:
        """log of `_atom`, also where that underflows: then it is I p, with p the only small factor."""
        atom = self._atom()
        return math.log(atom) if atom > 0.0 else self._log_keepers() + self.log_retention

    def _log_keepers(self) -> float:
        """log of the largest sum of 1 - w over the elements of a record."""
        return math.log(self.size)

    def squared_error(self) -> float:
        return self.law.variance(self.scale) * (self.size - self._expected_kept())

    def curve(self) -> PrivacyCurve:
        return AtomCurve.over(super().curve(), self._atom(), self._log_atom())

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


class _Weighted(_Tldp):
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

    def curve(self) -> PrivacyCurve:
        """The atom beside the noise: an upper bound where the weights, and so the atoms, differ between two records.

        See docs/mathematics/curves.md#atoms.
        """
        curve = super().curve()
        if self.weights is not None or not isinstance(curve, AtomCurve) or curve.mass == 0.0:
            return curve
        assert isinstance(curve.inner, (LaplaceCurve, GaussianCurve))
        return replace(curve, inner=replace(curve.inner, exact=False))

    def _expected_kept(self) -> float:
        factors = 0.0 if self.weights is None else float((1.0 - self.weights).sum())
        return factors * self.retention

    def _atom(self) -> float:
        if self.weights is None or self.retention in (0.0, 1.0):
            return super()._atom()
        return -math.expm1(float(torch.log1p(-(1.0 - self.weights) * self.retention).sum()))

    def _log_keepers(self) -> float:
        if self.weights is None:
            return super()._log_keepers()
        keepers = float((1.0 - self.weights).sum())
        return math.log(keepers) if keepers > 0.0 else -math.inf

    def worst_input(self) -> Tensor:
        return self.box.constant(self.box.high if self.weights is None else self.box.low)


class _LaplaceNoise(_Tldp):
    source = "TLDP, Algorithm 1 (Laplace), Theorem 1(1)"
    law = LAPLACE

    @property
    def scale(self) -> float:
        """b = Delta / epsilon."""
        return self.range / self.epsilon


class _GaussianNoise(_Tldp):
    source = "TLDP, Algorithm 1 (Gaussian), Theorem 1(2)"
    law = GAUSSIAN

    @property
    def scale(self) -> float:
        """sigma = Delta / sqrt(2 epsilon)."""
        return self.range / math.sqrt(2.0 * self.epsilon)


@register
class TldpLaplace(_LaplaceNoise):
    """TLDP-L: b = Delta / epsilon and p = e^(epsilon - I Delta/b) / (2b + e^(epsilon - I Delta/b)).

    Args:
        delta_range: Delta; default high - low. The printed 256 for bytes is an option.
    """

    name = "tldp-l"
    formula = r"x_i \text{ with probability } p, \text{ else } x_i + \mathrm{Lap}(\Delta / \varepsilon)"
    label = "TLDP-L"
    family = "tldp-laplace"


@register
class TldpGaussian(_GaussianNoise):
    """TLDP-G: sigma^2 = Delta^2 / (2 epsilon) and p = e^u / (sigma sqrt(2 pi) + e^u), u = -(I - 1) epsilon.

    Args:
        delta_range: Delta; default high - low. The printed 256 for bytes is an option.
    """

    name = "tldp-g"
    formula = r"x_i \text{ with probability } p, \text{ else } x_i + \mathcal{N}(0, \Delta^2 / (2 \varepsilon))"
    label = "TLDP-G"
    family = "tldp-gaussian"


@register
class TldpLaplaceWeighted(_Weighted, _LaplaceNoise):
    """TLDP-L with weights (Algorithm 2, Theorem 3(1)); see `_Weighted` for `weights`."""

    name = "tldp-l-w"
    formula = r"x_i \text{ with probability } (1 - w_i) p, \text{ else } x_i + \mathrm{Lap}(\Delta / \varepsilon)"
    label = "TLDP-L, weighted"
    family = "tldp-laplace"
    source = "TLDP, Algorithm 2 (Laplace), Theorem 3(1)"


@register
class TldpGaussianWeighted(_Weighted, _GaussianNoise):
    """TLDP-G with weights (Algorithm 2, Theorem 3(2)); see `_Weighted` for `weights`."""

    name = "tldp-g-w"
    formula = (
        r"x_i \text{ with probability } (1 - w_i) p, \text{ else } x_i + \mathcal{N}(0, \Delta^2 / (2 "
        r"\varepsilon))"
    )
    label = "TLDP-G, weighted"
    family = "tldp-gaussian"
    source = "TLDP, Algorithm 2 (Gaussian), Theorem 3(2)"
