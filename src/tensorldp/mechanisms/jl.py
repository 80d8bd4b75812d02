"""The Johnson-Lindenstrauss transform as a private covariance estimator [blocki2012]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from scipy.special import chdtri
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve, RepeatedCurve
from tensorldp.curves.discrete import PureCurve
from tensorldp.errors import InputError, check_real, check_word
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import check_generator, standard_normal

LEAST = 1e-15  # of eta and nu
TABLE_BYTES = 8 << 20  # bytes of rows scaled and multiplied at once


@dataclass(frozen=True)
class StatedCurve(RepeatedCurve):
    """`count` uses of something known only by an (epsilon, delta) statement.

    Its profile is never larger than that of randomised response of that epsilon beside an atom of delta ([kairouz2015],
    Theorem 3.3): delta(e) = a + (1 - a) E (1 - exp(e - L))_+ with a = 1 - (1 - delta)^k and
    L = (2 B - k) epsilon, B binomial.
    """

    stated_epsilon: float
    stated_delta: float
    count: int = 1
    exact: bool = False

    @property
    def pure_epsilon(self) -> float:
        return self.count * self.stated_epsilon

    @property
    def atom(self) -> float:
        if self.count == 1:
            return self.stated_delta
        return -math.expm1(self.count * math.log1p(-self.stated_delta))

    @cached_property
    def _response(self) -> PureCurve:
        """That of the randomised response."""
        return PureCurve(self.stated_epsilon, count=self.count)

    def _delta(self, epsilon: float) -> float:
        return self.atom + (1.0 - self.atom) * self._response.delta(epsilon)

    def _epsilon(self, delta: float) -> float:
        return self._response.epsilon(max(0.0, (delta - self.atom) / (1.0 - self.atom)))


def dimension(eta: float, nu: float) -> int:
    """r = ceil(8 ln(2/nu) / eta^2), the rows of the projection."""
    return math.ceil(8.0 * math.log(2.0 / nu) / eta**2)


def floor(rows: int, epsilon: float, delta: float) -> float:
    """w = 16 sqrt(r ln(2/delta)) ln(16 r / delta) / epsilon, what every singular value is raised by, in squares."""
    return 16.0 * math.sqrt(rows * math.log(2.0 / delta)) * math.log(16.0 * rows / delta) / epsilon


@register
class JohnsonLindenstrauss(Mechanism):
    """A covariance estimate of a table of records; `privatize` refuses, use `covariance`.

    Rows are scaled by the domain's l2 diameter, so that replacing one moves it by at most 1. The domain is that of
    one row. The guarantee is the theorem's (epsilon, delta), which is very loose on a bounded domain; at epsilons of
    millions, where w no longer proves it, it is the larger one that w proves: docs/mathematics/curves.md#pure.

    Args:
        eta: the multiplicative error that r is chosen for, in (0, 1); a guess, as the sources give none.
        nu: the probability of a larger error, in (0, 1); a guess.
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
        self.eta = check_real("eta of jl", self.eta, low=0.0, high=1.0, open_low=True, open_high=True)
        self.nu = check_real("nu of jl", self.nu, low=0.0, high=1.0, open_low=True, open_high=True)
        for option, value in (("eta", self.eta), ("nu", self.nu)):  # less needs more rows than floats can count
            check_real(f"{option} of jl", value, low=LEAST)
        check_word("centre of jl", self.centre, "domain", "mean")
        if self.centre == "mean":
            self.note = "the column means are subtracted without a budget of their own"

    @property
    def rows(self) -> int:
        """r, the rows of the projection."""
        return dimension(self.eta, self.nu)

    @property
    def floor(self) -> float:
        """w, in units of the scaled rows."""
        return floor(self.rows, self.epsilon, self.delta)

    @property
    def diameter(self) -> float:
        """What rows are divided by: the l2 diameter of the domain, 2 sqrt(d) for [-1, 1]^d."""
        return self.domain.diameter

    def gram(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """C~ = Y^T Y / r for the scaled and centred table, float64 (d, d); E C~ = A^T A + w^2 E.

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
        """An estimate of the covariance (1/N) sum (x_i - centre)(x_i - centre)^T, float64 (d, d), symmetric.

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
        """Always refuses: this mechanism does not release a tensor of the record's shape."""
        raise InputError("jl releases a covariance matrix, not records: call covariance(x, generator) instead")

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return self.privatize(x, generator)

    def squared_error(self) -> None:
        return None

    def curve(self) -> PrivacyCurve:
        return StatedCurve(max(self.epsilon, self._epsilon_of_floor()), self.delta)

    def _epsilon_of_floor(self) -> float:
        """An epsilon that holds at delta for any w; where it exceeds the theorem's, w is too small for the theorem.

        Without one row, of norm 1/2 at most, A^T A + w^2 E is C. Taking the row away has a loss of at most
        X / (8 w^2), X chi-square with r degrees of freedom, and adding another one of at most (r/2) ln(1 + 1/(4 w^2)).
        """
        inverse = 0.25 / self.floor**2
        return float(chdtri(self.rows, self.delta)) * inverse / 2.0 + self.rows / 2.0 * math.log1p(inverse)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        half = self.diameter / 2 / math.sqrt(self.size)
        return self.domain.constant(self.domain.centre - half), self.domain.constant(self.domain.centre + half)
