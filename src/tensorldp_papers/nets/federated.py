"""TLDP's Type III: a few users train, parameters are clipped, averaged and perturbed, and sent back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp.domain import Box
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.release import ParameterRelease
from tensorldp_papers.run.progress import track


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that are trained and released, in a fixed order."""
    return [p for p in model.parameters() if p.requires_grad]


def layer_sizes(model: nn.Module) -> list[int]:
    """How many released parameters each module owns itself, in the order of the vector."""
    sizes = [sum(p.numel() for p in m.parameters(recurse=False) if p.requires_grad) for m in model.modules()]
    return [size for size in sizes if size]


def get_vector(model: nn.Module) -> Tensor:
    """All trainable parameters as one flat vector (I,)."""
    return torch.cat([p.detach().reshape(-1) for p in trainable(model)])


def set_vector(model: nn.Module, vector: Tensor) -> None:
    """Write a flat vector (I,) back into the trainable parameters."""
    parameters = trainable(model)
    with torch.no_grad():
        for parameter, part in zip(parameters, vector.split([p.numel() for p in parameters]), strict=True):
            parameter.copy_(part.reshape(parameter.shape))


def float_buffers(model: nn.Module) -> list[Tensor]:
    """Batch-norm's running statistics: averaged between users, never perturbed."""
    return [b for b in model.buffers() if b.is_floating_point()]


def clipped(vector: Tensor, clip: float) -> Tensor:
    """Elements clipped to [-clip, clip]; parameters that training drove to NaN become 0."""
    return Box(-clip, clip, tuple(vector.shape)).project(vector.nan_to_num(nan=0.0, posinf=clip, neginf=-clip))


def split_users(count: int, users: int, generator: torch.Generator) -> list[Tensor]:
    """Indices of a random split of `count` records into `users` equal parts (the first ones one larger)."""
    return list(torch.randperm(count, generator=generator).tensor_split(users))


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
    """Train the global model in place: TLDP 5.2.3, steps 1 to 4, for `release.rounds` rounds.

    Each round every user starts from the global parameters with a fresh Adam state, trains `epochs` epochs on its
    shard and clips. With `release.where` = user each user perturbs before averaging; with server the average is
    perturbed.

    Args:
        model: the global network, changed in place.
        x: all records, on the model's device.
        y: (records,) their class indices.
        shards: record indices of each user.
        release: the mechanism, where it adds its noise, and for how many rounds.
        epochs: of a user's training in a round.
        batch_size: records in a batch.
        learning_rate: Adam's.
        order: the generator of a user's batch order, by user index.
        noise: the generator of the mechanism, on the model's device.
        what: what a progress line calls it.
        precision: float32, or `compiled`: float32 in the loop in C++. Perturbed parameters are never in less.
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
            upload = clipped(get_vector(model), release.clip)
            uploads.append(release.privatize(upload, round_index, noise) if release.where == "user" else upload)
            statistics.append([b.clone() for b in float_buffers(model)])
        average = torch.stack(uploads).mean(dim=0)
        if release.where == "server":  # the noise is for what a user changes of the average, and not for its rounding
            average = torch.stack(uploads).mean(dim=0, dtype=torch.float64).to(start.dtype)
            average = release.privatize(average, round_index, noise)
        set_vector(model, average)
        for buffer, values in zip(float_buffers(model), zip(*statistics, strict=True), strict=True):
            buffer.copy_(torch.stack(values).mean(dim=0))
    return model
