"""The kinds of claims, and their registry: they are listed in the rooms of their papers and checked there."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any

from tensorldp.registry import Registry

KINDS = ("theorem", "cost", "empirical", "descriptive")
# a theorem is decided with certainty and a run by seeds, so that nothing counts them together: kinds by group
GROUPS = {"theorem": ("theorem",), "run": ("empirical", "cost"), "description": ("descriptive",)}
NOUN = {"theorem": "theorem", "run": "statement about runs", "description": "description"}
PLURAL = {"theorem": "theorems", "run": "statements about runs", "description": "descriptions"}


def group_of(kind: str) -> str:
    """The group of a kind of claims."""
    return next(group for group, kinds in GROUPS.items() if kind in kinds)


# In the order of the table. Each package is named here, so that `run.code_digest` knows what is read.
ROOMS = {
    "tldp": files("tensorldp_papers.papers.tldp"),
    "pldp_fl": files("tensorldp_papers.papers.pldp_fl"),
    "lecture": files("tensorldp_papers.papers.lecture"),
    "tvg": files("tensorldp_papers.papers.tvg"),
    "latent": files("tensorldp_papers.papers.latent"),
}


@cache
def listed() -> dict[str, list[dict[str, str]]]:
    """The lines of each room's claims.csv, with the columns `id source place claim kind`."""
    return {
        room: list(csv.DictReader(folder.joinpath("claims.csv").read_text().splitlines()))
        for room, folder in ROOMS.items()
    }


def _homes() -> dict[str, list[str]]:
    return {f"tensorldp_papers.papers.{room}.claims": [row["id"] for row in rows] for room, rows in listed().items()}


# members are Any, because this module lies below the class of checks
CLAIMS: Registry[Any] = Registry("claim", group="tensorldp.claims", own=_homes)
