"""How records are dealt to clients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tensorldp.errors import InputError, check_real, unknown

SPLITS = ("iid", "dirichlet")
MOST_TRIES = 100
LEAST_ALPHA = 1e-6  # where a whole class goes to one client


def check_shards(shards: Sequence[Tensor]) -> None:
    """Every client must have data.

    Raises:
        InputError: naming the first client without any.
    """
    for client, shard in enumerate(shards):
        if len(shard) == 0:
            raise InputError(
                f"client {client} of {len(shards)} has no data: use fewer clients, more records or a more even split"
            )


def deal(
    y: Tensor, clients: int, generator: torch.Generator, *, split: str = "iid", alpha: float = 0.5
) -> list[Tensor]:
    """Record indices of every client.

    Args:
        y: (records,) class indices.
        clients: how many.
        generator: of the draws.
        split: `iid` deals equally at random (the first clients one more), as PLDP-FL does; `dirichlet` divides each
            class in proportions Dir(alpha), drawn again until no client is empty.
        alpha: concentration of the Dirichlet law, at least 1e-6; small is uneven.

    Raises:
        InputError: if the split is unknown or a client has no data, naming it.
    """
    if split == "iid":
        shards = list(torch.randperm(len(y), generator=generator).tensor_split(clients))
    elif split == "dirichlet":
        for _ in range(MOST_TRIES):
            shards = _dirichlet(
                y, clients, generator, check_real("alpha of the Dirichlet split", alpha, low=LEAST_ALPHA)
            )
            if min(len(shard) for shard in shards):
                break
    else:
        raise unknown("split", split, SPLITS)
    check_shards(shards)
    return shards


def _dirichlet_shares(clients: int, alpha: float, generator: torch.Generator) -> Tensor:
    """One draw of Dir(alpha), in logs: at a small alpha the gamma variates that are divided would all be 0."""
    grown = torch._standard_gamma(torch.full((clients,), alpha + 1.0, dtype=torch.float64), generator)
    chance = 1.0 - torch.rand(clients, dtype=torch.float64, generator=generator)  # in (0, 1]
    return torch.softmax(grown.log() + chance.log() / alpha, dim=0)  # Gamma(alpha) = Gamma(alpha + 1) U^(1 / alpha)


def _dirichlet(y: Tensor, clients: int, generator: torch.Generator, alpha: float) -> list[Tensor]:
    parts: list[list[Tensor]] = [[] for _ in range(clients)]
    for label in y.unique().tolist():
        members = (y == label).nonzero().squeeze(1)
        members = members[torch.randperm(len(members), generator=generator)]
        shares = _dirichlet_shares(clients, alpha, generator)
        ends = (shares.cumsum(0)[:-1] * len(members)).round().long()
        for part, piece in zip(parts, members.tensor_split(ends), strict=True):
            part.append(piece)
    return [torch.cat(part).sort().values for part in parts]
