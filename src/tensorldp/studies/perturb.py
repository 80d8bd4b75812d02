"""Release a split's records through the cell's mechanism, each record once."""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp.studies.cell import CellSettings
from tensorldp.studies.records import Records

BLOCK_ELEMENTS = 1 << 22


def perturb(records: Records, cell: CellSettings, seed: int, split: str, device: torch.device) -> Tensor:
    """float32 releases of all records, (records, *shape) as stored.

    Args:
        split: `train` or `test`; each has a random stream of its own.

    Raises:
        InputError: if the mechanism or an option is not valid for these records.
    """
    box = records.box()
    mechanism = cell.mechanism_on(box)
    stream = cell.generator(seed, f"{split} noise", device)
    out = torch.empty((len(records.x), *records.shape), dtype=torch.float32)
    step = max(1, BLOCK_ELEMENTS // box.size)
    for start in range(0, len(out), step):
        part = records.x[start:start + step].to(device, torch.float32).reshape(-1, *box.shape)
        out[start:start + step] = mechanism.privatize(part, stream).reshape(-1, *records.shape).cpu()
    return out
