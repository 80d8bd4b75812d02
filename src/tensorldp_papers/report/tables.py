"""The report's tables as text: numbers of the studies, verdicts, the cost of a run, audits, CSVs of results/tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.claim_registry import GROUPS, NOUN, PLURAL
from tensorldp_papers.claims.table import COLUMNS
from tensorldp_papers.plots.names import (
    VERDICTS,
    dataset_name,
    heading,
    metric_label,
    study_name,
    variant_words,
    without_keys,
)
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import table_number
from tensorldp_papers.rooms import paper, papers
from tensorldp_papers.run.table import CELL, SERIES


@dataclass(frozen=True)
class Table:
    """A table ready to be shown: heads, which columns are numbers, and rows of text."""

    title: str
    caption: str
    heads: list[str]
    numeric: list[bool]
    rows: list[list[str]]


def source_name(key: str) -> str:
    """Returns the short name of a paper, or of anything else that has claims and studies."""
    return paper(key).short if key in papers() else study_name(key)


def mechanism_label(mechanism: str, variant: str) -> str:
    """Returns what figures call a mechanism, with the option of its variant that its class has a label for."""
    names = (f"{mechanism} {pair}" for pair in variant.split(","))
    return next((label(name) for name in names if label(name) != name), label(mechanism))


def as_table(frame: pd.DataFrame, title: str, caption: str = "") -> Table:
    """Makes a data frame a `Table`; studies, data sets, mechanisms and variants get the names that people write."""
    if "mechanism" in frame:
        variants = frame["variant"] if "variant" in frame else pd.Series("base", index=frame.index)
        names = [mechanism_label(str(m), str(v)) for m, v in zip(frame["mechanism"], variants, strict=True)]
        frame = frame.assign(mechanism=names)
    if "variant" in frame:
        frame = frame.assign(variant=frame["variant"].astype(str).map(variant_words))
    for column, name in (("study", study_name), ("dataset", dataset_name)):
        if column in frame:
            frame = frame.assign(**{column: frame[column].astype(str).map(name)})
    numeric = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes]
    values = frame.astype(object).itertuples(index=False, name=None)
    rows = [[without_keys(v) if isinstance(v, str) else table_number(v) for v in row] for row in values]
    return Table(title, caption or title, [heading(str(column)) for column in frame.columns], numeric, rows)


def series(rows: pd.DataFrame) -> list[str]:
    """Returns the metrics for which a cell has a value in each round, epoch or client, sorted."""
    keys = [key for key in SERIES if key in rows]
    return sorted(set(rows.loc[rows[keys].notna().any(axis=1), "metric"])) if keys else []


def numbers(rows: pd.DataFrame) -> list[Table]:
    """Computes for each metric of a study the mean, lowest and highest over the seeds of each cell; without `series`.

    Columns that say the same in every row are left out; the unit of the guarantee is then in the caption.
    """
    keys = ["dataset", "variant", "mechanism", "epsilon", "guarantee_epsilon", "guarantee_unit"]
    tables = []
    for metric, part in rows[~rows["metric"].isin(series(rows))].groupby("metric", sort=True):
        summary = part.groupby(keys, dropna=False, sort=True)["value"].agg(["mean", "min", "max", "count"])
        frame = summary.reset_index().rename(columns={"min": "lowest seed", "max": "highest seed", "count": "seeds"})
        title = metric_label(str(metric))
        title = caption = title[0].upper() + title[1:]
        if frame["guarantee_unit"].nunique() == 1:
            caption += f". Guarantees are for one whole {frame['guarantee_unit'].iloc[0]}"
            frame = frame.drop(columns="guarantee_unit")
        if (frame["variant"] == "base").all():
            frame = frame.drop(columns="variant")
        tables.append(as_table(frame, title, caption))
    return tables


def check_claims(claims: pd.DataFrame) -> pd.DataFrame:
    """Lists the claims as text, without keys except in their evidence.

    Raises:
        InputError: if a column is missing or a verdict is not one of `VERDICTS`.
    """
    missing = [column for column in COLUMNS if column not in claims]
    if missing:
        raise InputError(f"the table of claims has no column {missing[0]}: it needs {', '.join(COLUMNS)}")
    other = sorted(set(claims["verdict"]) - set(VERDICTS))
    if other:
        raise InputError(f"the verdict {other[0]!r} of a claim is not one of {', '.join(VERDICTS)}")
    text = claims[COLUMNS].fillna("").astype(str)
    for column in ("claim", "condition", "wanted", "expected", "observed"):
        text[column] = text[column].map(without_keys)
    return text


def verdict_counts(claims: pd.DataFrame, papers: Sequence[str]) -> list[dict[str, Any]]:
    """Counts the verdicts of each group of claims by paper; the last row of a group is of all papers.

    Returns:
        Rows {group, groups, noun, key, short, total, counts: {verdict: how many}}; `groups` is the group in the plural,
        `noun` one of it, and `key` is empty in the row of all papers.
    """

    def count(group: str, key: str, name: str, part: pd.DataFrame) -> dict[str, Any]:
        verdicts = part["verdict"].value_counts()
        return {
            "group": group,
            "groups": PLURAL[group],
            "noun": NOUN[group],
            "key": key,
            "short": name,
            "total": len(part),
            "counts": {verdict: int(verdicts.get(verdict, 0)) for verdict in VERDICTS},
        }

    rows = []
    for group, kinds in GROUPS.items():
        mine = claims[claims["kind"].isin(kinds)]
        rows += [count(group, key, source_name(key), mine[mine["source"] == key]) for key in papers]
        rows.append(count(group, "", "all", mine))
    return [row for row in rows if row["total"]]


def run_statistics(metrics: pd.DataFrame) -> Table:
    """Returns for each study its cells, seeds, seconds of computing, peak memory and devices; last the whole run."""
    runs = metrics.drop_duplicates([*CELL, "seed"])  # every metric of a seed repeats the cost of its run

    def row(name: str, part: pd.DataFrame) -> dict[str, Any]:
        return {
            "study": name,
            "cells": len(part.drop_duplicates(CELL)),
            "runs (cells × seeds)": len(part),
            "hours of computing": float(part["seconds"].sum()) / 3600,
            "slowest run (s)": float(part["seconds"].max()),
            "peak memory (MB)": float(part["peak_mb"].max()),
            "devices": ", ".join(sorted(part["device"].unique())),
        }

    rows = [row(str(name), part) for name, part in runs.groupby("study", sort=False)]
    return as_table(
        pd.DataFrame([*rows, row("all studies", runs)]),
        "What the studies cost: training and evaluation, without perturbing, audits and figures.",
    )


def audit_summary(audits: pd.DataFrame) -> Table:
    """Counts for each study the audits at delta 1e-5, those that found a bound, and those that exceed a guarantee.

    Cells whose guarantee is infinite are left out: no audit could exceed them.
    """
    part = audits[(audits["delta"] > 0) & ~audits["guarantee_epsilon"].map(math.isinf) & (audits["samples"] > 0)]
    part = part.assign(
        positive=part["epsilon_lower"] > 0,
        above=part["epsilon_lower"] > part["guarantee_epsilon"],
        share=(part["epsilon_lower"] / part["guarantee_epsilon"].where(part["guarantee_epsilon"] > 0)),
    )
    table = (
        part.groupby("study", sort=False)
        .agg(audits=("positive", "size"), bounds=("positive", "sum"), above=("above", "sum"), share=("share", "max"))
        .reset_index()
    )
    table = table.astype({"bounds": int, "above": int})
    table.columns = pd.Index(
        [
            "study",
            "audits of finite guarantees",
            "lower bounds above 0",
            "above the guarantee",
            "largest share of a guarantee",
        ]
    )
    return as_table(
        table,
        "Audits at δ = 1e-5 beside the guarantees that they could falsify. Each bound holds with "
        "95 % confidence, so a few in a hundred may exceed by chance.",
    )
