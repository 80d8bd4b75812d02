"""The loops of benchmarks/loops.py: for each the plain call and the quick one, on inputs of the studies' shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tensorldp.models import Task, build
from tensorldp.training.classify import fit, predict
from tensorldp.training.plain import plain_fit, plain_predict

Call = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A loop: what it is called, what a call is, how often as fast it should be, and what makes the two calls."""

    name: str
    what: str
    goal: float
    plain: Callable[[], Call]
    quick: Callable[[], Call]


def gen(seed: int = 0) -> torch.Generator:
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def records(task: Task, count: int) -> tuple[Tensor, Tensor]:
    """Random records of a task as model inputs."""
    y = torch.randint(0, task.classes, (count,), generator=gen(1))
    if task.vocabulary:
        x = torch.randint(1, task.vocabulary, (count, *task.shape), generator=gen(2))
        x[:, task.shape[0] // 2 :] = 0  # half of a text is padding
        return x, y
    channels = 1 if len(task.shape) == 2 else 3
    return torch.rand(count, channels, *task.shape[:2], generator=gen(2)) * 2 - 1, y


def unpooled(model: nn.Module) -> nn.Module:
    """The layers in the textbook's order, pooling after the activation, in place."""
    for parent in model.modules():
        if isinstance(parent, nn.Sequential):
            layers = list(parent)
            for i in range(len(layers) - 1):
                if isinstance(layers[i], nn.MaxPool2d) and isinstance(layers[i + 1], (nn.ReLU, nn.Tanh)):
                    parent[i], parent[i + 1] = layers[i + 1], layers[i]
    return model


def training(name: str, what: str, goal: float, task: Task, *, batch: int, steps: int, precision: str) -> Case:
    """Some steps of Adam."""

    def call(loop: Callable[..., Any], textbook: bool, **extra: Any) -> Call:
        x, y = records(task, batch * steps)
        model = build(name.split(",")[0], task, gen())
        model = unpooled(model) if textbook else model
        return lambda: loop(model, x, y, epochs=1, batch_size=batch, learning_rate=1e-3, generator=gen(), **extra)

    return Case(name, what, goal, lambda: call(plain_fit, True), lambda: call(fit, False, precision=precision))


def prediction(name: str, what: str, goal: float, task: Task, *, count: int, precision: str) -> Case:
    """Predictions of many records."""

    def call(loop: Callable[..., Any], textbook: bool, **extra: Any) -> Call:
        x, _ = records(task, count)
        model = build(name.split(",")[0], task, gen())
        model = unpooled(model) if textbook else model
        return lambda: loop(model, x, **extra)

    return Case(name, what, goal, lambda: call(plain_predict, True), lambda: call(predict, False, precision=precision))


GREY, COLOUR, TEXT = Task((28, 28), 10), Task((32, 32, 3), 10), Task((500,), 2, vocabulary=5000)
CASES = [
    training("small_cnn", "28 x 28, 20 steps of 64", 3, GREY, batch=64, steps=20, precision="bfloat16"),
    training("small_cnn, colour", "32 x 32 x 3, 20 steps of 64", 3, COLOUR, batch=64, steps=20, precision="bfloat16"),
    training("small_cnn, float32", "28 x 28, 20 steps of 64", 3, GREY, batch=64, steps=20, precision="float32"),
    prediction("small_cnn, predicting", "28 x 28, 2,000 images", 3, GREY, count=2000, precision="bfloat16"),
    training("mobilenet_v2", "28 x 28, 2 steps of 64", 3, GREY, batch=64, steps=2, precision="float32"),
    training("lenet_tanh", "28 x 28, 5 steps of 256", 3, GREY, batch=256, steps=5, precision="float32"),
    training("vgg16_tanh", "32 x 32 x 3, 1 step of 256", 3, COLOUR, batch=256, steps=1, precision="bfloat16"),
    training("bilstm", "500 tokens, 1 step of 32", 20, TEXT, batch=32, steps=1, precision="bfloat16"),
    training("bilstm_tanh", "500 tokens, 1 step of 64", 20, TEXT, batch=64, steps=1, precision="float32"),
]
