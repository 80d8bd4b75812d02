"""The figure of privacy profiles with audits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tensorldp.audit.likelihood import audits
from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanisms import Box, make
from tensorldp_papers.plots.axes import decades
from tensorldp_papers.plots.lines import DASHED, MOST_LINES
from tensorldp_papers.plots.sheets import finish, panels
from tensorldp_papers.plots.style import QUIET, look, order, short
from tensorldp_papers.plots.words import listed
from tensorldp_papers.rooms import proposer

PROFILED = ("laplace", "gaussian", "gaussian-analytic", "idn", "mvg", "tldp-l", "tldp-g", "privunit", "duchi", "hybrid")
NOMINAL = (0.1, 1.0)  # epsilons of the releases
RECORD = Box(0.0, 1.0, (8, 8))  # of 64 elements, as the caption says
SMALLEST_DELTA = 1e-12  # where the axis of delta begins
LEAST_EPSILON = 0.01  # epsilon that is drawn


def profile_table(
    mechanisms: Sequence[str] = PROFILED, nominal: Sequence[float] = NOMINAL, points: int = 60
) -> pd.DataFrame:
    """Computes delta(epsilon) of a release by mechanism and nominal: mechanism, nominal, epsilon, delta."""
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
    """Audits the same releases as `profile_table`, at delta 0 and 1e-5: mechanism, nominal, epsilon_lower, delta."""
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
    """Draws delta against epsilon, a few mechanisms in each panel, with the audits' lower bounds as triangles.

    Args:
        table: of `profile_table`.
        audits: rows {mechanism, nominal, epsilon_lower, delta} of audits of the same releases.
    """
    table = table.assign(delta=table["delta"].clip(lower=SMALLEST_DELTA))
    audits = audits[(audits["epsilon_lower"] >= LEAST_EPSILON) & (audits["epsilon_lower"] < math.inf)]
    nominals = sorted(set(table["nominal"]), reverse=True)
    kept, exceeded = _by_promise(table)
    groups = {"kept": kept[:MOST_LINES], "exceeded": exceeded[:MOST_LINES]}
    cells = [(nominal, promise) for nominal in nominals for promise, names in groups.items() if names]
    figure, axes = panels(len(cells), columns=2, height=3.0, sharey=True)
    decades(axes, [*table["epsilon"].clip(lower=LEAST_EPSILON), *nominals], "ε of the whole record (nats)")
    decades(axes, [SMALLEST_DELTA, 1.0], "δ", vertical=True)
    for ax, (nominal, promise) in zip(axes, cells, strict=True):
        ax.axvline(nominal, color=QUIET, linewidth=1.1, linestyle=DASHED, zorder=1)
        ax.set_title(f"Nominal ε = {nominal:g} is {promise} by")
        group = groups[promise]
        for name in group:
            part = table[
                (table["mechanism"] == name) & (table["nominal"] == nominal) & (table["epsilon"] >= LEAST_EPSILON)
            ]
            found = audits[(audits["mechanism"] == name) & (audits["nominal"] == nominal)]
            colour = look(name).colour
            ax.plot(part["epsilon"], part["delta"], color=colour, label=short(name))
            at = found["delta"].clip(lower=1.6 * SMALLEST_DELTA)
            ax.plot(found["epsilon_lower"], at, ">", color=colour, markersize=6, label="_audit", zorder=4)
    note = (
        "One release of 64 elements. A triangle is an audit: ε is at least this, at 99 % confidence, at its δ: 1e-5, "
    )
    note += "or 0 (at the bottom). To the right of its own line one at 1e-5 would contradict that. "
    own = proposer(table["mechanism"])
    note += f"Dashed: the nominal ε; {own.short}'s is of one {own.unit}." if own else "Dashed: the nominal ε."
    if cut := {*kept[MOST_LINES:], *exceeded[MOST_LINES:]}:
        note += f" Not drawn: {_names(cut)}."
    return finish(figure, _beyond(table, audits), note=note)


def _by_promise(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Returns mechanisms whose nominal epsilon holds at delta 1e-5, and the others; `PROFILED` first, in order."""
    loose = table[table["epsilon"] > 1.01 * table["nominal"]]
    over = set(loose[loose["delta"] > REPORT_DELTA]["mechanism"])
    names = sorted(set(table["mechanism"]), key=lambda n: PROFILED.index(n) if n in PROFILED else len(PROFILED))
    return [n for n in names if n not in over], [n for n in names if n in over]


def _beyond(table: pd.DataFrame, audits: pd.DataFrame) -> str:
    """Returns the title: whose nominal epsilon audits at delta 1e-5 exceed, and whether one contradicts a profile."""
    loose = audits[audits["delta"] >= REPORT_DELTA]
    against = {row["mechanism"] for row in loose.to_dict("records") if _contradicts(table, row)}
    if against:
        return f"An audit contradicts the profile of {_names(against)}"
    over = set(loose[loose["epsilon_lower"] > loose["nominal"]]["mechanism"])
    if not over:
        return "No audit finds more than the nominal ε of one release"
    return f"Audits find more than the nominal ε of {_names(over)}, and contradict no profile"


def _names(mechanisms: set[str]) -> str:
    return listed([short(name) for name in order(mechanisms)])


def _contradicts(table: pd.DataFrame, audit: Mapping[Any, Any]) -> bool:
    """Returns whether the audit's lower bound on epsilon is where its own profile has a smaller delta."""
    own = table[(table["mechanism"] == audit["mechanism"]) & (table["nominal"] == audit["nominal"])]
    own = own.sort_values("epsilon")
    return len(own) > 0 and float(np.interp(audit["epsilon_lower"], own["epsilon"], own["delta"])) < audit["delta"]
