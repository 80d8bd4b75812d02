"""The kinds of claims, and their registry: they are listed in the rooms of their papers and checked there."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from typing import Any

from tensorldp.registry import Registry
from tensorldp_papers.room_folders import own_folders, room_files
from tensorldp_papers.rooms import rooms

KINDS = ("theorem", "cost", "empirical", "descriptive")
# a theorem is decided with certainty and a run by seeds, so that nothing counts them together: kinds by group
GROUPS = {"theorem": ("theorem",), "run": ("empirical", "cost"), "description": ("descriptive",)}
NOUN = {"theorem": "theorem", "run": "statement about runs", "description": "description"}
PLURAL = {"theorem": "theorems", "run": "statements about runs", "description": "descriptions"}


def group_of(kind: str) -> str:
    """Returns the group of a kind of claims."""
    return next(group for group, kinds in GROUPS.items() if kind in kinds)


@cache
def _listed(files: tuple[tuple[str, Path], ...]) -> dict[str, list[dict[str, str]]]:
    places = {room.module: room.claims_place for room in rooms()}
    found = {module: list(csv.DictReader(file.read_text().splitlines())) for module, file in files}
    return dict(sorted(found.items(), key=lambda item: places.get(item[0], math.inf)))


def listed() -> dict[str, list[dict[str, str]]]:
    """Returns the lines of each room's claims.csv by its module, with the columns `id source place claim kind test`."""
    return _listed(tuple(room_files("claims.csv").items()))


def _homes() -> dict[str, list[str]]:
    ours = own_folders()
    return {f"{module}.claims": [row["id"] for row in rows] for module, rows in listed().items() if module in ours}


# members are Any, because this module lies below the class of checks
CLAIMS: Registry[Any] = Registry("claim", group="tensorldp.claims", own=_homes)
