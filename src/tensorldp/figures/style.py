"""One look for all figures: a colour-blind-safe colour, marker and dash for each mechanism."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure

from tensorldp.runtime.files import replacing

mpl.use("Agg")

LABELS = {
    "none": "no privacy",
    "laplace": "Laplace",
    "gaussian": "Gaussian (TLDP, Thm 2)",
    "gaussian form=table5": "Gaussian (TLDP, Table 5)",
    "gaussian-analytic": "Gaussian, analytic",
    "gaussian-classical": "Gaussian, classical",
    "gaussian-per-element": "Gaussian, per element",
    "mvg": "MVG",
    "tvg": "TVG",
    "udn": "UDN",
    "idn": "IDN",
    "tldp-l": "TLDP-L",
    "tldp-g": "TLDP-G",
    "tldp-l-w": "TLDP-L, weighted",
    "tldp-g-w": "TLDP-G, weighted",
    "tldp-discrete": "TLDP, discrete",
    "llagp": "LLAGP (reconstructed)",
    "dphsgd": "DPHSGD (reconstructed)",
    "plu-fedoa": "PLU-FedOA (reconstructed)",
    "pdpm": "PDPM",
    "duchi": "Duchi",
    "piecewise": "Piecewise",
    "hybrid": "Hybrid",
    "privunit": "PrivUnit",
    "privunit-g": "PrivUnitG",
    "projunit": "ProjUnit",
    "randomized-response": "randomised response",
    "k-rr": "k-RR",
    "latent": "LATENT",
    "matrix": "matrix mechanism",
    "jl": "JL transform",
    "optimized": "Optimized",
}

# one colour per family (Wong 2011, safe for colour-blind readers); members differ by marker and dash
_FAMILIES = {
    "#0072B2": ("tldp-l", "tldp-l-w", "tldp-discrete"),
    "#D55E00": ("tldp-g", "tldp-g-w"),
    "#E69F00": ("laplace", "plu-fedoa", "dphsgd", "pdpm"),
    "#009E73": (
        "gaussian",
        "gaussian form=table5",
        "gaussian-analytic",
        "gaussian-classical",
        "gaussian-per-element",
        "optimized",
        "llagp",
    ),
    "#CC79A7": ("mvg", "tvg", "udn", "idn", "matrix", "jl"),
    "#56B4E9": ("privunit", "privunit-g", "projunit", "duchi", "piecewise", "hybrid"),
    "#555555": ("none", "randomized-response", "k-rr", "latent"),
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("", (4, 1.5), (1, 1), (3, 1, 1, 1), (6, 2), (2, 2), (5, 1, 1, 1, 1, 1))


def label(name: str) -> str:
    """How a mechanism is called in a legend; other names stand for themselves."""
    return LABELS.get(name, name)


def appearance(name: str) -> dict[str, object]:
    """colour, marker and dashes of a mechanism's line; mechanisms from outside the package are black."""
    for colour, members in _FAMILIES.items():
        if name in members:
            place = members.index(name)
            return {"color": colour, "marker": _MARKERS[place], "dashes": _DASHES[place]}
    return {"color": "#000000", "marker": "*", "dashes": ""}


def order(names: set[str]) -> list[str]:
    """Names in the order of the legend."""
    ranked = list(LABELS)
    return sorted(names, key=lambda name: (ranked.index(name) if name in ranked else len(ranked), name))


def use_style() -> None:
    """Set seaborn's theme for everything drawn after."""
    sns.set_theme(
        context="paper",
        style="ticks",
        font_scale=1.0,
        rc={
            "axes.grid": True,
            "grid.alpha": 0.25,
            "grid.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.hashsalt": "tensorldp",
            "svg.fonttype": "none",
            "figure.dpi": 100,
        },
    )


def save(figure: Figure, stem: Path) -> None:
    """Write stem.png (150 dpi) and stem.svg, whole, without timestamps.

    The layout is found once, for it takes as long as drawing; the figure keeps it.
    """
    figure.set_dpi(150)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for kind in ("png", "svg"):
        with replacing(stem.with_name(f"{stem.name}.{kind}")) as temporary:
            metadata = {"Date": None} if kind == "svg" else {"Software": None}
            figure.savefig(temporary, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
