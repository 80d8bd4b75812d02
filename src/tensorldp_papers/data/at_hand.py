"""Which data sets can be had without a network."""

from __future__ import annotations

import os
from pathlib import Path

from tensorldp_papers.data import catalogue


def at_hand(name: str) -> bool:
    """Whether a data set needs no network: it is embedded, or the folder that TENSORLDP_MIRROR names holds it."""
    entry, mirror = catalogue.get(name), os.environ.get("TENSORLDP_MIRROR")
    held = mirror is not None and any(
        all((Path(mirror) / file.path).is_file() for file in source.required) for source in entry.sources
    )
    return entry.embedded or held
