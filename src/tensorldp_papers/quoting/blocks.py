"""The tables of docs/evidence.md that are computed: what is kept, and which claims wait for what."""

from __future__ import annotations

import re

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.kinds import NO_PRIVACY

OPEN = ("undecided", "not run at this scale")
CELL = ["variant", "mechanism", "epsilon"]


def with_block(text: str, name: str, block: str) -> str:
    """A page with the lines between `<!-- name: begin -->` and `<!-- name: end -->` replaced.

    Raises:
        InputError: if the page does not have both marks once, in this order.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    parts = re.split(f"({re.escape(begin)}|{re.escape(end)})", text)
    if parts[1::2] != [begin, end]:
        raise InputError(f"the page must have {begin} and then {end}, once each")
    return f"{parts[0]}{begin}\n\n{block}\n\n{end}{parts[4]}"


def kept_table(metrics: pd.DataFrame) -> str:
    """Markdown: of each study, data set and scale, how many cells are kept with how many seeds.

    Args:
        metrics: the kept rows.
    """
    lines = [
        "| study | data | scale | cells and their seeds | mechanisms | networks compute in |",
        "|---|---|---|---|---|---|",
    ]
    for (study, dataset, scale), rows in metrics.groupby(["study", "dataset", "scale"], observed=True):
        seeds = rows.groupby(CELL, observed=True, dropna=False)["seed"].nunique().value_counts().sort_index()
        counts = ", ".join(f"{cells:,} of {count} seed{'s' * (count != 1)}" for count, cells in seeds.items())
        names = sorted(set(rows["mechanism"].astype(str)) - {NO_PRIVACY})
        precisions = ", ".join(sorted(rows["precision"].astype(str).unique()))
        lines.append(f"| `{study}` | {dataset} | {scale} | {counts} | {len(names)} | {precisions} |")
    return "\n".join(lines)


def open_table(claims: pd.DataFrame) -> str:
    """Markdown: the claims without a verdict, and what would give them one.

    Args:
        claims: the kept table of claims.
    """
    rows = claims[claims["verdict"].isin(OPEN)]
    lines = [f"{len(rows)} of {len(claims)} claims.", "", "| claim | verdict | what it would take |", "|---|---|---|"]
    for _, row in rows.iterrows():
        need = row["wanted"] if isinstance(row["wanted"], str) else row["observed"]
        short = re.split(r"; and \d+ more|, after which|; computed reason|; with ", str(need))[0]
        lines.append(f"| {row['id']}: {row['claim']} | {row['verdict']} | {short} |".replace("\n", " "))
    return "\n".join(lines)
