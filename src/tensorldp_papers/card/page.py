"""A card as a page that needs no network, and as a picture of 1,200 x 630 pixels, as SVG and PNG."""

from __future__ import annotations

import base64
import hashlib
import io
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from textwrap import fill, shorten
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.files import sha256, write_text
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.pages import plain, rendered
from tensorldp_papers.card.card import SCHEMA_VERSION, Card
from tensorldp_papers.card.label import SHUFFLED_DELTA, SHUFFLED_PEOPLE, USES
from tensorldp_papers.card.leaks import VICTIMS
from tensorldp_papers.card.own import LADDER, LEARNERS, OwnData
from tensorldp_papers.card.price import ELEMENTS
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.sheets import STYLE, as_svg, wrapped
from tensorldp_papers.plots.style import HELD, INK, QUIET, WEAKER, label, look
from tensorldp_papers.plots.words import exact_number
from tensorldp_papers.run.sealed import read_sealed, write_sealed

WIDTH, HEIGHT, DPI = 1200, 630, 96
MOST_CLASSES = 7  # in the picture
POINTS = 72 * WIDTH / DPI


def page(card: Card, svg: bytes) -> str:
    """Builds the page, with the picture on top."""
    words = {"number": exact_number, "data_name": dataset_name, "label": label}
    deltas = {"delta": _plain(f"{REPORT_DELTA:g}"), "shuffled_delta": _plain(f"{SHUFFLED_DELTA:g}")}
    facts: dict[str, Any] = {**deltas, "uses": USES, "people": SHUFFLED_PEOPLE}
    facts |= {
        "elements": ELEMENTS,
        "victims": VICTIMS,
        "ladder": [f"{epsilon:g}" for epsilon in LADDER],
        "picture": base64.b64encode(svg).decode(),
    }
    return rendered(files("tensorldp_papers.card"), "card.html", card=card, **words, **facts)


def write_card(stem: Path, content: Mapping[str, Any], drawn: Mapping[str, bytes]) -> None:
    """Writes the pictures of a card by their ending, and its JSON, with its seal and their digests.

    `stem` is the path without an ending.
    """
    for ending, image in drawn.items():
        stem.with_suffix(ending).write_bytes(image)
    digests = {ending: hashlib.sha256(image).hexdigest() for ending, image in drawn.items()}
    write_sealed(stem.with_suffix(".json"), {**content, "pictures": digests}, stem.name)


def read_card(path: Path) -> dict[str, Any]:
    """Reads what the JSON of a card says.

    Raises:
        InputError: if it is missing, or it or a picture beside it is not what was made there.
    """
    found = read_sealed(path, path.stem)
    for ending, digest in found["pictures"].items():
        image = path.with_suffix(ending)
        if not image.is_file() or sha256(image) != digest:
            raise InputError(f"the picture {image} is not that of its card: delete {path} and make the card again")
    return found


def _plain(number: str) -> str:
    return number.replace("e-0", "e-")


def write_refusal(folder: Path, key: str, reason: str) -> None:
    """Writes the page, the pictures and the JSON of a mechanism that can have no card, with the reason."""
    sentence = f"{label(key)} can have no card: {reason}."
    folder.mkdir(parents=True, exist_ok=True)
    content = {"schema_version": SCHEMA_VERSION, "sentence": sentence}
    write_card(folder / key, content, _written(_sheet(label(key), sentence)))
    write_text(folder / f"{key}.html", plain(label(key), sentence))


def _sheet(title: str, sentence: str) -> Figure:
    mpl.rcParams.update(STYLE)  # type: ignore[arg-type]
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
    figure.text(0.04, 0.95, title, fontsize=30, fontweight="bold", va="top")
    figure.text(0.04, 0.765, wrapped(sentence, 0.92 * POINTS, 18), fontsize=18, va="top", linespacing=1.3)
    return figure


def _written(figure: Figure) -> dict[str, bytes]:
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=DPI)
    return {".svg": as_svg(figure).encode(), ".png": png.getvalue()}


def pictures(card: Card) -> dict[str, bytes]:
    """Draws a card, by the ending of its file: the sentence, the label as bars, digits as they are and as released."""
    figure = _sheet(card.subject, card.sentence)
    less = card.verdict.refuted or card.word != "not refuted"
    figure.text(0.04, 0.86, card.word, fontsize=20, color=WEAKER if less else HELD, va="top")
    below = 0.755 - 0.059 * (wrapped(card.sentence, 0.92 * POINTS, 18).count("\n") + 1)
    remark = wrapped(card.remark, 0.92 * POINTS, 15)
    figure.text(0.04, below, remark, fontsize=15, color=QUIET, va="top")
    if card.data is not None:
        tall = min(0.47, below - 0.04 * (remark.count("\n") + 1) - 0.06) - 0.04  # under the words, however many
        _draw_bought(figure.add_axes((0.28, 0.04, 0.30, tall)), card, card.data)
        _draw_classes(figure.add_axes((0.76, 0.04, 0.16, tall)), card.data)
    elif card.lines:
        _draw_label(figure.add_axes((0.19, 0.04, 0.34, 0.39)), card)
    rows = [(f"{label(leak.name)}: {100 * leak.named:.0f} % named", leak.released) for leak in card.leaks[:2]]
    if card.leaks and card.leaks[0].name not in (card.key, card.subject):
        rows.insert(0, (f"{card.subject}: cannot release these", card.leaks[0].originals[:0]))
    rows = [(f"{VICTIMS} digits", card.leaks[0].originals), *rows] if rows else []
    for row, (text, images) in enumerate(rows):
        top = 0.49 - 0.16 * row
        figure.text(0.60, top - 0.072, wrapped(text, 0.14 * POINTS, 15), fontsize=15, va="center")
        for column, image in enumerate(images[:3]):
            _draw_digit(figure.add_axes((0.755 + 0.073 * column, top - 0.14, 0.07, 0.1333)), image)
    return _written(figure)


def _draw_label(ax: Axes, card: Card) -> None:
    places = {"on the label": card.nominal or 0.0, **{line.record: line.true for line in card.lines}}
    most = max((value for value in places.values() if value < math.inf), default=1.0)
    for place, value in enumerate(places.values()):
        colour = QUIET if place == 0 else WEAKER if card.is_more(value) else HELD
        ax.barh(-place, min(value, 1.1 * most), color=colour, height=0.62)
        text = _plain(exact_number(value))
        ax.text(min(value, 1.1 * most) + 0.02 * most, -place, text, va="center", fontsize=18)
    names = [fill(name.replace(" × ", "\u00a0×\u00a0"), 18) for name in places]
    ax.set_yticks([-place for place in range(len(places))], names, fontsize=15, color=INK)
    ax.set(xlim=(0, 1.4 * most), xticks=[])
    _plain_axes(ax, "ε of one record")


def _draw_bought(ax: Axes, card: Card, data: OwnData) -> None:
    """Draws accuracies with labels in clear as bars, their seeds as lines, and the level of the largest class."""
    shown = [one for one in card.bought if not one.labels and not math.isnan(one.mean)]
    names = []
    for place, one in enumerate(shown):
        colour = QUIET if one.mechanism == NO_PRIVACY else look(one.mechanism).colour
        ax.barh(-place, one.mean, color=colour, height=0.62)
        ax.plot([one.low, one.high], [-place, -place], color=INK, linewidth=2, solid_capstyle="butt")
        ax.text(max(one.high, data.share) + 0.02, -place, f"{one.mean:.3f}", va="center", fontsize=15)
        how = "" if one.learner == LEARNERS["chosen"] else f", {one.learner}"
        names.append(f"{'no privacy' if one.mechanism == NO_PRIVACY else label(one.mechanism)}{how}")
    ax.axvline(data.share, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    ax.set_yticks([-place for place in range(len(names))], [fill(name, 24) for name in names], fontsize=13, color=INK)
    ax.set(xlim=(0, 1.15), xticks=[])
    true = next((one.true for one in shown if one.mechanism != NO_PRIVACY), math.inf)
    at = f" at a true ε of {_plain(exact_number(true))}" if true < math.inf else ""
    _plain_axes(ax, f"accuracy{at} (dashed: largest class)")


def _draw_classes(ax: Axes, data: OwnData) -> None:
    """Draws the records in each of the largest classes as bars."""
    ordered = sorted(data.records.items(), key=lambda one: -one[1])
    shown = ordered if len(ordered) <= MOST_CLASSES else ordered[: MOST_CLASSES - 1]
    for place, (_, count) in enumerate(shown):
        ax.barh(-place, count, color=QUIET, height=0.62)
        ax.text(count + 0.03 * ordered[0][1], -place, f"{count:,}", va="center", fontsize=15)
    names = [shorten(name, 16) for name, _ in shown]
    places = [-float(place) for place in range(len(shown))]
    if len(shown) < len(ordered):
        names.append(f"and {len(ordered) - len(shown):,} more")
        places.append(-float(len(shown)))
    ax.set_yticks(places, names, fontsize=13, color=INK)
    ax.set(xlim=(0, 1.5 * ordered[0][1]), ylim=(0.5 - max(len(names), 4), 0.5), xticks=[])
    _plain_axes(ax, "records in each class")


def _plain_axes(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize=15, loc="left", fontweight="normal")
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(length=0)
    ax.grid(visible=False)


def _draw_digit(ax: Axes, image: Tensor) -> None:
    ax.imshow(image.clamp(0, 16).numpy(), cmap="gray", vmin=0, vmax=16, interpolation="none")
    ax.set_axis_off()
