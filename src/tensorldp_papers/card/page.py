"""A card as a page that needs no network, and as a picture of 1,200 x 630 pixels."""

from __future__ import annotations

import base64
import hashlib
import io
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.files import sha256, write_text
from tensorldp.pages import plain, rendered
from tensorldp_papers.card.card import Card
from tensorldp_papers.card.label import SHUFFLED_DELTA, SHUFFLED_PEOPLE, USES
from tensorldp_papers.card.leaks import VICTIMS
from tensorldp_papers.card.price import ELEMENTS
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.sheets import wrapped
from tensorldp_papers.plots.style import HELD, INK, PAPER, QUIET, WEAKER, label
from tensorldp_papers.plots.words import short_number
from tensorldp_papers.run.sealed import read_sealed, write_sealed

WIDTH, HEIGHT, DPI = 1200, 630, 100


def page(card: Card, image: bytes) -> str:
    """Builds the page, with the picture on top."""
    words = {"short": short_number, "data_name": dataset_name, "label": label}
    deltas = {"delta": _plain(f"{REPORT_DELTA:g}"), "shuffled_delta": _plain(f"{SHUFFLED_DELTA:g}")}
    facts: dict[str, Any] = {**deltas, "uses": USES, "people": SHUFFLED_PEOPLE}
    facts |= {"elements": ELEMENTS, "victims": VICTIMS, "picture": base64.b64encode(image).decode()}
    return rendered(files("tensorldp_papers.card"), "card.html", card=card, **words, **facts)


def write_card(stem: Path, content: Mapping[str, Any], image: bytes) -> None:
    """Writes the JSON of a card, with its seal and the digest of its picture; `stem` is the path without the ending."""
    whole = {**content, "picture": hashlib.sha256(image).hexdigest()}
    write_sealed(stem.with_suffix(".json"), whole, stem.name)


def read_card(path: Path) -> dict[str, Any]:
    """Reads what the JSON of a card says.

    Raises:
        InputError: if it is missing, or it or the picture beside it is not what was made there.
    """
    found = read_sealed(path, path.stem)
    image = path.with_suffix(".png")
    if not image.is_file() or sha256(image) != found["picture"]:
        raise InputError(f"the picture {image} is not that of its card: delete {path} and make the card again")
    return found


def _plain(number: str) -> str:
    return number.replace("e-0", "e-")


def write_refusal(folder: Path, key: str, reason: str) -> None:
    """Writes the page, the picture and the JSON of a mechanism that can have no card, with the reason."""
    sentence = f"{label(key)} can have no card: {reason}."
    figure = plt.figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor=PAPER)
    figure.text(0.04, 0.93, label(key), fontsize=30, fontweight="bold", color=INK, va="top")
    figure.text(0.04, 0.80, wrapped(sentence, 72 * WIDTH * 0.92 / DPI, 20), fontsize=20, color=INK, va="top")
    folder.mkdir(parents=True, exist_ok=True)
    image = _drawn(figure)
    (folder / f"{key}.png").write_bytes(image)
    write_card(folder / key, {"sentence": sentence}, image)
    write_text(folder / f"{key}.html", plain(label(key), sentence))


def _drawn(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, facecolor=PAPER)
    plt.close(figure)
    return buffer.getvalue()


def picture(card: Card) -> bytes:
    """Draws the PNG: the sentence, the label as bars, and digits as they are and as released."""
    figure = plt.figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor=PAPER)
    colour = WEAKER if card.verdict.refuted else HELD
    figure.text(0.04, 0.93, card.subject, fontsize=30, fontweight="bold", color=INK, va="top")
    word = "refuted" if card.verdict.refuted else "not refuted"
    figure.text(0.96, 0.93, word, fontsize=24, color=colour, ha="right", va="top")
    said = wrapped(card.sentence, 72 * WIDTH * 0.92 / DPI, 20)
    figure.text(0.04, 0.80, said, fontsize=20, color=INK, va="top", linespacing=1.35)
    lines = said.count("\n") + 1
    remark = wrapped(card.remark, 72 * WIDTH * 0.92 / DPI, 15)
    figure.text(0.04, 0.785 - 0.06 * lines, remark, fontsize=15, color=QUIET, va="top")
    if card.lines:
        _draw_label(figure.add_axes((0.19, 0.06, 0.34, 0.42)), card)
    rows = [(f"{label(leak.name)}: {100 * leak.named:.0f} % named", leak.released) for leak in card.leaks[:2]]
    rows = [("digits of 100 people", card.leaks[0].originals), *rows] if rows else []
    for row, (text, images) in enumerate(rows):
        top = 0.52 - 0.165 * row
        figure.text(0.60, top - 0.075, wrapped(text, 0.135 * 72 * WIDTH / DPI, 15), fontsize=15, color=INK, va="center")
        for column, image in enumerate(images[:3]):
            _draw_digit(figure.add_axes((0.745 + 0.075 * column, top - 0.145, 0.07, 0.14)), image)
    return _drawn(figure)


def _draw_label(ax: Axes, card: Card) -> None:
    places = {"on the label": card.nominal or 0.0, **{line.record: line.true for line in card.lines}}
    finite = [value for value in places.values() if value < math.inf]
    low, high = min(finite, default=0.1) / 4, max(finite, default=1.0) * 40
    for place, value in enumerate(places.values()):
        shown = min(value, high / 8)
        ax.barh(-place, shown, color=QUIET if place == 0 else HELD, height=0.62)
        ax.text(
            shown,
            -place,
            f" {_plain(short_number(value)) if value < math.inf else '∞'}",
            va="center",
            fontsize=18,
            color=INK,
        )
    ax.set_yticks(
        [-place for place in range(len(places))],
        [fill(name.replace(" × ", "\u00a0×\u00a0"), 18) for name in places],
        fontsize=15,
    )
    ax.set(xscale="log", xlim=(low, high))
    ax.set_title("ε of one record", fontsize=15, loc="left", color=INK)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(axis="both", which="both", length=0, labelbottom=False)


def _draw_digit(ax: Axes, image: Tensor) -> None:
    ax.imshow(image.clamp(0, 16).numpy(), cmap="gray", vmin=0, vmax=16)
    ax.set_axis_off()
