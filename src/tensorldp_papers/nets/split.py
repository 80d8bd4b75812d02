"""TVG's networks in two parts: with tanh in place of ReLU a body whose features lie in (-1, 1), and a head.

LeNet (also with ReLU and maximum pooling, for training on private gradients, and so with the sizes of TVG's Table II),
VGG-16, AlexNet and BiLSTM of TVG's Table III; features are (16, 5, 5) for 28 x 28 images, (512, 1, 1) and (256, 4, 4)
for 32 x 32 images, and 150 for text.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, unknown
from tensorldp_papers.nets.computing import pool_first
from tensorldp_papers.nets.registry import image_layout, register_model, replace_modules, take_vectors
from tensorldp_papers.task import Task

TEXT_FEATURES = 150
NAMES = ("lenet", "lenet_wide", "lenet_tanh", "vgg16_tanh", "alexnet_tanh", "bilstm_tanh")


class SplitNet(nn.Module):
    """body then head; the body's features have `feature_shape` and, with tanh, lie in (-1, 1).

    The head is a `Sequential` on flat features, and its first linear layer says which features matter to it.
    """

    def __init__(self, body: nn.Module, head: nn.Sequential, feature_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.body, self.head, self.feature_shape = body, head, feature_shape

    @property
    def workload(self) -> Tensor:
        """Returns the weights that features meet next, (outputs, features), float64."""
        first = next(layer for layer in self.head if isinstance(layer, nn.Linear))
        return first.weight.detach().double().cpu()

    def forward(self, x: Tensor) -> Tensor:
        """Computes class scores of a batch."""
        found: Tensor = self.head(self.body(x).flatten(1))
        return found


class MeanLSTM(nn.Module):
    """A bidirectional LSTM whose states, in (-1, 1), are averaged over the words of a text; index 0 is padding."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 100)
        self.lstm = nn.LSTM(100, TEXT_FEATURES // 2, batch_first=True, bidirectional=True)

    def use_embedding(self, vectors: Tensor) -> None:
        """Takes public word vectors, (vocabulary, dimensions), for the embedding."""
        take_vectors(self.embedding, vectors)

    def forward(self, tokens: Tensor) -> Tensor:
        """Computes the features (batch, 150) of token rows (batch, words)."""
        tokens = tokens.long()
        states, _ = self.lstm(self.embedding(tokens))
        words = (tokens != 0).unsqueeze(2).to(states.dtype)
        found: Tensor = (states * words).sum(dim=1) / words.sum(dim=1).clamp_min(1.0)
        return found


def _conv(*channels: int, kernel: int, padding: int, active: type[nn.Module] = nn.Tanh) -> list[nn.Module]:
    return [nn.Conv2d(channels[0], channels[1], kernel, padding=padding), active()]


def _lenet(
    channels: int, height: int, width: int, active: type[nn.Module], pool: type[nn.Module]
) -> tuple[nn.Module, tuple[int, int, int]]:
    if min(height, width) < 28:  # small images: 3 x 3 kernels that keep the size
        kernel, pads, rows, columns = 3, (1, 1), height // 2, width // 2
    else:
        kernel, pads = 5, (2 if min(height, width) == 28 else 0, 0)
        rows, columns = ((n + 2 * pads[0] - 4) // 2 - 4 for n in (height, width))
    body = [
        *_conv(channels, 6, kernel=kernel, padding=pads[0], active=active),
        pool(2),
        *_conv(6, 16, kernel=kernel, padding=pads[1], active=active),
        pool(2),
    ]
    return nn.Sequential(*pool_first(body)), (16, rows // 2, columns // 2)


def _lenet_wide(channels: int, height: int, width: int) -> tuple[nn.Module, tuple[int, int, int]]:
    body = [
        *_conv(channels, 6, kernel=5, padding=2, active=nn.ReLU),
        nn.MaxPool2d(2),
        *_conv(6, 64, kernel=5, padding=2, active=nn.ReLU),
        nn.MaxPool2d(2),
    ]
    return nn.Sequential(*pool_first(body)), (64, height // 4, width // 4)


def _vgg16(channels: int, height: int, width: int) -> tuple[nn.Module, tuple[int, int, int]]:
    import torchvision  # takes seconds to import

    features = torchvision.models.vgg16_bn(weights=None).features
    features[0] = nn.Conv2d(channels, 64, 3, padding=1)
    replace_modules(features, nn.ReLU, lambda _: nn.Tanh())
    return nn.Sequential(*pool_first(list(features))), (512, height // 32, width // 32)


def _alexnet(channels: int, height: int, width: int) -> tuple[nn.Module, tuple[int, int, int]]:
    body = [
        *_conv(channels, 64, kernel=5, padding=2),
        nn.MaxPool2d(2),
        *_conv(64, 192, kernel=5, padding=2),
        nn.MaxPool2d(2),
        *_conv(192, 384, kernel=3, padding=1),
        *_conv(384, 256, kernel=3, padding=1),
        *_conv(256, 256, kernel=3, padding=1),
        nn.MaxPool2d(2),
    ]
    return nn.Sequential(*pool_first(body)), (256, height // 8, width // 8)


def head(name: str, features: int, classes: int) -> nn.Sequential:
    """Builds a network's head on flat features: with the units of LeNet, 512 or two of 4096 for AlexNet, or none."""
    units: dict[str, tuple[int, ...]] = {
        "lenet": (120, 84),
        "lenet_wide": (512,),
        "lenet_tanh": (120, 84),
        "alexnet_tanh": (4096, 4096),
    }
    hidden = units.get(name, ())
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise((features, *hidden, classes)):
        layers += [nn.Linear(left, right), nn.Tanh() if name.endswith("_tanh") else nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def split_net(name: str, task: Task) -> SplitNet:
    """Builds one of `NAMES` for a task, not yet initialised."""
    if name not in NAMES:
        raise unknown("tanh network", name, NAMES)
    if name == "bilstm_tanh":
        if task.vocabulary < 1:
            raise InputError("the model bilstm_tanh takes text: rows of token indices with a vocabulary")
        return SplitNet(MeanLSTM(task.vocabulary), head(name, TEXT_FEATURES, task.classes), (TEXT_FEATURES,))
    layout = image_layout(task.shape, f"the model {name}", {"vgg16_tanh": 32, "alexnet_tanh": 8}.get(name, 4))
    if name == "lenet_wide":
        body, shape = _lenet_wide(*layout)
    elif name.startswith("lenet"):
        tanh = name == "lenet_tanh"
        body, shape = _lenet(*layout, nn.Tanh if tanh else nn.ReLU, nn.AvgPool2d if tanh else nn.MaxPool2d)
    else:
        body, shape = (_vgg16 if name == "vgg16_tanh" else _alexnet)(*layout)
    return SplitNet(body, head(name, math.prod(shape), task.classes), shape)


@register_model("lenet")
def lenet(task: Task) -> SplitNet:
    """Builds LeNet with ReLU and maximum pooling."""
    return split_net("lenet", task)


@register_model("lenet_wide")
def lenet_wide(task: Task) -> SplitNet:
    """Builds the LeNet with both sizes that TVG prints: 5 x 5 x 6 weights first, 3,136 x 512 in the largest layer."""
    return split_net("lenet_wide", task)


@register_model("lenet_tanh")
def lenet_tanh(task: Task) -> SplitNet:
    """Builds LeNet with tanh and average pooling."""
    return split_net("lenet_tanh", task)


@register_model("vgg16_tanh")
def vgg16_tanh(task: Task) -> SplitNet:
    """Builds VGG-16 with tanh."""
    return split_net("vgg16_tanh", task)


@register_model("alexnet_tanh")
def alexnet_tanh(task: Task) -> SplitNet:
    """Builds AlexNet with tanh."""
    return split_net("alexnet_tanh", task)


@register_model("bilstm_tanh")
def bilstm_tanh(task: Task) -> SplitNet:
    """Builds a bidirectional LSTM, whose states lie in (-1, 1)."""
    return split_net("bilstm_tanh", task)


@register_model("lenet_tanh_head")
def lenet_tanh_head(task: Task) -> nn.Sequential:
    """Builds the head of `lenet_tanh` alone, on flat records."""
    return nn.Sequential(nn.Flatten(), *head("lenet_tanh", math.prod(task.shape), task.classes))


@register_model("alexnet_tanh_head")
def alexnet_tanh_head(task: Task) -> nn.Sequential:
    """Builds the head of `alexnet_tanh` alone, on flat records."""
    return nn.Sequential(nn.Flatten(), *head("alexnet_tanh", math.prod(task.shape), task.classes))


@torch.no_grad()
def spread(model: nn.Module) -> None:
    """Scales convolution weights, in place, to the gain 5/3 of tanh: untrained features then fill (-1, 1).

    `seed_model` draws weights of variance 1 / (3 fan-in), with which features shrink from layer to layer.
    """
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            module.weight.mul_(5.0 / 3.0 * math.sqrt(3.0))
