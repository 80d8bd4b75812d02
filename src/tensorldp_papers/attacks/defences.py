"""Defences of a gradient before it is sent, with one strength each, and what they cost a federated training."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from tensorldp.domain import Ball
from tensorldp.errors import InputError, check_positive, check_real, check_whole, unknown
from tensorldp.mechanisms import Mechanism
from tensorldp.randomness import add_gaussian, uniform
from tensorldp_papers.attacks.inversion import Client

STRENGTHS = {
    "none": "no strength",
    "local": "k, the local steps before a client sends their sum",
    "noise": "sigma, the standard deviation of Gaussian noise per element, without clipping",
    "clip": "S, the largest l2 norm",
    "prune": "the share of elements set to zero, smallest first",
    "dropout": "p, the probability to keep a neuron",
    "mechanism": "S, the l2 norm that the gradient is clipped to before the mechanism; Gaussian noise makes it DP-SGD",
}


@dataclass(frozen=True)
class Defence:
    """One defence.

    Args:
        name: a key of `STRENGTHS`.
        strength: what that key says; ignored for `none`.
        mechanism: for `mechanism`, made on `Ball(strength, (parameters,))`.
    """

    name: str = "none"
    strength: float = 0.0
    mechanism: Mechanism | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        key = f"strength of the defence {self.name}"
        if self.name not in STRENGTHS:
            raise unknown("defence", self.name, STRENGTHS)
        if self.name == "local":
            check_whole(key, self.strength, low=1)
        elif self.name == "noise":
            check_real(key, self.strength, low=0.0)
        elif self.name in ("clip", "mechanism"):
            check_positive(key, self.strength)
        elif self.name == "prune":
            check_real(key, self.strength, low=0.0, high=1.0, open_high=True)
        elif self.name == "dropout":
            check_real(key, self.strength, low=0.0, high=1.0, open_low=True)
        if (self.name == "mechanism") != (self.mechanism is not None):
            raise InputError(
                "the defence 'mechanism' needs a mechanism and the others take none, "
                f"got {self.name!r} with {self.mechanism and self.mechanism.name}"
            )

    @property
    def steps(self) -> int:
        """Returns the number of a client's local steps."""
        return int(self.strength) if self.name == "local" else 1

    def keep_mask(self, size: int, generator: torch.Generator) -> Tensor | None:
        """Returns which of `size` neurons a client's dropout keeps, at least one; None without dropout."""
        if self.name != "dropout":
            return None
        draws = uniform((size,), generator)
        return (draws < self.strength) | (draws == draws.min())

    def protect(self, gradients: Tensor, generator: torch.Generator) -> Tensor:
        """Returns what is sent instead of each gradient: (clients, parameters), a new tensor.

        Local aggregation and dropout happen while the gradient is computed and change nothing here.
        """
        if self.name == "noise":
            return add_gaussian(gradients, self.strength, generator)
        if self.name == "prune":
            return prune(gradients, self.strength)
        if self.name in ("clip", "mechanism"):
            gradients = Ball(self.strength, tuple(gradients.shape[1:])).project(gradients)
        if self.mechanism is not None:
            return self.mechanism.privatize(gradients, generator)
        return gradients.clone()


def prune(gradients: Tensor, share: float) -> Tensor:
    """Returns each row with that share of its elements, the smallest in size, set to zero."""
    keep = gradients.shape[1] - int(share * gradients.shape[1])
    places = gradients.abs().topk(keep, dim=1, sorted=False).indices
    return torch.zeros_like(gradients).scatter_(1, places, gradients.gather(1, places))


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
    """Minimises cross-entropy with Adam on the average of what users send, in place.

    In each round `users` of the records are drawn by `generator`; the owner of each sends one update, which the defence
    changes with draws of `noise`.
    """
    client = Client(model, steps=defence.steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
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
