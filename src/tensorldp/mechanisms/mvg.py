"""MVG: matrix-variate Gaussian noise [chanyaswad2018]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import InputError, check_flag, check_real, check_whole, check_word
from tensorldp.mechanisms.directional import DirectionalGaussian, ModeFactor, orthogonal, vector
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.tvg import zeta

ZetaMode = Literal["sqrt", "plain"]


@dataclass(frozen=True)
class MvgBound:
    """The terms of MVG's sufficient condition ||sv(Sigma^-1)||_2 ||sv(Psi^-1)||_2 <= B for an m x n query.

    Attributes:
        zeta: the tail radius, or its square under `zeta_mode="plain"`.
        alpha: (H_r + H_{r,1/2}) gamma^2 + 2 H_r gamma s2, r = min(m, n).
        beta: 2 (m n)^(1/4) H_r s2 zeta.
        phi: the positive root of alpha phi^2 + beta phi = 2 epsilon.
        bound: B = phi^2.
        budget: P = B^2 / n, the most that the squared row precisions may sum to when Psi = E.
    """

    zeta: float
    alpha: float
    beta: float
    phi: float
    bound: float
    budget: float


MOST_GAMMA, LEAST_TAU = 1e40, 1e-30  # beyond these the fourth power of phi, or a variance, leaves the floats


def mvg_bound(
    rows: int,
    columns: int,
    *,
    gamma: float,
    sensitivity: float,
    epsilon: float,
    delta: float,
    zeta_mode: ZetaMode = "sqrt",
) -> MvgBound:
    """Computes MVG's bound for a (rows x columns) query with sup ||f||_F = gamma and l2 sensitivity s2.

    `zeta_mode="sqrt"` is what the tail lemma needs; "plain" leaves out the square root, as the official code does
    since 2020 (Theorem 2 of the source; TVG, Eq. 30).
    """
    size, rank = rows * columns, min(rows, columns)
    steps = np.arange(1, rank + 1, dtype=np.float64)
    harmonic, harmonic_half = float((1.0 / steps).sum()), float((steps**-0.5).sum())
    radius = zeta(size, delta)
    radius = radius if zeta_mode == "sqrt" else radius**2
    alpha = (harmonic + harmonic_half) * gamma**2 + 2.0 * harmonic * gamma * sensitivity
    beta = 2.0 * size**0.25 * harmonic * sensitivity * radius
    phi = 4.0 * epsilon / (beta + math.sqrt(beta**2 + 8.0 * alpha * epsilon))
    return MvgBound(radius, alpha, beta, phi, phi**2, phi**4 / columns)


def binary_allocation(rows: int, important: Sequence[int], tau: float) -> Tensor:
    """Computes theta: a share tau of the precision to the `important` directions, equally, and the rest to the others.

    Where all or none are important, or with at most two rows, the allocation is uniform.
    """
    tau = check_real("tau of mvg", tau, low=LEAST_TAU, high=1.0, open_high=True)
    chosen = list(important)
    if rows <= 2 or len(chosen) in (0, rows):
        return torch.full((rows,), 1.0 / rows, dtype=torch.float64)
    theta = torch.full((rows,), (1.0 - tau) / (rows - len(chosen)), dtype=torch.float64)
    theta[chosen] = tau / len(chosen)
    return theta


@register
class Mvg(DirectionalGaussian):
    """Matrix-variate Gaussian, unimodal and row-wise: Sigma = W diag(lambda) W^T, Psi = E, on I_1 x (I / I_1).

    lambda_i = 1 / sqrt(theta_i P) is a variance; the i.i.d. choice has sigma = (m n)^(1/4) / sqrt(B). The noise is
    added to the record, so the record is taken about the domain's centre and gamma is half the diameter.

    Args:
        zeta_mode: "sqrt" (the tail lemma) or "plain" (the official code since 2020, more noise).
        directions: W, orthogonal (I_1 x I_1), one direction per column; None is the standard basis.
        theta: I_1 positive shares of the precision budget that sum to 1; None is uniform.
        tau: share of the precision for the important directions (binary allocation); None is uniform.
        important: how many leading columns of `directions` are important; used with `tau`.
        bug_compat: scale by lambda_i instead of its square root, as one version of TVG's code does.
        gamma: sup ||f||_F, for a query whose values lie farther apart than neighbours do, so that centring does not
            help; None is half the domain's diameter.
    """

    name = "mvg"
    formula = r"x + W \mathrm{diag}(\lambda)^{1/2} N, \lambda_i = (\theta_i P)^{-1/2}"
    acts_on = "matrix"
    source = "[chanyaswad2018], Theorem 2; TVG, Eq. 30"
    status = "as printed"

    zeta_mode: ZetaMode = "sqrt"
    directions: Tensor | None = None
    theta: Tensor | Sequence[float] | None = None
    tau: float | None = None
    important: int = 2
    bug_compat: bool = False
    gamma: float | None = None

    def _prepare(self) -> None:
        super()._prepare()
        check_word("zeta_mode of mvg", self.zeta_mode, "sqrt", "plain")
        if self.theta is not None and self.tau is not None:
            raise InputError("mvg takes theta or tau, not both")
        half = self.domain.diameter / 2.0
        self.gamma = half if self.gamma is None else check_real("gamma of mvg", self.gamma, low=half, high=MOST_GAMMA)
        self.bug_compat = check_flag("bug_compat of mvg", self.bug_compat)
        if self.bug_compat:
            self.note = "noise is scaled by the variance instead of the standard deviation, as in one version of TVG"
        rows = self.shape[0]
        self.important = check_whole("important of mvg", self.important, high=max(rows, 2))
        turn = None if self.directions is None else orthogonal("directions of mvg", self.directions, rows)
        uniform = self.theta is None and self.tau is None
        self.shares = self._shares(rows)
        self.terms = mvg_bound(
            rows,
            self.size // rows,
            gamma=self.gamma,
            sensitivity=self.domain.diameter,
            epsilon=self.epsilon,
            delta=self.delta,
            zeta_mode=self.zeta_mode,
        )
        self.variances = (self.shares * self.terms.budget).rsqrt()
        scale = self.variances if self.bug_compat else self.variances.sqrt()
        self.factors = (ModeFactor(scale, None if uniform else turn),)

    def _shares(self, rows: int) -> Tensor:
        """Returns theta, float64: what share of the precision each direction has."""
        if self.tau is not None:
            return binary_allocation(rows, range(min(self.important, rows)), self.tau)
        if self.theta is None:
            return torch.full((rows,), 1.0 / rows, dtype=torch.float64)
        theta = vector("theta of mvg", self.theta, rows)
        if not bool((theta > 0).all()) or abs(float(theta.sum()) - 1.0) > 1e-6:
            raise InputError(
                f"theta of mvg must be positive and sum to 1, got a sum of {float(theta.sum()):g}"
                f" and a least share of {float(theta.min()):g}"
            )
        return theta / theta.sum()
