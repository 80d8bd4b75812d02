"""Release a split's records through the cell's mechanism, each record once."""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.record_batches import BATCH, batch_box, privatize_batches
from tensorldp_papers.run.records import Records
from tensorldp_papers.run.streams import mechanism_on, noise_stream

BLOCK_ELEMENTS = 1 << 22


def perturb(
    records: Records, cell: AnyCell, seed: int, split: str, device: torch.device, *, batch: bool = False
) -> Tensor:
    """float32 releases of all records, (records, *shape) as stored.

    Args:
        records: one split of the data set.
        cell: whose mechanism releases them.
        seed: of the noise.
        split: `train` or `test`; each has a random stream of its own.
        device: where the noise is drawn.
        batch: make the noise for tensors of 256 records (TVG), whose first mode they are.

    Raises:
        InputError: if the mechanism or an option is not valid for these records.
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
