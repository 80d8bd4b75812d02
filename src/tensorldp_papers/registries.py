"""The kinds of thing that a package or a user's module may add to the reproduction, beside mechanisms."""

from __future__ import annotations

from typing import Any

from tensorldp.registry import Registry

ROOMS = ("tldp", "tvg", "pldp_fl", "latent", "lecture")

# members are Any, because this module lies below the classes; each package checks and types its own
MODELS: Registry[Any] = Registry(
    "model", group="tensorldp.models", packages=["tensorldp_papers.nets"], decorator="register_model"
)
PARSERS: Registry[Any] = Registry(
    "parser", group="tensorldp.datasets", packages=["tensorldp_papers.data"], decorator="parser"
)
CLAIMS: Registry[Any] = Registry(
    "claim",
    group="tensorldp.claims",
    packages=[f"tensorldp_papers.papers.{room}.claims" for room in ROOMS],
    decorator="claim",
)
METHOD_HOMES = {  # the module of each method
    name: f"tensorldp_papers.papers.{home}"
    for name, home in {
        "learning": "tldp.learning",
        "federated": "tldp.federated",
        "pldp_synthetic": "pldp_fl.synthetic",
        "pldp_fl": "pldp_fl.method",
        "covariance": "tvg.covariance_method",
        "testing": "tvg.testing_method",
        "private_sgd": "tvg.private_sgd",
        "latent": "latent.method",
        "attacks": "lecture.method",
        "frontier": "frontier.method",
    }.items()
}
