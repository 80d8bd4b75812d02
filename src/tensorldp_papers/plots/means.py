"""The table of metrics, and means over its seeds with the range that they span."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.run.audit_table import STANDING_FILE, STANDING_KEY
from tensorldp_papers.run.table import SERIES, read_rows, read_table


def read_metrics(path: Path, studies: Collection[str] = ()) -> pd.DataFrame:
    """Reads the metrics table, or the rows of some studies, with the series and what `standing_table` says of cells."""
    return with_standing(read_rows(path, studies), path)


def with_standing(metrics: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Returns the metrics with `standing`, or "", and `largest_class`, or nan, from the table beside their `path`."""
    beside = path.with_name(STANDING_FILE)
    if not beside.exists():
        return metrics.assign(standing="", largest_class=math.nan)
    known = read_table(beside)[[*STANDING_KEY, "standing", "largest_class"]]
    joined = metrics.merge(known, on=STANDING_KEY, how="left", validate="many_to_one")
    return joined.assign(standing=joined["standing"].fillna(""))


def study_rows(metrics: pd.DataFrame, study: str, *names: str) -> pd.DataFrame:
    """Returns a copy of the rows of one study, of the metrics `names` if there are any.

    Raises:
        InputError: if there are none.
    """
    rows = metrics[metrics["study"] == study]
    rows = rows[rows["metric"].isin(names)] if names else rows
    if rows.empty:
        which = f" with metric {' or '.join(names)}" if names else ""
        raise InputError(f"the metrics table has no rows of study {study}{which}")
    return rows.copy()


def adds_from(rows: pd.DataFrame, without: pd.DataFrame, *, records: int, looks: int) -> float:
    """Computes the least epsilon at which, and at every larger one, accuracy is above that `without` private records.

    Above means that an interval of the mean difference lies above 0. It holds for all `looks` together in 95 % of cases
    (Bonferroni). Its variance is that of the mean over seeds, and that of two independent accuracies on the test
    records, more than that of two answers to the same ones. t has Welch and Satterthwaite's degrees of freedom.

    Args:
        rows: columns `epsilon`, `seed` and `value`, an accuracy.
        without: columns `seed` and `value`.
        records: how many there are in the test set.
        looks: how many comparisons are made beside and with these.

    Returns:
        Infinity if it is so at no epsilon, or with a single seed.
    """
    from scipy.stats import t

    level, found = without.groupby("seed")["value"].mean(), math.inf
    for epsilon in sorted(map(float, rows["epsilon"].unique()), reverse=True):
        scores = rows[rows["epsilon"] == epsilon].groupby("seed")["value"].mean()
        gaps = (scores - level).dropna().to_numpy(float)
        count = len(gaps)
        if count < 2:
            break
        seeds = gaps.var(ddof=1) / count
        drawn = sum(mean * (1.0 - mean) for mean in (float(scores.mean()), float(level.mean()))) / records
        freedom = (seeds + drawn) ** 2 * (count - 1) / max(seeds, 1e-12) ** 2
        if gaps.mean() <= t.ppf(1.0 - 0.025 / looks, freedom) * math.sqrt(seeds + drawn):
            break
        found = epsilon
    return found


def chance(rows: pd.DataFrame) -> pd.Series:
    """Computes the score of answering every test record with its largest class; nan where that is not known.

    Rows have the columns `metric` and `largest_class`. Weighted F1 of that class's share p is 2p² / (1 + p).
    """
    share, metric = rows["largest_class"].astype(float), rows["metric"].astype(str)
    level = share.where(metric.str.contains("accuracy"))
    level = level.mask(metric.str.contains("f1"), 2 * share**2 / (1 + share))
    return level.mask(metric == "auc", 0.5)


def placed(rows: pd.DataFrame, at: Literal["epsilon", "guarantee_epsilon"]) -> pd.DataFrame:
    """Returns the rows with their place on an epsilon axis in the column `at`; infinite where there is none."""
    return rows.assign(at=rows[at])


def finite(rows: pd.DataFrame, at: str = "at") -> pd.DataFrame:
    """Returns the rows whose place is finite."""
    return rows[np.isfinite(rows[at].astype(float))]  # a table of no rows has no type


def true_epsilon(rows: pd.DataFrame) -> pd.Series:
    """Returns the pure guarantee, atoms removed, or where there is none that at delta 1e-5."""
    return rows["guarantee_pure_epsilon"].where(np.isfinite(rows["guarantee_pure_epsilon"]), rows["guarantee_epsilon"])


def over_seeds(rows: pd.DataFrame, by: str | Sequence[str], middle: str = "mean") -> pd.DataFrame:
    """Computes the middle, lowest and highest value of each place: columns `by`, `middle`, `min` and `max`."""
    keys = [by] if isinstance(by, str) else list(by)
    return rows.groupby(keys)["value"].agg([middle, "min", "max"]).reset_index()


def study_data(metrics: pd.DataFrame, study: str) -> pd.DataFrame:
    """Tabulates what a study's figures show: mean, lowest and highest over seeds of every metric and cell."""
    rows = metrics[metrics["study"] == study]
    keys = [
        "dataset",
        "variant",
        "mechanism",
        "epsilon",
        "guarantee_epsilon",
        "guarantee_pure_epsilon",
        "guarantee_atom",
        "guarantee_unit",
        "guarantee_exact",
        "metric",
        *(key for key in SERIES if key in rows and rows[key].notna().any()),
    ]
    return rows.groupby(keys, dropna=False)["value"].agg(["mean", "min", "max", "count"]).reset_index()
