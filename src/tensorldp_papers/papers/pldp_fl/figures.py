"""PLDP-FL's figures: accuracy over rounds, at one guarantee and by share of clients, error of a mean, what is spent.

Each drawing is of the metrics table, and raises InputError where the table has no rows of its study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.axes import decades, shares
from tensorldp_papers.plots.comparing import Outcome, Point, outcome
from tensorldp_papers.plots.curves import most_telling
from tensorldp_papers.plots.lines import draw_bound, draw_chance, draw_mechanism, draw_printed, say_empty, shade
from tensorldp_papers.plots.means import over_seeds, study_rows
from tensorldp_papers.plots.names import METRICS, dataset_name, in_order
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.sheets import TEXT, finish, panels
from tensorldp_papers.plots.style import PALE, label, look, short
from tensorldp_papers.plots.words import listed, percent, whole_number
from tensorldp_papers.run.cell import variant_factors

PAPER = "pldp-fl"
PDPM, PRIVUNIT = "pdpm", "privunit"
MODES = {"e1": "ε of 0.1 or 0.2", "e2": "ε of 0.1 to 1", "e3": "ε of 0.9 or 1"}  # of clients
RANGES = {"t1": ("τ₁", "o"), "t2": ("τ₂", "s"), "t3": ("τ₃", "^")}
WIDTHS = "Safe ranges: τ₁ 0.2 or 0.4 wide, τ₂ 0.2 to 2, τ₃ 1.8 or 2"
CENTRES = {
    "global": ("around the server's weights", "o"),
    "zero": ("around 0", "s"),
    "": ("in their own unit", "^"),  # of a mechanism without safe ranges, such as a plug-in
}
COMPARED = ("pdpm", "plu-fedoa", "duchi", "piecewise")
PER_VALUE = "ε of every participant, of one value (nats)"
ERROR = "relative error of the mean"
BANDS = "Lines: means over seeds; bands: lowest to highest."
LEARNS = 1 / 3  # of the accuracy without privacy
THIRD = "a third of the accuracy without privacy"
LEARNING = f"To learn is to reach {THIRD} with every seed."
NEAR_GUARANTEE = 1.15  # times a guarantee that counts as the same


def pldp_rows(metrics: pd.DataFrame, study: str) -> pd.DataFrame:
    """Returns the rows of a study with its factors as columns; a factor that a cell lacks is empty text.

    A cell with safe ranges that does not name their centre has `zero`.

    Raises:
        InputError: if there are none.
    """
    rows = study_rows(metrics, study)
    split = {variant: variant_factors(variant) for variant in rows["variant"].unique()}
    for key in ("eps", "tau", "budget", "participation", "model", "split", "limit"):
        rows[key] = rows["variant"].map({variant: factors.get(key, "") for variant, factors in split.items()})
    centres = {v: factors.get("centre", "zero" if "tau" in factors else "") for v, factors in split.items()}
    rows["centre"] = rows["variant"].map(centres)
    return rows


def usual(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows with the study's own share of clients, split and number of records."""
    return rows[(rows["participation"] == "") & (rows["split"] == "") & (rows["limit"] == "")]


def over_rounds(rows: pd.DataFrame, stem: str = "accuracy") -> pd.DataFrame:
    """Returns rows of the metric `<stem>_by_round`."""
    series = rows[rows["metric"] == f"{stem}_by_round"]
    return series.assign(round=series["round"].astype(float))


def draw_rounds(metrics: pd.DataFrame, *, centre: str = "global") -> Figure:
    """Draws accuracy over rounds: a row for each data set, a panel for each mode of epsilon, a line for each of ranges.

    The `centre` of the safe ranges is `global`, the weights that the server has sent, or `zero`.
    """
    rows = pldp_rows(metrics, "pldp_fl")
    rows = over_rounds(rows[(rows["budget"] == "") & (rows["participation"] == "") & (rows["split"] == "")])
    free = rows[(rows["mechanism"] == NO_PRIVACY) & (rows["limit"] == "")]
    rows = rows[(rows["mechanism"] == PDPM) & (rows["centre"] == centre) & rows["tau"].isin(RANGES)]
    datasets = in_order([*rows["dataset"], *free["dataset"]])
    figure, axes = panels(len(MODES) * max(len(datasets), 1), columns=len(MODES), height=2.3, sharey=True)
    last = rows["round"].max() if len(rows) else free["round"].max()
    for ax, (dataset, mode) in zip(axes, [(d, m) for d in datasets for m in MODES], strict=False):
        here = rows[(rows["dataset"] == dataset) & (rows["eps"] == mode)]
        _draw_free(ax, free[(free["dataset"] == dataset) & (free["round"] <= last)])
        for tau, (text, marker) in RANGES.items():
            part = here[here["tau"] == tau]
            _line(ax, part[part["limit"] == ""], PDPM, "round", text, marker)
            for limit, more in part[part["limit"] != ""].groupby("limit"):
                _line(ax, more, PDPM, "round", f"{text}, {int(str(limit)):,} images", "v")
        for point in printed_points("pldp_fl", dataset):
            if point.panel == mode and len(here):
                draw_printed(ax, min(point.round, last), point.value, "_")
        ax.set_title(f"{dataset_name(dataset)}, {MODES[mode]}")
    _rounds_axes(axes)
    notes = [f"{WIDTHS}, {CENTRES[centre][0]}. {BANDS} {LEARNING}"]
    if any(printed_points("pldp_fl", dataset) for dataset in datasets):
        notes.append("Stars: what the paper prints.")
    if (rows["limit"] != "").any():
        notes.append("Where no number of images is said, they are fewer than the paper's.")
    return finish(
        figure,
        _rounds_answer(rows, free, datasets),
        source="PLDP-FL, Figures 4 and 5",
        paper=PAPER,
        datasets=datasets,
        note=" ".join(notes),
    )


def draw_comparison(metrics: pd.DataFrame) -> Figure:
    """Draws accuracy over rounds of several mechanisms on ranges of width 2, a panel for each data set and centre."""
    rows = pldp_rows(metrics, "pldp_fl")
    rows = over_rounds(usual(rows[rows["budget"] == ""]))
    free = rows[rows["mechanism"] == NO_PRIVACY]
    rows = rows[(rows["eps"] == "e2") & (rows["tau"] == "2.0") & (rows["mechanism"] != NO_PRIVACY)]
    names = most_telling(set(rows["mechanism"]), COMPARED)
    rows = rows[rows["mechanism"].isin(names)]
    datasets = in_order(rows["dataset"])
    centres = [centre for centre in CENTRES if (rows["centre"] == centre).any()]
    cells = [(dataset, centre) for dataset in datasets for centre in centres]
    figure, axes = panels(max(len(cells), 1), columns=max(len(centres), 1), height=2.5, sharey=True)
    for ax, (dataset, centre) in zip(axes, cells, strict=False):
        here = rows[(rows["dataset"] == dataset) & (rows["centre"] == centre)]
        _draw_free(ax, free[free["dataset"] == dataset])
        for name in names:
            _line(ax, here[here["mechanism"] == name], name, "round", short(name))
        for point in printed_points("pldp_fl", dataset):
            if point.panel == "comparison" and point.method in set(here["mechanism"]):
                text = f"printed, {short(point.method)}"
                draw_printed(ax, min(point.round, here["round"].max()), point.value, text)
        ax.set_title(f"{dataset_name(dataset)}, {CENTRES[centre][0]}")
    _rounds_axes(axes)
    if not cells:
        say_empty(axes[0], "not run at this scale")
    note = f"Clients have an ε of 0.1 to 1 for each weight. {BANDS} {LEARNING}"
    title = _comparison_answer(rows, free, names, datasets)
    return finish(figure, title, source="PLDP-FL, Figure 6", paper=PAPER, datasets=datasets, note=note)


@dataclass(frozen=True)
class Pair:
    """PDPM and PrivUnit at nearly one guarantee."""

    dataset: str
    mode: str
    pdpm: Point
    privunit: Point


def pairs(metrics: pd.DataFrame) -> list[Pair]:
    """Pairs, by data set and mode of epsilon, PDPM with its best ranges and PrivUnit at nearly that guarantee or less.

    The guarantee is the largest client's, of its whole model over the whole run.
    """
    rows = pldp_rows(metrics, "pldp_fl")
    rows = usual(rows[(rows["metric"] == "accuracy") & np.isfinite(rows["guarantee_epsilon"])])
    nine = rows[(rows["mechanism"] == PDPM) & (rows["budget"] == "") & rows["tau"].isin(RANGES)]
    other = rows[(rows["mechanism"] == PRIVUNIT) & (rows["budget"] == "model")]
    found = []
    for dataset in in_order(nine["dataset"]):
        at = _by_cell(other[other["dataset"] == dataset])
        for mode in MODES:
            own = _by_cell(nine[(nine["dataset"] == dataset) & (nine["eps"] == mode)])
            if own.empty:
                continue
            best = own.sort_values("mean").iloc[-1]
            ratio = at["guarantee_epsilon"] / best["guarantee_epsilon"]
            near = at[(ratio < 1.01) & (ratio > 1 / NEAR_GUARANTEE)]
            if len(near):
                twin = near.sort_values("guarantee_epsilon").iloc[-1]
                found.append(Pair(dataset, mode, _point(best), _point(twin)))
    return found


def draw_guaranteed(metrics: pd.DataFrame) -> Figure:
    """Draws PDPM and PrivUnit at nearly one guarantee: a row for each mode of epsilon, two dots joined by a line."""
    found = pairs(metrics)
    datasets = in_order(pair.dataset for pair in found)
    figure, axes = panels(max(len(datasets), 1), columns=2, height=2.3, sharex=True)
    for ax, dataset in zip(axes, datasets, strict=False):
        here = [pair for pair in found if pair.dataset == dataset]
        places = np.arange(len(here))[::-1]
        for place, pair in zip(places, here, strict=True):
            ax.plot([pair.pdpm.mean, pair.privunit.mean], [place] * 2, color=PALE, linewidth=5, zorder=1, label="_")
        for name, values in ((PDPM, [p.pdpm for p in here]), (PRIVUNIT, [p.privunit for p in here])):
            colour = look(name).colour
            means = [value.mean for value in values]
            ax.plot(means, places, color=colour, marker="o", markersize=8, linestyle="None", label="_")
            ax.hlines(places, [v.low for v in values], [v.high for v in values], color=colour, linewidth=2)
            _write(ax, label(name), (means[0], places[0]), 8, colour, "bold")
            for place, mean in zip(places, means, strict=True):
                _write(ax, percent(mean), (mean, place), -16, colour)
        ax.set_yticks(places, [f"{MODES[p.mode]}:\ntrue ε {whole_number(p.pdpm.at)}" for p in here])
        ax.set_ylim(-0.7, len(here) - 0.3)
        ax.tick_params(axis="y", length=0)
        ax.grid(False, axis="y")
        ax.set_title(dataset_name(dataset))
        ax.set_xlim(0.0, 1.04)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f} %"))
        ax.set_xlabel(METRICS["accuracy"][0])
    if not found:
        say_empty(axes[0], "not run at this scale")
    note = (
        "True ε: of the largest client's whole model over the whole run, at δ = 1e-5; of PrivUnit the same or up to "
        f"{100 * (1 - 1 / NEAR_GUARANTEE):.0f} % less. PDPM spends the printed ε on each weight, with its best safe "
        "ranges; PrivUnit its own on a whole model. Bars: lowest to highest seed."
    )
    return finish(figure, _pairs_answer(found), datasets=datasets, note=note)


def draw_errors(metrics: pd.DataFrame) -> Figure:
    """Draws relative error against epsilon by modes of safe ranges, and against the range by modes of epsilon."""
    rows = pldp_rows(metrics, "pldp_synthetic")
    rows = rows[rows["mechanism"] == PDPM]
    figure, (left, right) = panels(2, columns=2, height=2.9, sharey=True)
    for mode, (text, marker) in RANGES.items():
        _errors(left, rows[(rows["eps"] == "same") & (rows["tau"] == mode)], PDPM, "epsilon", text, marker)
    by_width = rows[rows["eps"].isin(MODES)]
    by_width = by_width.assign(width=by_width["tau"].astype(float))
    for (mode, text), (_, marker) in zip(MODES.items(), RANGES.values(), strict=True):
        _errors(right, by_width[by_width["eps"] == mode], PDPM, "width", text, marker)
    decades([left, right], _drawn_errors(rows), ERROR, vertical=True)
    left.set(title="one ε for all", xlabel=PER_VALUE, xlim=(0, 1.05))
    right.set(title="one safe range for all", xlabel="width of the safe range", xlim=(0, 2.1))
    note = f"Dashed: the closed form. {WIDTHS}. An error of 1 is as large as the mean. {BANDS}"
    return finish(figure, _errors_answer(rows), source="PLDP-FL, Figure 2", note=note)


def draw_error_mechanisms(metrics: pd.DataFrame) -> Figure:
    """Draws the same error of several mechanisms on ranges of width 2, with one epsilon for all."""
    rows = pldp_rows(metrics, "pldp_synthetic")
    rows = rows[(rows["eps"] == "same") & (rows["tau"] == "2.0")]
    names = most_telling(set(rows["mechanism"]), COMPARED)
    rows = rows[rows["mechanism"].isin(names)]
    figure, (ax,) = panels(1, height=3.0)
    for name in names:
        _errors(ax, rows[rows["mechanism"] == name], name, "epsilon", None)
    decades(ax, _drawn_errors(rows), ERROR, vertical=True)
    ax.set(xlabel=PER_VALUE, xlim=(0, 1.05))
    expected = rows[rows["metric"] == "expected_relative_error"].groupby(["mechanism", "epsilon"])["value"].mean()
    title = "The error of a mean with several mechanisms at the same ε of one value"
    if {PDPM, "plu-fedoa"} <= set(expected.index.get_level_values(0)):
        ratio = float((expected[PDPM] / expected["plu-fedoa"]).median())
        title = f"At the same ε of one value PDPM's error is {ratio:.1f} times that of Laplace noise"
    note = f"PLU-FedOA, as reconstructed, adds Laplace noise. Ranges are 2 wide. Dashed: the closed form. {BANDS}"
    return finish(figure, title, source="PLDP-FL, section 2", note=note)


def client_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Tabulates by variant, seed and client `uploads`, `epsilon` (whole model, whole run), `per_weight`, `nominal`."""
    rows = rows[rows["metric"].isin(["client_uploads", "client_epsilon", "client_per_weight"])]
    rows = rows.assign(client=rows["client"].astype(int), what=rows["metric"].str.removeprefix("client_"))
    table = rows.pivot_table(index=["variant", "eps", "tau", "seed", "client"], columns="what", values="value")
    table = table.reset_index()
    return table.assign(nominal=table["per_weight"] / table["uploads"])


def draw_ledger(metrics: pd.DataFrame) -> Figure:
    """Draws what clients have spent with PDPM: each at the end against its printed epsilon, and over the rounds."""
    rows = pldp_rows(metrics, "pldp_fl")
    rows = usual(rows[(rows["mechanism"] == PDPM) & (rows["budget"] == "") & (rows["tau"] == "t1")])
    rows = rows[(rows["centre"] == "zero") & (rows["dataset"] == next(iter(in_order(rows["dataset"])), ""))]
    figure, (left, right) = panels(2, columns=2, height=3.0)
    rows = rows[rows["metric"].str.startswith(("client_", "spent_"))]
    if rows.empty:
        say_empty(left, "not run at this scale")
        return finish(figure, NOT_RUN)
    table = client_table(rows[rows["seed"] == rows["seed"].min()])
    colour = look(PDPM).colour
    for column, text, marker in (("epsilon", "its whole model", "D"), ("per_weight", "one weight", "o")):
        left.plot(table["nominal"], table[column], marker, markersize=4, color=colour, label=text)
    draw_bound(left, [0.1, 1.0], [0.1, 1.0], "the ε that the paper states")
    spent_now = []
    for (mode, text), (_, marker) in zip(MODES.items(), RANGES.values(), strict=True):
        spent = rows[rows["eps"] == mode]
        least, median, most = (
            over_seeds(over_rounds(spent, f"spent_{word}"), "round") for word in ("least", "median", "most")
        )
        right.plot(median["round"], median["mean"], color=colour, marker=marker, label=text)
        shade(right, median["round"], least["mean"], most["mean"], colour)
        spent_now += [*least["mean"], *most["mean"]]
    decades(left, [0.1, 1.0], "the client's ε in the paper (nats)")
    decades(left, [*table["epsilon"], *table["per_weight"], 0.1], "ε spent in the run (nats)", vertical=True)
    decades(right, spent_now, "ε of the whole model so far (nats)", vertical=True)
    right.set(xlabel="round")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set_title("each client after the run")
    right.set_title("over the rounds, median client")
    last = table.sort_values("epsilon").iloc[-1]
    spent_most = whole_number(last["epsilon"])
    title = f"A client whose ε is {last['nominal']:.2g} in the paper has spent {spent_most} in the run"
    note = "The whole model's ε is at δ = 1e-5, one weight's is pure. Bands: least to most of all clients."
    return finish(figure, title, datasets=set(rows["dataset"]), note=note)


def _by_share(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows of Figure 3 with the share of clients in a round as a column; none if the table has a single share.

    The study's own share is not a factor: its cells are those that the other figures show. They are left out if they
    ran for more rounds than the others, as their uploads tell.
    """
    free = (rows["mechanism"] == NO_PRIVACY) & (rows["eps"] == "") & (rows["tau"] == "")
    private = (rows["mechanism"] == "pdpm") & (rows["eps"] == "e3") & (rows["tau"] == "t1")
    rows = rows[(free | private) & (rows["budget"] == "") & (rows["split"] == "") & (rows["limit"] == "")]
    shares = rows[rows["metric"] == "participation"].groupby("variant")["value"].first()
    rows = rows.assign(share=rows["variant"].map(shares).astype(float)).dropna(subset=["share"])
    sent = rows[rows["metric"] == "uploaded_megabytes"]
    whole = (sent["value"] / sent["share"]).groupby([sent["dataset"], sent["variant"]]).max()
    longer = whole.index[whole > 1.001 * whole.groupby(level=0).transform("min")]
    rows = rows[~pd.MultiIndex.from_frame(rows[["dataset", "variant"]]).isin(longer)]
    return rows if rows["share"].nunique() > 1 else rows[:0]


def draw_participation(metrics: pd.DataFrame) -> Figure:
    """Draws against the share of clients in a round what is uploaded, and each data set's accuracy."""
    rows = _by_share(pldp_rows(metrics, "pldp_fl"))
    datasets = in_order(rows["dataset"])
    figure, axes = panels(1 + max(len(datasets), 1), columns=3, height=2.6)
    left, others = axes[0], axes[1:]
    accuracy, sent = rows[rows["metric"] == "accuracy"], rows[rows["metric"] == "uploaded_megabytes"]
    first = sent[sent["dataset"] == datasets[0]] if datasets else sent
    _line(left, first[first["mechanism"] == PDPM], PDPM, "share", "_")
    for ax, dataset in zip(others, datasets, strict=False):
        here = accuracy[accuracy["dataset"] == dataset]
        free = over_seeds(here[here["mechanism"] == NO_PRIVACY], "share")
        if len(free):
            draw_bound(ax, free["share"], free["mean"], label(NO_PRIVACY))
        draw_chance(ax, here)
        for centre, (text, marker) in CENTRES.items():
            part = here[(here["mechanism"] == PDPM) & (here["centre"] == centre)]
            _line(ax, part, PDPM, "share", f"PDPM,\n{text}", marker)
        ax.set_title(dataset_name(dataset))
    shares(others, METRICS["accuracy"][0])
    left.set(title="communication", ylabel="uploaded in the run (MB)", ylim=(0.0, None if len(rows) else 1.0))
    at = sorted(set(rows["share"])) if len(rows) else []
    for ax in axes:
        ax.set(xlabel="share of clients in a round", xlim=(0.0, 1.05))
        ax.xaxis.set_major_locator(FixedLocator(at or [0.0, 1.0]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        if not len(rows):
            say_empty(ax, "not run at this scale")
    note = f"PDPM with {MODES['e3']} and ranges 0.2 or 0.4 wide. {BANDS}"
    return finish(
        figure, _shares_answer(accuracy), source="PLDP-FL, Figure 3", paper=PAPER, datasets=datasets, note=note
    )


# parts of figures


def _line(ax: Axes, rows: pd.DataFrame, name: str, at: str, text: str | None, marker: str | None = None) -> None:
    if len(rows):
        draw_mechanism(ax, rows, name, at=at, text=text, marker=marker, widest=np.inf)


def _draw_free(ax: Axes, rows: pd.DataFrame) -> None:
    """Draws the curve without privacy, as a reference."""
    means = over_seeds(rows, "round")
    if len(means):
        draw_bound(ax, means["round"], means["mean"], label(NO_PRIVACY))
        draw_chance(ax, rows)


def _rounds_axes(axes: Sequence[Axes]) -> None:
    shares(axes, METRICS["accuracy"][0])
    for ax in axes:
        ax.set(xlabel="round", xlim=(0.0, None))
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))


def _errors(ax: Axes, rows: pd.DataFrame, name: str, at: str, text: str | None, marker: str | None = None) -> None:
    """Draws measured errors with the closed form."""
    expected = over_seeds(rows[rows["metric"] == "expected_relative_error"], at)
    if len(expected):
        draw_bound(ax, expected[at], expected["mean"], "_")
    _line(ax, rows[rows["metric"] == "relative_error"], name, at, text, marker)


def _drawn_errors(rows: pd.DataFrame) -> pd.Series:
    return rows[rows["metric"].isin(["relative_error", "expected_relative_error"])]["value"]


def _write(ax: Axes, text: str, at: tuple[float, float], above: float, colour: str, weight: str = "normal") -> None:
    """Writes a text centred above a place, at a distance in points."""
    place: dict[str, Any] = {"xytext": (0, above), "textcoords": "offset points", "ha": "center"}
    ax.annotate(text, at, color=colour, weight=weight, fontsize=TEXT, **place)


def _by_cell(rows: pd.DataFrame) -> pd.DataFrame:
    seeds = rows.groupby(["guarantee_epsilon", "variant"])["seed"].nunique().rename("seeds").reset_index()
    return over_seeds(rows, ["guarantee_epsilon", "variant"]).merge(seeds)


def _point(row: pd.Series) -> Point:
    return Point(row["guarantee_epsilon"], row["mean"], row["min"], row["max"], row["seeds"])


# titles

NOT_RUN = "Not run at this scale"
WIDE = "Accuracy over rounds of several mechanisms on ranges of width 2"


def _final(rows: pd.DataFrame) -> pd.DataFrame:
    """Computes the accuracy of each data set and variant at its last round: mean, lowest and highest of the seeds."""
    last = rows[rows["round"] == rows.groupby(["dataset", "mechanism", "variant"])["round"].transform("max")]
    return over_seeds(last, ["dataset", "mechanism", "variant"])


def _learns(rows: pd.DataFrame, free: pd.DataFrame) -> bool | None:
    """Returns whether on some data set all seeds of a variant get a third of what there is without privacy.

    None where the seeds do not agree, or none was run.
    """
    level = _final(free).groupby("dataset")["mean"].max()
    found = _final(rows)
    least = LEARNS * found["dataset"].map(level)
    if (found["min"] >= least).any():
        return True
    return False if len(found) and (found["max"] < least).all() else None


def _rounds_answer(rows: pd.DataFrame, free: pd.DataFrame, datasets: list[str]) -> str:
    """Returns the title: with which mixes of epsilon PDPM learns, and how well at best."""
    if rows.empty:
        return NOT_RUN
    learns = {mode: _learns(rows[rows["eps"] == mode], free) for mode in MODES}
    learned = [mode for mode in MODES if learns[mode]]
    printed = [p for p in printed_points("pldp_fl") if p.panel in MODES and p.dataset in datasets]
    if not learned:
        if None in learns.values():
            return "PDPM's accuracy over rounds, by clients' ε and safe ranges"
        top = max((p.value for p in printed), default=None)
        return f"PDPM reaches {THIRD} at no mix of ε" + (f"; the paper prints up to {percent(top, 1)}" if top else "")
    finals = _final(rows[rows["eps"] == learned[-1]]).groupby("dataset")["mean"].max()
    dataset = str(finals.idxmax())
    only = "" if None in learns.values() else "only "
    said = f"{only}with {' and with '.join(MODES[mode] for mode in learned)}"
    said = "at every mix of ε" if len(learned) == len(MODES) else said
    there = [p.value for p in printed if p.dataset == dataset and p.panel == learned[-1]]
    title = f"PDPM learns {said}: at best {percent(finals.max())} on {dataset_name(dataset)}"
    return title + (f" ({percent(max(there), 1)} printed)" if there else "")


def _comparison_answer(rows: pd.DataFrame, free: pd.DataFrame, names: list[str], datasets: list[str]) -> str:
    """Returns the title: which mechanisms learn on ranges of width 2."""
    if rows.empty:
        return NOT_RUN
    learns = {name: _learns(rows[rows["mechanism"] == name], free) for name in names}
    learned = [label(name) for name in names if learns[name]]
    if len(learned) == len(names):
        return "On ranges of width 2 all mechanisms learn"
    if None in learns.values():
        return f"On ranges of width 2 {listed(learned)} reach{'es' * (len(learned) == 1)} {THIRD}" if learned else WIDE
    if learned:
        return f"On ranges of width 2 only {listed(learned)} learn{'s' * (len(learned) == 1)}"
    printed = [p for p in printed_points("pldp_fl") if p.panel == "comparison" and p.dataset in datasets]
    title = f"On ranges of width 2 no mechanism learns in {rows['round'].max():.0f} rounds"
    return title + (f"; the paper prints {listed([percent(p.value, 1) for p in printed])}" if printed else "")


def _pairs_answer(found: list[Pair]) -> str:
    """Returns the title: how much more PrivUnit has at one guarantee."""
    if not found:
        return NOT_RUN
    strict = min(found, key=lambda pair: pair.pdpm.at)
    if all(outcome(pair.privunit, pair.pdpm, 0.0) is Outcome.ABOVE for pair in found):
        scores = f"{percent(strict.privunit.mean)} to PDPM's {percent(strict.pdpm.mean)}"
        where = f"{dataset_name(strict.dataset)} at {whole_number(strict.pdpm.at)}"
        return f"At one true ε PrivUnit is ahead: {scores} on {where}"
    return "PDPM and PrivUnit at nearly one true ε"


def _errors_answer(rows: pd.DataFrame) -> str:
    """Returns the title: whether the error behaves as its closed form says."""
    means = rows.groupby(["metric", "variant", "epsilon"])["value"].mean()
    if not {"relative_error", "expected_relative_error"} <= set(rows["metric"]):
        return "The error of a mean under personal budgets"
    apart = float((means["relative_error"] / means["expected_relative_error"] - 1).abs().median())
    if apart < 0.1:
        return f"PDPM's error of a mean follows its closed form: half of the settings within {percent(apart)}"
    return f"PDPM's error of a mean is off its closed form: half of the settings by over {percent(apart)}"


def _shares_answer(accuracy: pd.DataFrame) -> str:
    """Returns the title: what more clients in a round give with PDPM, where its accuracy is highest."""
    own = accuracy[accuracy["mechanism"] == PDPM]
    if own.empty:
        return NOT_RUN
    best = own.sort_values("value").iloc[-1]
    line = own[(own["dataset"] == best["dataset"]) & (own["centre"] == best["centre"])].groupby("share")["value"].mean()
    dataset = str(best["dataset"])
    low, high = line.index.min(), line.index.max()
    return (
        f"With {_share(low)} of the clients in a round PDPM has {percent(line[low])} on {dataset_name(dataset)}, "
        f"with {_share(high)} {percent(line[high])}"
    )


def _share(share: float) -> str:
    return "all" if share == 1 else percent(share)
