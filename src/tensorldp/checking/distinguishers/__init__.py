"""Statistics of a release that may tell two records apart, fixed or learned from releases set aside for it."""

from __future__ import annotations

from tensorldp.checking.distinguishers.base import Columns, Distinguisher, Scene
from tensorldp.checking.distinguishers.bits import Floats
from tensorldp.checking.distinguishers.geometry import Coordinates, Distances, Likelihood, Shapes
from tensorldp.checking.distinguishers.learned import Directions, Tree
from tensorldp.checking.distinguishers.values import Atoms, Repeats

IDEAL: tuple[Distinguisher, ...] = (
    Likelihood(),
    Distances(),
    Shapes(),
    Coordinates(),
    Atoms(),
    Repeats(),
    Directions(),
    Tree(),
)
FLOATING: tuple[Distinguisher, ...] = (Floats(),)

__all__ = ["FLOATING", "IDEAL", "Columns", "Distinguisher", "Scene"]
