"""LATENT's Figures 7 to 10 and Table 2, its probability read as Eq. 6 and as Eq. 7, with ceilings and guarantees.

Each drawing is of the metrics table, and raises InputError where the table has no rows of its study.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tensorldp.audit.accuracy import clean_test_ceiling
from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.bits import mean_errors
from tensorldp.mechanisms.latent import Latent
from tensorldp_papers.plots.axes import decades, epsilons, shares
from tensorldp_papers.plots.lines import (
    draw_bound,
    draw_chance,
    draw_level,
    draw_mechanism,
    draw_printed,
    draw_proposed,
    shade,
)
from tensorldp_papers.plots.means import finite, placed, study_rows
from tensorldp_papers.plots.names import METRICS, dataset_name, in_order
from tensorldp_papers.plots.printed import PrintedPoint, printed_points
from tensorldp_papers.plots.sheets import SMALLEST, finish, narrow, panels
from tensorldp_papers.plots.style import INK, PALE, QUIET, look
from tensorldp_papers.plots.words import PRINTED_AXIS, listed, percent, span, whole_number
from tensorldp_papers.run.cell import variant_factors

STUDY = "latent"
CLEAN, RELEASED, TRAINING = "accuracy", "accuracy_perturbed_test", "train_accuracy"
READINGS = {"A": "read as Eq. 6", "B": "read as Eq. 7"}
MARKS = {"A": "o", "B": "s"}
CURVES = {TRAINING: ("training records", "D"), CLEAN: ("clean test records", "o"), RELEASED: ("released ones", "s")}
LARGEST_NOMINAL = 10.0  # Figure 10 ends there
NEAR_PRINTED = 0.05  # of an accuracy that counts as near to a printed one
STRING = (9216, 4, 5)  # MNIST's values of a record; bits before and after the point
CODE_BITS = 10  # of one value


def latent_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the study's rows with `line`: cnn, ann, A, B or centroid, and whether altered or none.

    Permuted labels are left out.

    Raises:
        InputError: if there are none.
    """
    rows = study_rows(metrics, STUDY)
    split = [variant_factors(variant) for variant in rows["variant"]]
    rows["line"] = [_line(f, mechanism) for f, mechanism in zip(split, rows["mechanism"], strict=True)]
    return rows[["labels" not in f for f in split]]


def _line(factors: dict[str, str], mechanism: str) -> str:
    """Returns the reading of LATENT, else the network, and whether it also learned from altered images."""
    plain = mechanism == NO_PRIVACY
    name = factors.get("model", "") if plain else factors.get("reading", factors.get("model", ""))
    ending = " none" if plain and name == "centroid" else " altered" if "augment" in factors else ""
    return name + ending


def draw_accuracy(metrics: pd.DataFrame) -> Figure:
    """Draws figure 10: accuracy on clean test records against the printed epsilon, one panel for each data set."""
    every = placed(latent_rows(metrics), "epsilon")
    rows = every[(every["metric"] == CLEAN) & ((every["at"] <= LARGEST_NOMINAL) | np.isinf(every["at"]))]
    datasets = in_order(rows["dataset"])
    figure, axes = panels(len(datasets), columns=2, height=3.0, sharey=True)
    of_latent = rows[rows["line"].isin(list(READINGS))]
    shares(axes, METRICS[CLEAN][0])
    for ax, dataset in zip(axes, datasets, strict=True):
        here = rows[rows["dataset"] == dataset]
        epsilons(ax, finite(of_latent[of_latent["dataset"] == dataset])["at"], PRINTED_AXIS)
        draw_level(ax, here[here["line"] == "cnn"]["value"], "no privacy")
        draw_chance(ax, here)
        bound = _clean_ceiling(every[every["dataset"] == dataset])
        if bound is not None:
            at = np.geomspace(*ax.get_xlim(), 120)
            values = np.array([bound(float(e)) for e in at])
            draw_bound(ax, at[values < 1.0], values[values < 1.0], "most that Eq. 6 allows")
        for line, text in READINGS.items():
            draw_mechanism(ax, here[here["line"] == line], "latent", text=text, marker=MARKS[line])
        draw_proposed(ax, STUDY, dataset, CLEAN, "printed by the paper")
        ax.set_title(dataset_name(dataset))
    note = f"{_memory(every, datasets)} {_seeds(of_latent)} Settings of our networks are those of our own search."
    return finish(
        figure,
        _compared(rows, datasets),
        source="LATENT, Figure 10",
        paper="latent",
        datasets=datasets,
        note=note.strip(),
    )


def draw_guaranteed(metrics: pd.DataFrame) -> Figure:
    """Draws what one data set's smallest printed epsilon means in either reading, beside what no classifier can do.

    The data set is the one with the most rows among those for which the paper prints scores, if there are any. Eq. 6 is
    drawn at its pure epsilon, Eq. 7 at its guarantee at delta 1e-5.
    """
    every = latent_rows(metrics)
    counts = every.groupby("dataset").size()
    dataset = max(in_order(every["dataset"]), key=lambda name: (bool(_claimed(name)), counts[name]))
    here = every[every["dataset"] == dataset]
    ends = {line: end for line in READINGS if (end := _end(here, line)) is not None}
    figure, (ax,) = panels(1, height=3.4)
    epsilons(ax, [0.5, 1e5, *(end["at"] for end in ends.values())], "true ε of one record (nats)")
    shares(ax, "accuracy")
    ax.set_ylim(-0.02, 1.16)
    at = np.geomspace(*ax.get_xlim(), 400)
    share = _fact(here, "largest_class")
    if not math.isnan(share):
        odds = (1.0 - share) / share
        highest = 1.0 / (1.0 + odds * np.exp(-np.minimum(at, 700.0)))
        draw_bound(ax, at, highest, "_ceiling")
        shade(ax, at, highest, 1.0, PALE, 1.0)
        height = share + 0.4 * (1.0 - share)
        place = (math.log(odds * height / (1.0 - height)), height)
        words = "◂ here no classifier gets\n   on released test records"
        ax.annotate(words, place, (6, 0), textcoords="offset points", va="center", color=QUIET, fontsize=SMALLEST)
    first = min((end["nominal"] for end in ends.values()), default=math.nan)
    star = next((p for p in _claimed(dataset) if p.epsilon == first), None)
    for line, end in ends.items():
        _draw_end(ax, line, end, star)
    if star is not None:
        draw_printed(ax, star.epsilon, star.value, "_printed", markersize=14)
        words = f"printed: {percent(star.value)} at ε = {star.epsilon:g}"
        ax.annotate(words, (star.epsilon, star.value), (0, 9), textcoords="offset points", color=INK, weight="bold")
    ax.set_title(dataset_name(dataset))
    notes = [_kinds(ends), _price(here), "The grey area binds scores on released test records, not on clean ones."]
    source = "LATENT, Table 2 and Figure 10"
    title = _fork(ends, first)
    return finish(
        figure,
        title,
        source=source,
        paper="latent",
        datasets=[dataset],
        note=" ".join(filter(None, notes)),
        names=False,
    )


def _end(rows: pd.DataFrame, line: str) -> dict[str, float] | None:
    """Returns a reading at its least printed epsilon: `nominal`, `at`, `pure`, `test`, `training`; None if not run."""
    part = rows[(rows["line"] == line) & rows["metric"].isin([CLEAN, TRAINING])]
    part = part[part["epsilon"] == part["epsilon"].min()]
    means = part.groupby("metric")["value"].mean()
    if CLEAN not in means:
        return None
    pure, loose = (float(part[column].iloc[0]) for column in ("guarantee_pure_epsilon", "guarantee_epsilon"))
    return {
        "nominal": float(part["epsilon"].iloc[0]),
        "at": pure if line == "A" else loose,
        "pure": pure,
        "test": float(means[CLEAN]),
        "training": float(means.get(TRAINING, math.nan)),
    }


def _draw_end(ax: Axes, line: str, end: dict[str, float], star: PrintedPoint | None) -> None:
    colour = look("latent").colour
    if star is not None:
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 9, "shrinkB": 5}
        ax.annotate("", (end["at"], end["test"]), (star.epsilon, star.value), arrowprops=arrow, zorder=2)
    ax.plot(end["at"], end["test"], MARKS[line], color=colour, markersize=9, label=f"_{line}", zorder=4)
    learned = "" if math.isnan(end["training"]) else f"{percent(end['training'])} on its training records"
    is_right = math.log(end["at"]) > sum(map(math.log, ax.get_xlim())) / 2
    text = (
        f"{READINGS[line]}: true ε {whole_number(end['at'])}\n{percent(end['test'])} on clean test records\n{learned}"
    )
    low = end["test"] < 0.3
    place = (-9 if is_right and not narrow() else 4 if is_right else 10, -6 if low else -8)
    side = "right" if is_right else "left"
    options: dict[str, Any] = {"textcoords": "offset points", "color": colour, "weight": "bold", "ha": side}
    ax.annotate(text.strip(), (end["at"], end["test"]), place, va="bottom" if low else "top", **options)


def _fork(ends: dict[str, dict[str, float]], first: float) -> str:
    if set(ends) != set(READINGS) or len({end["nominal"] for end in ends.values()}) > 1:
        return "LATENT's accuracy at what one record is guaranteed"
    test, at = (percent(ends["A"]["test"]), whole_number(ends["B"]["at"]))
    return f"LATENT's ε = {first:g}: {test} accuracy if read as Eq. 6, ε = {at} if read as Eq. 7"


def _kinds(ends: dict[str, dict[str, float]]) -> str:
    """Returns which epsilons are pure."""
    if set(ends) != set(READINGS):
        return ""
    return f"Eq. 6's true ε is at δ = 0, that of Eq. 7 at δ = 1e-5 (at δ = 0: {whole_number(ends['B']['pure'])})."


def _price(rows: pd.DataFrame) -> str:
    """Returns where Eq. 6 does as well as Eq. 7, if it was run there."""
    part = rows[(rows["metric"] == CLEAN) & rows["line"].isin(list(READINGS))]
    means = part.groupby(["line", "guarantee_pure_epsilon"])["value"].mean()
    if {"A", "B"} - set(part["line"]):
        return ""
    own = means["A"]
    level = own[own >= means["B"].min() - 0.01]
    if level.empty:
        return ""
    at, value = float(level.index[0]), float(level.iloc[0])
    return f"Read as Eq. 6 it has {percent(value)} at ε = {whole_number(at)} (δ = 0)."


def _claimed(dataset: str) -> list[PrintedPoint]:
    return [p for p in printed_points(STUDY, dataset, CLEAN) if p.proposed]


def _fact(rows: pd.DataFrame, metric: str, line: str | None = None) -> float:
    values = rows[(rows["metric"] == metric) & ((rows["line"] == line) if line else True)]["value"]
    return float(values.iloc[0]) if len(values) else math.nan


def _clean_ceiling(rows: pd.DataFrame) -> Callable[[float], float] | None:
    """Returns what no training on Eq. 6's strings exceeds on clean test records, by epsilon; None without sizes."""
    share, bits, records = _fact(rows, "largest_class"), _fact(rows, "string_bits"), _fact(rows, "train_records", "A")
    if math.isnan(share) or math.isnan(bits) or math.isnan(records):
        return None
    box = Box(-1.0, 1.0, (int(bits) // 2,))  # only the number of bits matters: codes of two

    def bound(epsilon: float) -> float:
        code = Latent(epsilon=epsilon, domain=box, whole=0, fraction=1)
        return clean_test_ceiling(int(records), code.information, share)

    return bound


def _compared(rows: pd.DataFrame, datasets: list[str]) -> str:
    """Returns the title: which reading comes near to what the paper prints at its smallest epsilon, and where."""
    near: dict[str, list[str]] = {line: [] for line in READINGS}
    far: list[str] = []
    is_open = False  # seeds of a reading lie on both sides
    for dataset in datasets:
        point = min(_claimed(dataset), key=lambda p: p.epsilon, default=None)
        part = rows[(rows["dataset"] == dataset) & (rows["epsilon"] == (point.epsilon if point else math.nan))]
        lines = part[part["line"].isin(list(READINGS))].groupby("line")["value"].agg(["min", "max"])
        if point is None or not set(READINGS) <= set(lines.index):
            continue
        least = point.value - NEAR_PRINTED
        for line in lines.index[lines["min"] >= least]:
            near[str(line)].append(dataset_name(dataset))
        if (lines["max"] < least).all():
            far.append(dataset_name(dataset))
        elif ((lines["min"] < least) & (lines["max"] >= least)).any():
            is_open = True
    if near["B"] and not near["A"] and not is_open:
        rest = f", not {listed(far)}" if far else ""
        return f"Only read as Eq. 7 LATENT nears its printed accuracy: on {listed(near['B'])}{rest}"
    if far and not near["A"] and not near["B"]:
        return f"By neither reading LATENT nears its printed accuracy on {listed(far)}"
    own = rows[(rows["dataset"] == datasets[0]) & rows["line"].isin(list(READINGS))]
    means = own[own["epsilon"] == own["epsilon"].min()].groupby("line")["value"].mean()
    if set(means.index) == set(READINGS):
        scores = f"{percent(means['A'])} accuracy if read as Eq. 6, {percent(means['B'])} as Eq. 7"
        return f"LATENT's ε = {own['epsilon'].min():g} on {dataset_name(datasets[0])}: {scores}"
    return "LATENT's accuracy by either reading of its probability"


def _memory(rows: pd.DataFrame, datasets: list[str]) -> str:
    """Returns a sentence on training accuracy, next to the test accuracy."""
    part = rows[(rows["metric"] == TRAINING) & rows["line"].isin(list(READINGS)) & rows["dataset"].isin(datasets)]
    part = part[part["epsilon"] <= LARGEST_NOMINAL]
    if part.empty:
        return ""
    low = part.groupby(["dataset", "line", "epsilon"])["value"].mean().min()
    return f"On their own training records all have {math.floor(100 * low)} % or more."


def _seeds(rows: pd.DataFrame) -> str:
    seeds = rows.groupby(["dataset", "line", "epsilon"])["seed"].nunique()
    if seeds.empty or seeds.max() == 1:
        return "One seed."
    return f"Means of {span(seeds.min(), seeds.max())} seeds; bands: lowest to highest."


def epoch_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates figures 8 and 9 at the smallest epsilon of each data set: dataset, line, curve, epoch, value, seed."""
    rows = latent_rows(metrics)
    rows = rows[rows["line"].isin([*READINGS, "B altered"])]
    rows = rows[rows["metric"].str.endswith("_by_epoch")]
    rows = rows.assign(curve=rows["metric"].str.removesuffix("_by_epoch"))
    rows = rows[rows["epsilon"] == rows.groupby("dataset")["epsilon"].transform("min")]
    columns = ["dataset", "line", "epsilon", "curve", "epoch", "value", "seed", "metric", "largest_class"]
    return rows.assign(epoch=rows["epoch"].astype(int))[columns]


def draw_epochs(metrics: pd.DataFrame) -> Figure:
    """Draws figures 8 and 9: accuracy by epoch at the smallest printed epsilon, a panel for each data set and reading.

    Raises:
        InputError: if no model was scored at more than one epoch.
    """
    table = epoch_table(metrics)
    if table.empty:
        raise InputError("no model of study latent was scored by epoch: set checkpoints above 1 in its training")
    table = table[table["line"].isin(list(READINGS))]
    datasets = in_order(table["dataset"])
    figure, axes = panels(2 * len(datasets), columns=2, height=2.5, sharey=True)
    shares(axes, "accuracy")
    for i, (dataset, line) in enumerate((d, line) for d in datasets for line in READINGS):
        ax, part = axes[i], table[(table["dataset"] == dataset) & (table["line"] == line)]
        if part.empty:
            ax.set_visible(False)
            continue
        for curve, (text, marker) in CURVES.items():
            rows = part[part["curve"] == curve]
            draw_mechanism(ax, rows, "latent", at="epoch", text=text, marker=marker)
        draw_chance(ax, part)
        ax.set_title(f"{dataset_name(dataset)}, {READINGS[line]}, printed ε {part['epsilon'].iloc[0]:g}")
        ax.set_xlabel("epoch")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    last = table[table["epoch"] == table.groupby(["dataset", "line"])["epoch"].transform("max")]
    return finish(
        figure, _learned(last), source="LATENT, Figures 8 and 9", paper="latent", datasets=datasets, note=_seeds(table)
    )


def _learned(last: pd.DataFrame) -> str:
    """Returns the title, from what Eq. 6's networks have at their last epochs."""
    means = last[last["line"] == "A"].groupby(["curve", "dataset"])["value"].mean()
    if {TRAINING, CLEAN} <= set(means.index.get_level_values(0)):
        learned, known = float(means[TRAINING].min()), float(means[CLEAN].max())
        if learned - known > 0.3:
            scores = f"{percent(learned)} on training records, {percent(known)} on test records"
            return f"Read as Eq. 6 the network has {scores}"
    return "LATENT's accuracy by epoch, by either reading of its probability"


@cache
def _mean_errors(p: float, reading: str) -> tuple[float, float]:
    """`mean_errors` of an entry, computed once for both sheets."""
    return mean_errors(CODE_BITS, p, cast(Any, reading))


def draw_probability() -> Figure:
    """Draws figure 7 and section 3.3: how often a released bit is true, by epsilon, and the error of a value."""
    figure, (left, right) = panels(2, columns=2, height=2.9)
    size, n, m = STRING
    box = Box(-(2.0**n), 2.0**n, (size,))
    at = np.geomspace(0.1, 1e6, 80)

    def true(epsilon: float, reading: Any) -> float:
        return 1.0 - Latent(epsilon=epsilon, domain=box, whole=n, fraction=m, reading=reading).flip

    decades(left, at, PRINTED_AXIS)
    probabilities = np.linspace(0.5, 1.0, 26)[1:]
    colour = look("latent").colour
    for reading, text in READINGS.items():
        left.plot(at, [true(float(e), reading) for e in at], color=colour, label=text)
        pairs = np.array([_mean_errors(float(p), reading) for p in probabilities])
        right.plot(probabilities, pairs[:, 1], color=colour, label=text)
        draw_bound(right, probabilities, pairs[:, 0], f"_Eq. 15, {text}")
        right.text(0.52, pairs[0, 0] - 7, f"{text[8:]}, by Eq. 15", fontsize=SMALLEST, color=QUIET, va="top")
    left.set(ylim=(0.48, 1.04), ylabel="share of released bits that are true")
    left.axvspan(left.get_xlim()[0], LARGEST_NOMINAL, color=PALE, linewidth=0, zorder=0)
    left.text(0.12, 1.0, "the paper's ε", fontsize=SMALLEST, color=QUIET)
    left.set_title("A bit, Figure 7")
    right.set(ylim=(-20, 420), xlabel="the paper's probability p", ylabel="mean error of a 10-bit value")
    right.set_title("A value, and its error by Eq. 15")
    toss, kept = (100 * true(LARGEST_NOMINAL, reading) for reading in READINGS)
    title = (
        f"At ε = {LARGEST_NOMINAL:g} a released bit is true in {toss:.1f} % of cases by Eq. 6, in {kept:.0f} % by Eq. 7"
    )
    note = f"Computed for MNIST's strings of {size * CODE_BITS:,} bits; nothing is trained."
    return finish(figure, title, source="LATENT, Figure 7 and section 3.3", note=note)


TABLE_EPSILONS = (0.5, 2.0, math.inf)
MEASURED_COLUMNS = {
    TRAINING: "training",
    CLEAN: "test_clean",
    RELEASED: "test_released",
    "train_records": "train_records",
}
GUARANTEES = ["guarantee_epsilon", "guarantee_pure_epsilon", "guarantee_delta"]
PAPER_COLUMNS = {TRAINING: "paper_training", CLEAN: "paper_test"}
KEYS = ["dataset", "method", "epsilon"]
COLUMNS = [*KEYS, *PAPER_COLUMNS.values(), *MEASURED_COLUMNS.values(), *GUARANTEES]


def table2(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates by data set, method and epsilon the paper's training and test accuracy and ours, means over seeds.

    Ours are on clean and on released test records; the guarantee covers the whole record. What the paper prints for a
    method that was not run has no numbers of ours.
    """
    rows = metrics[
        (metrics["study"] == STUDY)
        & metrics["metric"].isin(list(MEASURED_COLUMNS))
        & metrics["epsilon"].isin(TABLE_EPSILONS)
    ]
    rows = rows.assign(method=[_method(v, m) for v, m in zip(rows["variant"], rows["mechanism"], strict=True)])
    table: dict[tuple[str, str, float], dict[str, Any]] = {}
    for key, part in rows.groupby([*KEYS, "metric"]):
        dataset, method, epsilon, metric = cast(tuple[str, str, float, str], key)
        entry = table.setdefault((dataset, method, epsilon), {})
        entry[MEASURED_COLUMNS[metric]] = float(part["value"].mean())
        entry.update({column: float(part[column].iloc[0]) for column in GUARANTEES})
    datasets = {dataset for dataset, _, _ in table}
    for dataset, method, epsilon in list(table):
        for point in _printed(dataset):
            if (point.method, point.epsilon) == (method.split(",")[0], epsilon):
                table[dataset, method, epsilon][PAPER_COLUMNS[point.metric]] = point.value
    for point in (point for dataset in datasets for point in _printed(dataset)):
        if point.method in ("SS15", "ACG+16"):
            table.setdefault((point.dataset, point.method, point.epsilon), {})[PAPER_COLUMNS[point.metric]] = (
                point.value
            )
    flat = [{**dict(zip(KEYS, key, strict=True)), **entry} for key, entry in table.items()]
    return pd.DataFrame(flat, columns=COLUMNS).sort_values(KEYS, ignore_index=True, na_position="last")


def _printed(dataset: str) -> list[PrintedPoint]:
    return [point for point in printed_points(STUDY, dataset) if point.metric in PAPER_COLUMNS]


def _method(variant: str, mechanism: str) -> str:
    """Returns the method's name in the table: LATENT's comes with the reading, others with the model."""
    factors = variant_factors(variant)
    if factors.get("model") == "cnn":
        return "NPCNN"
    altered = ", altered images" if "augment" in factors else ", permuted labels" if "labels" in factors else ""
    if mechanism == "latent":
        return f"LATENT, reading {factors['reading']}{altered}"
    if factors.get("model") == "ann":
        return f"LATENT, p = 1{altered}"
    where = f"{factors.get('features', '64')} projections"
    return f"class means of {where}, no privacy" if mechanism == NO_PRIVACY else f"{mechanism} on {where}"
