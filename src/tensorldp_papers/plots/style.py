"""One look for all figures: a colour-blind-safe colour, marker and dash for each mechanism, and for all else."""

from __future__ import annotations

import colorsys
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure

from tensorldp.files import replacing
from tensorldp.mechanism_table import MECHANISMS, TABLE

mpl.use("Agg")

# Wong 2011, safe for colour-blind readers
BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
ARMS = (BLUE, ORANGE, GREEN, PINK, SKY)  # of one mechanism, in turn
RED = "#B3261E"  # what is refuted
PAPER_COLOURS = {"TLDP": VERMILION, "LATENT": "#7A3E9D", "TVG": "#8C6D1F", "PLDP-FL": "#C2185B"}
INK, CEILING, DARK_GREY = "#000000", "#222222", "#444444"
GREY = "#555555"  # references: no privacy, chance, bounds
QUIET, FAINT, THIN = "#777777", "#888888", "#999999"  # remarks and lines that help to read
PUBLIC, PALE = "#AAAAAA", "#BBBBBB"  # public data alone; what has not changed
OTHERS = "0.78"  # lines of other panels
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#16191d"  # the report's backgrounds

LINE: dict[str, Any] = {"markersize": 4.5, "markeredgecolor": "white", "markeredgewidth": 0.5, "linewidth": 1.4}
PLAIN: dict[str, Any] = dict.fromkeys(LINE)  # as the theme has them: larger points without an edge
OPEN: dict[str, Any] = {"markersize": 9, "markerfacecolor": "none", "linestyle": "none", "color": INK, "zorder": 5}
BAND = 0.15  # how opaque a band is
DASHED, SHORT_DASHED, DOTTED = (0, (4, 2)), (0, (4, 1.5)), (0, (1, 1))

# one colour per family; members differ by marker and dash
COLOURS = {
    "reference": GREY,
    "laplace": ORANGE,
    "gaussian": GREEN,
    "directional": PINK,
    "tldp-laplace": BLUE,
    "tldp-gaussian": VERMILION,
    "mean estimation": SKY,
    "randomised response": "#882255",
}
FURTHER_COLOURS = ("#332288", "#999933", "#661100", "#44AA99", "#AA4499", "#117733")  # of families from outside
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[str | tuple[float, ...], ...] = ("", (4, 1.5), (1, 1), (3, 1, 1, 1), (6, 2), (2, 2), (5, 1, 1, 1, 1, 1))
# colour and marker where the members of a family must be told apart by colour too [wong2011]
OWN_LOOKS = {
    "gaussian-analytic": (INK, "D"),
    "gaussian": (GREEN, "o"),
    "gaussian-per-element": (GREEN, "o"),
    "mvg": (PINK, "s"),
    "udn": (ORANGE, "^"),
    "idn": (BLUE, "v"),
    "matrix": (SKY, "P"),
    "jl": (VERMILION, "X"),
    "optimized": (VERMILION, "X"),
    "none": (GREY, "*"),
}
OTHERS_MARKERS = ("*", "h", "p", "8", "d", "<", ">")
# markers of mechanisms among points that are not mechanisms and have MARKERS
POINT_MARKERS = {"gaussian-analytic": "^", "laplace": "v", "privunit": "<", "tldp-l": ">"}
OTHER_POINTS = ("h", "p", "8", "d", "H", "1", "2")


class Appearance(TypedDict):
    """Colour and marker of a mechanism's line, and its dashes, "" where it has none."""

    color: str
    marker: str
    dashes: str | tuple[float, ...]


UNKNOWN: Appearance = {"color": INK, "marker": "*", "dashes": ""}


@dataclass(frozen=True)
class Look:
    """What a mechanism, or one with an option as in "gaussian form=table5", looks like in every figure.

    Attributes:
        label: in a legend.
        colour: of its family.
        rank: of its family and within it.
        family: of its class.
    """

    label: str
    colour: str
    rank: tuple[int, int]
    family: str = "others"


def label(name: str) -> str:
    """How a mechanism is called in a legend; other names stand for themselves."""
    look = _all_looks().get(name)
    return look.label if look else name


def family(name: str) -> str:
    """The family of a mechanism, also with an option; "others" of what no mechanism is called."""
    look = _all_looks().get(name) or _all_looks().get(name.split(" ")[0])
    return look.family if look else "others"


def appearance(name: str) -> Appearance:
    """Colour, marker and dashes of a mechanism's line; what no mechanism is called is a black star."""
    look = _all_looks().get(name)
    if look is None:
        return UNKNOWN.copy()
    turn, place = divmod(look.rank[1], len(MARKERS))
    return {"color": look.colour, "marker": MARKERS[place], "dashes": DASHES[(place + turn) % len(DASHES)]}


def own_appearance(name: str) -> dict[str, str]:
    """Colour and marker where every mechanism needs a colour of its own, not its family's.

    Those that have none in `OWN_LOOKS` take further ones in turn, the package's before those from outside.
    """
    if name in OWN_LOOKS:
        colour, marker = OWN_LOOKS[name]
    else:
        place = _place(name, OWN_LOOKS)
        colour = ("#7A5195", *FURTHER_COLOURS)[place % (1 + len(FURTHER_COLOURS))]
        marker = OTHERS_MARKERS[place % len(OTHERS_MARKERS)]
    return {"color": colour, "marker": marker}


def point_marker(name: str) -> str:
    """The marker of a mechanism among points that are not mechanisms, of none of these points' forms."""
    return POINT_MARKERS.get(name) or OTHER_POINTS[_place(name, POINT_MARKERS) % len(OTHER_POINTS)]


def _place(name: str, known: Collection[str]) -> int:
    """The place of a mechanism among those that are not `known`, the package's first."""
    others = sorted((MECHANISMS.module(other) is None, other) for other in MECHANISMS.names() if other not in known)
    return next((i for i, (_, other) in enumerate(others) if other == name), len(others))


def order(names: set[str]) -> list[str]:
    """Names in the order of the legend: by family, then within it."""
    looks = _all_looks()
    last = (len(looks), 0)
    return sorted(names, key=lambda name: (looks[name].rank if name in looks else last, name))


def _all_looks() -> dict[str, Look]:
    return _looks(tuple(MECHANISMS.names()))  # plug-ins may add some later


@cache
def _looks(names: tuple[str, ...]) -> dict[str, Look]:
    """The look of every mechanism of these names; the package's own classes are read and not imported."""
    families: dict[str, list[tuple[str, str]]] = {family: [] for family in COLOURS}
    for outside in (False, True):  # so that one from outside changes no other's look
        plain: list[tuple[str, str, str]] = []
        variants: list[tuple[str, str, str]] = []
        for name in names:
            if (MECHANISMS.module(name) is None) == outside:
                listed = TABLE.get(name) or MECHANISMS.get(name)  # whose class has the same words
                plain.append((listed.family, name, listed.label))
                of_options = listed.variant_labels.items()
                variants += [(listed.family, f"{name} {variant}", text) for variant, text in of_options]
        for family, name, text in sorted(plain) + sorted(variants):
            families.setdefault(family, []).append((name, text))
    unknown = [family for family in families if family not in COLOURS]
    further = {family: FURTHER_COLOURS[i % len(FURTHER_COLOURS)] for i, family in enumerate(unknown)}
    return {
        name: Look(text, COLOURS.get(family) or further[family], (i, place), family)
        for i, (family, members) in enumerate(families.items())
        for place, (name, text) in enumerate(members)
    }


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
            "legend.frameon": False,
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


CONTRAST = 3.0  # what WCAG 2.2 asks of graphics, 1.4.11


def readable(colour: str, background: str) -> str:
    """The colour, made darker or lighter in steps of 2 % until it has a contrast of 3 with the background."""
    hue, light, saturation = colorsys.rgb_to_hls(*_channels(colour))
    step = -0.02 if luminance(background) > 0.5 else 0.02
    shown = colour
    while contrast(shown, background) < CONTRAST and 0.0 <= light <= 1.0:
        light += step
        red, green, blue = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation)
        shown = f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
    return shown


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance of a colour "#rrggbb", from 0 to 1 (WCAG 2.2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in _channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
