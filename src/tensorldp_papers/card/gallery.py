"""A gallery: the pictures of many cards on one page."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tensorldp.files import write_text
from tensorldp.mechanism_table import TABLE
from tensorldp.pages import rendered
from tensorldp_papers.card.label import IMAGE_SHAPES
from tensorldp_papers.card.page import WIDTH, read_card
from tensorldp_papers.card.tasks import IMAGES, STUDY
from tensorldp_papers.claims.fairness import at_chance
from tensorldp_papers.plots.words import exact_number

DATASET = "mnist"  # of the table, whose images have the first of `IMAGE_SHAPES`
OUTSIDE = "adding-a-paper.md"  # the page about mechanisms that are not ours
DOCUMENT = """# Gallery

[Cards](card.md) of our mechanisms and of a [paper from outside]({outside}). Each label says 1.

| card | ε of 28 × 28 | of 100 digits named | F1 on MNIST |
|---|---|---|---|
{rows}

{pictures}
"""


def gallery(cards: Sequence[Path], out: Path) -> None:
    """Writes a page with the pictures of cards, given their JSON, that link to the pages beside them."""
    shown = [(path.stem, str(read_card(path)["sentence"])) for path in cards]
    write_text(out, rendered(files("tensorldp_papers.card"), "gallery.html", cards=shown))


def documented(cards: Sequence[Path], docs: Path) -> None:
    """Writes the documentation's gallery of the mechanisms that have a card: its page, and their pictures as SVG."""
    folder = docs / "figures" / "cards"
    folder.mkdir(parents=True, exist_ok=True)
    found = [(_epsilon(card), path, card) for path in cards if "subject" in (card := read_card(path))]
    rows, pictures = [], []
    for epsilon, path, card in sorted(found, key=lambda one: (float(f"{one[0]:.6g}"), one[1])):
        key, subject = path.stem, card["subject"]
        shutil.copyfile(path.with_suffix(".svg"), folder / f"{key}.svg")
        named = next((f"{100 * leak['named']:.0f}" for leak in card["leaks"] if leak["name"] == key), "–")
        rows.append(f"| [{subject}](#{key}) | {exact_number(epsilon)} | {named} | {_score(card, key)} |")
        alt = escape(f"{subject}: {card['word']}")
        image = f'<img src="figures/cards/{key}.svg" width="{WIDTH // 2}" alt="{alt}">'
        place = f"mechanisms.md#{key}" if key in TABLE else OUTSIDE
        pictures.append(f'<a id="{key}"></a>[{image}]({place})')
    parts = {"rows": "\n".join(rows), "pictures": "\n".join(pictures)}
    write_text(docs / "gallery.md", DOCUMENT.format(outside=OUTSIDE, **parts))


def _epsilon(card: Any) -> float:
    return float(next(line["true"] for line in card["label"] if line["record"] in IMAGE_SHAPES))


def _score(card: Any, key: str) -> str:
    own = (DATASET, key, card["nominal"], IMAGES)
    for task in card["tasks"]:
        if (task["dataset"], task["mechanism"], task["nominal"], task["released"]) == own:
            return "chance" if task["mean"] <= at_chance(STUDY, DATASET) else f"{task['mean']:.2f}"
    return "–"
