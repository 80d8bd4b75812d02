"""The small networks for images, tables and text, by the names that studies give them."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets.registry import image_layout, register_model, take_vectors
from tensorldp_papers.task import Task


class SmallCNN(nn.Sequential):
    """Two 3x3 convolutions (16, 32 channels) with 2x2 max pooling, and one linear layer.

    ReLU follows the pooling: the same function, a quarter of the work.
    Input (batch, channels, height, width); output (batch, classes).
    """

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        super().__init__(
            nn.Conv2d(channels, 16, 3, padding=1),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * (height // 4) * (width // 4), classes),
        )


class PldpCNN(nn.Sequential):
    """PLDP-FL's network (6.2.2): two 5x5 convolutions (10, 20 channels) with 2x2 max pooling, linear layers 50, 10.

    Of 28x28 grey images it has 21,840 weights. ReLU follows the pooling: the same function, a quarter of the work.
    Input (batch, channels, height, width), at least 16 x 16; output (batch, classes).
    """

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        across, down = (((side - 4) // 2 - 4) // 2 for side in (height, width))
        super().__init__(
            nn.Conv2d(channels, 10, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(10, 20, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(20 * across * down, 50),
            nn.ReLU(),
            nn.Linear(50, classes),
        )


class MLP(nn.Sequential):
    """One hidden layer of 32 units with ReLU. Input (batch, inputs); output (batch, classes)."""

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, classes))


class TanhCNN(nn.Module):
    """A seeded, untrained extractor: one 3x3 convolution, tanh, 2x2 average pooling; values in (-1, 1).

    Input (batch, channels, height, width); features (batch, 8 * (height // 2) * (width // 2)).
    """

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, 8, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten())
        self.feature_shape: tuple[int, int] = (8, (height // 2) * (width // 2))

    def forward(self, x: Tensor) -> Tensor:
        """Computes the features of a batch of images, flat."""
        found: Tensor = self.body(x)
        return found


class BiLSTM(nn.Module):
    """TLDP's text model: two bidirectional LSTM layers of 256 with dropout 0.3, on frozen embeddings.

    Input (batch, tokens) of token indices; output (batch, classes) from the last states of both directions.
    The embedding is frozen and, being public, is not part of the released parameters.
    """

    def __init__(self, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 100)
        self.embedding.weight.requires_grad_(False)
        self.first = nn.LSTM(100, 256, batch_first=True, bidirectional=True)
        self.between = nn.Dropout(0.3)
        self.second = nn.LSTM(2 * 256, 256, batch_first=True, bidirectional=True)
        self.before_head = nn.Dropout(0.3)
        self.head = nn.Linear(2 * 256, classes)

    def use_embedding(self, vectors: Tensor) -> None:
        """Takes public word vectors, (vocabulary, dimensions), for the frozen embedding."""
        take_vectors(self.embedding, vectors)

    def forward(self, tokens: Tensor) -> Tensor:
        """Computes class scores of a batch of token rows."""
        states, _ = self.first(self.embedding(tokens.long()))
        _, (last, _) = self.second(self.between(states))
        found: Tensor = self.head(self.before_head(torch.cat([last[0], last[1]], dim=1)))
        return found


class SigmoidLeNet(nn.Sequential):
    """Three 5x5 convolutions of 12 channels (strides 2, 2, 1) with sigmoids and one linear layer [zhu2019].

    Weights and biases are U(-0.5, 0.5); convolutions U(-1.5, 1.5) if `trainable`, because sigmoids with the narrow law
    take thousands of steps to learn. Input (batch, channels, height, width); output (batch, classes).
    """

    def __init__(
        self,
        channels: int,
        height: int,
        width: int,
        classes: int,
        generator: torch.Generator,
        *,
        trainable: bool = False,
    ) -> None:
        hidden = 12 * ((height + 3) // 4) * ((width + 3) // 4)
        super().__init__(
            nn.Conv2d(channels, 12, 5, padding=2, stride=2),
            nn.Sigmoid(),
            nn.Conv2d(12, 12, 5, padding=2, stride=2),
            nn.Sigmoid(),
            nn.Conv2d(12, 12, 5, padding=2),
            nn.Sigmoid(),
            nn.Flatten(),
            nn.Linear(hidden, classes),
        )
        with torch.no_grad():
            for parameter in self.parameters():
                reach = 1.5 if trainable and parameter.dim() == 4 else 0.5
                parameter.uniform_(-reach, reach, generator=generator)


@register_model("small_cnn")
def small_cnn(task: Task) -> nn.Module:
    """Builds `SmallCNN` for the task's images."""
    return SmallCNN(*image_layout(task.shape, "the model small_cnn", 4), task.classes)


@register_model("fcn")
def fcn(task: Task) -> nn.Module:
    """Builds TLDP's fully connected network: hidden layers 256, 256, 256, 128, each with ReLU and dropout 0.3."""
    sizes = [math.prod(task.shape), 256, 256, 256, 128]
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise(sizes):
        layers += [nn.Linear(left, right), nn.ReLU(), nn.Dropout(0.3)]
    return nn.Sequential(nn.Flatten(), nn.Sequential(*layers, nn.Linear(sizes[-1], task.classes)))


@register_model("linear")
def linear(task: Task) -> nn.Module:
    """Builds one linear layer on flat records."""
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(task.shape), task.classes))


@register_model("bilstm")
def bilstm(task: Task) -> nn.Module:
    """Builds `BiLSTM` on rows of token indices."""
    if task.vocabulary < 1:
        raise InputError("the model bilstm takes text: rows of token indices with a vocabulary")
    return BiLSTM(task.vocabulary, task.classes)


@register_model("pldp_cnn")
def pldp_cnn(task: Task) -> nn.Module:
    """Builds `PldpCNN` for the task's images."""
    return PldpCNN(*image_layout(task.shape, "the model pldp_cnn", 16), task.classes)


@register_model("mlp")
def mlp(task: Task) -> nn.Module:
    """Builds `MLP` on flat records."""
    return nn.Sequential(nn.Flatten(), MLP(math.prod(task.shape), task.classes))


@register_model("mlp_10")
def mlp_10(task: Task) -> nn.Module:
    """Builds TVG's network for a table: ten hidden units."""
    return _one_hidden(task, 10, nn.ReLU())


@register_model("mlp_12")
def mlp_12(task: Task) -> nn.Module:
    """Builds TVG's network for a table: twelve hidden units."""
    return _one_hidden(task, 12, nn.Sigmoid())


def _one_hidden(task: Task, hidden: int, active: nn.Module) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(math.prod(task.shape), hidden), active, nn.Linear(hidden, task.classes)
    )
