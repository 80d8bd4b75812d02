"""Release a split's records through the cell's mechanism, each record once."""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp.studies.batches import BATCH, batch_box, check_unit, privatize_batches
from tensorldp.studies.cell import CellSettings
from tensorldp.studies.records import Records

BLOCK_ELEMENTS = 1 << 22


def perturb(records: Records, cell: CellSettings, seed: int, split: str, device: torch.device) -> Tensor:
    """float32 releases of all records, (records, *shape) as stored.

    The factor `unit` may be `batch`: then noise is made for tensors of 256 records (TVG), whose first mode they are.

    Args:
        split: `train` or `test`; each has a random stream of its own.

    Raises:
        InputError: if the mechanism or an option is not valid for these records.
    """
    box = records.box()
    batch = check_unit(cell.factors.get("unit", "record")) == "batch"
    mechanism = cell.mechanism_on(batch_box(box, "records") if batch else box)
    stream = cell.generator(seed, f"{split} noise", device)
    out = torch.empty((len(records.x), *records.shape), dtype=torch.float32)
    step = max(1, BLOCK_ELEMENTS // box.size)
    if batch:
        step = -(-step // BATCH) * BATCH  # whole batches
    for start in range(0, len(out), step):
        part = records.x[start : start + step].to(device, torch.float32).reshape(-1, *box.shape)
        noisy = privatize_batches(mechanism, part, stream, "records") if batch else mechanism.privatize(part, stream)
        out[start : start + step] = noisy.reshape(-1, *records.shape).cpu()
    return out
