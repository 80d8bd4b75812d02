"""The first picture: the epsilon that is printed, the epsilon that is guaranteed, and the accuracy beside them."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.mechanisms.pldp_fl import PdpmCurve
from tensorldp_papers.plots.axes import SMALL_EPSILON, decades
from tensorldp_papers.plots.names import dataset_name, in_order
from tensorldp_papers.plots.sheets import PANEL, SMALLEST, TEXT, finish, narrow, panels, text_width
from tensorldp_papers.plots.style import HELD, INK, PALE, PAPER, QUIET, WEAKER
from tensorldp_papers.plots.words import DELTA_TEXT, counted, listed, percent, short_number, whole_number
from tensorldp_papers.rooms import first_picture
from tensorldp_papers.run.cell import variant_factors

# factors of other settings
OTHERWISE = {"range", "labels", "augment", "control", "private", "participation", "split", "learner", "budget"}
SAME_EPSILON = 1.01  # times an epsilon that counts as the same
LEAST_TRIED = 0.5  # of a nominal epsilon: a smaller one has too many mixtures for half a minute
UNPROVED = "◇ ≤ "  # as its dot, which is a hollow diamond


def epsilons(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of the picture that a table has numbers for, on MNIST, or else on the first data set of each.

    Of several settings the one with the best accuracy counts. Where all that is printed is guaranteed with delta 0,
    the pure epsilon is taken, otherwise that at `DELTA_TEXT`.

    Returns:
        Columns name, of, dataset, variant, printed, guaranteed, pure, exact, proved, metric, accuracy, low, high, seeds
        and clients: the guarantee is the largest over those of all seeds, 0 where there are none.
    """
    table = []
    for row in first_picture():
        part = metrics[
            (metrics["study"] == row.study)
            & (metrics["mechanism"] == row.mechanism)
            & (metrics["metric"] == row.metric)
        ]
        factors = part["variant"].map(variant_factors)
        fits = [
            all(f.get(key) == value for key, value in row.factors.items()) and not f.keys() & OTHERWISE for f in factors
        ]
        part = part[pd.Series(fits, index=part.index, dtype=bool)]
        part = part[(part["epsilon"] > 0) & part["guarantee_epsilon"].map(math.isfinite)]
        if part.empty:
            continue
        dataset = "mnist" if (part["dataset"] == "mnist").any() else in_order(part["dataset"])[0]
        part = part[part["dataset"] == dataset]
        printed = min(part["epsilon"].unique(), key=lambda e: abs(math.log(e / row.printed)))
        part = part[part["epsilon"] == printed]
        best = part.groupby("variant")["value"].mean().idxmax()
        part = part[part["variant"] == best]
        first = part.iloc[0]
        pure = first["guarantee_pure_epsilon"] <= SAME_EPSILON * printed
        clients = metrics[
            (metrics["study"] == row.study)
            & (metrics["dataset"] == dataset)
            & (metrics["variant"] == best)
            & (metrics["metric"] == "client_epsilon")
        ]
        table.append(
            {
                "name": row.name,
                "of": row.of,
                "dataset": dataset,
                "variant": best,
                "printed": float(printed),
                "guaranteed": float(first["guarantee_pure_epsilon"] if pure else first["guarantee_epsilon"]),
                "pure": pure,
                "exact": bool(first["guarantee_exact"]),
                "proved": bool(first["guarantee_exact"]) or _is_proved(row.mechanism, first),
                "metric": row.metric,
                "accuracy": float(part["value"].mean()),
                "low": float(part["value"].min()),
                "high": float(part["value"].max()),
                "seeds": part["seed"].nunique(),
                "clients": clients["client"].nunique() if "client" in clients else 0,
            }
        )
    columns = ["name", "of", "dataset", "variant", "printed", "guaranteed", "pure", "exact", "proved", "metric"]
    return pd.DataFrame(table, columns=[*columns, "accuracy", "low", "high", "seeds", "clients"])


def _is_proved(mechanism: str, row: pd.Series) -> bool:
    """Returns whether an upper bound is proved: PDPM's for many elements where `PdpmCurve.holds` finds it to hold."""
    if mechanism != "pdpm":
        return True
    nominal, pure, epsilon, delta = (
        float(row[key]) for key in ("epsilon", "guarantee_pure_epsilon", "guarantee_epsilon", "guarantee_delta")
    )
    if not math.isfinite(pure) or not delta > 0.0 or nominal < LEAST_TRIED:
        return False
    curve = PdpmCurve(nominal, round(pure / nominal))
    is_its_own = math.isclose(curve.epsilon(delta), epsilon, rel_tol=1e-9)  # the client's epsilon is the largest
    return is_its_own and curve.holds(epsilon, delta)


def draw_epsilons(table: pd.DataFrame) -> Figure:
    """Draws a row for each one of `epsilons`: open dot printed, arrow to the filled dot guaranteed, accuracy."""
    count = max(len(table), 1)
    figure, (ax,) = panels(1, height=(0.6 if narrow() else 0.38) * count + 0.75)
    values = [0.1, 100.0, *table["printed"], *table["guaranteed"]]
    width = figure.get_size_inches()[0] * (0.95 if narrow() else 0.75)  # of the panel, beside names and accuracies
    decades(ax, [*values, _right_end(width, table, values)], "ε of one whole record, log scale (nats)")
    ax.set_ylim(count - 0.4, -1.1)
    ax.axvspan(ax.get_xlim()[0], SMALL_EPSILON, color=PALE, alpha=0.6, linewidth=0, zorder=0)
    edge = ax.get_xaxis_transform()
    head: dict[str, Any] = {"fontsize": SMALLEST, "color": QUIET, "va": "center"}
    ax.text(SMALL_EPSILON * 0.85, 0.03, f"ε up to {SMALL_EPSILON:g}", transform=edge, ha="right", **head)
    for i, row in enumerate(table.to_dict("records")):
        _draw_row(ax, i, {str(key): value for key, value in row.items()})
    if len(table):
        ax.text(table["printed"].iloc[0], -0.85, "○ printed", ha="center", **head)
        ax.text(table["guaranteed"].iloc[0], -0.85, "● guaranteed", ha="right" if narrow() else "center", **head)
        ax.text(_end(), -0.85, "accuracy", transform=ax.get_yaxis_transform(), ha="right", **head)
    ax.set_yticks(range(len(table)), ["" if narrow() else name for name in table["name"]], fontsize=TEXT, color=INK)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    return finish(figure, _answer(table), note=_note(table), datasets=set(table["dataset"]), names=False)


def _right_end(width: float, table: pd.DataFrame, values: list[float]) -> float:
    """Computes how far an axis of a width in inches goes, so that every number has room at the right of its dot."""
    low, ends = math.log(min(values)), [math.log(max(values))]
    for row in table.to_dict("records"):
        room = (text_width(_said(row), _size(), bold=True) + 14) / 72
        ends.append(low + (math.log(row["guaranteed"]) - low) / (1 - room / width))
    return math.exp(max(ends))


def _size() -> float:
    return TEXT if narrow() else PANEL


def _is_same(row: Any) -> bool:
    return bool(
        row["guaranteed"] <= SAME_EPSILON * row["printed"] and row["guaranteed"] * SAME_EPSILON >= row["printed"]
    )


def _said(row: Any) -> str:
    """Returns what stands beside the dot of what is guaranteed."""
    bound = "" if row["exact"] else "≤ " if row["proved"] else UNPROVED
    return "as printed" if _is_same(row) else bound + whole_number(row["guaranteed"])


def _end() -> float:
    """Returns where the column of accuracies ends, in widths of the panel."""
    return 1.0 if narrow() else 1.09


def _draw_row(ax: Axes, i: int, row: dict[str, Any]) -> None:
    held = row["guaranteed"] <= SAME_EPSILON * row["printed"]
    same = _is_same(row)
    colour = WEAKER if not held else HELD if row["guaranteed"] <= SMALL_EPSILON else QUIET
    if not same:
        style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.0, "shrinkA": 5, "shrinkB": 4}
        ax.annotate("", (row["guaranteed"], i), (row["printed"], i), arrowprops=style)
        ring: dict[str, Any] = {"markerfacecolor": PAPER, "markeredgecolor": colour, "markeredgewidth": 1.8}
        ax.plot(row["printed"], i, "o", markersize=9, **ring)
        beside: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": SMALLEST, "color": colour}
        below = {"xytext": (0, -7), "va": "top"} if narrow() else {"xytext": (0, 7)}  # a phone has the name above
        ax.annotate(whole_number(row["printed"]), (row["printed"], i), **below, **beside)
    hollow: dict[str, Any] = {"marker": "D", "markersize": 8, "markerfacecolor": PAPER, "markeredgewidth": 1.8}
    dot: dict[str, Any] = {"marker": "o", "markersize": 10} if row["proved"] else hollow
    ax.plot(row["guaranteed"], i, color=colour, **dot)
    left = held and not same
    place: dict[str, Any] = {"textcoords": "offset points", "va": "center", "ha": "right" if left else "left"}
    offset = (-9 if left else 9, 0)
    ax.annotate(_said(row), (row["guaranteed"], i), offset, color=colour, weight="bold", fontsize=_size(), **place)
    score: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "color": INK}
    above = 0.42 if narrow() else 0.0
    ax.text(_end(), i - above, percent(row["accuracy"]), ha="right", weight="bold", fontsize=_size(), **score)
    if narrow():
        ax.text(0.0, i - above, row["name"], ha="left", fontsize=TEXT, **score)


def _answer(table: pd.DataFrame) -> str:
    """Returns the title: whether any guarantee is weaker than what is printed."""
    weaker = table[table["guaranteed"] > SAME_EPSILON * table["printed"]]
    if len(weaker):
        return "The ε on the label is not the ε you get"
    return "The ε on the label is guaranteed" if len(table) else "No paper's mechanism is in this run"


def _note(table: pd.DataFrame) -> str:
    if table.empty:
        return ""
    where = listed([dataset_name(name) for name in in_order(table["dataset"])])
    notes = [f"Accuracy: on the test records of {where}, mean over seeds, of the best setting that ran."]
    notes.append(
        f"Guaranteed at δ = {DELTA_TEXT}" + ("; what is as printed, with δ = 0." if table["pure"].any() else ".")
    )
    if not table["exact"].all():
        notes.append("≤: an upper bound.")
    if not table["proved"].all():
        notes.append("◇: one that is not proved.")
    shown = [row for row in first_picture() if row.name in set(table["name"])]
    runs = [f"{row.of} by {row.name}" for row in shown if row.of != "an image"]
    notes += [f"A record is an image, or {listed(runs)}."] if runs else []
    for row in table[table["clients"] > 0].to_dict("records"):
        of_whom = f"{counted(row['seeds'], 'seed')} × {row['clients']} clients"
        notes.append(f"{row['name'].split(',')[0]}'s ε is the largest of {of_whom}.")
    return " ".join([*notes, *filter(None, (row.note for row in shown))])


def sentence(table: pd.DataFrame) -> str:
    """Describes the picture in words, for those who cannot see it."""
    rows = table[["name", "printed", "guaranteed", "accuracy"]].itertuples(index=False, name=None)
    return "; ".join(
        f"{name}: printed {short_number(printed)}, guaranteed {short_number(guaranteed)}, accuracy {accuracy:.0%}"
        for name, printed, guaranteed, accuracy in rows
    )
