"""Summaries of the kept rows: of each study, and of each study, data set and seed."""

from __future__ import annotations

import hashlib
from typing import Any

import pandas as pd

from tensorldp.kept.provenance import SEEDED

MACHINE = ["device", "isa", "precision"]
PIECE = ["study", "dataset", "seed"]


def run_facts(rows: pd.DataFrame) -> dict[str, Any]:
    """What was run of a study: scale, data sets, cells, seeds, commits, devices and the seconds of training."""
    seeds = rows.drop_duplicates(["dataset", "variant", "mechanism", "epsilon", "seed"])
    return {
        "scale": rows["scale"].iloc[0],
        "datasets": sorted(rows["dataset"].unique()),
        "cells": len(rows.groupby(["dataset", "variant", "mechanism", "epsilon"], observed=True)),
        "seeds": sorted(int(s) for s in rows["seed"].unique()),
        "commits": sorted(rows["commit"].unique()),
        "devices": sorted(rows["device"].unique()),
        "seconds": round(float(seeds["seconds"].sum()), 1),
    }


def pieces_table(metrics: pd.DataFrame, provenance: pd.DataFrame) -> pd.DataFrame:
    """One row per study, data set and seed: its scale, cells, seconds, commits, machine and digests.

    `settings` and `source` are digests of those of all cells, empty where one is not known.

    Args:
        metrics: the kept rows.
        provenance: with the columns of `kept.provenance`.
    """
    runs = metrics.drop_duplicates(SEEDED).merge(provenance, on=SEEDED, how="left", validate="one_to_one")
    rows = []
    for piece, part in runs.groupby(PIECE, observed=True):
        own = part.sort_values(SEEDED)
        rows.append(
            {
                **dict(zip(PIECE, piece, strict=True)),
                "scale": own["scale"].iloc[0],
                "cells": len(own),
                "seconds": round(float(own["seconds"].sum()), 1),
                "commits": _all(own["commit"]),
                **{name: _all(own[name]) for name in MACHINE if name in own},
                **{name: _digest(own[name]) for name in ("settings", "source")},
            }
        )
    return pd.DataFrame(rows)


def _all(values: pd.Series) -> str:
    return " ".join(sorted({str(value) for value in values.fillna("")} - {""}))


def _digest(values: pd.Series) -> str:
    texts = [str(value) for value in values.fillna("")]
    return hashlib.sha256(" ".join(texts).encode()).hexdigest()[:16] if all(texts) else ""
