"""Which learning rate each mechanism of TVG's private SGD gets: the rule of tvg_sgd_search.yaml, as a table."""

from __future__ import annotations

import pandas as pd

from tensorldp_papers.run.held_out import choices


def learning_rates(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates mechanism x rate, of rates that are alike the smallest, see `choices`."""
    return choices(metrics, "learning_rate", float).astype({"learning_rate": float})
