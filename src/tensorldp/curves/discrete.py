"""The profile of repeated uses of a mechanism whose worst pair has finitely many outcomes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from tensorldp.curves.base import LEAST_LOSS, MOST_COUNT, MOST_LOSS, RepeatedCurve, epsilon_at
from tensorldp.curves.loss_distribution import (
    LatticePart,
    LatticeSum,
    LossLaw,
    envelope,
    lattice_step,
    log_sum,
    loss_law,
    rounded_up,
)
from tensorldp.errors import InputError, check_real, check_whole, number, shown

SUM_TOLERANCE = 1e-6
SMALL_LOSS = 1e-7  # a loss that a difference of logs gives to nine digits; smaller ones have fewer


@dataclass(frozen=True)
class DiscreteCurve(RepeatedCurve):
    """`count` independent uses of a dominating pair (P, Q) of mass functions on the same outcomes.

    A record may be the first of a pair or the second, so delta is that of the larger orientation. Where the pair is
    its own mirror image, as for randomised response, the orientations agree and `count` uses are exact. Otherwise a
    record of several elements may mix them, which can be worse than either; then more than one use is accounted with
    a law that dominates both (`loss_distribution.envelope`) and the curve is not exact.

    Losses on a lattice (two values always are) are composed exactly; others are first rounded up onto one. More than
    10^10 uses have an atom and a pure epsilon; other questions about them are refused.

    Args:
        log_p: logs of the masses under the first record, -inf where there is none.
        log_q: the same under the second.
        count: independent uses, >= 1.
        exact: whether the mechanism attains the pair.
        losses: log_p - log_q, where it is known without the rounding errors of a difference: small losses show their
            lattice only then.

    Raises:
        InputError: if the masses do not pair up or do not sum to 1, or count is not a whole number of at least 1.
    """

    log_p: tuple[float, ...]
    log_q: tuple[float, ...]
    count: int = 1
    exact: bool = True
    losses: tuple[float, ...] | None = None

    @classmethod
    def mirrored(cls, log_p: tuple[float, ...], loss: float, count: int = 1, exact: bool = True) -> DiscreteCurve:
        """Builds the curve of a pair that is its own mirror image, with the losses `loss`, -`loss` and between them 0.

        Args:
            log_p: logs of two or three masses, the likelier end first.
            loss: the loss of the first outcome.
            count: independent uses.
            exact: whether the mechanism attains the pair.
        """
        losses = (loss, -loss) if len(log_p) == 2 else (loss, 0.0, -loss)
        # of larger losses the difference of logs is as good
        return cls(log_p, log_p[::-1], count, exact, losses if loss < SMALL_LOSS else None)

    def __post_init__(self) -> None:
        for name in ("log_p", "log_q"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        if len(self.log_p) != len(self.log_q) or not self.log_p:
            raise InputError(
                f"a discrete curve needs as many masses in log_p as in log_q and at least one, got "
                f"{len(self.log_p)} and {len(self.log_q)}"
            )
        for name in ("log_p", "log_q"):
            total = log_sum(np.array(getattr(self, name)))
            if not abs(total) < SUM_TOLERANCE:
                raise InputError(f"the masses in {name} must sum to 1, got {math.exp(min(total, 700.0)):.9g}")
        if self.losses is not None:
            object.__setattr__(self, "losses", _numbers("losses", self.losses))
            if len(self.losses) != len(self.log_p):
                raise InputError(f"a discrete curve of {len(self.log_p)} masses needs as many losses")
            for p, q, loss in zip(self.log_p, self.log_q, self.losses, strict=True):
                near = math.isclose(loss, p - q, rel_tol=SUM_TOLERANCE, abs_tol=SUM_TOLERANCE)
                if p > -math.inf < q and not near:
                    raise InputError(f"a loss of a discrete curve must be log_p - log_q, here {p - q:g}, got {loss!r}")
        check_whole("count of a discrete curve", self.count, low=1, high=MOST_COUNT)
        if self.count > 1 and (not self._symmetric or lattice_step(self.loss_law.loss) is None):
            object.__setattr__(self, "exact", False)

    def __repr__(self) -> str:
        outcomes, pure = len(self.log_p), number(self.pure_epsilon)
        return f"DiscreteCurve(outcomes={outcomes}, pure_epsilon={pure}, count={self.count}, exact={self.exact})"

    @cached_property
    def _laws(self) -> tuple[LossLaw, LossLaw]:
        p, q = np.array(self.log_p), np.array(self.log_q)
        known = None if self.losses is None else np.array(self.losses)
        return loss_law(p, q, known), loss_law(q, p, None if known is None else -known)

    @cached_property
    def _symmetric(self) -> bool:
        return self._laws[0].matches(self._laws[1])

    @cached_property
    def loss_law(self) -> LossLaw:
        """Returns the law of one use's loss, of both orientations."""
        return self._laws[0] if self._symmetric else envelope(*self._laws)

    @property
    def pure_epsilon(self) -> float:
        law = self.loss_law
        return self.count * max(0.0, float(law.loss[-1])) if law.loss.size else 0.0

    @property
    def atom(self) -> float:
        lost = self.loss_law.infinite
        if lost >= 1.0:
            return 1.0
        return -math.expm1(self.count * math.log1p(-lost)) if lost > 0.0 else 0.0

    @cached_property
    def _sum(self) -> LatticeSum:
        law = self.loss_law
        step = lattice_step(law.loss)
        if step is None:
            return rounded_up([(law, self.count)])
        index = np.round((law.loss - law.loss[0]) / step).astype(np.int64)
        return LatticeSum(step, [LatticePart(float(law.loss[0]), index, law.log_mass, self.count)])

    def log_delta(self, epsilon: float) -> float:
        """Computes log of delta(epsilon) less the atom, also where it underflows."""
        if epsilon >= self.pure_epsilon:
            return -math.inf
        if self.count == 1:
            return self.loss_law.log_delta(epsilon)
        return self._sum.log_delta(epsilon)

    def _delta(self, epsilon: float) -> float:
        return self.atom + math.exp(min(0.0, self.log_delta(epsilon)))

    def _epsilon(self, delta: float) -> float:
        left = delta - self.atom
        if left <= 0.0:
            return self.pure_epsilon if left == 0.0 else math.inf
        if self.pure_epsilon == 0.0:
            return 0.0
        _, mean, variance = self._sum.tilted(0.0)
        return epsilon_at(self.log_delta, math.log(left), mean=mean, spread=math.sqrt(variance), top=self.pure_epsilon)


def _numbers(name: str, values: object) -> tuple[float, ...]:
    """Returns a sequence as floats."""
    try:
        return tuple(float(v) for v in values)  # type: ignore[attr-defined]
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"{name} of a discrete curve must be a sequence of numbers, got {shown(values)}") from None


@dataclass(frozen=True)
class PureCurve(RepeatedCurve):
    """`count` uses of a mechanism that is `budget`-DP.

    Binary randomised response dominates every such mechanism ([kairouz2015], Theorem 3.3):
    delta(e) = (e^budget - e^e) / (1 + e^budget), and uses compose as its binomial.

    Args:
        budget: epsilon of one use in nats, in (0, 1e50].
        exact: whether the mechanism attains that delta at every epsilon, as randomised response does.
    """

    budget: float
    exact: bool = False
    count: int = 1

    def __post_init__(self) -> None:
        budget = check_real("budget of a pure curve", self.budget, low=0.0, high=MOST_LOSS, open_low=True)
        object.__setattr__(self, "budget", max(budget, LEAST_LOSS))  # a larger one has a larger delta
        check_whole("count of a pure curve", self.count, low=1, high=MOST_COUNT)

    @property
    def pure_epsilon(self) -> float:
        return self.budget * self.count

    @cached_property
    def dominating(self) -> DiscreteCurve:
        """Returns the curve of as many uses of binary randomised response."""
        keep = -float(np.logaddexp(0.0, -self.budget))
        return DiscreteCurve.mirrored((keep, keep - self.budget), self.budget, self.count, self.exact)

    def _delta(self, epsilon: float) -> float:
        return self.dominating.delta(epsilon)

    def _epsilon(self, delta: float) -> float:
        return self.dominating.epsilon(delta)


LEAST_SIGMA = 64  # of the standard deviation: below it the tail's expansion is not exact to rounding
MOST_STEPS = 10**50  # of the standard deviation and of a shift: their squares stay floats
FAR = 60.0  # standard deviations below the mean, from which a tail has all mass in floats
STEEP = 0.1  # fall of the log mass in one step, from which on a tail is summed: its expansion has errors of 1e-10


@dataclass(frozen=True)
class DiscreteGaussianCurve(RepeatedCurve):
    """`count` whole numbers, each moved by up to `shift` and released with noise P(Z = k) ~ exp(-k^2 / (2 sigma^2)).

    The loss of a shift in every element is linear in the sum T of their noises. So delta(epsilon) = P(T >= m) -
    e^epsilon P(T >= m + count shift), with m the first whole number at which the loss exceeds epsilon. T is discrete
    Gaussian of variance count sigma^2 up to a relative error of count e^(-pi^2 sigma^2) (Kairouz, Liu and Steinke, ICML
    2021), which no float shows for sigma of at least 64. No smaller shift is worse: the noise is log-concave, so each
    set {Z <= t} has less mass under a farther record.

    Args:
        sigma: that of one element's noise, in steps, a whole number of at least 64.
        shift: how far two records' elements may lie apart, in steps.
        count: elements that may be shifted.
    """

    sigma: int
    shift: int
    count: int = 1

    def __post_init__(self) -> None:
        check_whole("sigma of a discrete Gaussian", self.sigma, low=LEAST_SIGMA, high=MOST_STEPS)
        check_whole("shift of a discrete Gaussian", self.shift, low=1, high=MOST_STEPS)
        check_whole("count of a discrete Gaussian", self.count, low=1, high=MOST_COUNT)

    @property
    def mu(self) -> float:
        """Returns the shift of T in its own standard deviations."""
        return self.shift * math.sqrt(self.count) / self.sigma

    def log_delta(self, epsilon: float) -> float:
        """Computes log of delta(epsilon)."""
        moved = self.count * self.shift
        exceeds = (2.0 * self.sigma**2 * epsilon - moved * self.shift) / (2.0 * self.shift)
        if exceeds == math.inf:
            return -math.inf
        first = math.ceil(exceeds)
        mine, other = self._log_tail(first), epsilon + self._log_tail(first + moved)
        return mine + math.log(-math.expm1(other - mine)) if other < mine else -math.inf

    def _log_tail(self, least: int) -> float:
        """Computes log P(T >= least) by Euler and Maclaurin's sum at midpoints, to the fourth inverse power.

        Where the mass falls steeply it is summed, as far as e^-40 of the first.
        """
        variance = self.count * self.sigma**2
        at = (least - 0.5) / math.sqrt(variance)
        if at < -FAR:
            return 0.0
        if least > STEEP * variance:
            steps = np.arange(math.ceil(40.0 / STEEP))
            total = float(np.exp(-steps * (least / variance) - steps**2 / (2.0 * variance)).sum())
            return math.log(total) - (least / math.sqrt(variance)) ** 2 / 2.0 - math.log(2.0 * math.pi * variance) / 2.0
        tail = float(log_ndtr(-at))
        density = math.exp(min(700.0, -at * at / 2.0 - tail)) / math.sqrt(2.0 * math.pi)
        terms = -at / (24.0 * variance) + 7.0 * (at**3 - 3.0 * at) / (5760.0 * variance**2)
        return tail + math.log1p(density * terms)

    def _delta(self, epsilon: float) -> float:
        return math.exp(self.log_delta(epsilon))

    def _epsilon(self, delta: float) -> float:
        return epsilon_at(self.log_delta, math.log(delta), mean=self.mu**2 / 2.0, spread=self.mu)
