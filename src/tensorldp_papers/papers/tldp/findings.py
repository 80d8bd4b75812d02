"""What a run of TLDP's Type I found, in sentences for the report."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from tensorldp_papers.plots.comparing import EQUAL, meetings, points
from tensorldp_papers.plots.curves import main_setting, with_lines
from tensorldp_papers.plots.finding import PRINTED, Finding, epsilon_words, first_dataset
from tensorldp_papers.plots.means import placed
from tensorldp_papers.plots.names import dataset_name, study_name
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import short_number

IMAGES = "tldp_type1"
LEVEL = 0.01  # of a score: no smaller difference is written


def findings(metrics: pd.DataFrame) -> list[Finding]:
    """Returns the sentences for which a table of metrics has numbers."""
    return list(filter(None, (_label(metrics), _level(metrics))))


def _label(metrics: pd.DataFrame) -> Finding | None:
    """What TLDP's printed epsilon guarantees an image."""
    rows = metrics[(metrics["study"] == IMAGES) & (metrics["mechanism"] == "tldp-l")]
    rows = rows[~rows["variant"].str.contains("range=printed")]
    if rows.empty:
        return None
    rows = rows[rows["dataset"] == (dataset := first_dataset(rows))]
    printed = min(rows["epsilon"].unique(), key=lambda e: abs(math.log(e / PRINTED)))
    guaranteed = rows[rows["epsilon"] == printed]["guarantee_epsilon"].min()
    before = (
        f"Where {label('tldp-l')} prints an ε of {epsilon_words(printed)}, one record of {dataset_name(dataset)} gets "
    )
    return Finding(before, short_number(float(guaranteed)), ".", IMAGES, study_name(IMAGES))


def _level(metrics: pd.DataFrame) -> Finding | None:
    """How far TLDP-L and the Laplace mechanism are apart at one true epsilon."""
    rows = metrics[(metrics["study"] == IMAGES) & (metrics["metric"] == "weighted_f1")]
    if rows.empty:
        return None
    rows = rows[rows["dataset"] == (dataset := first_dataset(rows))]
    rows = placed(main_setting(with_lines(rows.copy())), "guarantee_epsilon")
    known, tldp = (points(rows[rows["line"] == name]) for name in ("laplace", "tldp-l"))
    apart = [abs(a.mean - b.mean) for a, b in meetings(known, tldp, EQUAL)]
    if not apart:
        return None
    before = f"At one true ε, F1 of {label('tldp-l')} and of plain Laplace noise on {dataset_name(dataset)} differ by "
    gap = float(np.median(apart))
    return Finding(before, f"{gap:.2f}" if gap >= LEVEL else f"less than {LEVEL}", ".", IMAGES, study_name(IMAGES))
