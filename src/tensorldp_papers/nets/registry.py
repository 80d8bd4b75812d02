"""Model names to networks: what they are built for, and their weights from explicit generators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.registries import MODELS
from tensorldp_papers.task import Task


def image_layout(shape: tuple[int, ...], network: str, least: int = 1) -> tuple[int, int, int]:
    """Returns (channels, height, width) of an image record (height, width) or (height, width, channels).

    Args:
        shape: of the record.
        network: what takes it, for messages.
        least: height and width that it needs.

    Raises:
        InputError: if the record is no image, or too small.
    """
    height, width, channels = (*shape, 1, 1)[:3]
    if len(shape) not in (2, 3) or channels not in (1, 3):
        raise InputError(f"{network} takes images of shape (height, width) or (height, width, 3), got {shape}")
    if min(height, width) < least:
        raise InputError(f"{network} takes images of at least {least} x {least}, got {height} x {width}")
    return channels, height, width


class SeededDropout(nn.Module):
    """Inverted dropout whose masks come from its own generator (CPU draws, so that devices agree).

    Attributes:
        places: None as a rule. A list takes the places of the masks of a step that is recorded, to be filled with
            `mask` before each replay.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.generator = torch.Generator().manual_seed(0)
        self.places: list[Tensor] | None = None

    def mask(self, shape: Sequence[int]) -> Tensor:
        """Draws the next mask, on the CPU: which elements stay."""
        return torch.rand(tuple(shape), generator=self.generator) >= self.p

    def forward(self, x: Tensor) -> Tensor:
        """Returns x with each element zeroed with probability p and the rest scaled by 1 / (1 - p), in training."""
        if not self.training or self.p == 0.0:
            return x
        if self.places is None:
            keep = self.mask(x.shape).to(x.device)
        else:
            keep = torch.empty(x.shape, dtype=torch.bool, device=x.device)
            self.places.append(keep)
        return x * keep / (1.0 - self.p)


def replace_modules(model: nn.Module, kind: type[nn.Module], make: Callable[[Any], nn.Module]) -> None:
    """Replaces every submodule of type `kind` by `make(old)`, in place."""
    for name, child in model.named_children():
        if isinstance(child, kind):
            setattr(model, name, make(child))
        else:
            replace_modules(child, kind, make)


def take_vectors(embedding: nn.Embedding, vectors: Tensor) -> None:
    """Puts public word vectors, (vocabulary, dimensions), into an embedding, whose dimensions may be no less.

    Vectors that are shorter than the network has are filled up with zeros, so that it keeps its size.
    """
    wanted, width = tuple(embedding.weight.shape), vectors.shape[-1]
    if vectors.dim() != 2 or len(vectors) != wanted[0] or width > wanted[1]:
        raise InputError(f"word vectors of shape {wanted} are needed, or shorter ones, got {tuple(vectors.shape)}")
    with torch.no_grad():
        embedding.weight.copy_(nn.functional.pad(vectors, (0, wanted[1] - width)))


def _uniform_fan_in(tensor: Tensor, fan_in: int, generator: torch.Generator) -> None:
    bound = 1.0 / math.sqrt(fan_in)
    with torch.no_grad():
        tensor.uniform_(-bound, bound, generator=generator)


def seed_model(model: nn.Module, generator: torch.Generator) -> nn.Module:
    """Draws all weights anew with torch's default laws, and hands dropout its generator; in place.

    Linear and convolution weights and biases are U(-1/sqrt(fan_in), 1/sqrt(fan_in)), as are LSTM weights with the
    hidden size for fan_in; embeddings are N(0, 1); batch-norm starts as the identity.
    """
    replace_modules(model, nn.Dropout, lambda old: SeededDropout(old.p))
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            fan_in = module.weight[0].numel()
            _uniform_fan_in(module.weight, fan_in, generator)
            if module.bias is not None:
                _uniform_fan_in(module.bias, fan_in, generator)
        elif isinstance(module, nn.LSTM):
            for parameter in module.parameters():
                _uniform_fan_in(parameter, module.hidden_size, generator)
        elif isinstance(module, nn.Embedding):
            with torch.no_grad():
                module.weight.normal_(generator=generator)
        elif isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.reset_parameters()
        elif isinstance(module, SeededDropout):
            module.generator.manual_seed(int(torch.empty((), dtype=torch.int64).random_(generator=generator)))
    return model


Network = Callable[[Task], nn.Module]


def register_model(name: str) -> Callable[[Network], Network]:
    """Makes a function that builds a network for a task known under a name; use as a decorator.

    The function need not initialise the weights: `build` draws them.

    Raises:
        InputError: if the name is empty or taken.
    """
    register: Callable[[Network], Network] = MODELS.register(name)
    return register


def names() -> list[str]:
    """Returns the model names, sorted."""
    return MODELS.names()


def build(name: str, task: Task, generator: torch.Generator) -> nn.Module:
    """Builds a freshly initialised network.

    Args:
        name: one of `names()`.
        task: shape of a record, number of classes and, for text, of tokens.
        generator: a CPU generator for the weights and for dropout.

    Raises:
        InputError: if the name is unknown or the model does not take such records.
    """
    network: Network = MODELS.get(name)
    return seed_model(network(task), generator)
