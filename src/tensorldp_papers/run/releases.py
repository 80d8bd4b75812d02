"""Release a split's records through the cell's mechanism, each record once, or 256 as one tensor (TVG's unit)."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.records import Records
from tensorldp_papers.run.streams import mechanism_on, noise_stream

BATCH = 256  # TVG, Table III
First = Literal["records", "elements"]
UNITS = ("record", "batch")


def batch_box(box: Box, first: First, batch: int = BATCH) -> Box:
    """Returns where a batch of records of `box` lives: mode 1 is the records, or the elements of a record, flat."""
    return Box(box.low, box.high, (batch, *box.shape) if first == "records" else (box.size, batch))


def privatize_batches(mechanism: Mechanism, x: Tensor, generator: torch.Generator, first: First) -> Tensor:
    """Releases records x (N, *shape) by a mechanism on `batch_box`, batch after batch, of the same shape.

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
    """Computes what noise for a batch guarantees for one record of it.

    The noise of different records is independent and equal in law, so one record has 1 / batch of the squared
    Mahalanobis norm of the worst change of them all: mu / sqrt(batch). Without privacy there is none.
    """
    if isinstance(curve, GaussianCurve):
        return GaussianCurve(curve.mu / math.sqrt(batch), curve.exact)
    if curve.atom == 1.0:
        return curve
    raise InputError("the unit batch needs additive Gaussian noise; use the unit record for other mechanisms")


BLOCK_ELEMENTS = 1 << 22  # released at once: 16 MB of float32


def perturb(
    records: Records, cell: AnyCell, seed: int, split: str, device: torch.device, *, batch: bool = False
) -> Tensor:
    """Releases all records as float32, (records, *shape) as stored.

    Args:
        records: one split of the data set.
        cell: whose mechanism releases them.
        seed: for the noise.
        split: `train` or `test`; each has a random stream of its own.
        device: where the noise is drawn.
        batch: make the noise for tensors of 256 records (TVG), whose first mode they are.
    """
    box = records.box()
    mechanism = mechanism_on(cell, batch_box(box, "records") if batch else box)
    stream = noise_stream(cell, seed, f"{split} noise", device)
    out = torch.empty((len(records.x), *records.shape), dtype=torch.float32)
    step = max(1, BLOCK_ELEMENTS // box.size)
    if batch:
        step = -(-step // BATCH) * BATCH  # whole batches
    for start in range(0, len(out), step):
        part = records.x[start : start + step].to(device, torch.float32).reshape(-1, *box.shape)
        noisy = privatize_batches(mechanism, part, stream, "records") if batch else mechanism.privatize(part, stream)
        out[start : start + step] = noisy.reshape(-1, *records.shape).cpu()
    return out
