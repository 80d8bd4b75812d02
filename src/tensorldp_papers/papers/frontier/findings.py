"""What a run of the frontier found, in sentences for the report."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.papers.frontier.figures import STUDY, frontier_table
from tensorldp_papers.plots.finding import PRINTED, Finding, epsilon_words, first_dataset
from tensorldp_papers.plots.names import dataset_name, study_name
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import percent


def findings(metrics: pd.DataFrame) -> list[Finding]:
    """Returns the sentences for which a table of metrics has numbers."""
    return list(filter(None, (_frontier(metrics),)))


def _frontier(metrics: pd.DataFrame) -> Finding | None:
    """What the best known randomizer gives at a true epsilon of about 1."""
    rows = metrics[metrics["study"] == STUDY]
    if not (rows["mechanism"] != NO_PRIVACY).any():
        return None
    table = frontier_table(rows)
    table = table[table["labels_public"].notna()] if len(table) else table
    if table.empty:
        return None
    table = table[table["dataset"] == (dataset := first_dataset(table))]
    best = table.iloc[(np.log(table["epsilon"] / PRINTED)).abs().argmin()]
    before = f"At a true ε of {epsilon_words(float(best['epsilon']))}, {label('privunit')} on public features reaches "
    after = f" accuracy on {dataset_name(dataset)}."
    return Finding(before, percent(best["labels_public"]), after, STUDY, study_name(STUDY))
