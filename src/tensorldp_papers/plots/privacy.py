"""Figures about privacy itself: profiles with audits, and what an epsilon allows an attacker or a classifier."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tensorldp.audit.accuracy import accuracy_ceiling
from tensorldp.audit.likelihood import audits
from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanisms import Box, make
from tensorldp_papers.plots.axes import decades, shares
from tensorldp_papers.plots.lines import DASHED, MOST_LINES, draw_bound, draw_mechanism, draw_printed, shade
from tensorldp_papers.plots.means import finite, placed
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.printed import PrintedPoint, printed_points
from tensorldp_papers.plots.sheets import SMALLEST, finish, narrow, panels
from tensorldp_papers.plots.style import PALE, QUIET, look, order, short
from tensorldp_papers.plots.words import listed, percent

PROFILED = ("laplace", "gaussian", "gaussian-analytic", "idn", "mvg", "tldp-l", "tldp-g", "privunit", "duchi", "hybrid")
NOMINAL = (0.1, 1.0)  # epsilons of the releases
RECORD = Box(0.0, 1.0, (8, 8))
SMALLEST_DELTA = 1e-12
LEAST = 0.01  # epsilon that is drawn


def profile_table(
    mechanisms: Sequence[str] = PROFILED, nominal: Sequence[float] = NOMINAL, points: int = 60
) -> pd.DataFrame:
    """delta(epsilon) of one release, for each mechanism and nominal epsilon: mechanism, nominal, epsilon, delta."""
    rows = []
    for name in mechanisms:
        for epsilon in nominal:
            curve = make(name, epsilon=epsilon, domain=RECORD).curve()
            top = curve.epsilon(SMALLEST_DELTA)
            top = top if math.isfinite(top) and top > 0 else 100.0
            for at in np.geomspace(min(1e-3, top / 10), top, points):
                rows.append({"mechanism": name, "nominal": epsilon, "epsilon": at, "delta": curve.delta(float(at))})
    return pd.DataFrame(rows)


def audit_points() -> pd.DataFrame:
    """Audits of the same releases as `profile_table`, at delta 0 and 1e-5: mechanism, nominal, epsilon_lower, delta."""
    rows = [
        {"mechanism": name, "nominal": epsilon, "epsilon_lower": audit.epsilon_lower, "delta": audit.delta}
        for name in PROFILED
        for epsilon in NOMINAL
        for audit in audits(
            make(name, epsilon=epsilon, domain=RECORD), samples=10_000, deltas=[0.0, REPORT_DELTA], confidence=0.99
        )
    ]
    return pd.DataFrame(rows)


def draw_profiles(table: pd.DataFrame, audits: pd.DataFrame) -> Figure:
    """delta against epsilon, a few mechanisms in each panel, with the audits' lower bounds as triangles.

    Args:
        table: of `profile_table`.
        audits: rows {mechanism, nominal, epsilon_lower, delta} of audits of the same releases.
    """
    table = table.assign(delta=table["delta"].clip(lower=SMALLEST_DELTA))
    audits = audits[(audits["epsilon_lower"] >= LEAST) & (audits["epsilon_lower"] < math.inf)]
    nominals = sorted(set(table["nominal"]), reverse=True)
    kept, exceeded = _by_promise(table)
    groups = {"kept": kept[:MOST_LINES], "exceeded": exceeded[:MOST_LINES]}
    cells = [(nominal, promise) for nominal in nominals for promise, names in groups.items() if names]
    figure, axes = panels(len(cells), columns=2, height=3.0, sharey=True)
    decades(axes, [*table["epsilon"].clip(lower=LEAST), *nominals], "ε of the whole record (nats)")
    decades(axes, [SMALLEST_DELTA, 1.0], "δ", vertical=True)
    for ax, (nominal, promise) in zip(axes, cells, strict=True):
        ax.axvline(nominal, color=QUIET, linewidth=1.1, linestyle=DASHED, zorder=1)
        ax.set_title(f"Nominal ε = {nominal:g} is {promise} by")
        group = groups[promise]
        for name in group:
            part = table[(table["mechanism"] == name) & (table["nominal"] == nominal) & (table["epsilon"] >= LEAST)]
            found = audits[(audits["mechanism"] == name) & (audits["nominal"] == nominal)]
            colour = look(name).colour
            ax.plot(part["epsilon"], part["delta"], color=colour, label=short(name))
            at = found["delta"].clip(lower=1.6 * SMALLEST_DELTA)
            ax.plot(found["epsilon_lower"], at, ">", color=colour, markersize=6, label="_audit", zorder=4)
    note = (
        "One release of 64 elements. A triangle is an audit: ε is at least this, at 99 % confidence, at its δ: 1e-5, "
    )
    note += "or 0 (at the bottom). To the right of its own line one at 1e-5 would contradict that. "
    note += "Dashed: the nominal ε; TLDP's is of one element."
    if cut := {*kept[MOST_LINES:], *exceeded[MOST_LINES:]}:
        note += f" Not drawn: {_names(cut)}."
    return finish(figure, _beyond(table, audits), note=note)


def _by_promise(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Mechanisms whose nominal epsilon holds at delta 1e-5, and the others; those of `PROFILED` first, in its order."""
    loose = table[table["epsilon"] > 1.01 * table["nominal"]]
    over = set(loose[loose["delta"] > REPORT_DELTA]["mechanism"])
    names = sorted(set(table["mechanism"]), key=lambda n: PROFILED.index(n) if n in PROFILED else len(PROFILED))
    return [n for n in names if n not in over], [n for n in names if n in over]


def _beyond(table: pd.DataFrame, audits: pd.DataFrame) -> str:
    """The title: whose nominal epsilon audits at delta 1e-5 exceed, and whether one contradicts a profile."""
    loose = audits[audits["delta"] >= REPORT_DELTA]
    against = {row["mechanism"] for row in loose.to_dict("records") if _contradicts(table, row)}
    if against:
        return f"An audit contradicts the profile of {_names(against)}"
    over = set(loose[loose["epsilon_lower"] > loose["nominal"]]["mechanism"])
    if not over:
        return "No audit finds more than the nominal ε of one release"
    return f"Audits exceed the nominal ε of {_names(over)}, but no profile"


def _names(mechanisms: set[str]) -> str:
    return listed([short(name) for name in order(mechanisms)])


def _contradicts(table: pd.DataFrame, audit: Mapping[Any, Any]) -> bool:
    """Whether the audit's lower bound on epsilon is where its own profile has a smaller delta."""
    own = table[(table["mechanism"] == audit["mechanism"]) & (table["nominal"] == audit["nominal"])]
    own = own.sort_values("epsilon")
    return len(own) > 0 and float(np.interp(audit["epsilon_lower"], own["epsilon"], own["delta"])) < audit["delta"]


CEILING_STUDY, RELEASED = "tldp_type1", "accuracy_perturbed_test"


def ceiling_table() -> pd.DataFrame:
    """The highest accuracy of any classifier on released records of ten classes, by epsilon (pure and 1e-5)."""
    grid = np.geomspace(0.05, 20.0, 200)
    return pd.DataFrame(
        {
            "epsilon": grid,
            "pure": [accuracy_ceiling(float(e), 10) for e in grid],
            "at_1e-5": [accuracy_ceiling(float(e), 10, REPORT_DELTA) for e in grid],
        }
    )


def draw_ceiling(table: pd.DataFrame, metrics: pd.DataFrame) -> Figure:
    """The ceiling, what papers print at their epsilon, and our runs of TLDP at their printed and true epsilons.

    Args:
        table: of `ceiling_table`.
        metrics: the metrics table; rows of `accuracy_perturbed_test` of TLDP's Type I are drawn, of the data set and
            network that have most of them.
    """
    rows = metrics[(metrics["metric"] == RELEASED) & (metrics["study"] == CEILING_STUDY)]
    rows = rows[rows["mechanism"].isin(["tldp-l", "tldp-g"])]
    if len(rows):
        place = rows["dataset"].astype(str) + " " + rows["variant"].astype(str)
        rows = rows[place == place.value_counts().sort_index().idxmax()]
    figure, (ax,) = panels(1, height=4.0)
    true = finite(placed(rows, "guarantee_epsilon"))
    decades(ax, [*table["epsilon"], *true["at"]], "ε of the whole record (nats)")
    shares(ax, "accuracy, ten classes")
    ax.set_ylim(-0.02, 1.14)
    ends = ax.get_xlim()
    edge = np.array([ends[0], *table["epsilon"], ends[1]])
    top = np.array([table["pure"].iloc[0], *table["pure"], table["pure"].iloc[-1]])
    shade(ax, edge, top, 1.0, PALE, 1.0)
    draw_bound(ax, edge, top, "_ceiling")
    for name in order(set(rows["mechanism"])):
        own = look(name).label
        draw_mechanism(ax, placed(rows[rows["mechanism"] == name], "epsilon"), name, text=f"{own}, printed ε")
        draw_mechanism(ax, true[true["mechanism"] == name], name, text=f"{own}, true ε")
    points = {paper: _claims(paper) for paper in ("LATENT", "TLDP")}
    for paper, claimed in points.items():
        draw_printed(ax, [e for e, _ in claimed], [v for _, v in claimed], f"printed by {paper}")
    at = float(np.interp(0.3, table["pure"], table["epsilon"]))
    lines = ("◂ no classifier", "gets here on", "released", "records")
    words = "\n   ".join(lines) if narrow() else f"{lines[0]} {lines[1]}\n   {lines[2]} {lines[3]}"
    ax.annotate(words, (at, 0.3), (6, 0), textcoords="offset points", va="center", color=QUIET, fontsize=SMALLEST)
    notes = [
        "The ceiling is for released test records of ten classes; of clean ones it says nothing.",
        "TLDP prints F1 on clean ones, and LATENT does not say whether its test records are released.",
        _lines_note(rows),
    ]
    allowed = float(np.interp(1.0, table["epsilon"], table["pure"]))
    title = f"From records released at a true ε of 1 no classifier gets above {percent(allowed)}"
    return finish(figure, title, note=" ".join(filter(None, notes)))


def _claims(paper: str) -> list[tuple[float, float]]:
    """The test scores of what a paper proposes at an epsilon, each once."""
    found: set[PrintedPoint] = {p for p in printed_points() if p.paper == paper and p.proposed}
    return sorted({(p.epsilon, p.value) for p in found})


def _lines_note(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    name = dataset_name(str(rows["dataset"].iloc[0]))
    return f"Lines: ours on released test records of {name}, means over seeds; bands: lowest to highest."
