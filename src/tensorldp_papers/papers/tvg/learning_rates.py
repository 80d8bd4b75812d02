"""Which learning rate each mechanism of TVG's private SGD gets: the rule of tvg_sgd_search.yaml, as a table."""

from __future__ import annotations

import pandas as pd

from tensorldp_papers.run.cell import variant_factors

METRIC = "accuracy_held_out"
ALIKE = 0.005  # of the best mean: of these the smallest rate is taken


def learning_rates(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates mechanism x rate: the mean accuracy on held-out records over epsilons and seeds, and which is chosen.

    Of each mechanism on a data set this is the smallest rate whose mean is within `ALIKE` of the best. Only rates that
    were run at all of a mechanism's epsilons and seeds count, as others have another mean.
    """
    rows = metrics[metrics["metric"] == METRIC]
    rates = rows["variant"].map({v: float(variant_factors(v)["learning_rate"]) for v in rows["variant"].unique()})
    rows = rows.assign(learning_rate=rates.astype(float))
    place = ["dataset", "mechanism", "learning_rate"]
    found = rows.groupby(place, observed=True)["value"].agg(["mean", "count"]).reset_index()
    by_mechanism = found.groupby(["dataset", "mechanism"], observed=True)
    found = found[found["count"] == by_mechanism["count"].transform("max")]
    by_mechanism = found.groupby(["dataset", "mechanism"], observed=True)
    alike = found[found["mean"] >= by_mechanism["mean"].transform("max") - ALIKE]
    chosen = alike.groupby(["dataset", "mechanism"], observed=True)["learning_rate"].transform("min")
    found["chosen"] = found.index.isin(alike.index[alike["learning_rate"] == chosen])
    return found.rename(columns={"mean": METRIC, "count": "runs"})
