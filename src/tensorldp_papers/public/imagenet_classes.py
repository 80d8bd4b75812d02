"""A task's classes among ImageNet's: labels for public images from a public network, without any private record.

The lists were written before any accuracy was seen. ImageNet has no deer, so its antelopes and ibex stand for them, and
no shirt. Its pickup is left out, as CIFAR-10's trucks are big ones. The module is light, as the workflow imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

PUBLIC_IMAGES = 5000
"""How many of the last training images are public, without their labels, beside networks trained on ImageNet."""

# of each data set, the classes in their order; "a .. b" are all of ImageNet's classes from a to b
IMAGENET_CLASSES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
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


def columns_of(dataset: str) -> tuple[list[int], list[int]]:
    """Returns ImageNet's classes that a data set's classes are mapped to, and for each the data set's class."""
    from torchvision.models import MobileNet_V2_Weights

    names = MobileNet_V2_Weights.IMAGENET1K_V1.meta["categories"]
    columns: list[int] = []
    classes: list[int] = []
    for index, parts in enumerate(IMAGENET_CLASSES[dataset].values()):
        for part in parts:
            ends = [names.index(name) for name in part.split(" .. ")]
            found = range(ends[0], ends[-1] + 1)
            columns += found
            classes += [index] * len(found)
    return columns, classes


def mapped_labels(scores: Tensor, dataset: str) -> Tensor:
    """Returns a data set's classes (records,) for public images, from scores (records, 1000) of ImageNet's classes.

    A class scores the log of the probability that its names get together, less the mean of that over these images.
    Taking the mean off assumes that the classes are equally frequent: one with few names would else hardly be chosen.
    """
    import torch

    columns, classes = columns_of(dataset)
    own, of = scores[:, columns], torch.tensor(classes)
    logs = torch.stack([own[:, of == k].logsumexp(dim=1) for k in range(len(IMAGENET_CLASSES[dataset]))], dim=1)
    return (logs - logs.mean(dim=0)).argmax(dim=1)
