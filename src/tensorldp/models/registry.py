"""Model names to networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from tensorldp.errors import InputError, unknown
from tensorldp.models.seeding import seed_model
from tensorldp.models.small import FCN, MLP, BiLSTM, PldpCNN, SmallCNN


def image_layout(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(channels, height, width) of an image record (height, width) or (height, width, channels).

    Raises:
        InputError: if the record is not an image.
    """
    if len(shape) == 2:
        return 1, shape[0], shape[1]
    if len(shape) == 3 and shape[2] in (1, 3):
        return shape[2], shape[0], shape[1]
    raise InputError(f"this model takes images of shape (height, width) or (height, width, 3), got {shape}")


@dataclass(frozen=True)
class Task:
    """What a model is for.

    Attributes:
        shape: of one record as the data set stores it.
        classes: number of classes, at least 2.
        vocabulary: number of token indices, for text.
    """

    shape: tuple[int, ...]
    classes: int
    vocabulary: int = 0

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise InputError(f"classes must be at least 2, got {self.classes}")


def _small_cnn(task: Task) -> nn.Module:
    return SmallCNN(*image_layout(task.shape), task.classes)


def _mobilenet(task: Task) -> nn.Module:
    from tensorldp.models.mobilenet import MobileNet  # torchvision takes seconds to import

    image_layout(task.shape)
    return MobileNet(task.classes)


def _fcn(task: Task) -> nn.Module:
    return nn.Sequential(nn.Flatten(), FCN(math.prod(task.shape), task.classes))


def _pldp_cnn(task: Task) -> nn.Module:
    return PldpCNN(*image_layout(task.shape), task.classes)


def _mlp(task: Task) -> nn.Module:
    return nn.Sequential(nn.Flatten(), MLP(math.prod(task.shape), task.classes))


def _linear(task: Task) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(task.shape), task.classes))


def _bilstm(task: Task) -> nn.Module:
    if task.vocabulary < 1:
        raise InputError("the model bilstm takes text: rows of token indices with a vocabulary")
    return BiLSTM(task.vocabulary, task.classes)


def _one_hidden(hidden: int, active: type[nn.Module]) -> Callable[[Task], nn.Module]:
    """TVG's networks for tables: one hidden layer."""

    def network(task: Task) -> nn.Module:
        return nn.Sequential(
            nn.Flatten(), nn.Linear(math.prod(task.shape), hidden), active(), nn.Linear(hidden, task.classes)
        )

    return network


def _split(name: str) -> Callable[[Task], nn.Module]:
    def network(task: Task) -> nn.Module:
        from tensorldp.models.split import split_net  # that module imports this one

        return split_net(name, task)

    return network


def _split_head(name: str) -> Callable[[Task], nn.Module]:
    def network(task: Task) -> nn.Module:
        from tensorldp.models.split import head

        return nn.Sequential(nn.Flatten(), *head(name, math.prod(task.shape), task.classes))

    return network


_BUILDERS: dict[str, Callable[[Task], nn.Module]] = {
    "small_cnn": _small_cnn,
    "mobilenet_v2": _mobilenet,
    "fcn": _fcn,
    "linear": _linear,
    "bilstm": _bilstm,
    "pldp_cnn": _pldp_cnn,
    "mlp": _mlp,
    "mlp_10": _one_hidden(10, nn.ReLU),
    "mlp_12": _one_hidden(12, nn.Sigmoid),
    **{name: _split(name) for name in ("lenet", "lenet_tanh", "vgg16_tanh", "alexnet_tanh", "bilstm_tanh")},
    **{f"{name}_head": _split_head(name) for name in ("lenet_tanh", "alexnet_tanh")},
}


def names() -> list[str]:
    """The model names, sorted."""
    return sorted(_BUILDERS)


def build(name: str, task: Task, generator: torch.Generator) -> nn.Module:
    """A freshly initialised network.

    Args:
        name: one of `names()`.
        generator: a CPU generator for the weights and for dropout.

    Raises:
        InputError: if the name is unknown or the model does not take such records.
    """
    if name not in _BUILDERS:
        raise unknown("model", name, _BUILDERS)
    return seed_model(_BUILDERS[name](task), generator)
