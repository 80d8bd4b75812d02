"""Caps of the sphere and half-spaces of Gaussian space: their calibration, and draws inside and outside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaln, log_ndtr, ndtri_exp

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, small_losses
from tensorldp.errors import check_positive, check_whole

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cap:
    """A cap and its probability: the record's side {<u, x> >= gamma} is drawn with probability p.

    Attributes:
        gamma: the threshold, equal to m = 1 / (norm of the output) at the optimum.
        log_q: log of the reference measure of the cap.
        complement: 1 - gamma without cancellation, for a cap on the sphere.
        p: e^epsilon q / (1 - q + e^epsilon q).
        log_p, log_miss: log p and log(1 - p).
    """

    epsilon: float
    gamma: float
    log_q: float
    complement: float = math.nan

    @property
    def log_p(self) -> float:
        return -float(np.logaddexp(0.0, -self._logit))

    @property
    def log_miss(self) -> float:
        return -float(np.logaddexp(0.0, self._logit))

    @property
    def p(self) -> float:
        return math.exp(self.log_p)

    @property
    def _logit(self) -> float:
        return self.epsilon + self.log_q - math.log1p(-math.exp(self.log_q))

    def curve(self, exact: bool = True) -> PrivacyCurve:
        """The exact curve: opposite records, whose caps are disjoint."""
        against = self.log_p - self.epsilon
        caps = math.exp(self.log_q) / (1.0 - math.exp(self.log_q))  # 1 where rounding leaves nothing between the caps
        rest = self.log_miss + math.log1p(-caps) if caps < 1.0 else -math.inf
        if rest == -math.inf:
            losses = small_losses(self.epsilon, -self.epsilon)
            return DiscreteCurve((self.log_p, against), (against, self.log_p), exact=exact, losses=losses)
        losses = small_losses(self.epsilon, 0.0, -self.epsilon)
        return DiscreteCurve((self.log_p, rest, against), (against, rest, self.log_p), exact=exact, losses=losses)


def sphere_log_tail(gamma: float, d: int, complement: float | None = None) -> float:
    """log Pr[<U, x> >= gamma] for U uniform on the sphere of R^d, gamma in [0, 1]; complement = 1 - gamma.

    q = I_{1 - gamma^2}((d-1)/2, 1/2) / 2; by Lentz's continued fraction in logs where that underflows.
    """
    x = (1.0 - gamma if complement is None else complement) * (1.0 + gamma)
    a = (d - 1) / 2.0
    direct = float(betainc(a, 0.5, x)) / 2.0
    if direct > 1e-250:
        return math.log(direct)
    c, f = 1.0, 1.0 / (1.0 - (a + 0.5) * x / (a + 1.0))
    total = f
    for n in range(1, 100_000):
        for term in (
            n * (0.5 - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
            -(a + n) * (a + 0.5 + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
        ):
            c = 1.0 + term / c
            f = 1.0 / (1.0 + term * f)
            total *= c * f
        if abs(c * f - 1.0) < 1e-15:
            break
    front = a * math.log(x) + math.log(gamma) - float(betaln(a, 0.5)) - math.log(a)
    return front + math.log(total) - math.log(2.0)


def log_expm1(epsilon: float) -> float:
    """log(e^epsilon - 1) without overflow."""
    return epsilon + math.log(-math.expm1(-epsilon))


@lru_cache(maxsize=256)
def sphere_cap(epsilon: float, d: int) -> Cap:
    """The cap of PrivUnit on the sphere of R^d with the largest m, hence the least error.

    m(g) = kappa_d (1 - g^2)^((d-1)/2) / (q + 1/(e^epsilon - 1)); it rises while m > g and falls after, so that the
    optimum is the one root of m(g) = g.

    Raises:
        InputError: if epsilon is not positive or d is below 2.
    """
    from scipy.optimize import brentq

    epsilon, d = check_positive("epsilon", epsilon), check_whole("d", d, low=2)
    front = -float(betaln((d - 1) / 2.0, 0.5)) - math.log(d - 1)
    floor = -log_expm1(epsilon)

    def sides(logit: float) -> tuple[float, float]:  # the logit of g resolves g near 0 and near 1 alike
        return 1.0 / (1.0 + math.exp(-logit)), 1.0 / (1.0 + math.exp(logit))

    def gap(logit: float) -> float:
        gamma, complement = sides(logit)
        tail = sphere_log_tail(gamma, d, complement)
        log_square = math.log(complement) + math.log1p(gamma)
        return front + (d - 1) / 2.0 * log_square - float(np.logaddexp(tail, floor)) - math.log(gamma)

    # in two or three dimensions a huge epsilon leaves no angle that a float could hold: any cap keeps the budget
    logit = float(brentq(gap, -40.0, 700.0, xtol=1e-13, rtol=1e-14)) if gap(700.0) < 0.0 else 700.0
    gamma, complement = sides(logit)
    return Cap(epsilon, gamma, sphere_log_tail(gamma, d, complement), complement)


@lru_cache(maxsize=256)
def gaussian_cap(epsilon: float) -> Cap:
    """The threshold of PrivUnitG with the largest m = phi(g) / (q + 1/(e^epsilon - 1)), the root of m(g) = g.

    Raises:
        InputError: if epsilon is not positive.
    """
    from scipy.optimize import brentq

    epsilon = check_positive("epsilon", epsilon)
    floor = -log_expm1(epsilon)

    def gap(log_gamma: float) -> float:
        gamma = math.exp(log_gamma)
        density = -gamma * gamma / 2.0 - 0.5 * math.log(2.0 * math.pi)
        return density - float(np.logaddexp(log_ndtr(-gamma), floor)) - log_gamma

    gamma = math.exp(float(brentq(gap, -40.0, 15.0, xtol=1e-13, rtol=1e-14)))
    return Cap(epsilon, gamma, float(log_ndtr(-gamma)))


def sphere_height(rows: int, cap: Cap, d: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """`rows` draws of u = <U, x> and sqrt(1 - u^2): in the cap with probability p, outside otherwise.

    Exact for any d by rejection (from the marginal, or from the exponential tangent to a rare cap's log-concave
    density): no inverse incomplete beta, whose argument near 1/2 loses digits for large d.
    """
    inside = rng.random(rows) < cap.p
    if d == 2:
        edge = 2.0 * math.asin(math.sqrt(cap.complement / 2.0))
        angle = np.where(inside, edge * rng.random(rows), edge + (math.pi - edge) * rng.random(rows))
        return np.cos(angle), np.sin(angle)
    height, square = np.empty(rows), np.empty(rows)
    rare = cap.log_q < math.log(0.1)
    todo = np.flatnonzero(inside) if rare else np.empty(0, dtype=np.int64)
    power, width = (d - 3) / 2.0, cap.complement
    slope = 2.0 * power * cap.gamma / (width * (1.0 + cap.gamma))
    while todo.size:
        u = rng.random(todo.size)
        step = u * width if slope == 0.0 else -np.log1p(u * math.expm1(-slope * width)) / slope
        left = np.maximum(1.0 - step / width, 1e-300)
        grown = 1.0 + step / (1.0 + cap.gamma)
        accept = np.log1p(-rng.random(todo.size)) <= power * np.log(left * grown) + slope * step
        hit = todo[accept]
        height[hit] = cap.gamma + step[accept]
        square[hit] = left[accept] * grown[accept] * width * (1.0 + cap.gamma)
        todo = todo[~accept]
    todo = np.flatnonzero(~inside) if rare else np.arange(rows)
    while todo.size:
        drawn = rng.beta(0.5, (d - 1) / 2.0, size=todo.size)
        u = np.sqrt(drawn) * rng.choice((-1.0, 1.0), size=todo.size)
        accept = (u >= cap.gamma) == inside[todo]
        height[todo[accept]], square[todo[accept]] = u[accept], 1.0 - drawn[accept]
        todo = todo[~accept]
    return height, np.sqrt(square)


def normal_height(rows: int, cap: Cap, rng: np.random.Generator) -> Floats:
    """`rows` draws of alpha: N(0, 1) above gamma with probability p, below it otherwise, by the inverse in logs."""
    inside = rng.random(rows) < cap.p
    log_u = -rng.standard_exponential(rows)
    above = -ndtri_exp(cap.log_q + log_u)
    below = ndtri_exp(math.log1p(-math.exp(cap.log_q)) + log_u)
    return np.where(inside, above, below)
