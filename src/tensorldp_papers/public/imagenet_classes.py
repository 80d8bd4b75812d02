"""A task's classes among ImageNet's: labels for public images from a public network, without any private record.

The lists were written before any accuracy was seen. ImageNet has no deer, so its antelopes and ibex stand for them, and
no shirt. Its pickup is left out, as CIFAR-10's trucks are big ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

PUBLIC_IMAGES = 5000
"""How many of the last training images are public, without their labels, beside networks trained on ImageNet."""

# of each data set, the classes in their order; "a .. b" are all of ImageNet's classes from a to b
CLASSES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "cifar10": {
        "airplane": ("airliner", "warplane"),
        "automobile": (
            "beach wagon",
            "cab",
            "convertible",
            "jeep",
            "limousine",
            "minivan",
            "Model T",
            "racer",
            "sports car",
        ),
        "bird": ("cock .. great grey owl", "black grouse .. black swan", "white stork .. albatross"),
        "cat": ("tabby .. Egyptian cat",),
        "deer": ("ibex .. gazelle",),
        "dog": ("Chihuahua .. Mexican hairless",),
        "frog": ("bullfrog .. tailed frog",),
        "horse": ("sorrel",),
        "ship": (
            "aircraft carrier",
            "canoe",
            "catamaran",
            "container ship",
            "fireboat",
            "gondola",
            "lifeboat",
            "liner",
            "pirate",
            "schooner",
            "speedboat",
            "submarine",
            "trimaran",
            "yawl",
        ),
        "truck": ("fire engine", "garbage truck", "moving van", "tow truck", "trailer truck"),
    },
    "fashion_mnist": {
        "t-shirt": ("jersey",),
        "trouser": ("jean",),
        "pullover": ("cardigan", "sweatshirt"),
        "dress": ("gown", "hoopskirt", "overskirt"),
        "coat": ("fur coat", "lab coat", "poncho", "trench coat"),
        "sandal": ("sandal",),
        "shirt": ("pajama", "suit"),
        "sneaker": ("running shoe",),
        "bag": ("backpack", "mailbag", "purse"),
        "ankle boot": ("clog", "cowboy boot", "Loafer"),
    },
}


def columns_of(dataset: str) -> tuple[Tensor, Tensor]:
    """ImageNet's classes that a data set's classes are mapped to, and for each the data set's class."""
    from torchvision.models import MobileNet_V2_Weights

    names = MobileNet_V2_Weights.IMAGENET1K_V1.meta["categories"]
    columns, classes = [], []
    for index, parts in enumerate(CLASSES[dataset].values()):
        for part in parts:
            ends = [names.index(name) for name in part.split(" .. ")]
            found = range(ends[0], ends[-1] + 1)
            columns += found
            classes += [index] * len(found)
    return torch.tensor(columns), torch.tensor(classes)


@dataclass(frozen=True)
class MappedHead:
    """A public network's last layer, read as a task's classes: log of the probability that each class's names get.

    Attributes:
        weight: (names, columns) rows of the layer.
        bias: (names,).
        classes: (names,) the task's class of each name.
        first: the column of the features at which the network's own begin.
        scale: what these were divided by after their square root was taken.
        means: (classes,) the scores' means over public images, which are taken off. That assumes that the classes are
            equally frequent there: an ImageNet class of few names would otherwise hardly ever be chosen.
    """

    weight: Tensor
    bias: Tensor
    classes: Tensor
    first: int
    scale: float
    means: Tensor

    def raw(self, features: Tensor) -> Tensor:
        """The scores as the network gives them, (records, classes), but for a constant of each record."""
        pooled = (features[:, self.first :] * self.scale).square()
        logits = pooled @ self.weight.T + self.bias
        return torch.stack(
            [logits[:, self.classes == k].logsumexp(dim=1) for k in range(int(self.classes.max()) + 1)], dim=1
        )

    def __call__(self, features: Tensor) -> Tensor:
        """The scores less their public means and less their mean over the classes."""
        scores = self.raw(features) - self.means
        return scores - scores.mean(dim=1, keepdim=True)

    def arrays(self) -> dict[str, Tensor]:
        """What `read_head` takes."""
        return {
            "head_weight": self.weight,
            "head_bias": self.bias,
            "head_classes": self.classes,
            "head_place": torch.tensor([float(self.first), self.scale], dtype=torch.float64),
            "head_means": self.means,
        }


def read_head(arrays: Mapping[str, Tensor]) -> MappedHead | None:
    """The head among public arrays, or None."""
    if "head_weight" not in arrays:
        return None
    first, scale = arrays["head_place"].tolist()
    names = ("head_weight", "head_bias", "head_classes")
    return MappedHead(*(arrays[name] for name in names), int(first), float(scale), arrays["head_means"])
