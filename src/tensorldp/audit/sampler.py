"""Statistics of many releases of one record, in batches that fit in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.audit.observed import observed
from tensorldp.errors import InputError
from tensorldp.randomizer import Randomizer
from tensorldp.randomness import generator

Reals = npt.NDArray[np.float64]
Statistic = Callable[[Tensor], Tensor]
BATCH_ELEMENTS = 1 << 20
MAX_BATCH = 1 << 16
COORDINATES = 8  # single coordinates to look at, evenly spaced


def releases(mechanism: Randomizer, record: Tensor, count: int, *seed: object) -> Iterator[Tensor]:
    """`count` releases of a record, batch by batch, in float64: in float32 a noisy value can round to its input.

    Raises:
        InputError: if a release is not a tensor of real floats of the record's shape.
    """
    source = generator("audit", mechanism.name, *seed)
    step = min(MAX_BATCH, max(1, BATCH_ELEMENTS // mechanism.size))
    record = record.double()
    for start in range(0, count, step):
        rows = min(step, count - start)
        batch = record.expand(rows, *record.shape).clone(memory_format=torch.contiguous_format)
        form, seen = observed(mechanism.name, mechanism.privatize(batch, source), rows)
        if form.shape != tuple(record.shape) or not form.dtype.is_floating_point:
            raise InputError(f"an audit takes releases of real floats of the record's shape, got {form}")
        yield seen.reshape(rows, *record.shape)


def statistics(mechanism: Randomizer, x: Tensor, x_prime: Tensor, likelihood: bool) -> dict[str, Statistic]:
    """What the audit looks at in a release; each is larger, if anything, under x than under x'.

    Only "likelihood ratio" believes the mechanism. The others see the releases alone: how far they lie towards x
    along x - x', all together and coordinate by coordinate, and how many elements equal x rather than x'.
    """
    change = (x - x_prime).reshape(-1)
    middle = ((x + x_prime) / 2.0).reshape(-1)
    found: dict[str, Statistic] = {}
    if likelihood:
        found["likelihood ratio"] = lambda y: mechanism.log_likelihood_ratio(y.clone(), x.clone(), x_prime.clone())
    unit = change / change.norm()
    found["projection on x - x'"] = lambda y: (y.reshape(y.shape[0], -1) - middle) @ unit
    differs = change != 0
    first, second = x.reshape(-1)[differs], x_prime.reshape(-1)[differs]

    def equality(y: Tensor) -> Tensor:
        seen = y.reshape(y.shape[0], -1)[:, differs]
        return ((seen == first).sum(dim=1) - (seen == second).sum(dim=1)).double()

    found["elements equal to x less those equal to x'"] = equality
    places = torch.nonzero(differs).reshape(-1)
    if places.numel() > 1:
        chosen = places[torch.linspace(0, places.numel() - 1, min(COORDINATES, places.numel())).long()]
        for place in chosen.unique().tolist():
            found[f"element {place}"] = _coordinate(place, math.copysign(1.0, float(change[place])))
    return found


def _coordinate(place: int, sign: float) -> Statistic:
    return lambda y: sign * y.reshape(y.shape[0], -1)[:, place]


def collect(
    mechanism: Randomizer, record: Tensor, count: int, wanted: dict[str, Statistic], *seed: object
) -> dict[str, Reals]:
    """Each statistic of `count` releases; a statistic that is not a number counts as 0, as if it told nothing."""
    out = {name: np.empty(count) for name in wanted}
    start = 0
    for y in releases(mechanism, record, count, *seed):
        for name, statistic in wanted.items():
            out[name][start : start + y.shape[0]] = (
                torch.nan_to_num(statistic(y).double(), nan=0.0, posinf=math.inf, neginf=-math.inf).cpu().numpy()
            )
        start += y.shape[0]
    return out
