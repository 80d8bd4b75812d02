"""The lecture's figures: sweeps of sizes, what a defence costs, membership, and pictures of victims.

Each drawing is of the metrics table, and raises InputError where the table has no rows of its study.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import beta

from tensorldp.errors import InputError
from tensorldp.files import read_arrays
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.papers.lecture.attack_pictures import columns_of, likelihood_cells, picture_datasets, picture_key
from tensorldp_papers.papers.lecture.attack_table import RECOVERED, SIZES, STUDY, attack_table, factor_columns
from tensorldp_papers.plots.axes import decades, sizes
from tensorldp_papers.plots.comparing import Outcome, Point, outcome
from tensorldp_papers.plots.lines import DASHED, draw_bound, draw_seeds, say_empty
from tensorldp_papers.plots.means import over_seeds
from tensorldp_papers.plots.names import dataset_name, in_order
from tensorldp_papers.plots.sheets import PAGE, PHONE, SMALLEST, finish, narrow, panels
from tensorldp_papers.plots.style import INK, QUIET, label, look, order, short
from tensorldp_papers.plots.words import axis_number, counted, listed, whole_number
from tensorldp_papers.run.sealed import check_file

PAPER, SOURCE = "dp-lecture", "Lecture"
BASE = {"m": 20000.0, "d": 30.0, "B": 4.0}  # of Table 1's cells; a sweep varies one of them
BOUND_SLOPES = {"m": -0.5, "d": 0.5, "B": 1.0}
AXES = {"m": "neurons m", "d": "dimension d", "B": "batch size B (records)"}
SCALINGS = {"mean": ("1/m", "o"), "root": ("±1/√m", "s"), "sign": ("±1", "^")}
SLACK = 1.5  # times a bound that holds up to a constant: the claims' constant
PICTURED = ("laplace", "gaussian-analytic", "privunit", "tldp-l", "tldp-g")  # at most five, where there are more


def attack_rows(metrics: pd.DataFrame, attack: str, metric: str) -> pd.DataFrame:
    """Returns the rows of one attack and metric, with the variant's factors as columns.

    Raises:
        InputError: if there are none.
    """
    rows = metrics[(metrics["study"] == STUDY) & (metrics["metric"] == metric)].reset_index(drop=True)
    rows = pd.concat([rows, factor_columns(rows["variant"])], axis=1)
    rows = rows[rows["attack"] == attack]
    if rows.empty:
        raise InputError(f"the metrics table has no rows of the attack {attack} with metric {metric}")
    return rows


def fitted_slope(x: Iterable[float], y: Iterable[float]) -> float:
    """Fits the least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(list(x)), np.log(list(y)), 1)[0])


def _percent(share: float) -> str:
    """Writes a share in percent; one that is nearly all is not rounded up."""
    return f"{100 * share:.1f} %" if 0.995 <= share < 1.0 else f"{100 * share:.0f} %"


# what is measured on networks of synthetic data: ink, and laws dashed


def _measured(ax: Axes, rows: pd.DataFrame, x: str, text: str, marker: str = "o") -> None:
    """Draws medians over seeds, with the range that they span."""
    draw_seeds(ax, rows, x, text, marker=marker, widest=math.inf, middle="median")


def draw_sweeps(metrics: pd.DataFrame) -> Figure:
    """Draws the error of the tensor attack against m, d and B, each beside B sqrt(d/m) through its first point.

    Raises:
        InputError: if a sweep is missing.
    """
    rows = attack_rows(metrics, "tensor", "error")
    rows = rows[(rows["defence"] == "none") & (rows["mechanism"] == NO_PRIVACY)]
    figure, axes = panels(3, columns=3, height=2.7, sharey=True)
    slopes: dict[str, float] = {}
    shown: list[float] = []
    for ax, size in zip(axes, SIZES, strict=True):
        fixed = {key: value for key, value in BASE.items() if key != size}
        part = rows[np.logical_and.reduce([rows[key] == value for key, value in fixed.items()])]
        if part.empty:
            raise InputError(f"the metrics table has no sweep of the tensor attack over {size}")
        points = over_seeds(part, size, "median")
        x, y = points[size].to_numpy(), points["median"].to_numpy()
        law = y[0] * (x / x[0]) ** BOUND_SLOPES[size]
        sizes(ax, x, AXES[size])
        if len(x) > 1:
            slopes[size] = fitted_slope(x, y)
        _measured(ax, part, size, "measured")
        draw_bound(ax, x, law, "B√(d/m)")
        shown += [*points["min"], *points["max"], *law]
        exponent = f"exponent {slopes[size]:.2f}, law {BOUND_SLOPES[size]:g}" if size in slopes else "one size"
        ax.set_title(exponent.replace("-", "−"))
    decades(axes, shown, "error of unit records", vertical=True)
    note = (
        f"Two-layer networks; each panel varies one of B = {BASE['B']:.0f}, d = {BASE['d']:.0f}, m = {BASE['m']:,.0f}."
    )
    note += " Medians; bands from the lowest to the highest seed."
    return finish(figure, _followed(slopes), source=f"{SOURCE}, Eq. 5.2", note=note)


def _followed(slopes: Mapping[str, float]) -> str:
    """Returns the title: which exponents follow the law."""
    words = {"m": "width", "d": "dimension", "B": "batch size"}
    same = [words[k] for k, v in slopes.items() if abs(v - BOUND_SLOPES[k]) < 0.1]
    slower = [words[k] for k, v in slopes.items() if v < BOUND_SLOPES[k] - 0.1]
    if same and slower and len(same) + len(slower) == len(slopes):
        return f"Error follows the lecture's law in {listed(same)}, and grows slower in {listed(slower)}"
    if same and len(same) == len(slopes):
        return f"Error follows the lecture's law in {listed(same)}"
    return "The tensor attack's error by width, dimension and batch size"


def _growth(
    ax: Axes,
    rows: pd.DataFrame,
    x: str,
    predicted: Callable[[np.ndarray], np.ndarray] | None,
    law: Callable[[np.ndarray], np.ndarray] | None = None,
) -> None:
    """Draws measured errors over the error without defence, beside Table 1's growth and, where given, quadrature."""
    _measured(ax, rows, x, "measured")
    at = rows[x].to_numpy()
    fine = np.geomspace(at.min(), at.max(), 100) if at.min() < at.max() else at
    if predicted is not None:
        draw_bound(ax, fine, predicted(fine), "Table 1")
    if law is not None:
        draw_bound(ax, fine, law(fine), "√(1 + (noise/gradient)²)")


def draw_table1(metrics: pd.DataFrame) -> Figure:
    """Draws each row of Table 1 beside the measured growth of the tensor attack's error.

    Raises:
        InputError: if the attack was not run.
    """
    rows = attack_rows(metrics, "tensor", "error")
    rows = rows[np.logical_and.reduce([rows[key] == value for key, value in BASE.items()])]
    base = float(rows[(rows["defence"] == "none") & (rows["mechanism"] == NO_PRIVACY)]["value"].median())
    rms = float(attack_rows(metrics, "tensor", "gradient_rms").query("defence == 'none'")["value"].median())
    batch = BASE["B"]

    def linear(sigma: np.ndarray) -> np.ndarray:
        return (batch + sigma) / batch

    def quadrature(sigma: np.ndarray) -> np.ndarray:
        return np.sqrt(1 + (sigma / rms) ** 2)

    kinds: list[tuple[str, str, str, Callable[[np.ndarray], np.ndarray] | None]] = [
        ("local", "local steps", "steps of a client", lambda k: k),
        ("noise", "gradient noise", "σ of the noise per element", linear),
        ("mechanism", "DP-SGD", "σ max(1, ‖g‖/s)", linear),
        ("clip", "clipping", "largest norm s", lambda s: np.ones_like(s)),
        ("dropout", "dropout", "probability to keep a neuron", lambda p: 1 / np.sqrt(p)),
        ("prune", "pruning", "share set to zero", None),
    ]
    figure, axes = panels(len(kinds), columns=3, height=2.4, sharey=True)
    within: dict[str, bool | None] = {}
    shown: list[float] = [1.0]
    for ax, (defence, name, axis, predicted) in zip(axes, kinds, strict=True):
        part = rows[rows["defence"] == defence]
        column = "strength"
        if defence == "mechanism" and len(part):
            key = ["variant", "mechanism", "epsilon", "seed"]
            noise = attack_rows(metrics, "tensor", "noise")[[*key, "value"]].rename(columns={"value": "noise"})
            part, column = part.merge(noise, on=key), "noise"
            part[column] = part.groupby("epsilon")[column].transform("median")
        if part.empty:
            ax.set_visible(False)
            continue
        part = part.assign(value=part["value"] / base)
        points = over_seeds(part, column, "median")
        _growth(ax, part, column, predicted, quadrature if predicted is linear else None)
        if predicted is not None:
            most = SLACK * predicted(points[column].to_numpy())
            is_over = bool((points["min"] > most).any())  # of every seed
            within[name] = False if is_over else True if (points["max"] <= most).all() else None
        shown += [*points["min"], *points["max"]]
        sizes(ax, [float(f"{v:.2g}") for v in points[column]], axis)
        ax.set_title(f"{name[:1].upper()}{name[1:]}" + (" (no bound)" if predicted is None else ""))
    decades(axes, shown, "error / error without", vertical=True)
    note = f"B = {batch:.0f}, d = {BASE['d']:.0f}, m = {BASE['m']:,.0f}; medians; bands: lowest to highest seed. "
    note += f"Table 1 holds up to a constant: here it is taken as exceeded above {SLACK:g} times."
    return finish(figure, _exceeded(within), source=f"{SOURCE}, Table 1", note=note)


def _exceeded(within: Mapping[str, bool | None]) -> str:
    """Returns the title: under which defences the error exceeds Table 1's growth; None where seeds do not agree."""
    over = [name for name, holds in within.items() if not holds]
    if over and None not in within.values() and len(over) < len(within):
        return f"Except under {listed(over)}, the error grows at most as in Table 1"
    if within and not over:
        return "Under every defence the attack's error grows at most as in Table 1"
    return "The attack's error under the defences of Table 1"


def draw_sensitivity(metrics: pd.DataFrame) -> Figure:
    """Draws the largest measured l1 change of the gradient against m and d, for three output scalings.

    Raises:
        InputError: if it was not measured.
    """
    rows = attack_rows(metrics, "sensitivity", "change")
    middle = {"m": 400.0, "d": 40.0}
    figure, axes = panels(2, columns=2, height=3.0, sharey=True)
    slopes: dict[str, float] = {}
    shown: list[float] = []
    for ax, (size, other) in zip(axes, (("m", "d"), ("d", "m")), strict=True):
        part = rows[rows[other] == middle[other]]
        values = np.array(sorted(set(part[size])))
        bound = values * math.sqrt(middle["d"]) if size == "m" else middle["m"] * np.sqrt(values)
        sizes(ax, values, AXES[size])
        for scaling, (text, marker) in SCALINGS.items():
            line = part[part["scaling"] == scaling]
            if line.empty:
                continue
            points = over_seeds(line, size, "median")
            _measured(ax, line, size, f"output weights {text}", marker)
            shown += [*points["min"], *points["max"]]
            if size == "m" and len(points) > 1:
                slopes[text] = fitted_slope(points[size], points["median"])
        draw_bound(ax, values, bound, "m√d")
        shown += list(bound)
        ax.set_title(f"{other} = {middle[other]:.0f}")
    decades(axes, shown, "largest ‖G − G′‖₁ over records", vertical=True)
    faster = {text: slope for text, slope in slopes.items() if slope > 1.1}
    title = "How much one record changes a gradient, by width and dimension"
    if len(faster) == 1:
        text, slope = next(iter(faster.items()))
        title = f"With output weights {text} one record's effect grows with m to the power {slope:.1f}, not 1"
    note = (
        "Two-layer ReLU networks, measured: a lower bound on the sensitivity. Medians; bands: lowest to highest seed."
    )
    return finish(figure, title, source=f"{SOURCE}, Eq. 4.10", note=note)


# what a defence costs

DEFENCES = {
    "none": "no defence",
    "noise": "noise of σ = {}",
    "clip": "clipping to {}",
    "prune": "pruning of {}",
    "dropout": "dropout, kept {}",
    "local": "{} local steps",
}
KEPT = 0.02  # a loss of accuracy that counts as none


def draw_cost(metrics: pd.DataFrame) -> Figure:
    """Draws gradient inversion on one data set: what it reconstructs under each defence, and the accuracy that is lost.

    Raises:
        InputError: if the attack was not run.
    """
    table = attack_table(metrics)
    rows = table[table["at_utility_loss"].isna() & (table["attack"] == "cosine")]
    rows = rows.dropna(subset=["psnr", "utility_loss"])
    if rows.empty:
        raise InputError("the metrics table has no gradient inversion")
    dataset = max(in_order(rows["dataset"]), key=lambda name: int((rows["dataset"] == name).sum()))
    rows = rows[rows["dataset"] == dataset].sort_values(["psnr", "utility_loss"], ascending=[False, True])
    names = [_defence(row) for row in rows.to_dict("records")]
    figure, (left, right) = panels(2, columns=2)
    figure.set_size_inches(figure.get_figwidth(), (2 if narrow() else 1) * (0.19 * len(rows) + 0.55))
    left.set_xlabel("PSNR of the reconstruction (dB)")
    left.axvline(RECOVERED, color=QUIET, linestyle=DASHED, linewidth=1.1, zorder=1)
    right.set_xlabel("accuracy lost (points)")
    for ax, values in ((left, rows["psnr"]), (right, 100 * rows["utility_loss"])):
        start = min(0.0, float(values.min()) - 2.0)
        for at, (row, value) in enumerate(zip(rows.to_dict("records"), values, strict=True)):
            colour = look(row["mechanism"]).colour if row["defence"] == "mechanism" else INK
            ax.plot([0.0, value], [at, at], color=colour, linewidth=1.2, alpha=0.5)
            ax.plot(value, at, "o", color=colour, label=f"_{at}")
        ax.set_xlim(start, max(1.05 * float(values.max()), 1.0))
        ax.set_ylim(len(rows) - 0.4, -1.2)
        ax.set_yticks(range(len(rows)), names if ax is left or narrow() else [])
        ax.grid(axis="y", visible=False)
    left.text(RECOVERED, -0.75, " recovered", fontsize=SMALLEST, color=QUIET, va="center")
    left.set_title("What the attacker gets")
    right.set_title("What the defence costs")
    seeds = attack_rows(metrics, "cosine", "psnr").query("dataset == @dataset")["seed"].nunique()
    note = f"{dataset_name(dataset)}, gradient inversion by cosine similarity. "
    note += f"Means over victims and {counted(seeds, 'seed')}."
    return finish(
        figure, _useless(rows), source=f"{SOURCE}, section 5.1", paper=PAPER, datasets=[dataset], note=note, names=False
    )


def _defence(row: Mapping[Any, Any]) -> str:
    if row["defence"] == "mechanism":
        name = "DP-SGD" if row["mechanism"] == "gaussian-analytic" else short(row["mechanism"])
        return f"{name}, ε = {axis_number(row['epsilon'])}"
    strength = row["strength"]
    return DEFENCES[row["defence"]].format("" if math.isnan(strength) else f"{strength:g}")


def _useless(rows: pd.DataFrame) -> str:
    """Returns the title: under which kinds of defence accuracy is lost and pictures are recovered all the same."""
    names = {"local": "local steps", "clip": "clipping", "dropout": "dropout", "prune": "pruning", "noise": "noise"}
    found = []
    for kind, words in names.items():
        own = rows[rows["defence"] == kind]
        if len(own) and (own["psnr"] > RECOVERED).all() and (own["utility_loss"] > KEPT).all():
            found.append(words)
    if not found:
        return "What a defence costs, and what an attacker still gets"
    text = listed(found)
    verb = "costs" if len(found) == 1 and found != ["local steps"] else "cost"
    return f"{text[:1].upper()}{text[1:]} {verb} accuracy, yet pictures are recovered"


# membership

RATE = "0.1"  # of false positives


def draw_membership(metrics: pd.DataFrame) -> Figure:
    """Draws the loss threshold's true positive rate by mechanism and true epsilon, 95 % intervals, beside the bound.

    Intervals are those of [clopper1934] for the members of all seeds together.

    Raises:
        InputError: if the attack was not run.
    """
    table = _membership_table(metrics)
    figure, (ax,) = panels(1)
    figure.set_size_inches(figure.get_figwidth(), 0.27 * len(table) + 0.75)
    for kind, shift, marker, text in (("", -0.16, "o", "records"), ("canary_", 0.16, "D", "canaries")):
        count = table["members"] / 2
        hits = (table[f"{kind}tpr"] * count).round()
        low = np.nan_to_num(beta.ppf(0.025, hits, count - hits + 1))
        high = np.nan_to_num(beta.ppf(0.975, hits + 1, count - hits), nan=1.0)
        table[f"{kind}low"], table[f"{kind}high"] = low, high
        for at, (name, value) in enumerate(zip(table["mechanism"], table[f"{kind}tpr"], strict=True)):
            colour = INK if name == NO_PRIVACY else look(name).colour
            ax.plot([low[at], high[at]], [at + shift] * 2, color=colour, linewidth=1.4, label="_interval")
            ax.plot(value, at + shift, marker, color=colour, label=f"_{text}")
        options: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "center", "color": INK}
        end = (min(low[-1], float(table[f"{kind}tpr"].iloc[-1])), len(table) - 1 + shift)
        ax.annotate(text, end, (-5, 0), fontsize=SMALLEST, **options)
    for at, (name, bound) in enumerate(zip(table["mechanism"], table["bound"], strict=True)):
        if name != NO_PRIVACY:
            ax.plot(bound, at, "|", color=QUIET, markersize=13, markeredgewidth=1.6, label="_bound")
    ax.axvline(float(RATE), color=QUIET, linestyle=DASHED, linewidth=1.1, zorder=1)
    ax.text(float(RATE), -0.95, " guessing", fontsize=SMALLEST, color=QUIET, va="center")
    ax.set_yticks(range(len(table)), [_under(row) for row in table.to_dict("records")])
    ax.set_ylim(len(table) - 0.2, -1.4)
    ax.set_xlim(-0.02, 1.04)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("share of members found")
    beyond = table[(table[["low", "canary_low"]].max(axis=1) > table["bound"]) & (table["mechanism"] != NO_PRIVACY)]
    note = "At 10 % false alarms. Grey tick: the most that the guarantee allows. Circles: records; diamonds: canaries, "
    note += "with random labels. Lines: 95 % intervals. Labels are released in clear, outside the guarantee. "
    note += "True ε at δ = 1e-5."
    datasets = attack_rows(metrics, "membership", f"tpr_at_fpr_{RATE}")["dataset"]
    title = _found(table, beyond)
    return finish(figure, title, source="Attack of the project's own", datasets=datasets, note=note, names=False)


def _under(row: Mapping[Any, Any]) -> str:
    name = short(row["mechanism"])
    if row["mechanism"] == NO_PRIVACY:
        return name
    printed = (
        "" if math.isclose(row["at"], row["printed"], rel_tol=0.01) else f" ({axis_number(row['printed'])} printed)"
    )
    return f"{name}, true ε {whole_number(row['at'])}{printed}"


def _found(table: pd.DataFrame, beyond: pd.DataFrame) -> str:
    """Returns the title: members found under TLDP-L and under Laplace at one printed epsilon."""
    if len(beyond):
        names = [short(name) for name in order(set(beyond["mechanism"]))]
        return f"The attack finds more members than the guarantee of {listed(names)} allows"
    rows = table.set_index(["mechanism", "printed"])
    shared = sorted({e for m, e in rows.index if m == "tldp-l"} & {e for m, e in rows.index if m == "laplace"})
    if shared:
        first, second = (rows.loc[(name, shared[-1])] for name in ("tldp-l", "laplace"))
        if first["canary_low"] > second["canary_high"]:
            said = [
                f"{_percent(row['canary_tpr'])} of {whose} (true ε {whole_number(row['at'])})"
                for whose, row in (("TLDP-L's canaries", first), ("Laplace's", second))
            ]
            return f"At a printed ε = {shared[-1]:g} an attack finds {', '.join(said)}"
    return "The membership attack finds no more than the guarantees allow"


def _membership_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the most telling mechanisms in the order of their true epsilons."""

    def grouped(metric: str) -> Any:
        rows = attack_rows(metrics, "membership", metric)
        rows = rows[rows["mechanism"].isin([*PICTURED, NO_PRIVACY])]
        return rows.groupby(["mechanism", "epsilon"])

    table = pd.DataFrame(
        {
            "tpr": grouped(f"tpr_at_fpr_{RATE}")["value"].mean(),
            "canary_tpr": grouped(f"canary_tpr_at_fpr_{RATE}")["value"].mean(),
            "bound": grouped(f"tpr_bound_at_fpr_{RATE}")["value"].mean(),
            "members": grouped("members")["value"].sum(),
            "at": grouped("members")["guarantee_epsilon"].first(),
        }
    ).reset_index()
    return table.rename(columns={"epsilon": "printed"}).sort_values(["at", "mechanism"], ignore_index=True)


# pictures of victims, on a canvas whose unit is a pixel of the page

MISSING = "The pictures themselves are not kept with these results: run the study to draw them."
GUESSED = 0.03  # a share of victims that is no more than a guess of some dozens of candidates
PITCH = 13.5  # pixels from one line of small text to the next
Arrays = Mapping[str, NDArray[Any]]


def _canvas() -> tuple[Figure, Axes, float]:
    """Makes an empty panel, as wide as its sheet in pixels; `_sized` gives it its height."""
    figure, (ax,) = panels(1)
    ax.set_axis_off()
    return figure, ax, float((PHONE if narrow() else PAGE).pixels - 12)


def _sized(figure: Figure, ax: Axes, width: float, height: float) -> None:
    figure.set_size_inches(figure.get_figwidth(), (height + 12) / 96)
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="auto")


def _put(ax: Axes, stored: Arrays, key: str, x: float, y: float, side: float) -> None:
    """Draws a picture, if it is stored."""
    if key in stored:
        options: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255, "interpolation": "nearest"}
        ax.imshow(stored[key], extent=(x, x + side, y + side, y), **options)


def _say(ax: Axes, x: float, y: float, text: str, colour: str = INK, *, bold: bool = False) -> None:
    """Writes small text below a point."""
    weight = "bold" if bold else "normal"
    ax.text(x, y, text, fontsize=SMALLEST, color=colour, weight=weight, va="top", ha="left", linespacing=1.25)


def _read(pictures: Path | None) -> Arrays:
    if pictures is None or not pictures.is_file():
        return {}
    check_file(pictures)
    return read_arrays(pictures)[0]


def draw_pictures(metrics: pd.DataFrame, pictures: Path | None, axis: str = "nominal") -> Figure:
    """Draws a block for each data set: the original once, then for each mechanism a release and its reconstruction.

    Args:
        metrics: the metrics table.
        pictures: the arrays of `attack_pictures.py`; without any, the figure has only the numbers.
        axis: `nominal` or `guaranteed`.

    Raises:
        InputError: if there is nothing to show.
    """
    stored = _read(pictures)
    datasets = in_order(picture_datasets(metrics))
    figure, ax, width = _canvas()
    y = 0.0
    for dataset in datasets:
        y = _draw_block(ax, metrics, dataset, axis, stored, (width, y)) + 14.0
    _sized(figure, ax, width, y)
    notes = [
        "Left: what is released, stretched to its own range. Right: what an attacker makes of it."
        if stored
        else MISSING,
        "Named: the share of victims that the attacker tells from other candidates. True ε: whole picture, δ = 1e-5.",
        *(_columns_without(metrics, datasets) if axis == "guaranteed" else ()),
    ]
    title = _seen(metrics, datasets, axis)
    source = "Attack of the project's own on the papers' mechanisms"
    return finish(figure, title, source=source, datasets=datasets, note=" ".join(notes), names=False)


def _shown(cells: pd.DataFrame) -> list[str]:
    """Returns at most five mechanisms of these."""
    names = set(cells["mechanism"])
    return [n for n in PICTURED if n in names] or order(names)[: len(PICTURED)]


def _draw_block(
    ax: Axes, metrics: pd.DataFrame, dataset: str, axis: str, stored: Arrays, place: tuple[float, float]
) -> float:
    """Draws one data set from a height on; returns where it ends.

    Rows are mechanisms and columns epsilons. If there is one epsilon, mechanisms are side by side.
    """
    width, top = place
    cells, columns = likelihood_cells(metrics, dataset, axis), columns_of(metrics, dataset)
    names = _shown(cells)
    heads = [f"printed ε = {e:g}" if axis == "nominal" else f"true ε = {whole_number(t)}"
             for e, t in zip(columns["epsilon"], columns["target"], strict=True)]  # fmt: skip
    is_single = len(columns) == 1
    margin = 0.0 if narrow() or not stored else 110.0
    across = min(3, len(names)) if is_single and narrow() else len(names if is_single else columns)
    step = (width - margin) / across
    side = min(step / 2 - 6, 84.0) if stored else 0.0
    title = f"{dataset_name(dataset)}, {heads[0]}" if is_single else dataset_name(dataset)
    ax.text(0, top, title, fontsize=1.15 * SMALLEST, weight="bold", color=INK, va="top")
    any_cell = cells[cells["mechanism"].isin(names)].iloc[0].to_dict()
    _put(ax, stored, picture_key(dataset, "original", any_cell), 0, top + 20, side)
    y = top + 20
    if stored:
        x, below = (side + 6, y) if narrow() else (0.0, y + side + 2)
        _say(ax, x, below, "the original", QUIET)
        y += side + 10 if narrow() else 0
    if not is_single:
        y -= 0 if narrow() or not stored else 20
        for column, head in enumerate(heads):
            _say(ax, margin + step * column, y, head, INK, bold=True)
        y += PITCH + 7
    row = PITCH + 3 + side + 2 * PITCH + 9
    for i, name in enumerate(names):
        x = margin + (step * (i % across) if is_single else 0)
        start = y + row * (i // across if is_single else i)
        _say(ax, x, start, short(name), look(name).colour, bold=True)
        for column in range(len(columns)):
            found = cells[(cells["mechanism"] == name) & (cells["column"] == column)]
            place_of_cell = (x + step * column, start + PITCH + 3, side)
            if found.empty:
                _say(ax, place_of_cell[0], place_of_cell[1] + side / 2, "no run here", QUIET)
            else:
                _draw_cell(ax, dataset, axis, stored, found.iloc[0].to_dict(), place_of_cell)
    return y + row * (-(-len(names) // across) if is_single else len(names))


def _draw_cell(
    ax: Axes, dataset: str, axis: str, stored: Arrays, cell: Mapping[Any, Any], place: tuple[float, float, float]
) -> None:
    """Draws release and reconstruction, and below them the other epsilon and the share of victims named."""
    x, y, side = place
    _put(ax, stored, picture_key(dataset, "released", cell), x, y, side)
    _put(ax, stored, picture_key(dataset, "reconstructed", cell), x + side + 2, y, side)
    other = f"true ε {whole_number(cell['guarantee_epsilon'])}"
    if axis != "nominal":
        other = f"set to ε {whole_number(cell['epsilon'])}"
    _say(ax, x, y + side + 2, other, QUIET)
    _say(ax, x, y + side + 2 + PITCH, f"{_percent(cell['value'])} named", INK, bold=True)


def _columns_without(metrics: pd.DataFrame, datasets: list[str]) -> list[str]:
    """Returns a sentence on columns at which TLDP has no guarantee at that delta."""
    found = pd.concat([columns_of(metrics, dataset) for dataset in datasets])
    if not np.isinf(found["guarantee_epsilon"]).any():
        return []
    return ["Where TLDP has none, because its atoms outweigh δ, the column is its pure ε without the atoms."]


def _seen(metrics: pd.DataFrame, datasets: list[str], axis: str) -> str:
    """Returns the title: victims named under Laplace and TLDP-L at printed epsilon 1, or most named at one true one."""
    for dataset in datasets:
        cells, columns = likelihood_cells(metrics, dataset, axis), columns_of(metrics, dataset)
        cells = cells[cells["mechanism"].isin(_shown(cells))]
        middle = int((columns["epsilon"] - 1.0).abs().argmin())
        found = {str(row["mechanism"]): _named(row) for row in cells[cells["column"] == middle].to_dict("records")}
        laplace, tldp = found.get("laplace"), found.get("tldp-l")
        if axis == "nominal" and laplace and tldp:
            if not laplace.high < tldp.low:
                continue
            first, second = _percent(laplace.mean), _percent(tldp.mean)
            at = f"At a printed ε = {columns['epsilon'][middle]:g}"
            return f"{at}, {first} of victims are named under Laplace, {second} under TLDP-L"
        if axis != "nominal" and (most := _most_named(cells)):
            return most
        if axis != "nominal" and laplace and tldp and outcome(laplace, tldp, AS_MUCH) is Outcome.ALIKE:
            at = f"At one true ε ({whole_number(columns['target'][middle])})"
            first, second = _percent(laplace.mean), _percent(tldp.mean)
            return f"{at} TLDP-L hides as much as Laplace: {second} and {first} are named"
    return "What a release shows of a victim, and what an attacker makes of it"


AS_MUCH = 0.05  # of the victims, which counts as the same


def _named(row: Mapping[Any, Any]) -> Point:
    at = row["guarantee_epsilon"] if math.isfinite(row["guarantee_epsilon"]) else row["guarantee_pure_epsilon"]
    return Point(float(at), float(row["value"]), float(row["low"]), float(row["high"]), int(row["seeds"]))


def _most_named(cells: pd.DataFrame) -> str:
    """Returns the title if one mechanism's victims are named more than all others' at one true epsilon; else empty."""
    best = (0.0, "")
    for _, here in cells.groupby("column"):
        found = {str(row["mechanism"]): _named(row) for row in here.to_dict("records")}
        name, most = max(found.items(), key=lambda item: item[1].mean)
        others = [point for key, point in found.items() if key != name]
        if others and all(outcome(most, other, 0.0) is Outcome.ABOVE for other in others):
            next_most = max(point.mean for point in others)
            at = f"At one true ε ({whole_number(most.at)})"
            rest = f"the others' at most {_percent(next_most)}"
            if len(others) == 1:
                rest = f"{short(next(key for key in found if key != name))}'s {_percent(next_most)}"
            said = f"{at} {short(name)}'s releases name {_percent(most.mean)} of victims, {rest}"
            best = max(best, (most.mean - next_most, said))
    return best[1]


LABELLED = ("laplace", "tldp-l")  # two mechanisms with one printed epsilon


def one_victim(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the attacked releases under Laplace and TLDP-L at one printed epsilon, the nearest to 1 that both have.

    Returns:
        A row for each of the two, of MNIST or else of the first data set that has both; none if no data set has.
    """
    datasets = picture_datasets(metrics)
    for dataset in sorted(datasets, key=lambda name: name != "mnist"):
        cells = likelihood_cells(metrics, dataset, "nominal")
        cells = cells[cells["mechanism"].isin(LABELLED)]
        both = cells.groupby("epsilon")["mechanism"].nunique()
        shared = both.index[both == len(LABELLED)]
        if len(shared):
            at = min(shared, key=lambda e: abs(math.log(e)))
            chosen: pd.DataFrame = cells[cells["epsilon"] == at].assign(dataset=dataset)
            return chosen
    columns = ["dataset", "mechanism", "epsilon", "guarantee_epsilon", "guarantee_pure_epsilon", "value"]
    return pd.DataFrame(columns=columns)


def draw_one_victim(metrics: pd.DataFrame, pictures: Path | None) -> Figure:
    """Draws one picture, its releases under Laplace and TLDP-L at one epsilon, and what an attacker makes of them.

    `pictures` has the arrays of `attack_pictures.py`.
    """
    stored = _read(pictures)
    found = one_victim(metrics)
    if found.empty:
        figure, (ax,) = panels(1, height=1.0)
        say_empty(ax, "not attacked in this run")
        ax.set_axis_off()
        return finish(figure, "Laplace and TLDP-L under one label", names=False)
    cells, dataset, epsilon = found.set_index("mechanism"), str(found["dataset"].iloc[0]), found["epsilon"].iloc[0]
    names = LABELLED
    figure, ax, width = _canvas()
    gap = 8.0 if narrow() else 30.0
    side = (width - 8) / 2 if narrow() else (width - 2 * gap - 16) / 5
    x = y = 0.0
    for name in names:
        cell = cells.loc[name].to_dict() | {"mechanism": name}
        if name == names[0]:
            small = 0.6 * side if narrow() else side
            _say(ax, x, y, "the picture", INK, bold=True)
            _put(ax, stored, picture_key(dataset, "original", cell), x, y + 18, small)
            x, y = (0.0, small + 34) if narrow() else (side + gap, 0.0)
        _say(ax, x, y, f"{label(name)}, “ε = {epsilon:g}”", look(name).colour, bold=True)
        for i, (kind, words) in enumerate(
            (("released", "what is released"), ("reconstructed", "what an attacker sees"))
        ):
            _put(ax, stored, picture_key(dataset, kind, cell), x + i * (side + 8), y + 18, side)
            _say(ax, x + i * (side + 8), y + side + 21, words, QUIET)
        kept = max(cell["guarantee_pure_epsilon"], cell["guarantee_epsilon"]) <= 1.01 * epsilon
        true = f"{epsilon:g}, as printed" if kept else whole_number(cell["guarantee_epsilon"])
        _say(ax, x, y + side + 21 + PITCH, f"true ε {true}", INK, bold=True)
        _say(ax, x + side + 8, y + side + 21 + PITCH, f"{_percent(cell['value'])} of victims named", INK, bold=True)
        x, y = (0.0, y + side + 64) if narrow() else (x + 2 * side + 8 + gap, 0.0)
    _sized(figure, ax, width, y - 14 if narrow() else side + 21 + 2 * PITCH + 2)
    first, second = (float(cells["value"][name]) for name in names)
    title = (
        f"Same label, ε = {epsilon:g}: an attacker names {_percent(first)} of victims under Laplace, "
        f"{_percent(second)} under TLDP-L"
    )
    note = f"{dataset_name(dataset)}; true ε of the whole picture: at δ = 1e-5, or pure where it is as printed. "
    note += "Named: told from the other candidates" + (
        ", under Laplace no better than a guess." if first < GUESSED else "."
    )
    note += " Releases are stretched to the range of grey." if stored else f" {MISSING}"
    return finish(figure, title, datasets=[dataset], note=note, names=False)
