"""A gallery: the pictures of many cards on one page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from PIL import Image

from tensorldp.files import write_text
from tensorldp.pages import rendered
from tensorldp_papers.card.label import IMAGE_SHAPES
from tensorldp_papers.card.page import HEIGHT, WIDTH, read_card

HALF, COLOURS = (WIDTH // 2, HEIGHT // 2), 48  # of the documentation's pictures, some ten kilobytes each
DOCUMENT = """# Gallery

[Cards](card.md) of our mechanisms and of a [paper from outside](adding-a-paper.md). Each label says 1.

## An image has at most the ε of the label

{whole}

## An image has more

{less}
"""


def gallery(cards: Sequence[Path], out: Path) -> None:
    """Writes a page with the pictures of cards, given their JSON, that link to the pages beside them."""
    shown = [(path.stem, str(read_card(path)["sentence"])) for path in cards]
    write_text(out, rendered(files("tensorldp_papers.card"), "gallery.html", cards=shown))


def documented(cards: Sequence[Path], docs: Path) -> None:
    """Writes the documentation's gallery: its page, and pictures at half their size of mechanisms that have a card."""
    folder = docs / "figures" / "cards"
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[bool, list[str]] = {True: [], False: []}
    for path in cards:
        card = read_card(path)
        if "subject" not in card:
            continue
        with Image.open(path.with_suffix(".png")) as picture:
            small = picture.convert("RGB").resize(HALF, Image.Resampling.LANCZOS).quantize(COLOURS)
        buffer = io.BytesIO()
        small.save(buffer, format="png", optimize=True)
        (folder / f"{path.stem}.png").write_bytes(buffer.getvalue())
        alt = escape(str(card["sentence"]))
        parts[_holds_for_images(card)].append(f'<img src="figures/cards/{path.stem}.png" width="600" alt="{alt}">')
    write_text(docs / "gallery.md", DOCUMENT.format(whole="\n".join(parts[True]), less="\n".join(parts[False])))


def _holds_for_images(card: Any) -> bool:
    """Returns whether an image of 28 × 28 has the epsilon of the label, within a percent; a label may have a delta."""
    image = next((line for line in card["label"] if line["record"] in IMAGE_SHAPES and not line["why"]), None)
    return image is not None and min(float(image["pure"]), float(image["loose"])) <= 1.01 * card["nominal"]
