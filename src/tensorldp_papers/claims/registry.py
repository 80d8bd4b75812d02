"""The registry of claims, which are listed in a file and checked in the rooms of their papers."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

from tensorldp.registry import Registry

ROOMS = {"tldp": "tldp", "tvg": "tvg", "pldp-fl": "pldp_fl", "latent": "latent", "dp-lecture": "lecture"}


def _listed() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {f"tensorldp_papers.papers.{room}.claims": [] for room in ROOMS.values()}
    text = files("tensorldp_papers.claims").joinpath("catalogue.csv").read_text()
    for row in csv.DictReader(text.splitlines()):
        homes[f"tensorldp_papers.papers.{ROOMS[row['source']]}.claims"].append(row["id"])
    return homes


# members are Any, because this module lies below the class of checks
CLAIMS: Registry[Any] = Registry("claim", group="tensorldp.claims", own=_listed)
