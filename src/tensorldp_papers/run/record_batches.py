"""TVG's unit: one tensor of 256 records, all of which may change between neighbours, released as a whole."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism

BATCH = 256  # TVG, Table III
First = Literal["records", "elements"]
UNITS = ("record", "batch")


def batch_box(box: Box, first: First, batch: int = BATCH) -> Box:
    """Where a batch of records of `box` lives: mode 1 is the records, or the elements of a record, flat."""
    return Box(box.low, box.high, (batch, *box.shape) if first == "records" else (box.size, batch))


def privatize_batches(mechanism: Mechanism, x: Tensor, generator: torch.Generator, first: First) -> Tensor:
    """Releases of records x (N, *shape) by a mechanism on `batch_box`, batch after batch, of the same shape.

    The last batch is filled up with records at the domain's centre, so that its sensitivity is that of the others.
    """
    shape = mechanism.shape
    batch = shape[0] if first == "records" else shape[-1]
    out = []
    for part in x.split(batch):
        missing = batch - len(part)
        filled = (
            torch.cat(
                [
                    part,
                    torch.full(
                        (missing, *part.shape[1:]), mechanism.domain.as_box().centre, dtype=x.dtype, device=x.device
                    ),
                ]
            )
            if missing
            else part
        )
        tensor = filled.reshape(shape) if first == "records" else filled.reshape(batch, -1).T
        noisy = mechanism.privatize(tensor.unsqueeze(0).contiguous(), generator)[0]
        back = noisy if first == "records" else noisy.T
        out.append(back.reshape(filled.shape)[: len(part)])
    return torch.cat(out)


def record_in_batch(curve: PrivacyCurve, batch: int = BATCH) -> PrivacyCurve:
    """What noise for a batch guarantees for one record of it.

    The noise of different records is independent and equal in law, so one record has 1 / batch of the squared
    Mahalanobis norm of the worst change of them all: mu / sqrt(batch). Without privacy there is none.

    Raises:
        InputError: if the curve is of another kind.
    """
    if isinstance(curve, GaussianCurve):
        return GaussianCurve(curve.mu / math.sqrt(batch), curve.exact)
    if curve.atom == 1.0:
        return curve
    raise InputError("the unit batch needs additive Gaussian noise; use the unit record for other mechanisms")
