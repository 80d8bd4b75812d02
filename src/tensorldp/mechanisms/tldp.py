"""TLDP, Algorithms 1 and 2: keep each element with probability p, else add Laplace or Gaussian noise.

As printed they are not epsilon-LDP for the tensor: the noise is calibrated per element, and an element that is
kept exactly gives its record away with certainty. `curve` says what is true.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import InputError, positive, shown
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.domain import Box, Domain
from tensorldp.mechanisms.registry import register
from tensorldp.privacy.curves.atom import AtomCurve
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.privacy.curves.gaussian import GaussianCurve
from tensorldp.privacy.curves.laplace import LaplaceCurve
from tensorldp.randomness import add_gaussian, add_laplace, sparse_positions, uniform

PIECE = 1 << 20  # elements whose coins are tossed at once


class _Tldp(Mechanism):
    domain_kind = "box"
    status = "as printed"
    additive = True  # an element that is kept has noise 0, wherever it is
    note = (
        "the nominal epsilon is per element, not per record; an element kept exactly (probability p) "
        "has no finite epsilon"
    )

    def __init__(
        self,
        *,
        epsilon: float,
        domain: Domain,
        delta: float = 1e-5,
        clip: bool = False,
        delta_range: float | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, domain=domain, delta=delta, clip=clip)
        self.box: Box = self.domain.as_box()
        self.delta_range = self.box.width if delta_range is None else positive("delta_range", delta_range)

    @property
    @abstractmethod
    def scale(self) -> float:
        """The scale of the noise, in the unit of the data."""

    @abstractmethod
    def _log_density_at_zero(self) -> float:
        """log of 1 / (the density of the noise at 0), the constant that p compares itself with."""

    @property
    def log_retention(self) -> float:
        """log p, p = e^u / (c + e^u), u = -(I - 1) epsilon, c = 2b or sigma sqrt(2 pi); exact where p underflows."""
        u = -(self.size - 1) * self.epsilon
        return u - float(np.logaddexp(self._log_density_at_zero(), u))

    @property
    def retention(self) -> float:
        """p, the probability that an element of weight 0 is kept; 0.0 where float64 underflows."""
        return math.exp(self.log_retention) if self.log_retention > -745.0 else 0.0

    def keep_weights(self, x: Tensor) -> Tensor | None:
        """1 - w per element of the batch `x` (shape broadcasts to it), or None where every weight is 0."""
        return None

    @abstractmethod
    def _add_noise(self, x: Tensor, generator: torch.Generator) -> Tensor: ...

    def _weights_at(self, values: Tensor, places: Tensor) -> Tensor | None:
        """1 - w of elements with these values at these places of their records, or None where every weight is 0."""
        return None

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        out = self._add_noise(x, generator)
        flat, flat_out = x.reshape(-1), out.view(-1)
        for start in range(0, len(flat) if self.retention else min(1, len(flat)), PIECE):
            piece = flat[start : start + PIECE]
            kept = torch.from_numpy(sparse_positions(len(piece), self.retention, generator))
            coins = uniform((len(kept),), generator)
            if len(kept) == 0:
                continue
            kept = kept.to(x.device)
            keep = self._weights_at(piece[kept], (start + kept) % self.size)
            if keep is not None:
                kept = kept[coins < keep.double()]
            flat_out[start : start + PIECE][kept] = piece[kept]
        return out

    _randomize = _release

    def _kept_share(self) -> float:
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

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.box.constant(self.box.low), self.box.constant(self.box.high)

    @abstractmethod
    def _density_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor: ...

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = self._flat(y), self._flat(x), self._flat(x_prime)
        ratio = self._density_ratio(y, x, x_prime)
        p = self.retention
        if p == 0.0:
            return ratio.sum(dim=1)
        keep, keep_prime = (
            torch.full_like(z, p)
            if (w := self.keep_weights(z.reshape(-1, *self.shape))) is None
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

    def __init__(
        self,
        *,
        epsilon: float,
        domain: Domain,
        delta: float = 1e-5,
        clip: bool = False,
        delta_range: float | None = None,
        weights: Tensor | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, domain=domain, delta=delta, clip=clip, delta_range=delta_range)
        self.weights = None
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

    def keep_weights(self, x: Tensor) -> Tensor:
        if self.weights is None:
            return 1.0 - ((x - self.box.low) / self.box.width).clamp(0.0, 1.0)
        return (1.0 - self.weights).to(x.device)

    def _weights_at(self, values: Tensor, places: Tensor) -> Tensor:
        if self.weights is None:
            return self.keep_weights(values)
        return (1.0 - self.weights).reshape(-1).to(values.device)[places]

    def _kept_share(self) -> float:
        share = 0.0 if self.weights is None else float((1.0 - self.weights).sum())
        return share * self.retention

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

    @property
    def scale(self) -> float:
        """b = Delta / epsilon."""
        return self.delta_range / self.epsilon

    def _log_density_at_zero(self) -> float:
        return math.log(2.0 * self.scale)

    def _add_noise(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return add_laplace(x, self.scale, generator)

    def squared_error(self) -> float:
        return 2.0 * self.scale**2 * (self.size - self._kept_share())

    def curve(self) -> PrivacyCurve:
        return AtomCurve.over(
            LaplaceCurve(shift=self.box.width / self.scale, count=self.size), self._atom(), self._log_atom()
        )

    def _density_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        return ((y - x_prime).abs() - (y - x).abs()) / self.scale


class _GaussianNoise(_Tldp):
    source = "TLDP, Algorithm 1 (Gaussian), Theorem 1(2)"

    @property
    def scale(self) -> float:
        """sigma = Delta / sqrt(2 epsilon)."""
        return self.delta_range / math.sqrt(2.0 * self.epsilon)

    def _log_density_at_zero(self) -> float:
        return math.log(self.scale * math.sqrt(2.0 * math.pi))

    def _add_noise(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return add_gaussian(x, self.scale, generator)

    def squared_error(self) -> float:
        return self.scale**2 * (self.size - self._kept_share())

    def curve(self) -> PrivacyCurve:
        mu = self.box.width * math.sqrt(self.size) / self.scale
        return AtomCurve.over(GaussianCurve(mu), self._atom(), self._log_atom())

    def _density_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        return (x - x_prime) * (2.0 * y - (x + x_prime)) / (2.0 * self.scale**2)


@register
class TldpLaplace(_LaplaceNoise):
    """TLDP-L: b = Delta / epsilon and p = e^(epsilon - I Delta/b) / (2b + e^(epsilon - I Delta/b)).

    Args:
        delta_range: Delta; default high - low. The printed 256 for bytes is an option.
    """

    name = "tldp-l"


@register
class TldpGaussian(_GaussianNoise):
    """TLDP-G: sigma^2 = Delta^2 / (2 epsilon) and p = e^u / (sigma sqrt(2 pi) + e^u), u = -(I - 1) epsilon.

    Args:
        delta_range: Delta; default high - low. The printed 256 for bytes is an option.
    """

    name = "tldp-g"


@register
class TldpLaplaceWeighted(_Weighted, _LaplaceNoise):
    """TLDP-L with weights (Algorithm 2, Theorem 3(1)); see `_Weighted` for `weights`."""

    name = "tldp-l-w"
    source = "TLDP, Algorithm 2 (Laplace), Theorem 3(1)"


@register
class TldpGaussianWeighted(_Weighted, _GaussianNoise):
    """TLDP-G with weights (Algorithm 2, Theorem 3(2)); see `_Weighted` for `weights`."""

    name = "tldp-g-w"
    source = "TLDP, Algorithm 2 (Gaussian), Theorem 3(2)"
