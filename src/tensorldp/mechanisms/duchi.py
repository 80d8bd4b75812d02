"""Duchi, Jordan and Wainwright's mechanism for the cube: a random corner that agrees with the record."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from scipy.special import gammaln
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, small_losses
from tensorldp.curves.pure import PureCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import register
from tensorldp.mechanisms.sampled_coordinates import random_signs
from tensorldp.randomness import uniform

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
    [nguyen2016], which is exactly epsilon-LDP and has the smaller B, see `bound`.

    Args:
        ties: "corrected" or "printed", for even d.
    """

    name = "duchi"
    formula = (
        r"B u, u \text{ uniform on } \langle u, v \rangle \gt 0 \text{ with probability } e^\varepsilon / "
        r"(e^\varepsilon + 1), \mathbb{E} v = x"
    )
    label = "Duchi"
    family = "mean estimation"
    block_bytes = 4 << 20
    domain_kind = "box"
    source = "[duchi2018], section 4.2.3; [nguyen2016] for even d"

    ties: Literal["corrected", "printed"] = "corrected"

    def _prepare(self) -> None:
        super()._prepare()
        if self.ties not in ("corrected", "printed"):
            raise InputError(f"ties of duchi must be 'corrected' or 'printed', got {self.ties!r}")
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
        grow = 1.0 / math.tanh(self.epsilon / 2.0)
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
        kind = uniform((rows,), generator)
        agree, tie, _ = (math.exp(v) for v in self._log_masses())
        tied, negative = (kind >= agree) & (kind < agree + tie), kind >= agree + tie
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
        if tie == -math.inf:
            losses = small_losses(self.epsilon, -self.epsilon)
            return DiscreteCurve((agree, against), (against, agree), losses=losses)
        losses = small_losses(self.epsilon, 0.0, -self.epsilon)
        return DiscreteCurve((agree, tie, against), (against, tie, agree), losses=losses)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        first, second = self.box.constant(self.box.low), self.box.constant(self.box.high)
        if self._printed_even:  # a tie under one corner, against its neighbour: as far as a printed pair gets
            second = first.clone()
            second.view(-1)[0] = self.box.high
        return first, second

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        """log p(y|x) - log p(y|x'): a convolution over the elements strictly inside the box.

        Raises:
            InputError: if more than 4096 elements of x or x' lie strictly inside.
        """
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
