"""What a run found, in sentences of at most 20 words with one number each, for the first screen of the report."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tensorldp_papers.claim_registry import GROUPS
from tensorldp_papers.plots.finding import Finding
from tensorldp_papers.plots.names import OPEN
from tensorldp_papers.room_folders import room_files
from tensorldp_papers.rooms import rooms


def findings(metrics: pd.DataFrame, claims: pd.DataFrame, audits: pd.DataFrame) -> list[Finding]:
    """Computes sentences from a run's tables, those of the rooms first; what it has no numbers for is left out."""
    drawing = room_files("figures.py")
    own = [room.code("figures.findings") for room in rooms() if room.findings and room.module in drawing]
    found = [finding for of_room in own for finding in of_room(metrics)]
    return [finding for finding in (*found, _decided(claims), _audited(audits)) if finding]


def _decided(claims: pd.DataFrame) -> Finding | None:
    """Says how many statements about runs the run decides; theorems are decided without one."""
    about_runs = claims[claims["kind"].isin(GROUPS["run"])]
    if about_runs.empty:
        return None
    count = int((~about_runs["verdict"].isin([*OPEN, "not checkable"])).sum())
    return Finding(
        "It decides ", str(count or "none"), f" of {len(about_runs)} statements about runs.", "claims", "claims"
    )


def _audited(audits: pd.DataFrame) -> Finding | None:
    """Says whether audits found more than is guaranteed."""
    tried = audits[(audits["samples"] > 0) & np.isfinite(audits["guarantee_epsilon"]) & (audits["delta"] > 0)]
    if tried.empty:
        return None
    above = int((tried["epsilon_lower"] > tried["guarantee_epsilon"]).sum())
    if not above:
        parts = ("None of ", f"{len(tried):,}", " audits found more than its guarantee allows.")
    else:
        expected = (1.0 - float(tried["confidence"].min())) * len(tried)
        chance = "no more than chance explains" if above <= expected else "more than chance explains"
        parts = ("Audits exceed a guarantee ", f"{above:,}", f" {'time' if above == 1 else 'times'}, {chance}.")
    return Finding(*parts, "privacy", "audits")
