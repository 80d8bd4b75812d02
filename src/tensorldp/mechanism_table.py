"""The table of mechanisms: what planning and figures know of each without importing torch."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tensorldp.registry import Registry


class Listed(NamedTuple):
    """A mechanism of the package.

    Attributes:
        module: in `tensorldp.mechanisms`, which defines its class.
        label: what a legend calls it.
        family: mechanisms of one family share a colour.
        variant_labels: what a legend calls it with options other than the default ones, by "option=value".
        integer: as in its class, whether records are whole numbers.
        only_for: as in its class, the methods of studies that can use its release; empty for all.
        options: as in its class, the keyword options that it takes beyond `clip`.
        version: of its numbers; whoever changes what it releases raises it by one, and kept results with another
            version no longer count.
    """

    module: str
    label: str
    family: str
    variant_labels: Mapping[str, str] = MappingProxyType({})
    integer: bool = False
    only_for: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    version: int = 1


TABLE = {
    "dphsgd": Listed("dphsgd", "DPHSGD (reconstructed)", "laplace", options=("noise", "steps", "threshold")),
    "duchi": Listed("sampled_coordinates", "Duchi", "mean estimation", options=("ties",)),
    "gaussian": Listed(
        "gaussian",
        "Gaussian (TLDP, Thm 2)",
        "gaussian",
        {"form=table5": "Gaussian (TLDP, Table 5)"},
        options=("delta_range", "form"),
    ),
    "gaussian-analytic": Listed("gaussian", "Gaussian, analytic", "gaussian"),
    "gaussian-classical": Listed("gaussian", "Gaussian, classical", "gaussian"),
    "gaussian-per-element": Listed("gaussian", "Gaussian, per element", "gaussian"),
    "gaussian-secure": Listed("gaussian", "Gaussian, on a grid", "gaussian"),
    "hybrid": Listed("sampled_coordinates", "Hybrid", "mean estimation"),
    "idn": Listed("tvg", "IDN", "directional", options=("form", "importances", "workload")),
    "jl": Listed("jl", "JL transform", "directional", only_for=("covariance",), options=("centre", "eta", "nu")),
    "k-rr": Listed("randomized_response", "k-RR", "randomised response", integer=True),
    "k-rr-secure": Listed("exact_coins", "k-RR, exact coins", "randomised response", integer=True),
    "laplace": Listed("laplace", "Laplace", "laplace", options=("delta_range",)),
    "laplace-secure": Listed("laplace", "Laplace, on a grid", "laplace"),
    "latent": Listed("latent", "LATENT", "randomised response", options=("fraction", "reading", "whole")),
    "latent-secure": Listed(
        "exact_coins", "LATENT, exact coins", "randomised response", options=("fraction", "reading", "whole")
    ),
    "llagp": Listed(
        "llagp", "LLAGP (reconstructed)", "gaussian", options=("kappa", "layers", "mode", "progress", "step", "steps")
    ),
    "matrix": Listed(
        "matrix", "matrix mechanism", "directional", options=("constant", "sensitivity", "strategy", "workload")
    ),
    "mvg": Listed(
        "mvg",
        "MVG",
        "directional",
        options=("bug_compat", "directions", "gamma", "important", "tau", "theta", "zeta_mode"),
    ),
    "none": Listed("none", "no privacy", "reference"),
    "optimized": Listed("optimized", "Optimized", "gaussian", options=("steps", "weights")),
    "pdpm": Listed("pldp_fl", "PDPM", "laplace"),
    "piecewise": Listed("sampled_coordinates", "Piecewise", "mean estimation"),
    "plu-fedoa": Listed("pldp_fl", "PLU-FedOA (reconstructed)", "laplace"),
    "privunit": Listed("privunit", "PrivUnit", "mean estimation", options=("lift",)),
    "privunit-g": Listed("privunit", "PrivUnitG", "mean estimation", options=("lift",)),
    "projunit": Listed("privunit", "ProjUnit", "mean estimation", options=("k", "lift")),
    "randomized-response": Listed("randomized_response", "randomised response", "randomised response", integer=True),
    "tldp-discrete": Listed("tldp", "TLDP, discrete", "tldp-laplace", integer=True, options=("output", "rho")),
    "tldp-g": Listed("tldp", "TLDP-G", "tldp-gaussian", options=("delta_range",)),
    "tldp-g-w": Listed("tldp", "TLDP-G, weighted", "tldp-gaussian", options=("delta_range", "weights")),
    "tldp-l": Listed("tldp", "TLDP-L", "tldp-laplace", options=("delta_range",)),
    "tldp-l-w": Listed("tldp", "TLDP-L, weighted", "tldp-laplace", options=("delta_range", "weights")),
    "tvg": Listed("tvg", "TVG", "directional", options=("directions", "importances", "workload")),
    "udn": Listed("tvg", "UDN", "directional", options=("directions", "importances", "workload")),
}
HOMES = {
    f"tensorldp.mechanisms.{module}": [name for name, listed in TABLE.items() if listed.module == module]
    for module in sorted({listed.module for listed in TABLE.values()})
}
# members are Any, because this module lies below the class; the package checks and types its own
MECHANISMS: Registry[Any] = Registry("mechanism", group="tensorldp.mechanisms", own=HOMES)
NO_PRIVACY = "none"  # the mechanism that releases the record itself, with epsilon infinity


def version_of(name: str) -> int:
    """Return the version of a mechanism's numbers; one from outside may state its own as the class's `version`."""
    return TABLE[name].version if name in TABLE else int(getattr(MECHANISMS.get(name), "version", 1))
