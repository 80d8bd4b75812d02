"""A verdict as a page that needs no network, and as JSON."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment

from tensorldp.check.verdict import Verdict
from tensorldp.errors import InputError
from tensorldp.files import write_json, write_text

WIDTH, HEIGHT = 640, 200


def verdict_folder(folder: Path) -> Path:
    """The folder, made if it is not there.

    Raises:
        InputError: if nothing can be written there.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} for the verdict cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"the folder {folder} for the verdict cannot be written to")
    return folder


def write_verdict(folder: Path, verdict: Verdict) -> Path:
    """Write verdict.json and verdict.html into `folder`, whole or not at all; returns the page's path.

    Raises:
        InputError: if nothing can be written there.
    """
    folder = verdict_folder(folder)
    write_json(folder / "verdict.json", verdict.as_dict())
    write_text(folder / "verdict.html", page(verdict))
    return folder / "verdict.html"


def page(verdict: Verdict) -> str:
    """The page: what is claimed, what is proved, what was tried, and what refutes it."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("tensorldp.check").joinpath("verdict.html").read_text())
    pictures = [_bars(finding.histogram) if finding.histogram else None for finding in verdict.findings]
    return template.render(
        verdict=verdict, found=list(zip(verdict.findings, pictures, strict=True)), width=WIDTH, height=HEIGHT
    )


def _bars(histogram: dict[str, list[float]]) -> dict[str, Any]:
    """Rectangles of both histograms, and where the threshold lies, in the picture's coordinates."""
    edges = histogram["edges"]
    top = max(*histogram["x"], *histogram["x'"], 1.0)
    step = WIDTH / (len(edges) - 1)
    bars = {
        name: [
            {"x": index * step, "y": HEIGHT * (1 - count / top), "width": step, "height": HEIGHT * count / top}
            for index, count in enumerate(histogram[key])
        ]
        for name, key in (("first", "x"), ("second", "x'"))
    }
    span = edges[-1] - edges[0]
    place = min(max((histogram["threshold"][0] - edges[0]) / span, 0.0), 1.0) * WIDTH
    return {**bars, "threshold": place, "low": edges[0], "high": edges[-1]}
