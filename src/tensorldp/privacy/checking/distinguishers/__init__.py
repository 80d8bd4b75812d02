"""Statistics of a release that may tell two records apart, fixed or learned from releases set aside for it."""

from __future__ import annotations

from tensorldp.privacy.checking.distinguishers.base import Columns, Distinguisher, Scene
from tensorldp.privacy.checking.distinguishers.bits import Floats
from tensorldp.privacy.checking.distinguishers.geometry import Coordinates, Distances, Likelihood, Shapes
from tensorldp.privacy.checking.distinguishers.kernel import Kernel
from tensorldp.privacy.checking.distinguishers.learned import Directions, Tree
from tensorldp.privacy.checking.distinguishers.residues import Residues
from tensorldp.privacy.checking.distinguishers.values import Atoms, Repeats

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
