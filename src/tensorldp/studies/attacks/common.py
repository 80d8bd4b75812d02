"""What the attacks of a cell share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from tensorldp.attacks.defences import Defence
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball
from tensorldp.studies.cell import CellSettings


def shared_stream(cell: CellSettings, seed: int, purpose: str) -> torch.Generator:
    """A random stream that all mechanisms of a data set share, so that they are tried on the same victims."""
    return replace(cell, mechanism="none", epsilon="inf").generator(seed, purpose)


def number(cell: CellSettings, key: str) -> float:
    """A numeric factor of the cell.

    Raises:
        InputError: if the cell's variant does not have it.
    """
    value = cell.factors.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(
            f"the factor {key} of {cell.study} must be a number for the attack "
            f"{cell.factors.get('attack')!r}, got {value!r}"
        )
    return value


def count(cell: CellSettings, key: str) -> int:
    """A factor that is a whole number."""
    value = number(cell, key)
    if value != int(value):
        raise InputError(f"the factor {key} of {cell.study} must be a whole number, got {value!r}")
    return int(value)


def defence_of(cell: CellSettings, parameters: int) -> Defence:
    """The cell's defence of a gradient of that many parameters.

    Raises:
        InputError: if the cell has a mechanism but its defence is another, or the other way round.
    """
    name = str(cell.factors.get("defence", "none"))
    strength = 0.0 if name == "none" else number(cell, "strength")
    mechanism = None
    if cell.mechanism != "none":
        mechanism = cell.mechanism_on(Ball(float(strength) or 1.0, (parameters,)))
    return Defence(name, strength, mechanism)


def rows(scores: dict[str, float]) -> list[dict[str, Any]]:
    """Scores as metric rows."""
    return [{"metric": key, "value": float(value)} for key, value in scores.items()]
