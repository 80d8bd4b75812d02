"""The Johnson-Lindenstrauss transform as a private covariance estimator [blocki2012]."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.wishart import WishartCurve
from tensorldp.errors import InputError, check_real, check_word
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import check_generator, standard_normal

LEAST_ETA, LEAST_NU = 1e-8, 1e-15  # less needs more rows than a curve can count
TABLE_BYTES = 8 << 20  # bytes of rows scaled and multiplied at once


def dimension(eta: float, nu: float) -> int:
    """Computes r = ceil(8 ln(2/nu) / eta^2), the rows of the projection."""
    return math.ceil(8.0 * math.log(2.0 / nu) / eta**2)


def floor(rows: int, epsilon: float, delta: float) -> float:
    """Computes w = 16 sqrt(r ln(2/delta)) ln(16 r / delta) / epsilon, which raises singular values in squares."""
    return 16.0 * math.sqrt(rows * math.log(2.0 / delta)) * math.log(16.0 * rows / delta) / epsilon


@register
class JohnsonLindenstrauss(Mechanism):
    """A covariance estimate of a table of records; `privatize` refuses, use `covariance`.

    Rows are scaled by the domain's l2 diameter, so that replacing one moves it by at most 1. The domain is that of
    one row. On a bounded domain w hides much more than the theorem's (epsilon, delta) says. The curve is that of the
    rows that are drawn: docs/mathematics/curves.md#wishart.

    Args:
        eta: the multiplicative error that r is chosen for, in [1e-8, 1); a guess, as the sources give none.
        nu: the probability of a larger error, in [1e-15, 1); a guess.
        centre: "domain" subtracts the public centre; "mean" the column means, as in the source's algorithm, which
            the guarantee then leaves out.
    """

    name = "jl"
    formula = r"Y^T Y / r, Y \in \mathbb{R}^{r \times d} \text{ with rows } \mathcal{N}(0, A^T A + w^2 E)"
    same_shape = False
    only_for = ("covariance",)
    not_elsewhere = "it releases a covariance matrix, not records"
    source = "[blocki2012], Algorithm 3; TVG, section VIII.C"

    eta: float = 0.5
    nu: float = 0.05
    centre: Literal["domain", "mean"] = "domain"

    def _prepare(self) -> None:
        super()._prepare()
        self.eta = check_real("eta of jl", self.eta, low=LEAST_ETA, high=1.0, open_high=True)
        self.nu = check_real("nu of jl", self.nu, low=LEAST_NU, high=1.0, open_high=True)
        check_word("centre of jl", self.centre, "domain", "mean")
        if self.centre == "mean":
            self.note = "the column means are subtracted without a budget of their own"

    @property
    def rows(self) -> int:
        """Returns r, the rows of the projection."""
        return dimension(self.eta, self.nu)

    @property
    def floor(self) -> float:
        """Returns w, in units of the scaled rows."""
        return floor(self.rows, self.epsilon, self.delta)

    @property
    def diameter(self) -> float:
        """Returns what rows are divided by: the l2 diameter of the domain, 2 sqrt(d) for [-1, 1]^d."""
        return self.domain.diameter

    def gram(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Releases C~ = Y^T Y / r for the scaled and centred table, float64 (d, d); E C~ = A^T A + w^2 E.

        Y = M U S' V^T with M i.i.d. normal has i.i.d. rows of covariance A^T A + w^2 E, and is drawn that way, which
        needs no N columns of M and covers tables of fewer rows than columns.
        """
        x, domain = self._examined(x)
        check_generator(generator, x)
        if domain is not None:
            x = domain.project(x)
        rows = x.reshape(-1, self.size)
        middle = rows.mean(dim=0, dtype=torch.float64) if self.centre == "mean" else self.domain.centre
        target = self.floor**2 * torch.eye(self.size, dtype=torch.float64, device=x.device)
        for block in rows.split(max(1, TABLE_BYTES // (8 * self.size))):
            scaled = (block.double() - middle) / self.diameter
            target += scaled.T @ scaled
        draws = standard_normal(torch.empty(self.rows, self.size, dtype=torch.float64, device=x.device), generator)
        projected = draws @ torch.linalg.cholesky(target).T
        return torch.as_tensor(projected.T @ projected / self.rows)

    def covariance(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Releases an estimate of the covariance (1/N) sum (x_i - centre)(x_i - centre)^T, float64 (d, d), symmetric.

        Unbiased about the public centre; the floor w^2 is subtracted, so it need not be positive definite.

        Args:
            x: (N, *shape), one record per row, N >= 1.
            generator: for the projection.

        Raises:
            InputError: as `gram`, or if the table is empty.
        """
        if isinstance(x, Tensor) and x.dim() > 0 and x.shape[0] == 0:
            raise InputError("jl needs a table of at least one row")
        noisy = self.gram(x, generator)
        noisy = noisy - self.floor**2 * torch.eye(self.size, dtype=torch.float64, device=noisy.device)
        return noisy * (self.diameter**2 / x.shape[0])

    def privatize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Refuses always: this mechanism does not release a tensor of the record's shape."""
        raise InputError("jl releases a covariance matrix, not records: call covariance(x, generator) instead")

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return self.privatize(x, generator)

    def squared_error(self) -> None:
        return None

    def curve(self) -> PrivacyCurve:
        orthogonal = self.size % 2 == 0 and self.centre == "domain"  # two rows as far from the centre as can be
        return WishartCurve(0.25 / self.floor**2, self.rows, exact=orthogonal)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        first = self.domain.farthest()[0]
        second = first.clone()
        half = second.reshape(-1)[self.size // 2 :]
        half.copy_(2.0 * self.domain.centre - half)
        return first, second
