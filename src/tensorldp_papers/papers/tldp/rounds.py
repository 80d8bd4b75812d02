"""The rounds of TLDP's Type III: a few users train, and releases of their parameters are averaged and sent back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp.domain import Box
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.federated import ParameterRelease, get_vector, set_vector
from tensorldp_papers.progress import track


def layer_sizes(model: nn.Module) -> list[int]:
    """Counts the released parameters that each module owns itself, in the order of the vector."""
    sizes = [sum(p.numel() for p in m.parameters(recurse=False) if p.requires_grad) for m in model.modules()]
    return [size for size in sizes if size]


def float_buffers(model: nn.Module) -> list[Tensor]:
    """Returns batch-norm's running statistics: averaged between users, never perturbed."""
    return [b for b in model.buffers() if b.is_floating_point()]


def clipped(vector: Tensor, clip: float) -> Tensor:
    """Clips elements to [-clip, clip]; parameters that training drove to NaN become 0."""
    return Box(-clip, clip, tuple(vector.shape)).project(vector.nan_to_num(nan=0.0, posinf=clip, neginf=-clip))


def split_users(count: int, users: int, generator: torch.Generator) -> list[Tensor]:
    """Draws indices of a random split of `count` records into `users` equal parts (the first ones one larger)."""
    return list(torch.randperm(count, generator=generator).tensor_split(users))


def average(uploads: list[Tensor], release: ParameterRelease, round_index: int, noise: torch.Generator) -> Tensor:
    """Averages users' clipped parameters as they are sent on: with the noise of each user, or of the server."""
    if release.where == "user":
        return torch.stack([release.privatize(upload, round_index, noise) for upload in uploads]).mean(dim=0)
    # the noise is for what a user changes of the average, and not for its rounding
    mean = torch.stack(uploads).mean(dim=0, dtype=torch.float64).to(uploads[0].dtype)
    return release.privatize(mean, round_index, noise)


def federated_average(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    shards: list[Tensor],
    release: ParameterRelease,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    order: Callable[[int], torch.Generator],
    noise: torch.Generator,
    what: str,
    precision: str = "float32",
) -> nn.Module:
    """Trains the global model in place: TLDP 5.2.3, steps 1 to 4, for `release.rounds` rounds.

    Each round every user starts from the global parameters with a fresh Adam state, trains `epochs` epochs on its
    shard and clips. With `release.where` = user each user perturbs before averaging; with server the average is
    perturbed. `order` gives the generator of a user's batch order; `precision` is float32, or `compiled`: float32 in
    the loop in C++. Perturbed parameters are never in less.
    """
    orders = [order(user) for user in range(len(shards))]
    for round_index in track(range(release.rounds), f"{what}: round"):
        start = get_vector(model)
        buffers = [b.clone() for b in float_buffers(model)]
        uploads, statistics = [], []
        for shard, generator in zip(shards, orders, strict=True):
            set_vector(model, start)
            for buffer, value in zip(float_buffers(model), buffers, strict=True):
                buffer.copy_(value)
            fit(
                model,
                x[shard],
                y[shard],
                epochs=epochs,
                batch_size=batch_size,
                learning_rate=learning_rate,
                generator=generator,
                precision=precision,
            )
            uploads.append(clipped(get_vector(model), release.clip))
            statistics.append([b.clone() for b in float_buffers(model)])
        set_vector(model, average(uploads, release, round_index, noise))
        for buffer, values in zip(float_buffers(model), zip(*statistics, strict=True), strict=True):
            buffer.copy_(torch.stack(values).mean(dim=0))
    return model
