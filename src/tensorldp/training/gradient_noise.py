"""How much noise a mechanism puts on a lot's sum of clipped gradients, tensor by tensor (TVG, Type I).

TVG's accounting gives each step a budget by composition over the steps and amplification by sampling, and every
tensor that whole budget at s2 = 2 C sqrt(I) for gradients clipped to [-C, C] in each element (its Eq. 35). What a run
really guarantees is computed from the noise alone, over all tensors and steps (`GradientNoise.curve`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from tensorldp.errors import InputError, positive, real, whole
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.mechanisms.tvg_budget import KOV_SLACK, kov_budget, moments_sigma, simple_budget
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.privacy.curves.dp_sgd import DpSgdCurve, noise_multiplier_for
from tensorldp.privacy.curves.trivial import NoPrivacyCurve

Norm = Literal["linf", "l2"]
Accountant = Literal["pld", "rdp"]
HONEST = "gaussian-analytic"


@dataclass(frozen=True)
class Schedule:
    """A run's nominal budget and its lots.

    Attributes:
        epsilon, delta: of the whole run.
        rate: q, the probability that a record is in a lot.
        steps: T, number of lots.
    """

    epsilon: float
    delta: float
    rate: float
    steps: int


@dataclass(frozen=True)
class GradientNoise:
    """Noise of standard deviation `sigmas[k]` per element of tensor k, on the sum over a lot.

    Attributes:
        norm: "linf" clips each element of an example's gradient to [-clip, clip]; "l2" scales the whole gradient of
            an example, all tensors together, to norm `clip` at most.
        clip: C, > 0.
        sigmas: one for each tensor; all 0 without privacy.
        sizes: elements of each tensor.
    """

    norm: Norm
    clip: float
    sigmas: tuple[float, ...]
    sizes: tuple[int, ...]

    @property
    def multiplier(self) -> float:
        """Over the Mahalanobis norm of the largest clipped gradient: the noise multiplier of an equal DP-SGD."""
        if self.norm == "l2":
            return min(self.sigmas) / self.clip
        return 1.0 / math.sqrt(
            sum(size * (self.clip / sigma) ** 2 for size, sigma in zip(self.sizes, self.sigmas, strict=True))
        )

    def curve(self, schedule: Schedule) -> PrivacyCurve:
        """What a whole run guarantees for adding or removing one record, by PLD accounting."""
        if not all(self.sigmas):
            return NoPrivacyCurve()
        return DpSgdCurve(self.multiplier, schedule.rate, schedule.steps)


def _step_budget(name: str, schedule: Schedule) -> tuple[float, float]:
    """What TVG's accounting gives a mechanism for one step.

    Raises:
        InputError: if the run's delta or its lots are too small for it.
    """
    epsilon, delta, rate, steps = schedule.epsilon, schedule.delta, schedule.rate, schedule.steps
    if name == "optimized":
        budget = epsilon / rate, delta / rate
    elif name == "idn":
        if delta <= KOV_SLACK:
            raise InputError(
                f"delta of a run with idn must be above {KOV_SLACK:g}, which its composition sets aside, got {delta:g}"
            )
        budget = kov_budget(epsilon, delta, rate=rate, steps=steps)
    else:
        budget = simple_budget(epsilon, delta, rate=rate, steps=steps)
    if budget[1] >= 1.0:
        raise InputError(
            f"lot must be more than {budget[1]:.3g} times as large for {name} at delta {delta:g}: with "
            f"lot / records = {rate:.3g} TVG's amplification gives a step delta {budget[1]:.3g}, and only "
            "below 1 means anything"
        )
    return budget


def _step_mechanism(name: str, box: Box, schedule: Schedule, options: dict[str, Any]) -> Mechanism:
    """A mechanism on one tensor at the budget that TVG's accounting gives one step."""
    step = _step_budget(name, schedule)
    if name == "optimized":
        return make(name, epsilon=step[0], delta=step[1], domain=box, steps=schedule.steps, **options)
    if name == "matrix":  # the authors' code: half of it, and that split over the elements
        return make(name, epsilon=step[0] / (2.0 * box.size), delta=step[1], domain=box, **options)
    return make(name, epsilon=step[0], delta=step[1], domain=box, **options)


def printed_noise(
    name: str, shapes: list[tuple[int, ...]], clip: float, schedule: Schedule, **options: Any
) -> GradientNoise:
    """The noise of TVG's Type I for a mechanism, with gradients clipped in l_inf.

    `gaussian` is its i.i.d. Gaussian by the moments accountant, 2 q s2 sqrt(T ln(1/delta)) / epsilon; `none` adds
    nothing. UDN and MVG take the simple composition of the authors' code, IDN that of Kairouz, Oh and Viswanath.

    Raises:
        InputError: if a setting is out of range or the mechanism is not i.i.d. Gaussian within a tensor.
    """
    clip = positive("clip", clip)
    sizes = tuple(math.prod(shape) for shape in shapes)
    sigmas = []
    for shape, size in zip(shapes, sizes, strict=True):
        if name == "none":
            sigmas.append(0.0)
        elif name == "gaussian":
            sigmas.append(
                moments_sigma(
                    schedule.epsilon,
                    schedule.delta,
                    rate=schedule.rate,
                    steps=schedule.steps,
                    clip=2.0 * clip * math.sqrt(size),
                )
            )
        else:
            mechanism = _step_mechanism(name, Box(-clip, clip, shape), schedule, options)
            sigma = getattr(mechanism, "sigma", None)
            if sigma is None or not getattr(mechanism, "isotropic", False):
                raise InputError(f"gradients take mechanisms that add i.i.d. Gaussian noise to a tensor, not {name}")
            sigmas.append(float(sigma))
    return GradientNoise("linf", clip, tuple(sigmas), sizes)


def honest_noise(
    shapes: list[tuple[int, ...]], clip: float, schedule: Schedule, accountant: Accountant = "pld"
) -> GradientNoise:
    """DP-SGD [abadi2016]: l2 clipping and the least noise that makes the run (epsilon, delta)-DP.

    Raises:
        InputError: if a setting is out of range, or the run would need no noise.
    """
    clip = positive("clip", clip)
    seen = -math.expm1(schedule.steps * math.log1p(-schedule.rate)) if schedule.rate < 1.0 else 1.0
    if seen <= schedule.delta:
        raise InputError(
            f"lot and steps must be larger for delta {schedule.delta:g}: a record takes part in the run "
            f"with a probability of {seen:.3g}, which alone is within delta and needs no noise"
        )
    multiplier = noise_multiplier_for(schedule.epsilon, schedule.delta, schedule.rate, schedule.steps, accountant)
    sizes = tuple(math.prod(shape) for shape in shapes)
    return GradientNoise("l2", clip, (multiplier * clip,) * len(sizes), sizes)


def check_schedule(epsilon: float, delta: float, records: int, lot: int, steps: int) -> Schedule:
    """A run's schedule from its number of records and lot size.

    Raises:
        InputError: if a value is out of range.
    """
    lot = whole("lot", lot, low=1, high=records)
    return Schedule(
        positive("epsilon", epsilon, infinite=True),
        real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True),
        lot / records,
        whole("steps", steps, low=1),
    )
