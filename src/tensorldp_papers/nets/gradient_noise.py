"""How much noise a mechanism puts on a lot's sum of clipped gradients, tensor by tensor (TVG, Type I).

TVG's accounting gives each step a budget by composition over the steps and amplification by sampling, and every
tensor that whole budget at s2 = 2 C sqrt(I) for gradients clipped to [-C, C] in each element (its Eq. 35). What a run
really guarantees is computed from the noise alone, over all tensors and steps (`GradientNoise.curve`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.dp_sgd import DpSgdCurve, noise_multiplier_for
from tensorldp.curves.trivial import NoPrivacyCurve
from tensorldp.errors import InputError, check_positive, check_real, check_whole
from tensorldp.mechanisms import Box, mechanism_class
from tensorldp.mechanisms.tvg_budget import Schedule as Schedule

Norm = Literal["linf", "l2"]
Accountant = Literal["pld", "rdp"]
HONEST = "gaussian-analytic"


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


def printed_noise(
    name: str, shapes: list[tuple[int, ...]], clip: float, schedule: Schedule, **options: Any
) -> GradientNoise:
    """The noise of TVG's Type I for a mechanism, with gradients clipped in l_inf.

    Each class says itself what TVG's accounting gives it (`Mechanism.step_sigma`).

    Args:
        name: the mechanism's registry key.
        shapes: of the tensors.
        clip: C, > 0.
        schedule: the run's budget and lots.
        options: the mechanism's own.

    Raises:
        InputError: if a setting is out of range or the mechanism is not i.i.d. Gaussian within a tensor.
    """
    clip = check_positive("clip", clip)
    kind = mechanism_class(name)
    kind.check_options(options)
    sigmas = []
    for shape in shapes:
        sigma = kind.step_sigma(schedule, Box(-clip, clip, shape), **options)
        if sigma is None:
            raise InputError(f"gradients take mechanisms that add i.i.d. Gaussian noise to a tensor, not {name}")
        sigmas.append(float(sigma))
    sizes = tuple(math.prod(shape) for shape in shapes)
    return GradientNoise("linf", clip, tuple(sigmas), sizes)


def honest_noise(
    shapes: list[tuple[int, ...]], clip: float, schedule: Schedule, accountant: Accountant = "pld"
) -> GradientNoise:
    """DP-SGD [abadi2016]: l2 clipping and the least noise that makes the run (epsilon, delta)-DP.

    Raises:
        InputError: if a setting is out of range, or the run would need no noise.
    """
    clip = check_positive("clip", clip)
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
    lot = check_whole("lot", lot, low=1, high=records)
    return Schedule(
        check_positive("epsilon", epsilon, infinite=True),
        check_real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True),
        lot / records,
        check_whole("steps", steps, low=1),
    )
