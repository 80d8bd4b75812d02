"""Figures about privacy itself: profiles with audits, and what an epsilon allows an attacker or a classifier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanisms import Box, make
from tensorldp.privacy import accuracy_ceiling, audits
from tensorldp_papers.plots.lines import shade
from tensorldp_papers.plots.panels import drawn, grid, legend_below
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import (
    BLUE,
    DARK_GREY,
    DOTTED,
    FAINT,
    INK,
    PINK,
    RED,
    SHORT_DASHED,
    appearance,
    label,
    order,
)

PROFILED = ("laplace", "gaussian", "gaussian-analytic", "idn", "mvg", "tldp-l", "tldp-g", "privunit", "duchi", "hybrid")
NOMINAL = (0.1, 1.0)  # epsilons of the releases
RECORD = Box(0.0, 1.0, (8, 8))
SMALLEST_DELTA = 1e-12


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
    """One panel per mechanism: delta against epsilon, the nominal epsilon, and the audits' lower bounds.

    Args:
        table: of `profile_table`.
        audits: rows {mechanism, nominal, epsilon_lower, delta} of audits of the same releases.
    """
    names = order(set(table["mechanism"]))
    columns = 5
    height = math.ceil(len(names) / columns)
    figure, axes = grid(height, columns, (2.9 * columns, 2.7 * height + 0.6), sharey=True)
    nominals = sorted(table["nominal"].unique())
    audits = audits[(audits["epsilon_lower"] > 0) & np.isfinite(audits["epsilon_lower"])]
    audits = audits.assign(
        beyond=(audits["epsilon_lower"] > audits["nominal"]) & (audits["delta"] >= REPORT_DELTA),
        shown_delta=audits["delta"].clip(lower=SMALLEST_DELTA),
    )
    shades = dict(zip(nominals, ("-", SHORT_DASHED, DOTTED), strict=False))
    for ax, name in zip(axes.flat, names, strict=False):
        colour = appearance(name)["color"]
        for nominal in nominals:
            part = table[(table["mechanism"] == name) & (table["nominal"] == nominal)]
            shown = part[part["delta"] >= SMALLEST_DELTA]
            ax.plot(shown["epsilon"], shown["delta"], color=colour, linestyle=shades[nominal], linewidth=1.4)
            ax.axvline(nominal, color=FAINT, linestyle=shades[nominal], linewidth=0.8)
            arrows = audits[(audits["mechanism"] == name) & (audits["nominal"] == nominal)]
            edges = np.where(arrows["beyond"], RED, INK)
            faces = edges if nominal == nominals[0] else "white"
            at, delta = arrows["epsilon_lower"], arrows["shown_delta"]
            ax.scatter(at, delta, marker=">", s=26, facecolors=faces, edgecolors=edges, zorder=3)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_ylim(SMALLEST_DELTA / 3, 2.0)
        ax.set_title(label(name), fontsize=9)
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    lines = [
        Line2D([], [], color=DARK_GREY, linestyle=shades[n], label=f"profile, nominal ε = {n:g}") for n in nominals
    ]
    lines.append(Line2D([], [], color=FAINT, linewidth=0.8, label="the nominal ε itself"))
    for nominal in nominals:
        if (audits["nominal"] == nominal).any():
            text = f"audit of nominal ε = {nominal:g}: ε is at least this"
            lines.append(_arrow(text, INK, INK if nominal == nominals[0] else "white"))
    if audits["beyond"].any():
        lines.append(_arrow("red: more than the nominal ε of its own release", RED, RED))
    figure.legend(handles=lines, loc="outside lower center", ncols=3, fontsize=8.5)
    for ax in axes[-1]:
        ax.set_xlabel("ε of the whole record (nats)", fontsize=9)
    figure.supylabel("δ(ε)", fontsize=10)
    figure.suptitle(
        "What one release of 64 elements guarantees: profiles and audits (δ down to 1e-12)\n"
        "Arrows stand at the audit's δ, 1e-5, or on the lower edge for δ = 0. To the right of the profile of its own "
        "release one would refute that profile. TLDP's nominal ε is of one element.",
        fontsize=9.5,
    )
    return figure


def _arrow(text: str, edge: str, face: str) -> Line2D:
    return Line2D([], [], color=edge, marker=">", linestyle="", markerfacecolor=face, label=text)


# papers, where they claim accuracies at an epsilon, whether the ceiling binds these, colour and marker
CLAIMS = (
    ("LATENT", "LATENT, Table 2", "", PINK, "P"),
    ("TLDP", "TLDP, section 5.3.1", ", on clean test records (not bound)", BLUE, "X"),
)


def ceiling_table(classes: int = 10) -> pd.DataFrame:
    """The highest accuracy on released test records that any classifier can have, by epsilon (pure and 1e-5)."""
    grid = np.geomspace(0.05, 20.0, 200)
    return pd.DataFrame(
        {
            "epsilon": grid,
            "pure": [accuracy_ceiling(float(e), classes) for e in grid],
            "at_1e-5": [accuracy_ceiling(float(e), classes, REPORT_DELTA) for e in grid],
        }
    )


def draw_ceiling(table: pd.DataFrame, metrics: pd.DataFrame) -> Figure:
    """The ceiling, the sources' claims at their nominal epsilon, and our runs at nominal and guaranteed epsilon.

    Args:
        table: of `ceiling_table`.
        metrics: the metrics table; rows of `accuracy_perturbed_test` of TLDP's Type I are drawn, of the data set and
            network that have most of them.
    """
    figure, ((ax,),) = grid(1, 1, (7.2, 5.2))
    ax.plot(table["epsilon"], table["pure"], color=INK, linewidth=1.6, label="ceiling for ε-LDP records")
    shade(ax, table["epsilon"], table["pure"], 1.0, INK, 0.06)
    rows = metrics[(metrics["metric"] == "accuracy_perturbed_test") & (metrics["study"] == "tldp_type1")]
    if len(rows):
        place = rows["dataset"].astype(str) + " " + rows["variant"].astype(str)
        rows = rows[place == place.value_counts().sort_index().idxmax()]
    for name in order({"tldp-l", "tldp-g"} & set(rows["mechanism"])):
        part = rows[rows["mechanism"] == name].groupby(["epsilon", "guarantee_epsilon"])["value"].mean().reset_index()
        colour, marker = appearance(name)["color"], appearance(name)["marker"]
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.0}
        ax.plot(part["epsilon"], part["value"], label=f"{label(name)}, ours, at the nominal ε", **style)
        finite = part[np.isfinite(part["guarantee_epsilon"])]
        style |= {"linestyle": (0, (3, 2)), "markerfacecolor": "white"}
        text = f"{label(name)}, ours, at the guaranteed ε"
        ax.plot(finite["guarantee_epsilon"], finite["value"], label=text, **style)
    for paper, claimed_in, bound, colour, marker in CLAIMS:
        points = {(p.epsilon, p.value) for p in printed_points() if p.paper == paper and p.proposed}
        at, value = zip(*sorted(points), strict=True)
        ax.scatter(at, value, color=colour, marker=marker, s=60, zorder=4, label=f"claimed: {claimed_in}{bound}")
    ax.set_xscale("log")
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel("ε of the whole record (nats)")
    ax.set_ylabel("accuracy on released test records, ten classes")
    ax.set_title("On average no classifier gets into the grey area from ε-LDP records")
    legend_below(ax, drawn([ax]), gap=38.0, width=7.2 * 72)
    return figure
