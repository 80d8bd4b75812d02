"""What a run found, in sentences of at most 20 words with one number each, for the first screen of the report."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tensorldp_papers.claim_registry import GROUPS
from tensorldp_papers.plots.finding import Finding
from tensorldp_papers.room_folders import room_files
from tensorldp_papers.rooms import rooms


def findings(metrics: pd.DataFrame, claims: pd.DataFrame, audits: pd.DataFrame) -> list[Finding]:
    """Sentences, those of the rooms first, each computed from the tables; what a run has no numbers for is left out.

    Args:
        metrics: the metrics table of a run.
        claims: its claims with their verdicts.
        audits: its audits.
    """
    drawing = room_files("figures.py")
    own = [room.code("figures.findings") for room in rooms() if room.findings and room.module in drawing]
    found = [finding for of_room in own for finding in of_room(metrics)]
    return [finding for finding in (*found, _refuted(claims), _audited(audits)) if finding]


def _refuted(claims: pd.DataFrame) -> Finding | None:
    """Says how many theorems do not hold."""
    theorems = claims[claims["kind"].isin(GROUPS["theorem"])]
    refuted = int((theorems["verdict"] == "refuted").sum())
    if theorems.empty:
        return None
    after = " of the sources' theorems is refuted." if refuted == 1 else " of the sources' theorems are refuted."
    return Finding("", str(refuted or "None"), after, "claims", "claims", "refuted")


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
