"""The kinds of thing that a package or a user's module may add to the reproduction, besides mechanisms."""

from __future__ import annotations

from typing import Any

from tensorldp.registry import Registry
from tensorldp_papers.room_folders import own_methods

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
            *("lenet", "lenet_wide", "lenet_tanh", "vgg16_tanh", "alexnet_tanh", "bilstm_tanh"),
            *("lenet_tanh_head", "alexnet_tanh_head"),
        ],
    },
)
PARSERS: Registry[Any] = Registry(
    "parser",
    group="tensorldp.datasets",
    own={
        "tensorldp_papers.data.images": [
            "mnist",
            "fashion_mnist",
            "cifar10",
            "svhn",
            "svhn_10k",
            "digits",
            "breast_cancer",
        ],
        "tensorldp_papers.data.tabular": ["adult", "credit", "creditcard_55k", "ctg", "darknet", "darknet_5k"],
        "tensorldp_papers.data.text": ["imdb", "imdb_glove", "imdb_glove_short"],
    },
)
# of a method its plan, which says what computes it
METHODS: Registry[Any] = Registry("method", group="tensorldp.methods", own=own_methods)
