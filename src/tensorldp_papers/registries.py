"""The kinds of thing that a package or a user's module may add to the reproduction, beside mechanisms."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

from tensorldp.registry import Registry

ROOMS = {"tldp": "tldp", "tvg": "tvg", "pldp-fl": "pldp_fl", "latent": "latent", "dp-lecture": "lecture"}


def _claims() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {f"tensorldp_papers.papers.{room}.claims": [] for room in ROOMS.values()}
    text = files("tensorldp_papers.claims").joinpath("catalogue.csv").read_text()
    for row in csv.DictReader(text.splitlines()):
        homes[f"tensorldp_papers.papers.{ROOMS[row['source']]}.claims"].append(row["id"])
    return homes


# members are Any, because this module lies below the classes; each package checks and types its own
MODELS: Registry[Any] = Registry(
    "model",
    group="tensorldp.models",
    own={
        "tensorldp_papers.nets.mobilenet": ["mobilenet_v2"],
        "tensorldp_papers.nets.networks": [
            "bilstm",
            "fcn",
            "linear",
            "mlp",
            "mlp_10",
            "mlp_12",
            "pldp_cnn",
            "small_cnn",
        ],
        "tensorldp_papers.nets.split": [
            *("lenet", "lenet_tanh", "vgg16_tanh", "alexnet_tanh", "bilstm_tanh"),
            *("lenet_tanh_head", "alexnet_tanh_head"),
        ],
    },
)
PARSERS: Registry[Any] = Registry(
    "parser",
    group="tensorldp.datasets",
    own={
        "tensorldp_papers.data.images": ["mnist", "fashion_mnist", "cifar10", "svhn", "digits", "breast_cancer"],
        "tensorldp_papers.data.tabular": ["adult", "credit", "ctg", "darknet"],
        "tensorldp_papers.data.text": ["imdb"],
    },
)
CLAIMS: Registry[Any] = Registry("claim", group="tensorldp.claims", own=_claims)
