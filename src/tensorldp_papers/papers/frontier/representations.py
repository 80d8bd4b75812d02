"""Which public representation each data set gets: the rule of frontier_search.yaml, as a table."""

from __future__ import annotations

import pandas as pd

from tensorldp_papers.papers.frontier.represent import BACKBONES
from tensorldp_papers.run.held_out import choices


def representations(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates data set x representation, of those that are alike the first of `BACKBONES`, see `choices`."""
    return choices(metrics, "backbone", BACKBONES.index)
