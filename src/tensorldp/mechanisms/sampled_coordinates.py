"""Duchi's corners of the cube, and Piecewise and Hybrid on a few sampled coordinates [wang2019]."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import gammaln
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, PureCurve
from tensorldp.errors import InputError, check_word
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import complement, numpy_generator, toss, uniform


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


def piecewise_variance(t: float, epsilon: float) -> float:
    """t^2 / (z - 1) + (z + 3) / (3 (z - 1)^2), z = e^(epsilon/2), in terms that do not overflow."""
    w = math.exp(-epsilon / 2.0)
    gap = -math.expm1(-epsilon / 2.0)
    return t * t * w / gap + w * (1.0 + 3.0 * w) / (3.0 * gap * gap)


class SampledCoordinates(Mechanism):
    """k coordinates drawn without replacement, each randomised with epsilon/k and scaled by d/k; the others 0.

    All in units of half the width about the centre, so that 0 is the centre.
    """

    domain_kind = "box"
    leaves_input = True

    def _prepare(self) -> None:
        super()._prepare()
        self.sampled = max(1, min(self.size, math.floor(self.epsilon / 2.5)))
        self.coordinate_epsilon = self.epsilon / self.sampled

    @property
    @abstractmethod
    def piecewise_weight(self) -> float:
        """The probability that a coordinate takes the piecewise mechanism rather than Duchi's two points."""

    def variance(self, t: float) -> float:
        """The variance of one coordinate's randomizer at t in [-1, 1]."""
        weight, epsilon = self.piecewise_weight, self.coordinate_epsilon
        return weight * piecewise_variance(t, epsilon) + (1.0 - weight) * duchi_variance(t, epsilon)

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
        points = math.exp(-self.coordinate_epsilon / 2.0)
        return torch.where(toss(weight, points, tuple(t.shape), generator), pieces, two_points)

    def _two_points(self, t: Tensor, generator: torch.Generator) -> Tensor:
        bound = duchi_bound(self.coordinate_epsilon)
        w, above = math.exp(-self.coordinate_epsilon), (1.0 + t) / 2.0
        hit, miss = ((side + w * (1.0 - side)) / (1.0 + w) for side in (above, 1.0 - above))
        up = toss(hit, miss, tuple(t.shape), generator)
        return torch.where(up, t.new_tensor(bound), t.new_tensor(-bound))  # of numbers it would be float32

    def _pieces(self, t: Tensor, generator: torch.Generator) -> Tensor:
        bound = piecewise_bound(self.coordinate_epsilon)
        w = math.exp(-self.coordinate_epsilon / 2.0)
        near = toss(1.0 / (1.0 + w), w / (1.0 + w), tuple(t.shape), generator)
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
            return DiscreteCurve.mirrored((log_a1, log_a1 - eps), eps, self.sampled)
        log_w = math.log(weight)
        near = log_w + log_z1
        if weight < 1.0:
            near = float(np.logaddexp(near, math.log1p(-weight) + log_a1))
        middle = log_w + log_z1 - eps / 2.0 + math.log(-math.expm1(-eps / 2.0))
        return DiscreteCurve.mirrored((near, middle, near - eps), eps, self.sampled)

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


MOST_FRACTIONAL = 4096  # coordinates strictly inside the box that the likelihood's convolution takes


def log_binomial(n: int, k: int) -> float:
    """log of n choose k."""
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def cube_constant(d: int) -> float:
    """C_d, the norm constant as printed: 2^(d-1) / binom(d-1, (d-1)/2), plus 1 for even d."""
    return math.exp((d - 1) * math.log(2.0) - log_binomial(d - 1, d // 2)) + (1.0 if d % 2 == 0 else 0.0)


@register
class Duchi(Mechanism):
    """B u for a corner u in {-1, 1}^d, drawn among those that agree with a random rounding v of the record.

    The record is scaled to [-1, 1]^d and rounded to v with E v = x. For odd d, u is uniform on {<u, v> > 0} with
    probability e^epsilon / (e^epsilon + 1), else uniform on the other half, and B = C_d (e^epsilon+1)/(e^epsilon-1).
    For even d the corners with <u, v> = 0 belong to both halves as printed, so they are 1 + e^epsilon times as likely
    as under a v' that disagrees with them: ln(1 + e^epsilon), not epsilon. The default counts them as disagreeing
    [nguyen2016]: every corner with <u, v> > 0 is e^epsilon times as likely as every other. That is exactly epsilon-LDP
    and has the smaller B, see `bound`.

    Args:
        ties: "corrected" or "printed", for even d.
    """

    name = "duchi"
    formula = (
        r"B u, P(u) \propto e^\varepsilon \text{ where } \langle u, v \rangle \gt 0, \text{ else } \propto 1, "
        r"\mathbb{E} v = x"
    )
    block_bytes = 4 << 20
    domain_kind = "box"
    source = "[duchi2018], section 4.2.3; [nguyen2016] for even d"
    leaves_input = True

    ties: Literal["corrected", "printed"] = "corrected"

    def _prepare(self) -> None:
        super()._prepare()
        check_word("ties of duchi", self.ties, "corrected", "printed")
        if self._printed_even:
            self.note = "as printed, an even number of elements gives ln(1 + e^epsilon), not epsilon"

    @property
    def _printed_even(self) -> bool:
        return self.size % 2 == 0 and self.ties == "printed"

    @property
    def tie_share(self) -> float:
        """The share of corners with <u, v> = 0: binom(d, d/2) / 2^d, and 0 for odd d."""
        d = self.size
        return math.exp(log_binomial(d, d // 2) - d * math.log(2.0)) if d % 2 == 0 else 0.0

    @property
    def bound(self) -> float:
        """B, the magnitude of every released element in units of half the width.

        1/B = E u_i v_i. With A = 2^(d-1) / binom(d-1, d/2) and h = (e^epsilon + 1) / (e^epsilon - 1): B = A h for odd
        d, (A + 1) h for even d as printed, and A h - 1 for even d corrected.
        """
        grow = duchi_bound(self.epsilon)
        if self._printed_even:
            return cube_constant(self.size) * grow
        if self.size % 2 == 0:
            return (cube_constant(self.size) - 1.0) * grow - 1.0
        return cube_constant(self.size) * grow

    def _log_masses(self) -> tuple[float, float, float]:
        """The log probabilities of <u, v> > 0, = 0 and < 0 given the rounding v."""
        tie, eps = self.tie_share, self.epsilon
        side = math.log((1.0 - tie) / 2.0)
        if self._printed_even:
            log_share = -math.log((1.0 + tie) / 2.0)
            agree = side + log_share - float(np.logaddexp(0.0, -eps))
            return agree, math.log(tie) + log_share, agree - eps
        log_unit = -float(np.logaddexp(eps + side, math.log((1.0 + tie) / 2.0)))
        return eps + side + log_unit, (math.log(tie) + log_unit if tie else -math.inf), side + log_unit

    def _agreements(self, rows: int, generator: torch.Generator) -> Tensor:
        """int8 (rows, d): the signs u_i v_i, independent of the record."""
        d = self.size
        rest = complement(uniform((rows,), generator), partial(uniform, source=generator))
        _, tie, against = (math.exp(v) for v in self._log_masses())
        tied, negative = (rest > against) & (rest <= against + tie), rest <= against
        signs = random_signs(rows, d, generator)
        total = signs.sum(dim=1)
        while len(redo := ((total == 0) & ~tied).nonzero().squeeze(1)):
            signs[redo] = random_signs(len(redo), d, generator)
            total[redo] = signs[redo].sum(dim=1)
        wrong = ((total < 0) ^ negative) & ~tied
        signs *= torch.where(wrong, -1, 1).to(torch.int8).unsqueeze(1)
        if bool(tied.any()):
            rank = uniform((int(tied.sum()), d), generator).argsort(dim=1)
            signs[tied] = ((rank % 2) * 2 - 1).to(torch.int8)
        return signs

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        work = x.dtype if x.dtype == torch.float64 else torch.float32
        position = (x.reshape(x.shape[0], -1).to(work) - self.box.low) / self.box.width
        # the rounding only has to be unbiased: privacy holds for any v, so 24 random bits serve
        coins = torch.rand(position.shape, dtype=work, generator=generator, device=x.device)
        agree = self._agreements(x.shape[0], generator)
        half = self.bound * self.box.width / 2.0
        rounded = agree.mul_((coins < position).to(torch.int8).mul_(2).sub_(1))
        return rounded.to(work).mul_(half).add_(self.box.centre).view(x.shape).to(x.dtype)

    def squared_error(self) -> float:
        return self.size * (self.bound * self.box.width / 2.0) ** 2

    def worst_input(self) -> Tensor:
        return self.box.constant(self.box.centre)

    def curve(self) -> PrivacyCurve:
        if self._printed_even:
            return PureCurve(float(np.logaddexp(0.0, self.epsilon)))
        agree, tie, against = self._log_masses()
        law = (agree, against) if tie == -math.inf else (agree, tie, against)
        return DiscreteCurve.mirrored(law, self.epsilon)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        first, second = self.box.constant(self.box.low), self.box.constant(self.box.high)
        if self._printed_even:  # a tie under one corner, against its neighbour: as far as a printed pair gets
            second = first.clone()
            second.view(-1)[0] = self.box.high
        return first, second

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        """log p(y|x) - log p(y|x'): a convolution over the elements strictly inside the box."""
        return self._log_mass(y, x) - self._log_mass(y, x_prime)

    def _log_mass(self, y: Tensor, x: Tensor) -> Tensor:
        """log p(y|x) up to a constant, from the law of S = <u, v> given u and x."""
        u = np.where(self._flat(y).cpu().numpy() > self.box.centre, 1.0, -1.0)
        t = (2.0 * (self._flat(x).cpu().numpy() - self.box.centre) / self.box.width).clip(-1.0, 1.0)
        t = np.broadcast_to(t, u.shape)
        inside = (np.abs(t) < 1.0).any(axis=0)
        if int(inside.sum()) > MOST_FRACTIONAL:
            raise InputError(
                f"the likelihood of duchi takes at most {MOST_FRACTIONAL} elements strictly inside the "
                f"domain, got {int(inside.sum())}"
            )
        fixed = (u[:, ~inside] * t[:, ~inside]).sum(axis=1)
        up = (1.0 + u[:, inside] * t[:, inside]) / 2.0
        count = up.shape[1]
        law = np.zeros((len(u), count + 1))
        law[:, 0] = 1.0
        for i in range(count):
            moved = law[:, : i + 1] * up[:, i : i + 1]
            law[:, : i + 1] -= moved
            law[:, 1 : i + 2] += moved
        total = fixed[:, None] + 2.0 * np.arange(count + 1) - count
        weight = np.where(total > 0.5, self.epsilon, 0.0)
        if self._printed_even:
            weight = np.where(np.abs(total) < 0.5, np.logaddexp(0.0, self.epsilon), weight)
        with np.errstate(divide="ignore"):
            mass = np.logaddexp.reduce(np.log(law.clip(min=0.0)) + weight, axis=1)
        return torch.from_numpy(mass)


@register
class Piecewise(SampledCoordinates):
    """The piecewise mechanism on k = max(1, min(d, floor(epsilon/2.5))) coordinates: exactly epsilon-LDP."""

    name = "piecewise"
    formula = r"(d/k) \, \mathrm{PM}_{\varepsilon/k}(x_j) \text{ at } k \text{ sampled elements, else } 0"
    source = "[wang2019], Algorithms 2 and 4"

    @property
    def piecewise_weight(self) -> float:
        return 1.0


# above this epsilon per coordinate hybrid mixes in the piecewise mechanism ([wang2019], Eq. 6)
HYBRID_THRESHOLD = math.log(
    (-5.0 + 2.0 * (6353.0 - 405.0 * math.sqrt(241.0)) ** (1 / 3) + 2.0 * (6353.0 + 405.0 * math.sqrt(241.0)) ** (1 / 3))
    / 27.0
)


@register
class Hybrid(SampledCoordinates):
    """Piecewise with probability 1 - e^(-epsilon/(2k)), else Duchi's two points, on k sampled coordinates.

    Up to epsilon/k = 0.6094 it is only Duchi's two points; above that the variance is constant in the coordinate.
    """

    name = "hybrid"
    formula = r"(d/k) \, \mathrm{HM}_{\varepsilon/k}(x_j) \text{ at } k \text{ sampled elements, else } 0"
    source = "[wang2019], section III.C and Algorithm 4"

    @property
    def piecewise_weight(self) -> float:
        epsilon = self.coordinate_epsilon
        return -math.expm1(-epsilon / 2.0) if epsilon > HYBRID_THRESHOLD else 0.0
