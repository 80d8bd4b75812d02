"""Mechanisms that add i.i.d. Laplace or Gaussian noise to every element."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor

from tensorldp.errors import InputError, positive
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.domain import Ball, Box, Domain
from tensorldp.mechanisms.registry import register
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.privacy.curves.gaussian import GaussianCurve, mu_of
from tensorldp.privacy.curves.laplace import LaplaceCurve
from tensorldp.privacy.curves.trivial import NoPrivacyCurve
from tensorldp.randomness import add_gaussian, add_laplace


@register
class Identity(Mechanism):
    """The record itself, unperturbed: the non-private reference."""

    name = "none"
    source = "-"
    additive = True

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return x.clone()

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return x.clone()

    def squared_error(self) -> float:
        return 0.0

    def curve(self) -> PrivacyCurve:
        return NoPrivacyCurve()

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        box = self.domain.as_box()
        return box.constant(box.low), box.constant(box.high)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        same = (self._flat(y) == self._flat(x)).all(dim=1)
        same_prime = (self._flat(y) == self._flat(x_prime)).all(dim=1)
        infinity = torch.full(same.shape, math.inf, dtype=torch.float64)
        return torch.where(
            same & ~same_prime, infinity, torch.where(same_prime & ~same, -infinity, torch.zeros_like(infinity))
        )


@register
class Laplace(Mechanism):
    """Lap(0, I Delta / epsilon) per element: exactly epsilon-LDP for the whole record (TLDP, Theorem 2(1)).

    Args:
        delta_range: Delta, the range that the formula uses; default high - low.
    """

    name = "laplace"
    domain_kind = "box"
    additive = True
    source = "TLDP, Theorem 2(1), Eq. 5"

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
    def scale(self) -> float:
        """b, the Laplace scale, in the unit of the data."""
        return self.size * self.delta_range / self.epsilon

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return add_laplace(x, self.scale, generator)

    _randomize = _release

    def squared_error(self) -> float:
        return 2.0 * self.size * self.scale**2

    def curve(self) -> PrivacyCurve:
        return LaplaceCurve(shift=self.box.width / self.scale, count=self.size)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        return self.box.constant(self.box.low), self.box.constant(self.box.high)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = self._flat(y), self._flat(x), self._flat(x_prime)
        return ((y - x_prime).abs() - (y - x).abs()).sum(dim=1) / self.scale


class _IsotropicGaussian(Mechanism):
    """N(0, sigma^2) per element; a subclass says how sigma follows from epsilon."""

    additive = True

    @property
    @abstractmethod
    def sigma(self) -> float:
        """The standard deviation per element, in the unit of the data."""

    @property
    def sensitivity(self) -> float:
        """The l2 diameter of the domain, ||x - x'||_F at most."""
        if isinstance(self.domain, Ball):
            return 2.0 * self.domain.radius
        return self.domain.width * math.sqrt(self.size)

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return add_gaussian(x, self.sigma, generator)

    _randomize = _release

    def squared_error(self) -> float:
        return self.size * self.sigma**2

    def curve(self) -> PrivacyCurve:
        return GaussianCurve(self.sensitivity / self.sigma)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        if isinstance(self.domain, Ball):
            offset = self.domain.radius / math.sqrt(self.size)
            return (
                self.domain.constant(self.domain.center - offset),
                self.domain.constant(self.domain.center + offset),
            )
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = self._flat(y), self._flat(x), self._flat(x_prime)
        return ((x - x_prime) * (2.0 * y - (x + x_prime))).sum(dim=1) / (2.0 * self.sigma**2)


@register
class Gaussian(_IsotropicGaussian):
    """TLDP's Gaussian baseline, which the paper calls epsilon-LDP; it is Gaussian-DP and never pure.

    Args:
        form: "theorem2" has sigma^2 = I Delta^2 / (2 epsilon) (Theorem 2(2), Eq. 7); "table5" has
            sigma = I Delta / (2 epsilon), which is what the paper's Table 5 assumes.
        delta_range: Delta, the range that the formula uses; default high - low.
    """

    name = "gaussian"
    domain_kind = "box"
    source = "TLDP, Theorem 2(2), Eq. 7, and Table 5"
    status = "as printed"
    note = "the source claims pure epsilon-LDP; Gaussian noise has no finite pure epsilon"

    def __init__(
        self,
        *,
        epsilon: float,
        domain: Domain,
        delta: float = 1e-5,
        clip: bool = False,
        form: Literal["theorem2", "table5"] = "theorem2",
        delta_range: float | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, domain=domain, delta=delta, clip=clip)
        if form not in ("theorem2", "table5"):
            raise InputError(f"form of gaussian must be 'theorem2' or 'table5', got {form!r}")
        self.form = form
        width = self.domain.as_box().width
        self.delta_range = width if delta_range is None else positive("delta_range", delta_range)

    @property
    def sigma(self) -> float:
        if self.form == "theorem2":
            return self.delta_range * math.sqrt(self.size / (2.0 * self.epsilon))
        return self.size * self.delta_range / (2.0 * self.epsilon)


@register
class GaussianClassical(_IsotropicGaussian):
    """sigma = s2 sqrt(2 ln(1.25/delta)) / epsilon, proved for epsilon <= 1; too little noise above about 8.4."""

    name = "gaussian-classical"
    source = "Dwork and Roth 2014, Theorem A.1; TVG, section VIII.C"

    @property
    def sigma(self) -> float:
        return self.sensitivity * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon


@register
class GaussianAnalytic(_IsotropicGaussian):
    """The least sigma that is exactly (epsilon, delta)-DP for the whole record (Balle and Wang 2018)."""

    name = "gaussian-analytic"
    source = "Balle and Wang, ICML 2018, Algorithm 1"

    def __init__(self, *, epsilon: float, domain: Domain, delta: float = 1e-5, clip: bool = False) -> None:
        super().__init__(epsilon=epsilon, domain=domain, delta=delta, clip=clip)
        self._sigma = self.sensitivity / mu_of(self.epsilon, self.delta)

    @property
    def sigma(self) -> float:
        return self._sigma


@register
class GaussianPerElement(_IsotropicGaussian):
    """TVG's handicapped baseline: the classical formula per element at (epsilon/I, delta/I), range as sensitivity."""

    name = "gaussian-per-element"
    domain_kind = "box"
    source = "TVG, section VIII.C; basic composition over elements"
    status = "as printed"

    @property
    def sigma(self) -> float:
        budget = self.epsilon / self.size
        return self.domain.as_box().width * math.sqrt(2.0 * math.log(1.25 * self.size / self.delta)) / budget
