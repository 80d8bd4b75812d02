"""Training records that are held out, and which setting they choose: one rule for every study that searches for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.run.cell import variant_factors

METRIC = "accuracy_held_out"
ALIKE = 0.005  # of the best mean: of these the first is taken


def held_out_count(share: float, records: int) -> int:
    """Returns how many of the training records a share holds out; 0 if it is 0.

    Raises:
        InputError: if it leaves none to train on, or none to score.
    """
    held = round(share * records)
    if share and not 0 < held < records:
        raise InputError(
            f"held_out must leave records to train on and to score: {share:g} of {records} records holds {held} out"
        )
    return held


def choices(metrics: pd.DataFrame, factor: str, order: Callable[[str], Any]) -> pd.DataFrame:
    """Tabulates mechanism x setting: the mean accuracy on held-out records over epsilons and seeds, and the choice.

    Of each mechanism on a data set this is the first setting whose mean is within `ALIKE` of the best. Only settings
    that were run at all of a mechanism's epsilons and seeds count, as others have another mean.

    Args:
        metrics: the metrics table of the search.
        factor: the factor that differs between settings.
        order: what a setting's text is sorted by, the simplest first.
    """
    rows = metrics[metrics["metric"] == METRIC]
    settings = rows["variant"].map({v: variant_factors(v)[factor] for v in rows["variant"].unique()})
    rows = rows.assign(**{factor: settings.astype(str)})
    among = ["dataset", "mechanism"]
    found = rows.groupby([*among, factor], observed=True)["value"].agg(["mean", "count"]).reset_index()
    found = found.sort_values(factor, key=lambda texts: texts.map(order)).sort_values(among, kind="stable")
    found = found.reset_index(drop=True)
    found = found[found["count"] == found.groupby(among, observed=True)["count"].transform("max")]
    alike = found[found["mean"] >= found.groupby(among, observed=True)["mean"].transform("max") - ALIKE]
    found["chosen"] = found.index.isin(alike.drop_duplicates(among).index)
    return found.rename(columns={"mean": METRIC, "count": "runs"})
