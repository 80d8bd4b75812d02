"""Model names to networks."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from tensorldp_papers.nets.seeding import seed_model
from tensorldp_papers.nets.task import Task
from tensorldp_papers.registries import MODELS

Network = Callable[[Task], nn.Module]


def register_model(name: str) -> Callable[[Network], Network]:
    """Make a function that builds a network for a task known under a name; use as a decorator.

    The function need not initialise the weights: `build` draws them.

    Raises:
        InputError: if the name is empty or taken.
    """
    register: Callable[[Network], Network] = MODELS.register(name)
    return register


def names() -> list[str]:
    """The model names, sorted."""
    return MODELS.names()


def build(name: str, task: Task, generator: torch.Generator) -> nn.Module:
    """A freshly initialised network.

    Args:
        name: one of `names()`.
        task: shape of a record, number of classes and, for text, of tokens.
        generator: a CPU generator for the weights and for dropout.

    Raises:
        InputError: if the name is unknown or the model does not take such records.
    """
    network: Network = MODELS.get(name)
    return seed_model(network(task), generator)
