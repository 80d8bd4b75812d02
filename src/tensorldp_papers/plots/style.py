"""One look for all figures: one colour for each mechanism, everywhere, and a marker for each of a family."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from functools import cache
from itertools import cycle

from tensorldp.mechanism_table import MECHANISMS, TABLE
from tensorldp_papers.rooms import named

INK, PAPER = "#1a1a1a", "#ffffff"  # text and marks of what papers print; the page
QUIET = "#595959"  # references (no privacy, chance, bounds), axes and remarks
PALE = "#e4e7eb"  # grids, and areas that no line enters
BAND = 0.16  # how opaque a band is
LIGHT_PAGE, DARK_PAGE = PAPER, "#16191d"  # the report's backgrounds

# of families and of single mechanisms, each with a contrast of 4.5 to the page, so that names can be written in it;
# rooms have more, and what has none has its family's
COLOURS = {
    "reference": QUIET,
    "laplace": "#0c7489",
    "gaussian": "#2e7d32",
    "directional": "#4b5ba8",
    "tldp-laplace": "#8f3b00",
    "tldp-gaussian": "#d04a02",
    "mean estimation": "#0072b2",
    "randomised response": "#882255",
}
OWN_COLOURS = {
    "dphsgd": "#22405f",
    "laplace-secure": "#005b7f",
    "gaussian-analytic": "#00695c",
    "gaussian-classical": "#5c7a00",
    "gaussian-per-element": "#4a5d23",
    "gaussian-secure": "#0b6b0b",
    "llagp": "#2f7f5a",
    "privunit-g": "#0277d4",
    "projunit": "#1a237e",
    "k-rr-secure": "#c0069a",
    "randomized-response": "#4f1560",
}
WEAKER, HELD = "#b3261e", COLOURS["mean estimation"]  # a guarantee beside what is printed of it
# from low to high, on a light and on a dark page; INK is read on the first four, PAPER on the others
HEAT = ("#f3f6fa", "#d6e4f0", "#b3cee6", "#8ab4d8", "#2f78b3", "#1d629c", "#0d4a80")
HEAT_DARK = ("#1c2127", "#22303d", "#294256", "#315571", "#6fa9d8", "#8fc0e6", "#b4d8f3")
OWN_DARK = {  # on a dark page, where lighter alone would not do
    **{PAPER: DARK_PAGE, INK: "#e8e6e3", QUIET: "#b3b8bf", PALE: "#3a4048"},
    WEAKER: "#ff8f83",
    COLOURS["tldp-laplace"]: "#d3a27a",
    **dict(zip(HEAT, HEAT_DARK, strict=True)),
}
FURTHER_COLOURS = ("#4b2fa5", "#5c6b00", "#661100", "#00706b", "#a03a9a", "#117733")  # of mechanisms from outside
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


@dataclass(frozen=True)
class Look:
    """What a mechanism, or one with an option as in "gaussian form=table5", looks like in every figure.

    Attributes:
        label: the name that people write.
        colour: of the mechanism and its options.
        marker: of its place within the family.
        rank: of its family and within it.
        family: of its class.
    """

    label: str
    colour: str
    marker: str
    rank: tuple[int, int]
    family: str


def look(name: str) -> Look:
    """Returns the look of a mechanism, also with an option that has no label of its own.

    What no mechanism is called has the colour of references, and its own name.
    """
    looks = _all_looks()
    found = looks.get(name) or looks.get(name.split(" ")[0])
    return found or Look(name, QUIET, "o", (len(looks), 0), "others")


def label(name: str) -> str:
    """Returns how a mechanism is called in figures; other names stand for themselves."""
    found = _all_looks().get(name)
    return found.label if found else name


def short(name: str) -> str:
    """Returns a label in figures without the part in brackets, also of a mechanism with an option."""
    return look(name).label.split(" (")[0]


def order(names: set[str]) -> list[str]:
    """Returns names in the order of their mention: by family, then within it."""
    return sorted(names, key=lambda name: (look(name).rank, name))


def _all_looks() -> dict[str, Look]:
    return _looks(
        tuple(MECHANISMS.names()), tuple((OWN_COLOURS | named("colours")).items())
    )  # plug-ins may add some later


@cache
def _looks(names: tuple[str, ...], own: tuple[tuple[str, str], ...]) -> dict[str, Look]:
    """Returns the look of every mechanism of these names; the package's own classes are read and not imported."""
    families: dict[str, list[tuple[str, str]]] = {family: [] for family in COLOURS}
    colours = dict(own)
    further = cycle(FURTHER_COLOURS)
    for outside in (False, True):  # so that one from outside changes no other's look
        plain: list[tuple[str, str, str]] = []
        variants: list[tuple[str, str, str]] = []
        for name in sorted(names):
            if (MECHANISMS.module(name) is None) == outside:
                listed = TABLE.get(name) or MECHANISMS.get(name)  # whose class has the same words
                plain.append((listed.family, name, listed.label))
                of_options = listed.variant_labels.items()
                variants += [(listed.family, f"{name} {variant}", text) for variant, text in of_options]
                if outside and name not in colours:
                    colours[name] = next(further)
        for family, name, text in sorted(plain) + sorted(variants):
            families.setdefault(family, []).append((name, text))
    looks = {}
    for i, (family, members) in enumerate(families.items()):
        for place, (name, text) in enumerate(members):
            colour = colours.get(name.split(" ")[0]) or COLOURS.get(family, QUIET)
            looks[name] = Look(text, colour, MARKERS[place % len(MARKERS)], (i, place), family)
    return looks


CONTRAST = 4.5  # what WCAG 2.2 asks of text, 1.4.3


@cache
def readable(colour: str, background: str) -> str:
    """Returns the colour, made darker or lighter in steps of 2 % until it has a contrast of 4.5 with the background."""
    hue, light, saturation = colorsys.rgb_to_hls(*_channels(colour))
    step = -0.02 if luminance(background) > 0.5 else 0.02
    shown = colour
    while contrast(shown, background) < CONTRAST and 0.0 <= light <= 1.0:
        light += step
        red, green, blue = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation)
        shown = f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
    return shown


def in_the_dark(colour: str) -> str:
    """Returns the colour that stands for one of a figure where its reader's page is dark."""
    return (OWN_DARK | named("dark")).get(colour) or readable(colour, DARK_PAGE)


def contrast(first: str, second: str) -> float:
    """Computes the contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Computes the relative luminance of a colour "#rrggbb", from 0 to 1 (WCAG 2.2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in _channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
