"""The mean of values that participants release under their own (tau, epsilon), and what its error must be."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from tensorldp.mechanisms import Mechanism
from tensorldp.mechanisms.pldp_fl import Pdpm, PluFedOa
from tensorldp.mechanisms.sampled_coordinates import duchi_variance, piecewise_variance
from tensorldp.randomness import uniform


def uniform_variance(mechanism: Mechanism) -> float | None:
    """E Var(M(w) | w) of a value w that is uniform on the mechanism's interval; None where there is no closed form.

    Variances are quadratic in the value, so that Simpson's rule is exact.
    """
    box = mechanism.domain.as_box()
    half = box.width / 2.0
    if isinstance(mechanism, Pdpm):
        low, middle, high = (mechanism.variance(v) for v in (-half, 0.0, half))
    elif isinstance(mechanism, PluFedOa):
        return mechanism.squared_error() / mechanism.size
    elif mechanism.name in ("duchi", "piecewise"):
        law = duchi_variance if mechanism.name == "duchi" else piecewise_variance
        low, middle, high = (half**2 * law(t, mechanism.epsilon) for t in (-1.0, 0.0, 1.0))
    else:
        return None
    return (low + 4.0 * middle + high) / 6.0


def expected_error(mechanisms: Sequence[Mechanism]) -> float | None:
    """E |mean of releases - mean of values| for values uniform on each participant's interval.

    By the central limit theorem sqrt(2 / pi) times the deviation of the mean; None where one has no closed form.
    """
    variances = [uniform_variance(mechanism) for mechanism in mechanisms]
    known = [variance for variance in variances if variance is not None]
    if len(known) < len(variances):
        return None
    return math.sqrt(2.0 / math.pi * math.fsum(known)) / len(known)


def released_means(
    mechanisms: Sequence[Mechanism], records: int, values: torch.Generator, noise: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The true and the released mean over participants of each of `records` values, both (records,), float64.

    Each participant has a mechanism of one value, whose interval its values fill uniformly.
    """
    truth = torch.zeros(records, dtype=torch.float64)
    released = torch.zeros(records, dtype=torch.float64)
    for mechanism in mechanisms:
        box = mechanism.domain.as_box()
        own = (box.low + box.width * uniform((records, 1), values)).clamp(box.low, box.high)
        truth += own.squeeze(1)
        released += mechanism.privatize(own, noise).squeeze(1)
    return truth / len(mechanisms), released / len(mechanisms)
