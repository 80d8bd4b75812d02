"""How records are dealt to clients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tensorldp.errors import InputError, positive, unknown

SPLITS = ("iid", "dirichlet")
MOST_TRIES = 100


def check_shards(shards: Sequence[Tensor]) -> None:
    """Every client must have data.

    Raises:
        InputError: naming the first client without any.
    """
    for client, shard in enumerate(shards):
        if len(shard) == 0:
            raise InputError(f"client {client} of {len(shards)} has no data: use fewer clients, more records "
                             "or a more even split")


def deal(y: Tensor, clients: int, generator: torch.Generator, *, split: str = "iid",
         alpha: float = 0.5) -> list[Tensor]:
    """Record indices of every client.

    Args:
        y: (records,) class indices.
        split: `iid` deals equally at random (the first clients one more), as PLDP-FL does; `dirichlet` divides each
            class in proportions Dir(alpha), drawn again until no client is empty.
        alpha: concentration of the Dirichlet law, > 0; small is uneven.

    Raises:
        InputError: if the split is unknown or a client has no data, naming it.
    """
    if split == "iid":
        shards = list(torch.randperm(len(y), generator=generator).tensor_split(clients))
    elif split == "dirichlet":
        for _ in range(MOST_TRIES):
            shards = _dirichlet(y, clients, generator, positive("alpha of the Dirichlet split", alpha))
            if min(len(shard) for shard in shards):
                break
    else:
        raise unknown("split", split, SPLITS)
    check_shards(shards)
    return shards


def _dirichlet(y: Tensor, clients: int, generator: torch.Generator, alpha: float) -> list[Tensor]:
    parts: list[list[Tensor]] = [[] for _ in range(clients)]
    for label in y.unique().tolist():
        members = (y == label).nonzero().squeeze(1)
        members = members[torch.randperm(len(members), generator=generator)]
        shares = torch._sample_dirichlet(torch.full((clients,), alpha, dtype=torch.float64), generator)
        ends = (shares.cumsum(0)[:-1] * len(members)).round().long()
        for part, piece in zip(parts, members.tensor_split(ends), strict=True):
            part.append(piece)
    return [torch.cat(part).sort().values for part in parts]
