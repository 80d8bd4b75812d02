"""What a run found, in sentences with its own numbers, for the first screen of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.claims.registry import GROUPS, NOUN
from tensorldp_papers.claims.statements import wrong_by_chance
from tensorldp_papers.papers.frontier.figures import PAPERS as CHOSEN
from tensorldp_papers.papers.frontier.figures import STUDY as FRONTIER
from tensorldp_papers.plots.means import true_epsilon
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import counted, short_number

# what each paper proposes, in the order of the picture, and by study what is protected, where a paper has several
PROPOSED = {
    "TLDP": (("tldp-l", "tldp-g"), {"tldp_type1": "Type I, ", "tldp_type3": "Type III, "}),
    "PLDP-FL": (("pdpm",), {"pldp_fl": ""}),
    "TVG": (("udn", "idn"), {"tvg_sgd": "SGD, ", "tvg_testing": "testing, "}),
    "LATENT": (("latent",), {"latent": ""}),
}
PRINTED = 1.0  # the printed epsilon that the sentences speak of, or the next that a study ran


def epsilons_at(metrics: pd.DataFrame) -> pd.DataFrame:
    """What a printed epsilon of about 1 guarantees, for each paper's own mechanisms and studies.

    Returns:
        Columns paper, study, mechanism, printed, unit, low, high: the range over data sets and settings of epsilon at
        delta 1e-5; infinite guarantees make `high` infinite.
    """
    table = []
    for paper, (mechanisms, studies) in PROPOSED.items():
        for study in studies:
            for mechanism in mechanisms:
                rows = metrics[(metrics["study"] == study) & (metrics["mechanism"] == mechanism)]
                if rows.empty:
                    continue
                printed = min(rows["epsilon"].unique(), key=lambda e: abs(math.log(e / PRINTED)))
                guaranteed = rows[rows["epsilon"] == printed]["guarantee_epsilon"]
                unit, low, high = str(rows["guarantee_unit"].iloc[0]), float(guaranteed.min()), float(guaranteed.max())
                table.append([paper, study, mechanism, float(printed), unit, low, high])
    columns = ["paper", "study", "mechanism", "printed", "unit", "low", "high"]
    return pd.DataFrame(table, columns=columns)


def _range(low: float, high: float) -> str:
    ends = list(dict.fromkeys((short_number(low), short_number(high))))
    return " to ".join(ends)


def _guarantees(metrics: pd.DataFrame) -> list[str]:
    parts = []
    for (paper, unit), rows in epsilons_at(metrics).groupby(["paper", "unit"], sort=False):
        printed = _range(rows["printed"].min(), rows["printed"].max())
        parts.append(f"{paper} {_range(rows['low'].min(), rows['high'].max())} (printed {printed}, a {unit})")
    words = "The ε that papers print and the ε guaranteed at δ = 1e-5 (TLDP's with the Δ of each study)"
    return [f"{words}: {'; '.join(parts)}."] if parts else []


def _best(metrics: pd.DataFrame) -> list[str]:
    """The best mean score at a true epsilon of at most 1 and 10, on the data set with most results."""
    scores = metrics[metrics["metric"].isin(["accuracy", "weighted_f1"])]
    rows = scores[(scores["study"] == FRONTIER) & (scores["metric"] == "accuracy")]
    if rows.empty:
        chosen = [study for _, study, *_ in CHOSEN]
        rows = scores[scores["study"].isin(chosen)]
    if rows.empty:
        return []
    dataset = rows["dataset"].value_counts().index[0]
    rows = rows[rows["dataset"] == dataset]
    metric = rows["metric"].value_counts().index[0]
    rows = rows[rows["metric"] == metric]
    rows = rows.assign(at=true_epsilon(rows))
    public = rows[rows["variant"] == "backbone=strokes,control=public"]["value"]  # others name clusters by test labels
    rows = rows[~rows["variant"].str.contains("control=")]
    private = rows[rows["mechanism"] != NO_PRIVACY]
    parts = []
    for limit in (1.0, 10.0):
        within = private[private["at"] <= limit * (1 + 1e-6)]
        if len(within):
            means = within.groupby(["study", "mechanism", "variant", "epsilon"])["value"].mean()
            best = means.idxmax()
            parts.append(f"{means.max():.3f} ({label(str(best[1]))}) at ε ≤ {limit:g}")
    clean = rows[rows["mechanism"] == NO_PRIVACY]["value"]
    if not parts:
        return []
    end = f"; without privacy {clean.mean():.3f}" if len(clean) else ""
    end += f"; from public data alone {public.mean():.3f}" if len(public) else ""
    what = "accuracy" if metric == "accuracy" else "weighted F1"
    best = f"the best {what} on {dataset}, of all arms by these very scores, is {', '.join(parts)}"
    return [f"What a true ε buys: {best}{end}."]


def _verdicts(claims: pd.DataFrame, names: Sequence[str]) -> list[str]:
    sentences = []
    for group, kinds in GROUPS.items():
        mine = claims[claims["kind"].isin(kinds)]
        counts = mine["verdict"].value_counts()
        parts = [counted(int(counts[name]), name) for name in names if counts.get(name, 0)]
        sentences += [f"Of {counted(len(mine), NOUN[group])} of the sources: {', '.join(parts)}."] if parts else []
    wrong = wrong_by_chance(claims)
    chance = f"Of the verdicts on runs about {wrong:.2g} at most may be wrong by chance, on average." if wrong else ""
    return [" ".join(filter(None, [*sentences, chance]))] if sentences else []


def _audits(audits: pd.DataFrame) -> list[str]:
    tried = audits[(audits["samples"] > 0) & np.isfinite(audits["guarantee_epsilon"]) & (audits["delta"] > 0)]
    if tried.empty:
        return []
    above = int((tried["epsilon_lower"] > tried["guarantee_epsilon"]).sum())
    chance = 1.0 - float(tried["confidence"].min())
    return [
        f"{counted(len(tried), 'audit')} tried to prove these guarantees wrong at δ = 1e-5: {above} found more than is "
        f"guaranteed (about {chance * len(tried):.0f} might by chance)."
    ]


def findings(metrics: pd.DataFrame, claims: pd.DataFrame, audits: pd.DataFrame, verdicts: Sequence[str]) -> list[str]:
    """The sentences, each computed from the tables; what a run has no numbers for is left out.

    Args:
        metrics: the metrics table of a run.
        claims: its claims with their verdicts.
        audits: its audits.
        verdicts: names of verdicts in the order of their mention.
    """
    return [*_guarantees(metrics), *_best(metrics), *_verdicts(claims, verdicts), *_audits(audits)]


def picture_rows(metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of the picture of printed and guaranteed epsilons: {name, printed, low, high}, with finite numbers."""
    rows = []
    for row in epsilons_at(metrics).to_dict("records"):
        if math.isfinite(row["low"]) and row["low"] > 0:
            place = PROPOSED[row["paper"]][1][row["study"]]
            name = f"{label(row['mechanism'])}, {place}a {row['unit']}"
            high = row["high"] if math.isfinite(row["high"]) else row["low"]
            rows.append({"name": name, "printed": row["printed"], "low": row["low"], "high": high})
    return rows
