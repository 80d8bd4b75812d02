"""The matrix mechanism [li2015] as a release of the same shape."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.domain import Box
from tensorldp.errors import InputError, check_real, check_word
from tensorldp.mechanisms.directional import DirectionalGaussian, ModeFactor, matrix
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.tvg import IMPORTANCE_FLOOR
from tensorldp.mechanisms.tvg_budget import Schedule, simple_budget, step_budget

MOST_OPTIMISED = 160  # I_1 up to which a strategy is optimised, seconds: I_1^2 unknowns and an inverse per step
MOST_CONSTANT = 1e6  # which, divided by the least delta of an element, is still a float
MOST_ROWS = 8192  # of the strategy: half a gigabyte
Array = npt.NDArray[np.float64]


def error_factor(workload: Array, strategy: Array) -> float:
    """Computes ||A||_2col^2 tr(W (A^T A)^-1 W^T), the squared error in units of the noise of one unit answer."""
    gram = strategy.T @ strategy
    return float(gram.diagonal().max() * np.trace(workload @ np.linalg.solve(gram, workload.T)))


def optimal_strategy(workload: Array) -> Array:
    """Finds A (n x n, unit columns) that minimises `error_factor` for a workload W (J x n).

    With X = A^T A the problem is convex: min tr(W X^-1 W^T) over X_jj = 1; it is solved over A = L^T, X = L L^T, by
    L-BFGS on A with normalised columns. A strategy must see every direction, since each gets noise here, so
    eigenvalues of W^T W below 1e-8 of the largest are raised to that.
    """
    from scipy.optimize import minimize

    n = workload.shape[1]
    values, vectors = np.linalg.eigh(workload.T @ workload)
    values = np.maximum(values, IMPORTANCE_FLOOR * values[-1])
    gram = (vectors * values) @ vectors.T
    gram *= n / np.trace(gram)  # the optimum does not depend on the scale, the stopping rule does

    def objective(flat: Array) -> tuple[float, Array]:
        free = flat.reshape(n, n)
        norms = np.sqrt((free**2).sum(axis=0))
        unit = free / norms
        try:
            inverse = np.linalg.inv(unit.T @ unit)
        except np.linalg.LinAlgError:
            return math.inf, np.zeros_like(flat)
        product = inverse @ gram
        slope = -2.0 * unit @ (product @ inverse)
        return float(np.trace(product)), ((slope - unit * (unit * slope).sum(axis=0)) / norms).ravel()

    start = (vectors * values**0.25) @ vectors.T  # X proportional to (W^T W)^(1/2), optimal except for its diagonal
    best = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "maxfun": 2000, "ftol": 1e-14, "gtol": 1e-9},
    )
    free = np.asarray(best.x, dtype=np.float64).reshape(n, n)
    unit = free / np.sqrt((free**2).sum(axis=0))
    return np.asarray(np.linalg.cholesky(unit.T @ unit).T, dtype=np.float64)


@register
class MatrixMechanism(DirectionalGaussian):
    """x + A^+ eta along mode 1, eta ~ N(0, sg^2): answers W x from a release have the error of the strategy A.

    sg = s_A sqrt(2 ln(constant / delta)) / epsilon. With W = E the strategy is E and this is the Gaussian mechanism.
    The noise is drawn by its covariance sg^2 (A^T A)^-1. At the default constant and delta sg is too small for the
    nominal epsilon from 9.39 on, as `guarantee` tells.

    Args:
        workload: W (J x I_1), the queries along mode 1; None is the identity.
        strategy: A (p x I_1) of full column rank; None optimises it for W, for I_1 up to 160.
        sensitivity: "record" has s_A = sup ||A (x - x')||_F over the domain (an upper bound where A mixes elements);
            "column" has the source's ||A||_2col times the width, which covers one element; "element" does the same
            at (epsilon / I, delta / I), TVG's basic composition over elements.
        constant: 2 in the source, 1.25 in TVG's code.
    """

    name = "matrix"
    formula = r"x + A^+ \eta, \eta \sim \mathcal{N}(0, 2 s_A^2 \ln(2/\delta) / \varepsilon^2)"
    acts_on = "matrix"
    source = "[li2015]; TVG, section VII.A"

    workload: Tensor | None = None
    strategy: Tensor | None = None
    sensitivity: Literal["record", "column", "element"] = "record"
    constant: float = 2.0

    def _prepare(self) -> None:
        super()._prepare()
        check_word("sensitivity of matrix", self.sensitivity, "record", "column", "element")
        parts = self.size if self.sensitivity == "element" else 1
        if self.sensitivity == "column":
            self.note = "the nominal epsilon covers one element, the guarantee the whole record"
        given = self.constant
        self.constant = check_real("constant of matrix", given, low=0.0, high=MOST_CONSTANT, open_low=True)
        if self.constant <= self.delta:
            raise InputError(f"constant of matrix must exceed delta, got {given!r} and delta {self.delta:g}")
        self.strategy = self._strategy(self.workload, self.strategy)
        unit = self._unit_noise(self.strategy)
        self.factors = (unit,)
        if self.sensitivity != "record":
            reach = float(self.strategy.norm(dim=0).max()) * self.box.width
        else:
            curve = self.curve()
            assert isinstance(curve, GaussianCurve)
            reach = curve.mu
        tail = math.log(self.constant * parts / self.delta)
        self.answer_sigma = reach * math.sqrt(2.0 * tail) * parts / self.epsilon
        self.factors = (ModeFactor(unit.sigma * self.answer_sigma, unit.directions),)

    @classmethod
    def step_sigma(cls, run: Schedule, domain: Box, **options: Any) -> float | None:
        """Computes sigma as TVG's code does: half of a step's budget, split over the elements."""
        epsilon, delta = step_budget(cls.name, run, simple_budget)
        return cls(epsilon=epsilon / (2.0 * domain.size), delta=delta, domain=domain, **options).isotropic_sigma

    def _strategy(self, workload: object, strategy: object) -> Tensor:
        n = self.shape[0]
        if n > MOST_ROWS:
            raise InputError(
                f"matrix holds a matrix of shape[0] x shape[0], so shape[0] may be {MOST_ROWS} at most, got {n}; "
                "give the records another shape"
            )
        if strategy is not None:
            return matrix("strategy of matrix", strategy, n)
        if workload is None:
            return torch.eye(n, dtype=torch.float64)
        if n > MOST_OPTIMISED:
            raise InputError(
                f"matrix optimises a strategy for at most {MOST_OPTIMISED} rows, got {n}; give a strategy instead"
            )
        queries = matrix("workload of matrix", workload, n)
        if not bool(queries.any()):
            raise InputError("workload of matrix must not be all zero")
        return torch.from_numpy(optimal_strategy(queries.numpy()))

    def _unit_noise(self, strategy: Tensor) -> ModeFactor:
        """Returns the square root of (A^T A)^-1."""
        n = self.shape[0]
        singular, turn = torch.linalg.svd(strategy, full_matrices=False)[1:]
        if singular.numel() < n or float(singular[-1]) <= 1e-10 * float(singular[0]):
            raise InputError(
                "strategy of matrix must have full column rank: a direction it does not see would get no noise"
            )
        if float(singular[0] - singular[-1]) <= 1e-12 * float(singular[0]):
            return ModeFactor(torch.full((n,), 1.0 / float(singular[0]), dtype=torch.float64))
        return ModeFactor(1.0 / singular, turn.T.contiguous())
