"""Mechanisms behind one small interface: `names`, `make`, `register`, and the domains `Box` and `Ball`."""

from tensorldp.domain import Ball, Box, Domain
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import make, mechanism_class, names, register

__all__ = ["Ball", "Box", "Domain", "Mechanism", "make", "mechanism_class", "names", "register"]
