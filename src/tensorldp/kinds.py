"""The registry of mechanisms, below their package, so that planning can list names without importing torch."""

from __future__ import annotations

from typing import Any

from tensorldp.registry import Registry

_HOMES = {
    "dphsgd": ("dphsgd",),
    "exact_coins": ("k-rr-secure", "latent-secure"),
    "gaussian": ("gaussian", "gaussian-classical", "gaussian-analytic", "gaussian-per-element", "gaussian-secure"),
    "jl": ("jl",),
    "laplace": ("laplace", "laplace-secure"),
    "latent": ("latent",),
    "llagp": ("llagp",),
    "matrix": ("matrix",),
    "mvg": ("mvg",),
    "none": ("none",),
    "optimized": ("optimized",),
    "pldp_fl": ("pdpm", "plu-fedoa"),
    "privunit": ("privunit", "privunit-g", "projunit"),
    "randomized_response": ("k-rr", "randomized-response"),
    "sampled_coordinates": ("duchi", "piecewise", "hybrid"),
    "tldp": ("tldp-l", "tldp-g", "tldp-l-w", "tldp-g-w", "tldp-discrete"),
    "tvg": ("tvg", "udn", "idn"),
}
# members are Any, because this module lies below the class; the package checks and types its own
MECHANISMS: Registry[Any] = Registry(
    "mechanism",
    group="tensorldp.mechanisms",
    own={f"tensorldp.mechanisms.{module}": names for module, names in _HOMES.items()},
)
NO_PRIVACY = "none"  # the mechanism that releases the record itself, with epsilon infinity
