"""Which data sets and weights can be had without a network."""

from __future__ import annotations

import os
from pathlib import Path

from tensorldp_papers.data import catalogue


def at_hand(name: str) -> bool:
    """Returns whether data or weights need no network: they are embedded, or in TENSORLDP_MIRROR's folder."""
    entry, mirror = catalogue.find(name), os.environ.get("TENSORLDP_MIRROR")
    held = mirror is not None and any(
        all((Path(mirror) / file.path).is_file() for file in source.required) for source in entry.sources
    )
    return entry.embedded or held
