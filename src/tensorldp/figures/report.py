"""The report: one HTML page that needs no network, with figures, captions, numbers and provenance."""

from __future__ import annotations

import base64
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment

from tensorldp.errors import InputError
from tensorldp.figures.style import label
from tensorldp.runtime.provenance import commit, versions

PRIVACY = {
    "privacy_profiles": "Privacy profiles of one release of 64 elements. A black arrow is an audit: epsilon is at "
                        "least this. An audit to the right of its profile would refute it.",
    "accuracy_ceiling": "The highest accuracy that any classifier can have on records released with epsilon-LDP, what "
                        "sources claim, and our runs at their nominal and at their guaranteed epsilon."}


def _embedded(path: Path) -> str:
    try:
        return base64.b64encode(path.read_bytes()).decode()
    except OSError:
        raise InputError(f"the figure {path} is missing: run the figures first") from None


def _numbers(rows: pd.DataFrame) -> list[dict[str, Any]]:
    keys = ["dataset", "variant", "mechanism", "epsilon", "guarantee_epsilon", "guarantee_unit"]
    table = rows[rows["metric"] == "weighted_f1"].groupby(keys, dropna=False)["value"]
    summary = table.agg(["mean", "min", "max"]).reset_index()
    summary["mechanism"] = summary["mechanism"].map(label)
    return [{str(key): value for key, value in row.items()} for row in summary.to_dict("records")]


def _growth(table4: pd.DataFrame) -> list[dict[str, Any]]:
    """One row for each entry of Table IV, at the largest record that was measured."""
    seen = table4.dropna(subset=["measured"])
    largest = seen[seen["size"] == seen["size"].max()]
    rows = largest.assign(mechanism=largest["mechanism"].map(label)).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]


def render(metrics: pd.DataFrame, figures: Path, studies: list[dict[str, Any]], settings: str,
           table5: pd.DataFrame, table4: pd.DataFrame | None = None) -> str:
    """The report's HTML.

    Args:
        metrics: the metrics table.
        figures: the folder of the figures' PNG files.
        studies: {study, title, source, figure, views} of each study.
        settings: the run's settings, as JSON text.
        table5: TLDP's Table 5 as `tensorldp.studies.error_table` computes it.
        table4: TVG's Table IV as `tensorldp.studies.growth_table` computes it, if it is wanted.

    Raises:
        InputError: if a figure is missing.
    """
    sections = []
    for study in studies:
        rows = metrics[metrics["study"] == study["study"]]
        pictures = [{"data": _embedded(figures / f"{study['study']}{view}.png"), "caption": caption,
                     "name": f"{study['study']}{view}"} for view, caption in study["views"].items()]
        sections.append({**study, "pictures": pictures, "numbers": _numbers(rows)})
    privacy = [{"name": name, "caption": caption, "data": _embedded(figures / f"{name}.png")}
               for name, caption in PRIVACY.items()]
    facts = {
        "scale": ", ".join(sorted(metrics["scale"].unique())),
        "cells": len(metrics.groupby(["study", "dataset", "variant", "mechanism", "epsilon"])),
        "rows": len(metrics),
        "devices": ", ".join(f"{d} ({n} rows)" for d, n in Counter(metrics["device"]).most_common()),
        "commits of the cells": ", ".join(sorted(metrics["commit"].unique())),
        "commit of this page": commit(),
        "versions": ", ".join(f"{k} {v}" for k, v in versions().items()),
        "settings": settings}
    errors = table5.assign(mechanism=table5["mechanism"].map(label)).to_dict("records")
    growth = [] if table4 is None else _growth(table4)
    template = files("tensorldp.figures").joinpath("report.html").read_text()
    return Environment(autoescape=True).from_string(template).render(
        sections=sections, facts=facts, table5=errors, table4=growth, privacy=privacy)
