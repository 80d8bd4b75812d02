"""Federated training on defended gradients: what a defence costs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive, check_whole
from tensorldp_papers.attacks.client import Client
from tensorldp_papers.attacks.defences import Defence


def fit_defended(
    model: nn.Sequential,
    x: Tensor,
    y: Tensor,
    defence: Defence,
    *,
    users: int,
    rounds: int,
    learning_rate: float,
    generator: torch.Generator,
    noise: torch.Generator,
) -> nn.Sequential:
    """Minimise cross-entropy with Adam on the average of what users send, in place.

    In each round `users` of the records are drawn; the owner of each sends one defended update.

    Args:
        model: the network, changed in place.
        x: (records, ...) inputs.
        y: (records,) class indices.
        defence: what each user does to an update.
        users: records drawn in a round.
        rounds: averages taken.
        learning_rate: Adam's.
        generator: for the choice of users.
        noise: for the defence.

    Raises:
        InputError: if a setting is out of range or x and y differ in length.
    """
    users, rounds = check_whole("users", users, low=1), check_whole("rounds", rounds, low=1)
    if len(x) != len(y):
        raise InputError(f"training needs as many labels as records, got {len(x)} and {len(y)}")
    client = Client(model, steps=defence.steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=check_positive("learning_rate", learning_rate))
    for _ in range(rounds):
        chosen = torch.randint(0, len(x), (users,), generator=generator)
        now = {key: value.detach() for key, value in model.named_parameters()}
        masks = None
        if defence.name == "dropout":
            kept = torch.rand(users, client.features, generator=noise, dtype=x.dtype) < defence.strength
            masks = kept.to(x.dtype) / defence.strength
        sent = client.updates(x[chosen], client.one_hot(y[chosen]), masks, now)
        average = client.split(defence.protect(sent, noise).mean(dim=0))
        for key, parameter in model.named_parameters():
            parameter.grad = average[key]
        optimizer.step()
    return model
