"""What the attacks of a cell share."""

from __future__ import annotations

from typing import Any, TypeVar

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball
from tensorldp_papers.attacks.defences import Defence
from tensorldp_papers.run.streams import AttackCell, mechanism_on

V = TypeVar("V")


def needed(cell: AttackCell, key: str, value: V | None) -> V:
    """The value of a factor that the cell's attack cannot do without.

    Raises:
        InputError: if the cell's variant does not have it.
    """
    if value is None:
        raise InputError(f"the attack {cell.factors.attack!r} of {cell.study} needs the factor {key}")
    return value


def defence_of(cell: AttackCell, parameters: int) -> Defence:
    """The cell's defence of a gradient of that many parameters.

    Raises:
        InputError: if the cell has a mechanism but its defence is another, or the other way round.
    """
    name = cell.factors.defence
    strength = 0.0 if name == "none" else needed(cell, "strength", cell.factors.strength)
    mechanism = None
    if cell.private:
        mechanism = mechanism_on(cell, Ball(float(strength) or 1.0, (parameters,)))
    return Defence(name, strength, mechanism)


def rows(scores: dict[str, float]) -> list[dict[str, Any]]:
    """Scores as metric rows."""
    return [{"metric": key, "value": float(value)} for key, value in scores.items()]
