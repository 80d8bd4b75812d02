"""Statistics of a release that may tell two records apart, fixed or learned from releases set aside for it."""

from __future__ import annotations

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Scene
from tensorldp.check.distinguishers.bits import Floats
from tensorldp.check.distinguishers.geometry import Coordinates, Distances, Likelihood, Shapes
from tensorldp.check.distinguishers.kernel import Kernel
from tensorldp.check.distinguishers.learned import Directions, Tree
from tensorldp.check.distinguishers.residues import Residues
from tensorldp.check.distinguishers.values import Atoms, Repeats

IDEAL: tuple[Distinguisher, ...] = (
    Likelihood(),
    Distances(),
    Shapes(),
    Coordinates(),
    Atoms(),
    Repeats(),
    Residues(),
    Directions(),
    Kernel(),
    Tree(),
)
FLOATING: tuple[Distinguisher, ...] = (Floats(),)

__all__ = ["FLOATING", "IDEAL", "Columns", "Distinguisher", "Scene"]
