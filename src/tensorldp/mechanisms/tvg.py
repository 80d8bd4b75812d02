"""TVG [yang2022]: tensor-variate Gaussian noise, its unimodal form UDN and its independent form IDN.

I_1 is shape[0] always: a record of shape (1280,) has I_1 = 1280 and n = 1, while the "1 x 1280" of the sources'
tables is the shape (1, 1280), with I_1 = 1. Only UDN and the directional forms feel the difference.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from tensorldp.domain import Box
from tensorldp.errors import InputError, check_word
from tensorldp.mechanisms.directional import DirectionalGaussian, ModeFactor, matrix, orthogonal, vector
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.tvg_budget import KOV_SLACK, Schedule, kov_budget, step_budget

IMPORTANCE_FLOOR = 1e-8  # of the largest importance: a direction of no importance gets at most 100 times the noise


def zeta(size: int, delta: float) -> float:
    """Computes zeta with P(||N||_F <= zeta) >= 1 - delta for `size` standard normals (TVG, Lemma 3; [laurent2000])."""
    tail = -math.log(delta)
    return math.sqrt(2.0 * tail + 2.0 * math.sqrt(size * tail) + size)


def kappa(size: int, epsilon: float, delta: float) -> float:
    """Computes -zeta + sqrt(zeta^2 + 2 epsilon) without cancellation: the Mahalanobis shift that the theorems allow."""
    z = zeta(size, delta)
    return 2.0 * epsilon / (z + math.sqrt(z * z + 2.0 * epsilon))


def optimal_sigma(importances: Tensor, bound: float) -> Tensor:
    """Computes sigma_i, sigma_i^2 = sum_j sqrt(P_j) / (sqrt(P_i) B), which spends sum 1/sigma_i^2 = B (TVG, Eq. 28).

    Importances below 1e-8 of the largest are raised to that, so that no direction gets infinite noise.
    """
    if bool((importances < 0).any()) or not bool((importances > 0).any()):
        raise InputError(
            "importances must be non-negative and not all zero, "
            f"got values from {float(importances.min()):g} to {float(importances.max()):g}"
        )
    root = importances.clamp_min(IMPORTANCE_FLOOR * float(importances.max())).sqrt()
    return (root.sum() / (root * bound)).sqrt()


class _Tvg(DirectionalGaussian):
    """What the three forms share: the mode-1 factor of `length` I_1 that spends a bound B.

    Args:
        importances: P, I_1 non-negative numbers; None weighs every direction alike.
        workload: W (J x I_1), the linear map that the data meets next; sets P_i = sum_j (W W_U)_ji^2 (Algorithm 1,
            line 4). Give this or `importances`.
    """

    status = "as printed"

    acts_on = "tensor"

    importances: Tensor | Sequence[float] | None = None
    workload: Tensor | None = None

    def _prepare(self) -> None:
        super()._prepare()
        if self.importances is not None and self.workload is not None:
            raise InputError(f"{self.name} takes importances or a workload, not both")
        self.factors = self._solve(self._turn())

    def _turn(self) -> Tensor | None:
        """Returns the directions of mode 1, one per column; None is the standard basis."""
        return None

    @property
    def kappa(self) -> float:
        """Returns the Mahalanobis shift that the theorem allows at the nominal (epsilon, delta)."""
        return kappa(self.size, self.epsilon, self.delta)

    @property
    @abstractmethod
    def bound(self) -> float:
        """Returns B, the most that ||U_1^-1||_F^2 may be."""

    def _solve(self, directions: Tensor | None) -> tuple[ModeFactor, ...]:
        length = self.shape[0]
        if self.workload is not None:
            weights = matrix(f"workload of {self.name}", self.workload, length)
            weights = weights if directions is None else weights @ directions
            importances = (weights**2).sum(dim=0)
        elif self.importances is not None:
            importances = vector(f"importances of {self.name}", self.importances, length)
        else:
            return (ModeFactor(torch.full((length,), math.sqrt(length / self.bound), dtype=torch.float64)),)
        return (ModeFactor(optimal_sigma(importances, self.bound), directions),)


class _Directed(_Tvg):
    """The forms whose mode-1 noise may have any orthogonal directions.

    Args:
        directions: W_U1, orthogonal (I_1 x I_1), one direction per column; None is the standard basis. They matter
            only with unequal importances.
    """

    directions: Tensor | None = None

    def _turn(self) -> Tensor | None:
        if self.directions is None:
            return None
        return orthogonal(f"directions of {self.name}", self.directions, self.shape[0])


@register
class Tvg(_Directed):
    """TVG with directional mode 1 and i.i.d. other modes: prod_k ||U_k^-1||_F^2 <= B = kappa^2 / s2^2.

    The i.i.d. choice has sigma = s2 sqrt(I) / kappa.
    """

    name = "tvg"
    formula = r"x + N \times_1 U_1, \lVert U_1^{-1} \rVert_F^2 = I_1 \kappa^2 / (I s_2^2)"
    source = "TVG, Theorem 1, Eq. 14"

    @property
    def bound(self) -> float:
        others = self.size / self.shape[0]  # prod of ||E_k||_F^2 over the other modes
        return (self.kappa / self.domain.diameter) ** 2 / others


@register
class Udn(_Directed):
    """Unimodal directional noise: ||U_1^-1||_F^2 <= B = kappa^2 / s2^2; i.i.d.: sigma = s2 sqrt(I_1) / kappa."""

    name = "udn"
    formula = r"x + N \times_1 U_1, \lVert U_1^{-1} \rVert_F^2 = \kappa^2 / s_2^2"
    source = "TVG, Theorem 2, Eq. 19 and Algorithm 1"

    @property
    def bound(self) -> float:
        return (self.kappa / self.domain.diameter) ** 2


@register
class Idn(_Tvg):
    """Independent directional noise: ||U_1^-1||_F^2 <= B = I_1 kappa^2 / s_hat^2, U_1 diagonal.

    Args:
        form: "corrected" has s_hat = (b - a) sqrt(I), which the proof needs; "printed" has the text's
            (b - a) / sqrt(I), which is far from (epsilon, delta)-DP.
    """

    name = "idn"
    formula = r"x + N \times_1 U_1, \lVert U_1^{-1} \rVert_F^2 = I_1 \kappa^2 / \hat{s}^2, U_1 \text{ diagonal}"
    domain_kind = "box"
    source = "TVG, Theorem 3, Eq. 21"

    form: Literal["corrected", "printed"] = "corrected"

    def _prepare(self) -> None:
        check_word("form of idn", self.form, "corrected", "printed")
        if self.form == "printed":
            self.note = "Theorem 3 as printed divides by sqrt(I) where its proof needs a product"
        super()._prepare()

    @classmethod
    def step_sigma(cls, run: Schedule, domain: Box, **options: Any) -> float | None:
        """Computes sigma at the budget of a step by the composition of Kairouz, Oh and Viswanath."""
        if run.delta <= KOV_SLACK:
            raise InputError(
                f"delta of a run with idn must be above {KOV_SLACK:g}, which its composition sets aside, "
                f"got {run.delta:g}"
            )
        epsilon, delta = step_budget(cls.name, run, kov_budget)
        return cls(epsilon=epsilon, delta=delta, domain=domain, **options).isotropic_sigma

    @property
    def s_hat(self) -> float:
        """Returns the sensitivity that the theorem uses."""
        width = self.domain.as_box().width
        return width * math.sqrt(self.size) if self.form == "corrected" else width / math.sqrt(self.size)

    @property
    def bound(self) -> float:
        return self.shape[0] * (self.kappa / self.s_hat) ** 2
