"""Randomizing a few sampled coordinates with the piecewise mechanism or Duchi's two points [wang2019]."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, small_losses
from tensorldp.mechanisms.base import Mechanism
from tensorldp.randomness import numpy_generator, uniform


def distinct_indices(rows: int, d: int, k: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """`rows` independent uniform subsets of k out of range(d), each as a row of k indices in no useful order."""
    if k == d:
        return np.tile(np.arange(d), (rows, 1))
    if k > 100:
        return np.array(
            [rng.choice(d, size=k, replace=False, shuffle=False) for _ in range(rows)], dtype=np.int64
        ).reshape(rows, k)
    chosen = np.full((rows, k), -1, dtype=np.int64)
    for i, top in enumerate(range(d - k, d)):  # Floyd's algorithm, all rows at once
        draw = rng.integers(0, top + 1, size=rows)
        taken = (chosen[:, :i] == draw[:, None]).any(axis=1)
        chosen[:, i] = np.where(taken, top, draw)
    return chosen


def random_signs(rows: int, d: int, generator: torch.Generator) -> Tensor:
    """int8 (rows, d) of fair, independent signs on the generator's device."""
    if generator.device.type != "cpu":
        return (
            torch.randint(0, 2, (rows, d), dtype=torch.int8, generator=generator, device=generator.device)
            .mul_(2)
            .sub_(1)
        )
    packed = np.frombuffer(numpy_generator(generator).bytes(-(-rows * d // 8)), dtype=np.uint8)
    return torch.from_numpy(np.unpackbits(packed, count=rows * d).view(np.int8)).mul_(2).sub_(1).view(rows, d)


def duchi_bound(epsilon: float) -> float:
    """B = (e^epsilon + 1) / (e^epsilon - 1) of Duchi's two points."""
    return 1.0 / math.tanh(epsilon / 2.0)


def duchi_variance(t: float, epsilon: float) -> float:
    """B^2 - t^2, the variance of Duchi's two points at t in [-1, 1]."""
    return duchi_bound(epsilon) ** 2 - t * t


def piecewise_bound(epsilon: float) -> float:
    """C = (e^(epsilon/2) + 1) / (e^(epsilon/2) - 1), the largest output of the piecewise mechanism."""
    return 1.0 / math.tanh(epsilon / 4.0)


class SampledCoordinates(Mechanism):
    """k coordinates drawn without replacement, each randomised with epsilon/k and scaled by d/k; the others 0."""

    domain_kind = "box"

    def _prepare(self) -> None:
        super()._prepare()
        self.sampled = max(1, min(self.size, math.floor(self.epsilon / 2.5)))
        self.coordinate_epsilon = self.epsilon / self.sampled

    @abstractmethod
    def variance(self, t: float) -> float:
        """The variance of one coordinate's randomizer at t in [-1, 1]."""

    @property
    @abstractmethod
    def piecewise_weight(self) -> float:
        """The probability that a coordinate takes the piecewise mechanism rather than Duchi's two points."""

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        rows, k, half = x.shape[0], self.sampled, self.box.width / 2.0
        index = torch.from_numpy(distinct_indices(rows, self.size, k, numpy_generator(generator))).to(x.device)
        t = ((x.reshape(rows, -1).gather(1, index).double() - self.box.centre) / half).clamp_(-1.0, 1.0)
        noisy = self._coordinate(t, generator)
        out = torch.full((rows, self.size), self.box.centre, dtype=x.dtype, device=x.device)
        out.scatter_(1, index, (self.box.centre + half * (self.size / k) * noisy).to(x.dtype))
        return out.view(x.shape)

    def _coordinate(self, t: Tensor, generator: torch.Generator) -> Tensor:
        weight = self.piecewise_weight
        two_points = self._two_points(t, generator) if weight < 1.0 else t
        if weight == 0.0:
            return two_points
        pieces = self._pieces(t, generator)
        if weight == 1.0:
            return pieces
        return torch.where(uniform(tuple(t.shape), generator) < weight, pieces, two_points)

    def _two_points(self, t: Tensor, generator: torch.Generator) -> Tensor:
        bound = duchi_bound(self.coordinate_epsilon)
        up = uniform(tuple(t.shape), generator) < 0.5 + t / (2.0 * bound)
        return torch.where(up, t.new_tensor(bound), t.new_tensor(-bound))  # of numbers it would be float32

    def _pieces(self, t: Tensor, generator: torch.Generator) -> Tensor:
        bound = piecewise_bound(self.coordinate_epsilon)
        near = uniform(tuple(t.shape), generator) < 1.0 / (1.0 + math.exp(-self.coordinate_epsilon / 2.0))
        place = uniform(tuple(t.shape), generator)
        left = (bound + 1.0) / 2.0 * t - (bound - 1.0) / 2.0
        far = place * (bound + 1.0) - bound  # the outside has length C + 1: skip the inner piece
        far = torch.where(far >= left, far + (bound - 1.0), far)
        return torch.where(near, left + place * (bound - 1.0), far)

    def _element_error(self, t: float) -> float:
        ratio = self.size / self.sampled
        return ratio * (self.variance(t) + t * t) - t * t

    def squared_error(self) -> float:
        return self.size * max(self._element_error(0.0), self._element_error(1.0)) * (self.box.width / 2.0) ** 2

    def worst_input(self) -> Tensor:
        corner = self._element_error(1.0) >= self._element_error(0.0)
        return self.box.constant(self.box.low if corner else self.box.centre)

    def curve(self) -> PrivacyCurve:
        weight, eps = self.piecewise_weight, self.coordinate_epsilon
        log_z1 = -float(np.logaddexp(0.0, -eps / 2.0))  # log z/(z+1), the inner piece of opposite corners
        log_a1 = -float(np.logaddexp(0.0, -eps))  # log e^eps/(e^eps+1)
        if weight == 0.0:
            losses = small_losses(eps, -eps)
            return DiscreteCurve((log_a1, log_a1 - eps), (log_a1 - eps, log_a1), count=self.sampled, losses=losses)
        log_w = math.log(weight)
        near = log_w + log_z1
        if weight < 1.0:
            near = float(np.logaddexp(near, math.log1p(-weight) + log_a1))
        middle = log_w + log_z1 - eps / 2.0 + math.log(-math.expm1(-eps / 2.0))
        law, losses = (near, middle, near - eps), small_losses(eps, 0.0, -eps)
        return DiscreteCurve(law, law[::-1], count=self.sampled, losses=losses)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        half, ratio = self.box.width / 2.0, self.size / self.sampled
        untouched = torch.tensor(self.box.centre, dtype=y.dtype, device=y.device).double()
        noisy = (self._flat(y) - self.box.centre) / (half * ratio)
        slack = 8.0 * torch.finfo(y.dtype).eps * (abs(self.box.centre) / (half * ratio) + noisy.abs().amax())
        drawn = self._flat(y) != untouched
        first, second = (((self._flat(z) - self.box.centre) / half).clamp(-1.0, 1.0) for z in (x, x_prime))
        value = self._log_density(noisy, first, slack) - self._log_density(noisy, second, slack)
        return (value * drawn).sum(dim=1)

    def _log_density(self, noisy: Tensor, t: Tensor, slack: Tensor) -> Tensor:
        """log density or mass of one output, up to what does not depend on t."""
        bound, eps = piecewise_bound(self.coordinate_epsilon), self.coordinate_epsilon
        left = (bound + 1.0) / 2.0 * t - (bound - 1.0) / 2.0
        inner = noisy.clamp(-bound, bound)
        pieces = eps * ((inner >= left) & (inner <= left + (bound - 1.0))).double()
        if self.piecewise_weight == 1.0:
            return pieces
        atom = duchi_bound(eps)
        side = t * noisy.sign()  # 1/2 + side/(2B), free of cancellation at a corner
        points = torch.log((1.0 + side) / 2.0 - side * math.exp(-float(np.logaddexp(0.0, eps))))
        return torch.where((noisy.abs() - atom).abs() <= slack, points, pieces)
