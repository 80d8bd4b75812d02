"""The kinds of claims, and which of them are counted together."""

from __future__ import annotations

KINDS = ("theorem", "cost", "empirical", "descriptive")
# a theorem is decided with certainty and a run by seeds, so that nothing counts them together: kinds by group
GROUPS = {"theorem": ("theorem",), "run": ("empirical", "cost"), "description": ("descriptive",)}
NOUN = {"theorem": "theorem", "run": "statement about runs", "description": "description"}
PLURAL = {"theorem": "theorems", "run": "statements about runs", "description": "descriptions"}


def group_of(kind: str) -> str:
    """The group of a kind of claims."""
    return next(group for group, kinds in GROUPS.items() if kind in kinds)
