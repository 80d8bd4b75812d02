"""Additive Gaussian noise whose covariance is a Kronecker product of one matrix per mode of the record."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.domain import Ball
from tensorldp.errors import InputError
from tensorldp.mechanisms.base import Mechanism
from tensorldp.randomness import add_gaussian, standard_normal

ENUMERATED = 12  # a mode of at most this length has its 2^(n-1) corners enumerated
STARTS, SWEEPS = 64, 100  # of the local search for a corner of a longer mode
ORTHOGONALITY = 1e-4  # how far W^T W may be from the identity before it counts as a mistake


def numbers(value: object, refusal: str) -> Tensor:
    """`value` in float64 on the CPU; `refusal` is what a message says about anything but numbers."""
    try:
        return torch.as_tensor(value, dtype=torch.float64).cpu()
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{refusal}, got {type(value).__name__}") from None


def vector(name: str, value: object, length: int) -> Tensor:
    """`value` as a finite float64 vector of `length` elements."""
    result = numbers(value, f"{name} must be a vector of {length} numbers")
    if tuple(result.shape) != (length,) or not bool(torch.isfinite(result).all()):
        raise InputError(f"{name} must be a vector of {length} finite numbers, got shape {tuple(result.shape)}")
    return result


def matrix(name: str, value: object, columns: int) -> Tensor:
    """`value` as a finite float64 matrix with `columns` columns."""
    result = numbers(value, f"{name} must be a matrix of {columns} columns")
    if result.dim() != 2 or result.shape[1] != columns or not bool(torch.isfinite(result).all()):
        raise InputError(f"{name} must be a finite matrix of {columns} columns, got shape {tuple(result.shape)}")
    return result


def orthogonal(name: str, value: object, length: int) -> Tensor:
    """The orthogonal (length x length) matrix nearest to `value`, which has to be one up to rounding."""
    result = matrix(name, value, length)
    if result.shape[0] != length:
        raise InputError(f"{name} must be {length} x {length}, got {tuple(result.shape)}")
    gap = float((result.T @ result - torch.eye(length, dtype=torch.float64)).abs().max())
    if gap > ORTHOGONALITY:
        raise InputError(f"{name} must be orthogonal, but W^T W differs from the identity by {gap:.3g}")
    left, _, right = torch.linalg.svd(result)
    return torch.as_tensor(left @ right)


@dataclass(frozen=True)
class ModeFactor:
    """U = W diag(sigma), the square root of one mode's covariance; `directions` None means W = E.

    Attributes:
        sigma: float64 standard deviation along each direction, > 0.
        directions: orthogonal, one direction per column.
    """

    sigma: Tensor
    directions: Tensor | None = None

    @cached_property
    def isotropic(self) -> bool:
        """Whether U is a multiple of an orthogonal matrix, so that directions do not matter."""
        return bool((self.sigma == self.sigma[0]).all())

    @cached_property
    def diagonal(self) -> bool:
        """Whether the covariance is diagonal in the standard basis."""
        return self.directions is None or self.isotropic

    @cached_property
    def precision(self) -> Tensor:
        """(U U^T)^-1, float64."""
        if self.diagonal:
            return torch.diag(self.sigma**-2)
        assert self.directions is not None
        return self.directions @ torch.diag(self.sigma**-2) @ self.directions.T

    @cached_property
    def top_precision(self) -> float:
        """The largest eigenvalue of the precision."""
        return float(self.sigma.min()) ** -2

    @cached_property
    def corner(self) -> Tensor:
        """Signs c with the largest c^T precision c found: exact where diagonal or enumerated, else by local search."""
        length = self.sigma.numel()
        if self.diagonal:
            return torch.ones(length, dtype=torch.float64)
        if length <= ENUMERATED:
            signs = torch.tensor(
                [(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=length - 1)], dtype=torch.float64
            )
            return signs[int(((signs @ self.precision) * signs).sum(dim=1).argmax())]
        assert self.directions is not None
        precise = self.directions.T[self.sigma.argsort()[:STARTS]]
        starts = torch.cat([precise, torch.ones(1, length, dtype=torch.float64)])
        signs = torch.where(starts >= 0, 1.0, -1.0).to(torch.float64)
        for _ in range(SWEEPS):  # c <- sign(A c) never lowers c^T A c for A positive semidefinite
            moved = torch.where(signs @ self.precision >= 0, 1.0, -1.0).to(torch.float64)
            if bool((moved == signs).all()):
                break
            signs = moved
        return signs[int(((signs @ self.precision) * signs).sum(dim=1).argmax())]

    @cached_property
    def attained(self) -> float:
        """c^T precision c at `corner`: a lower bound on the largest value over all corners."""
        if self.diagonal:  # every corner gives the trace, and a factor may be as long as the record
            return float((self.sigma**-2).sum())
        return float(self.corner @ self.precision @ self.corner)

    @cached_property
    def bound(self) -> float:
        """An upper bound on c^T A c over corners c that keeps bounding when modes are multiplied.

        c^T A c is at most n lambda_max(A) and at most sum_ij |A_ij|; both survive a Kronecker product with the
        other's form.
        """
        if self.diagonal:
            return self.attained
        return min(self.sigma.numel() * self.top_precision, float(self.precision.abs().sum()))


class DirectionalGaussian(Mechanism):
    """x + N x_1 U_1 ... x_K U_K with N i.i.d. standard normal, by mode-n products only.

    A subclass sets `factors` in `_prepare`, one per leading mode; modes beyond have U = E. A factor may also be as
    long as the whole record, which gives every element its own standard deviation. The covariance of the noise is the
    Kronecker product of U_k U_k^T, so the privacy loss between x and x' is Gaussian with the Mahalanobis norm mu of x -
    x'. The guarantee is that of the worst shift in the domain: docs/mathematics/curves.md#directional-gaussian
    """

    family = "directional"
    additive = True
    leaves_input = True

    factors: tuple[ModeFactor, ...] = field(init=False)

    @property
    def isotropic_sigma(self) -> float | None:
        return self.sigma if self.isotropic else None

    @property
    def isotropic(self) -> bool:
        """Whether every element gets independent noise of one standard deviation."""
        return all(f.isotropic for f in self.factors)

    @property
    def sigma(self) -> float:
        """The root mean square of the noise per element."""
        return math.prod(math.sqrt(float((f.sigma**2).mean())) for f in self.factors)

    def _modes(self, x: Tensor, forward: bool) -> Tensor:
        """x x_k U_k over the factors for a batch x, or x x_k U_k^-1 if not `forward`."""
        shape, before = x.shape, 1
        for factor in self.factors:
            length = factor.sigma.numel()
            view = x.reshape(shape[0] * before, length, -1)
            sigma = factor.sigma.to(x.device, x.dtype)[:, None]
            turn = None if factor.diagonal or factor.directions is None else factor.directions.to(x.device, x.dtype)
            if forward:
                view = view * sigma if turn is None else turn @ (view * sigma)
            else:
                view = (view if turn is None else turn.T @ view) / sigma
            x, before = view.reshape(shape), before * length
        return x

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return add_gaussian(x, self.sigma, generator) if self.isotropic else super()._release(x, generator)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        if self.isotropic:
            return add_gaussian(x, self.sigma, generator)
        noise = self._modes(standard_normal(x, generator), forward=True)
        return (x.to(noise.dtype) + noise).to(x.dtype)

    def squared_error(self) -> float:
        return self.size * self.sigma**2

    def _free(self) -> int:
        """The number of elements per index of the factored modes."""
        return self.size // math.prod(f.sigma.numel() for f in self.factors)

    def curve(self) -> PrivacyCurve:
        factors = self.factors
        if isinstance(self.domain, Ball):
            return GaussianCurve(self.domain.diameter * math.sqrt(math.prod(f.top_precision for f in factors)))
        # max over corners c of c^T (kron of precisions) c, or an upper bound where it need not be attained
        attained = math.prod(f.attained for f in factors) * self._free()
        slanted = [f for f in factors if not f.diagonal]
        if not slanted or (len(slanted) == 1 and slanted[0].sigma.numel() <= ENUMERATED):
            return GaussianCurve(self.domain.width * math.sqrt(attained))
        bound = math.prod(f.bound for f in factors) * self._free()
        return GaussianCurve(self.domain.width * math.sqrt(bound), attained >= bound * (1 - 1e-12))

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        domain = self.domain
        shift = torch.ones(1, dtype=torch.float64)
        for f in self.factors:
            if not isinstance(domain, Ball):
                part = f.corner
            elif f.isotropic:
                part = torch.ones(f.sigma.numel(), dtype=torch.float64)
            elif f.directions is None:
                part = torch.zeros(f.sigma.numel(), dtype=torch.float64)
                part[f.sigma.argmin()] = 1.0
            else:
                part = f.directions[:, f.sigma.argmin()]
            shift = torch.kron(shift, part)
        shift = torch.kron(shift, torch.ones(self._free(), dtype=torch.float64)).reshape(self.shape)
        if isinstance(domain, Ball):
            half = domain.radius / float(shift.norm())
            return domain.centre - half * shift, domain.centre + half * shift
        low, high = domain.farthest()
        return torch.where(shift > 0, low, high), torch.where(shift > 0, high, low)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        batch = (-1, *self.shape)
        y, x, x_prime = (self._flat(z).reshape(batch) for z in (y, x, x_prime))
        shift = self._modes(x - x_prime, forward=False)
        middle = self._modes(2.0 * y - (x + x_prime), forward=False)
        return (shift * middle).reshape(-1, self.size).sum(dim=1) / 2.0
