"""PrivUnit, PrivUnitG and FastProjUnit on an l2 ball: a random direction, likelier in the cap about the record."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import betainc, betaln, log_ndtr, ndtri_exp
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.errors import InputError, check_flag, check_whole
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.sampled_coordinates import distinct_indices, random_signs
from tensorldp.randomness import complement, numpy_generator, standard_normal

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cap:
    """A cap and its probability: the record's side {<u, x> >= gamma} is drawn with probability p.

    Attributes:
        gamma: the threshold; at the optimum also m, the mean of <u, x>, by which a draw is divided to be unbiased.
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

    def draw(self, rows: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Which of `rows` draws are in the cap; what is outside may be rarer than the last digit of p."""
        return complement(rng.random(rows), rng.random) > math.exp(self.log_miss)

    @property
    def _logit(self) -> float:
        return self.epsilon + self.log_q - math.log1p(-math.exp(self.log_q))

    def curve(self, exact: bool = True) -> PrivacyCurve:
        """The exact curve: opposite records, whose caps are disjoint."""
        against = self.log_p - self.epsilon
        caps = math.exp(self.log_q) / (1.0 - math.exp(self.log_q))  # 1 where rounding leaves nothing between the caps
        rest = self.log_miss + math.log1p(-caps) if caps < 1.0 else -math.inf
        law = (self.log_p, against) if rest == -math.inf else (self.log_p, rest, against)
        return DiscreteCurve.mirrored(law, self.epsilon, exact=exact)


NEAR_EQUATOR = 1e-4  # of gamma: below, 1 - gamma^2 rounds so much of gamma^2 away that epsilon is off by above 1e-8


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
    """The cap of PrivUnit on the sphere of R^d with the largest m, so the least error.

    m(g) = kappa_d (1 - g^2)^((d-1)/2) / (q + 1/(e^epsilon - 1)); it rises while m > g and falls after, so that the
    optimum is the one root of m(g) = g.
    """
    from scipy.optimize import brentq

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
    log_q = sphere_log_tail(gamma, d, complement)
    if gamma < NEAR_EQUATOR:  # what lies between two opposite caps is small, and exact where q itself rounds to 1/2
        log_q = math.log1p(-float(betainc(0.5, (d - 1) / 2.0, gamma * gamma))) - math.log(2.0)
    return Cap(epsilon, gamma, log_q, complement)


@lru_cache(maxsize=256)
def gaussian_cap(epsilon: float) -> Cap:
    """The threshold of PrivUnitG with the largest m = phi(g) / (q + 1/(e^epsilon - 1)), the root of m(g) = g."""
    from scipy.optimize import brentq

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
    inside = cap.draw(rows, rng)
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
    inside = cap.draw(rows, rng)
    log_u = -rng.standard_exponential(rows)
    above = -ndtri_exp(cap.log_q + log_u)
    below = ndtri_exp(math.log1p(-math.exp(cap.log_q)) + log_u)
    return np.where(inside, above, below)


UNIT_TOLERANCE = 1e-5  # how far from 1 a norm may be without lifting
CHUNK_BITS = 7  # a factor of 128 per product keeps the Hadamard transform in fast matrix products


class _UnitVector(Mechanism):
    """Records of a ball as unit vectors: divided by the radius and lifted by one coordinate that fills the norm up.

    Args:
        lift: add the coordinate sqrt(1 - ||v||^2). Without it every record must have the norm of the radius.
    """

    domain_kind = "ball"
    block_bytes = 1 << 20

    lift: bool = True

    def _prepare(self) -> None:
        super()._prepare()
        self.ball = self.domain.as_ball()
        self.lift = check_flag(f"lift of {self.name}", self.lift)
        if not self.lift and self.size < 2:
            raise InputError(f"{self.name} without lift needs records of at least 2 elements")
        self.dimension = self.size + 1 if self.lift else self.size
        self.cap = self._calibrate()

    @abstractmethod
    def _calibrate(self) -> Cap: ...

    def nearest_records(self, x: Tensor) -> Tensor:
        inside = super().nearest_records(x)
        if self.lift:
            return inside
        away = inside.reshape(inside.shape[0], -1).double() - self.ball.centre
        away[(away == 0.0).all(dim=1), 0] = 1.0  # of the centre all points of the sphere are nearest
        unit = away / torch.linalg.vector_norm(away, dim=1, keepdim=True)
        nearest: Tensor = self.ball.centre + self.ball.radius * unit
        return nearest.reshape(inside.shape).to(inside.dtype)

    def _unit(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The first d coordinates (rows, d) of the unit vectors and the lifted one (rows, 1), in float64 if small."""
        work = torch.float64 if x.dtype == torch.float64 or self.size < 64 else torch.float32
        v = (x.reshape(x.shape[0], -1).to(work) - self.ball.centre) / self.ball.radius
        norm = torch.linalg.vector_norm(v, dim=1, keepdim=True, dtype=torch.float64)
        if not self.lift and bool(((norm - 1.0).abs() > UNIT_TOLERANCE).any()):
            raise InputError(
                f"{self.name} with lift=False takes records at distance {self.ball.radius:g} of the "
                "centre only; normalise them or lift"
            )
        # a norm above 1 is rounding: on the sphere the lifted coordinate is 0
        v = v / (norm if not self.lift else norm.clamp_min(1.0)).to(work)
        last = (1.0 - norm.square()).clamp_min(0.0).sqrt() if self.lift else torch.zeros_like(norm)
        return v, last.to(work)

    def _noise(self, v: Tensor, last: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Gaussian noise orthogonal to the unit vectors: its first d coordinates and its lifted one."""
        g = standard_normal(v, generator)
        extra = standard_normal(last, generator) if self.lift else torch.zeros_like(last)
        along = torch.linalg.vecdot(g, v, dim=1).unsqueeze(1) + extra * last
        return g.sub_(along * v), extra - along * last

    def _assemble(self, x: Tensor, out: Tensor) -> Tensor:
        scaled = out * (self.ball.radius / self.cap.gamma)
        return (scaled + self.ball.centre if self.ball.centre else scaled).view(x.shape).to(x.dtype)

    def _cosine_limit(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """y / R * m as (rows, d) and what is left of a unit norm, for likelihoods."""
        unit = (self._flat(y) - self.ball.centre) * (self.cap.gamma / self.ball.radius)
        return unit, (1.0 - unit.square().sum(dim=1)).clamp_min(0.0).sqrt()

    def _lifted(self, x: Tensor) -> tuple[Tensor, Tensor]:
        v = (self._flat(x) - self.ball.centre) / self.ball.radius
        norm = v.square().sum(dim=1)
        last = (1.0 - norm).clamp_min(0.0).sqrt() if self.lift else torch.zeros_like(norm)
        return v, torch.where(last < 1e-6, torch.zeros_like(last), last)

    @abstractmethod
    def _log_density(self, y: Tensor, x: Tensor) -> Tensor: ...

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        return self._log_density(y, x) - self._log_density(y, x_prime)

    def curve(self) -> PrivacyCurve:
        return self.cap.curve()


@register
class PrivUnit(_UnitVector):
    """PrivUnit, calibrated exactly to epsilon: the released vector has norm R/m, and drops the lifted coordinate.

    The error R^2 (1/m^2 - 1) d / (d + 1), m for d + 1 dimensions, is the same for every record of the ball.

    Args:
        lift: as for all of the family; False needs records of norm R and has error R^2 (1/m^2 - 1).
    """

    name = "privunit"
    formula = (
        r"R u / m, u \text{ uniform on } \langle u, x \rangle \ge \gamma R \text{ with probability } p, "
        r"\text{ else outside}"
    )
    source = "[bhowmick2018] (PrivUnit2); exact budget: docs/mathematics/samplers.md#directions"
    leaves_input = True

    def _calibrate(self) -> Cap:
        return sphere_cap(self.epsilon, self.dimension)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        v, last = self._unit(x)
        height, sine = sphere_height(len(v), self.cap, self.dimension, numpy_generator(generator))
        u = torch.from_numpy(height).to(v).unsqueeze(1)
        g, extra = self._noise(v, last, generator)
        norm = (
            torch.linalg.vector_norm(g, dim=1, keepdim=True, dtype=torch.float64).square() + extra.double().square()
        ).sqrt()
        across = torch.from_numpy(sine).to(v.device).unsqueeze(1) / norm
        return self._assemble(x, g.mul_(across.to(v.dtype)).addcmul_(v, u))

    def squared_error(self) -> float:
        m = self.cap.gamma
        lifted = self.size / self.dimension if self.lift else 1.0
        return self.ball.radius**2 * self.cap.complement * (1.0 + m) / m**2 * lifted

    def _log_density(self, y: Tensor, x: Tensor) -> Tensor:
        unit, rest = self._cosine_limit(y)
        v, last = self._lifted(x)
        along = (unit * v).sum(dim=1)
        # the sign of the dropped coordinate is unknown: both halves of the sphere lead to this output
        sides = [self.epsilon * (along + sign * rest * last >= self.cap.gamma).double() for sign in (1.0, -1.0)]
        return torch.logaddexp(*sides)


@register
class PrivUnitG(_UnitVector):
    """PrivUnit with Gaussian coordinates, whose m does not depend on d: error R^2 d / m^2 for every record of the ball.

    Args:
        lift: as for all of the family.
    """

    name = "privunit-g"
    formula = (
        r"R (\alpha x / R + g_\perp) / m, \alpha \sim \mathcal{N}(0, 1) \text{ given } \alpha \ge \gamma "
        r"\text{ with probability } p"
    )
    source = "[asi2022]"
    leaves_input = True

    def _calibrate(self) -> Cap:
        return gaussian_cap(self.epsilon)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        v, last = self._unit(x)
        alpha = torch.from_numpy(normal_height(len(v), self.cap, numpy_generator(generator))).to(v)
        g, _ = self._noise(v, last, generator)
        return self._assemble(x, g.addcmul_(v, alpha.unsqueeze(1)))

    def squared_error(self) -> float:
        return self.ball.radius**2 * self.size / self.cap.gamma**2

    def _log_density(self, y: Tensor, x: Tensor) -> Tensor:
        scaled = self._cosine_limit(y)[0]
        v, last = self._lifted(x)
        short = self.cap.gamma - (scaled * v).sum(dim=1)
        hit = torch.special.log_ndtr(-short / last.clamp_min(1e-300))
        sure = torch.where(short <= 0, torch.zeros_like(hit), torch.full_like(hit, -math.inf))
        hit = torch.where(last > 0, hit, sure)
        return torch.logaddexp(torch.zeros_like(hit), hit + log_expm1(self.epsilon))


def hadamard(x: Tensor) -> Tensor:
    """The orthonormal Walsh-Hadamard transform of each row of x (rows, n), n a power of two; its own inverse."""
    rows, n = x.shape
    bits, right = n.bit_length() - 1, 1
    while bits > 0:
        size = 1 << min(CHUNK_BITS, bits)
        bits -= min(CHUNK_BITS, bits)
        factor = torch.ones(1, 1, dtype=x.dtype, device=x.device)
        while len(factor) < size:
            factor = torch.cat((torch.cat((factor, factor), 1), torch.cat((factor, -factor), 1)))
        factor = factor / math.sqrt(size)
        x = x.reshape(-1, size) @ factor if right == 1 else factor @ x.reshape(-1, size, right)
        right *= size
    return x.reshape(rows, n)


@register
class ProjUnit(_UnitVector):
    """FastProjUnit: PrivUnitG on k random rows of a randomised Hadamard transform of the lifted record.

    Signs and rows do not depend on the record; normalising the projection leaves a small bias, so that the error has
    no closed form (about R^2 d / m^2 for k in the hundreds).

    Args:
        k: the projected dimension, at most d.
        lift: as for all of the family.
    """

    name = "projunit"
    formula = r"\text{PrivUnitG of } k \text{ random rows of } H D x, \text{ mapped back}"
    source = "[asi2023]"
    note = "exact where the public signs and rows are released as well"
    leaves_input = True

    k: int = 1000

    def _prepare(self) -> None:
        super()._prepare()
        self.k = min(check_whole("k of projunit", self.k, low=1), self.size)
        self.padded = 1 << (self.dimension - 1).bit_length()

    def _calibrate(self) -> Cap:
        return gaussian_cap(self.epsilon)

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        v, last = self._unit(x)
        rows, n = len(v), self.padded
        rng = numpy_generator(generator)
        signs = random_signs(rows, n, generator).to(v.dtype)
        full = torch.zeros((rows, n), dtype=v.dtype, device=x.device)
        full[:, : self.size] = v
        if self.lift:
            full[:, self.size : self.dimension] = last
        index = torch.from_numpy(distinct_indices(rows, n, self.k, rng)).to(x.device)
        z = hadamard(full.mul_(signs)).gather(1, index)
        norm = torch.linalg.vector_norm(z, dim=1, keepdim=True)
        z = torch.where(norm > 0, z, torch.ones_like(z))  # any unit vector keeps the guarantee
        z = z / torch.linalg.vector_norm(z, dim=1, keepdim=True)
        alpha = torch.from_numpy(normal_height(rows, self.cap, rng)).to(z).unsqueeze(1)
        g = standard_normal(z, generator)
        y = g + (alpha - torch.linalg.vecdot(g, z, dim=1).unsqueeze(1)) * z
        back = torch.zeros((rows, n), dtype=v.dtype, device=x.device).scatter_(1, index, y * math.sqrt(n / self.k))
        return self._assemble(x, hadamard(back).mul_(signs)[:, : self.size].contiguous())

    def squared_error(self) -> None:
        return None

    def curve(self) -> PrivacyCurve:
        return self.cap.curve(exact=False)

    def _log_density(self, y: Tensor, x: Tensor) -> Tensor:
        raise InputError("projunit defines no log_likelihood_ratio: the density of its releases has no closed form")
