"""The ceiling of accuracy on released records, and what a run of TLDP's Type I found; its curves are `plots.curves`."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tensorldp.deltas import REPORT_DELTA
from tensorldp.privacy import accuracy_ceiling
from tensorldp_papers.plots.axes import decades, shares
from tensorldp_papers.plots.comparing import EQUAL, meetings, points
from tensorldp_papers.plots.curves import main_setting, with_lines
from tensorldp_papers.plots.finding import PRINTED_EPSILON, Finding, epsilon_words, first_dataset
from tensorldp_papers.plots.lines import draw_bound, draw_mechanism, draw_printed, shade
from tensorldp_papers.plots.means import finite, placed
from tensorldp_papers.plots.names import dataset_name, study_name
from tensorldp_papers.plots.printed import PrintedPoint, printed_points
from tensorldp_papers.plots.sheets import SMALLEST, finish, narrow, panels
from tensorldp_papers.plots.style import PALE, QUIET, label, look, order
from tensorldp_papers.plots.words import percent, short_number

STUDY, RELEASED = "tldp_type1", "accuracy_perturbed_test"
LEAST_GAP = 0.01  # of a score: no smaller difference is written


def ceiling_table() -> pd.DataFrame:
    """Tabulates the highest accuracy of any classifier on releases of ten classes, by epsilon (pure and 1e-5)."""
    grid = np.geomspace(0.05, 20.0, 200)
    return pd.DataFrame(
        {
            "epsilon": grid,
            "pure": [accuracy_ceiling(float(e), 10) for e in grid],
            "at_1e-5": [accuracy_ceiling(float(e), 10, REPORT_DELTA) for e in grid],
        }
    )


def draw_ceiling(table: pd.DataFrame, metrics: pd.DataFrame) -> Figure:
    """Draws the ceiling, what papers print at their epsilon, and our runs of TLDP at their printed and true epsilons.

    Args:
        table: of `ceiling_table`.
        metrics: the metrics table; rows of `accuracy_perturbed_test` of TLDP's Type I are drawn, of the data set and
            network that have most of them.
    """
    rows = metrics[(metrics["metric"] == RELEASED) & (metrics["study"] == STUDY)]
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
    for paper, claimed in {paper: _claims(paper) for paper in ("LATENT", "TLDP")}.items():
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
    """Returns the test scores of what a paper proposes at an epsilon, each once."""
    found: set[PrintedPoint] = {p for p in printed_points() if p.paper == paper and p.proposed}
    return sorted({(p.epsilon, p.value) for p in found})


def _lines_note(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    name = dataset_name(str(rows["dataset"].iloc[0]))
    return f"Lines: ours on released test records of {name}, means over seeds; bands: lowest to highest."


def findings(metrics: pd.DataFrame) -> list[Finding]:
    """Returns the sentences for which a table of metrics has numbers."""
    return list(filter(None, (_label(metrics), _level(metrics))))


def _label(metrics: pd.DataFrame) -> Finding | None:
    """Returns what TLDP's printed epsilon guarantees an image."""
    rows = metrics[(metrics["study"] == STUDY) & (metrics["mechanism"] == "tldp-l")]
    rows = rows[~rows["variant"].str.contains("range=printed")]
    if rows.empty:
        return None
    rows = rows[rows["dataset"] == (dataset := first_dataset(rows))]
    printed = min(rows["epsilon"].unique(), key=lambda e: abs(math.log(e / PRINTED_EPSILON)))
    guaranteed = rows[rows["epsilon"] == printed]["guarantee_epsilon"].min()
    before = (
        f"Where {label('tldp-l')} prints an ε of {epsilon_words(printed)}, one record of {dataset_name(dataset)} gets "
    )
    return Finding(before, short_number(float(guaranteed)), ".", STUDY, study_name(STUDY))


def _level(metrics: pd.DataFrame) -> Finding | None:
    """Returns how far TLDP-L and the Laplace mechanism are apart at one true epsilon."""
    rows = metrics[(metrics["study"] == STUDY) & (metrics["metric"] == "weighted_f1")]
    if rows.empty:
        return None
    rows = rows[rows["dataset"] == (dataset := first_dataset(rows))]
    rows = placed(main_setting(with_lines(rows.copy())), "guarantee_epsilon")
    known, tldp = (points(rows[rows["line"] == name]) for name in ("laplace", "tldp-l"))
    apart = [abs(a.mean - b.mean) for a, b in meetings(known, tldp, EQUAL)]
    if not apart:
        return None
    before = f"At one true ε, F1 of {label('tldp-l')} and of plain Laplace noise on {dataset_name(dataset)} differ by "
    gap = float(np.median(apart))
    return Finding(
        before, f"{gap:.2f}" if gap >= LEAST_GAP else f"less than {LEAST_GAP}", ".", STUDY, study_name(STUDY)
    )
