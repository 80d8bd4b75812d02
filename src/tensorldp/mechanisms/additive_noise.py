"""Mechanisms that add i.i.d. noise of one scale to every element: the laws of the noise and their consequences."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import ndtr
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.domain import FARTHEST, NARROWEST, Domain
from tensorldp.errors import check_positive, check_real
from tensorldp.mechanisms.base import ActsOn, Mechanism
from tensorldp.randomness import add_gaussian, add_laplace

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NoiseLaw:
    """The law of one element's noise Z, up to its scale.

    Attributes:
        add: from x, a scale and a generator to x with independent noise on every element.
        variance: E Z^2 at a scale.
        tail: P(|Z| > size) from a size and a scale.
        log_inverse_peak: -log of the density at 0, at a scale.
        loss: log p(y|x) - log p(y|x') of each element from (y, x, x'), times `loss_unit`.
        loss_unit: what `loss` has to be divided by, at a scale.
        curve: the exact curve of noise on every element of a record of a domain, at a scale.
        metric: the distance of two records on which the curve of the worst depends.
        curve_at: that curve, from the domain, a scale and the distance. That of Laplace noise is one element's,
            moved by all of the distance (docs/mathematics/curves.md#laplace).
    """

    add: Callable[[Tensor, float, torch.Generator], Tensor]
    variance: Callable[[float], float]
    tail: Callable[[Reals, float], Reals]
    log_inverse_peak: Callable[[float], float]
    loss: Callable[[Tensor, Tensor, Tensor], Tensor]
    loss_unit: Callable[[float], float]
    curve: Callable[[Domain, float], PrivacyCurve]
    metric: str
    curve_at: Callable[[Domain, float, float], PrivacyCurve]

    def __repr__(self) -> str:
        return f"NoiseLaw({getattr(self.add, '__name__', self.add)})"


LAPLACE = NoiseLaw(
    add=add_laplace,
    variance=lambda scale: 2.0 * scale**2,
    tail=lambda size, scale: np.asarray(np.exp(-size / scale)),
    log_inverse_peak=lambda scale: math.log(2.0 * scale),
    loss=lambda y, x, x_prime: (y - x_prime).abs() - (y - x).abs(),
    loss_unit=lambda scale: scale,
    curve=lambda domain, scale: LaplaceCurve(shift=domain.as_box().width / scale, count=domain.size),
    metric="l1",
    curve_at=lambda domain, scale, far: LaplaceCurve(far / scale, exact=far <= domain.as_box().width),
)
GAUSSIAN = NoiseLaw(
    add=add_gaussian,
    variance=lambda scale: scale**2,
    tail=lambda size, scale: np.asarray(2.0 * ndtr(-size / scale)),
    log_inverse_peak=lambda scale: math.log(scale * math.sqrt(2.0 * math.pi)),
    loss=lambda y, x, x_prime: (x - x_prime) * (2.0 * y - (x + x_prime)),
    loss_unit=lambda scale: 2.0 * scale**2,
    curve=lambda domain, scale: GaussianCurve(domain.diameter / scale),
    metric="l2",
    curve_at=lambda domain, scale, far: GaussianCurve(far / scale, exact=far <= domain.diameter),
)


class AdditiveNoise(Mechanism):
    """x + Z with i.i.d. Z: a subclass states the `law` of the noise and its `scale`, and all else follows.

    Attributes:
        law: `LAPLACE` on boxes, or `GAUSSIAN`.
    """

    acts_on: ClassVar[ActsOn] = "element"
    block_bytes = None  # the samplers bound their memory themselves
    additive = True
    law = LAPLACE
    leaves_input = True

    @property
    @abstractmethod
    def scale(self) -> float:
        """Returns b of Laplace noise, or the standard deviation of Gaussian noise, in the unit of the data."""

    @property
    def retention(self) -> float:
        """Returns the probability that an element is released as it is."""
        return 0.0

    @property
    def isotropic_sigma(self) -> float | None:
        return self.scale if self.law is GAUSSIAN and self.additive else None

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return self.law.add(x, self.scale, generator)

    def noise_tail(self, size: Reals) -> Reals | None:
        """Computes P(|Z| > size) of one element's noise Z; None if a release is more than x plus independent noise."""
        return self.law.tail(size, self.scale) if self.additive and self.retention == 0.0 else None

    def squared_error(self) -> float:
        return self.size * self.law.variance(self.scale)

    def curve(self) -> PrivacyCurve:
        return self.law.curve(self.domain, self.scale)

    @property
    def metric(self) -> str:
        own = type(self).curve is AdditiveNoise.curve and self.unit == "record"  # else a release is more than noise
        return self.law.metric if own else ""

    def curve_at(self, distance: float) -> PrivacyCurve:
        if not self.metric:
            return super().curve_at(distance)
        return self.law.curve_at(self.domain, self.scale, check_positive("distance of two records", distance))

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = self._flat(y), self._flat(x), self._flat(x_prime)
        return self.law.loss(y, x, x_prime).sum(dim=1) / self.law.loss_unit(self.scale)


class StatedRange(AdditiveNoise):
    """Noise computed from a range Delta that may differ from the domain's.

    Args:
        delta_range: Delta, the range that the formula uses, in [1e-30, 2e30]; None is the domain's, high - low.
    """

    domain_kind = "box"

    delta_range: float | None = None

    def _prepare(self) -> None:
        super()._prepare()
        if self.delta_range is not None:
            self.delta_range = check_real("delta_range", self.delta_range, low=NARROWEST, high=2.0 * FARTHEST)

    @property
    def range(self) -> float:
        """Returns Delta, as given or high - low."""
        return self.box.width if self.delta_range is None else self.delta_range
