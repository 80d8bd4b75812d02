"""TVG's figures: scores at the printed and at the true epsilon side by side, and how loose the mechanisms are.

Each drawing is of the metrics table, and raises InputError where the table has no rows of its study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.data.catalogue import whole_of
from tensorldp_papers.plots.axes import SMALLEST_EPSILON, decades, epsilons, shares
from tensorldp_papers.plots.comparing import NEAR_EPSILON, Point, all_alike, is_ahead, is_behind, points
from tensorldp_papers.plots.curves import main_setting, most_telling, what_is_drawn, with_lines
from tensorldp_papers.plots.lines import draw_bound, draw_chance, draw_level, draw_mechanism
from tensorldp_papers.plots.means import finite, placed, study_rows
from tensorldp_papers.plots.names import METRICS, dataset_name, in_order, title_name
from tensorldp_papers.plots.printed import printed_sentences
from tensorldp_papers.plots.sheets import TEXT, finish, panels
from tensorldp_papers.plots.style import INK, look, order
from tensorldp_papers.plots.words import axis_number, listed, short_number, span, true_axis
from tensorldp_papers.run.cell import variant_factors

PAPER = "tvg"
SHOWN = {
    "tvg_sgd": ("idn", "udn", "mvg", "optimized", "gaussian-analytic"),
    "tvg_covariance": ("idn", "udn", "mvg", "gaussian-per-element", "jl"),
}
OTHERWISE = ("idn", "udn", "mvg", "gaussian-per-element", "gaussian-analytic")
SCORES = {"tvg_sgd": ("auc", "accuracy"), "tvg_testing": ("accuracy_perturbed_test",)}  # the first that a data set has
TEXTS = {("tvg_sgd", "gaussian-analytic"): "DP-SGD"}
PRINTED_AXIS = "ε as TVG prints it (nats)"
UNITS = {"batch": "Noise is made for a whole batch, as TVG does.", "record": "Noise is made for one record."}
CLIPPING = "DP-SGD clips the norm of a record's gradient; TVG clips each element, also where there is no privacy."
EIGENVALUES = {
    "rss_noisy": "Residuals with the eigenvalues of the estimate, as TVG prints the formula.",
    "rss_true": "Residuals with the eigenvalues of the true covariance, as the paper of MVG has them.",
}
MATRIX = "Without a subspace to favour, the matrix mechanism is the Gaussian per element."
NEUTRAL = "The same runs at the ε that TVG prints and at their true ε"
TRAINED = r"\bbackbone=\w+_trained"
WIDEST_GAP = 1000.0  # times an epsilon: what was run is two decades apart in places
SAME_SCORE = 0.03  # of a score that counts as the same
SAME_ERROR = 0.3  # of an error's logarithm: a factor of 2, where errors span decades
NEAR_ERROR = 1.2  # times a true ε: an error falls with its square
HIGHEST = 0.995  # where a ceiling stops telling anything
LEAST_EPSILON = 1e-5  # where the covariance's true axis begins


def draw_tvg(
    metrics: pd.DataFrame, study: str, *, source: str = "", unit: str = "batch", trained: bool = False
) -> Figure:
    """Draws two panels for each data set: scores at epsilon as printed, and the same runs at one record's guarantee.

    Args:
        metrics: the metrics table.
        study: whose rows are drawn, in each data set's main setting.
        source: the figure that it repeats, such as "TVG, Figure 4".
        unit: what noise is made for, where the study has both: a batch, as in the paper, or a record.
        trained: whether the features are of networks that were trained on the clean records.
    """
    scores = SCORES.get(study, ("accuracy",))
    metrics = metrics[metrics["variant"].str.contains(TRAINED) == trained]
    rows = main_setting(_first_score(_with_unit(study_rows(_with_clean(metrics), study, *scores), unit), scores))
    names = most_telling(set(rows["mechanism"]), SHOWN.get(study, OTHERWISE))
    run = set(rows["dataset"])
    beside_whole = {name for name in run if whole_of(name) in run - {name}}
    rows = rows[rows["mechanism"].isin([*names, NO_PRIVACY]) & ~rows["dataset"].isin(beside_whole)]
    limits = placed(
        _with_unit(metrics[(metrics["study"] == study) & (metrics["metric"] == "accuracy_ceiling")], unit),
        "guarantee_epsilon",
    )
    nominal, true = placed(rows, "epsilon"), placed(rows, "guarantee_epsilon")
    datasets = in_order(rows["dataset"])
    figure, axes = panels(2 * len(datasets), columns=2, height=2.6, sharey=True)
    for i, dataset in enumerate(datasets):
        left, right = axes[2 * i : 2 * i + 2]
        here = true[true["dataset"] == dataset]
        for ax, part, words in ((left, nominal[nominal["dataset"] == dataset], "as printed"), (right, here, "true ε")):
            epsilons(ax, finite(part)["at"], PRINTED_AXIS if ax is left else true_axis("record"))
            draw_level(ax, part[part["mechanism"] == NO_PRIVACY]["value"], "no privacy")
            draw_chance(ax, part)
            _draw(ax, part, study, names, _on_one_line(here, SAME_SCORE, SMALLEST_EPSILON) if ax is right else ())
            shares(ax, METRICS[str(part["metric"].iloc[0])][0])
            ax.set_title(f"{dataset_name(dataset)}, {words}")
        limit = finite(limits[limits["dataset"] == dataset]).groupby("at")["value"].max()
        if len(limit) > 1:
            below = limit.iloc[: int((limit < HIGHEST).sum()) + 1]
            draw_bound(right, below.index, below, "no classifier\nenters here")
    notes = (
        [UNITS[unit]] if (rows["unit"] != "").any() else [CLIPPING, *_guaranteed(true)] if study == "tvg_sgd" else []
    )
    notes += what_is_drawn(rows, datasets)
    if unit == "batch" and study in printed_sentences():
        place, sentence = printed_sentences()[study]
        notes.append(f"TVG prints no score of this figure; in {place} it says: “{sentence}”")
    return finish(figure, _answer(study, true), source=source, paper=PAPER, datasets=datasets, note=" ".join(notes))


def draw_covariance(metrics: pd.DataFrame, *, source: str = "", metric: str = "rss_noisy") -> Figure:
    """Draws errors of a covariance at epsilon as printed, and the same releases at what one record is guaranteed.

    Args:
        metrics: the metrics table.
        source: the figure that it repeats.
        metric: the error's metric, with the eigenvalues of the estimate, as in TVG, or of the true covariance.
    """
    rows = study_rows(metrics, "tvg_covariance", metric)
    tight = rows["variant"].map(lambda variant: "sensitivity" in variant_factors(variant)).astype(bool)
    rows = with_lines(rows[~tight & (rows["mechanism"] != NO_PRIVACY)].copy())
    names = most_telling(set(rows["mechanism"]), SHOWN["tvg_covariance"])
    rows = rows[rows["mechanism"].isin(names)]
    nominal, everywhere = placed(rows, "epsilon"), placed(rows, "guarantee_epsilon")
    true = everywhere[everywhere["at"] >= LEAST_EPSILON]
    below = order(set(everywhere[everywhere["at"] < LEAST_EPSILON]["mechanism"]))
    datasets = in_order(rows["dataset"])
    figure, axes = panels(2 * max(len(datasets), 1), columns=2, height=3.2, sharey=True)
    decades(axes[0::2], finite(nominal)["at"], PRINTED_AXIS)
    decades(axes[1::2], finite(true)["at"], true_axis("record"))
    better = true.assign(value=-np.log10(true["value"]))
    for i, dataset in enumerate(datasets):
        for ax, part, words in zip(axes[2 * i : 2 * i + 2], (nominal, true), ("as printed", "true ε"), strict=True):
            one = _one_error(better[better["dataset"] == dataset]) if part is true else ()
            _draw(ax, part[part["dataset"] == dataset], "tvg_covariance", names, one)
            ax.set_title(f"{dataset_name(dataset)}, {words}")
    decades(axes, [rows["value"].min() / 3, rows["value"].max() * 3], "residual sum of squares", vertical=True)
    notes = [EIGENVALUES[metric], *(what_is_drawn(rows, datasets) if datasets else ()), MATRIX]
    if below:
        notes.append(
            f"Not drawn: {listed([look(name).label for name in below])} where the true ε is below "
            f"{axis_number(LEAST_EPSILON)}."
        )
    return finish(
        figure, _covariance_answer(better), source=source, paper=PAPER, datasets=datasets, note=" ".join(notes)
    )


def draw_looseness(loose: Mapping[str, float]) -> Figure:
    """Draws how many times the noise of the analytic Gaussian mechanism each mechanism adds: bars, of `looseness`."""
    names = sorted(loose, key=lambda name: loose[name])
    figure, (ax,) = panels(1, height=2.3)
    decades(ax, [1.0, *loose.values(), 3 * max(loose.values())], "times the analytic Gaussian's noise")
    ax.set_xlim(left=1.0)
    for place, name in enumerate(reversed(names)):
        ax.barh(place, loose[name] - 1, left=1, height=0.62, color=look(name).colour)
        ax.annotate(
            f"{_times(loose[name])} times",
            (loose[name], place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=TEXT,
            weight="bold",
        )
    ax.set_yticks(range(len(names)), [look(name).label for name in reversed(names)])
    ax.tick_params(axis="y", length=0, labelsize=TEXT, labelcolor=INK)
    ax.grid(False, axis="y")
    ours = [loose[name] for name in ("idn", "udn", "tvg")]
    title = (
        f"TVG's three mechanisms add {_times(min(ours))} to {_times(max(ours))} times the noise needed; "
        f"MVG adds {_times(loose['mvg'])}"
    )
    return finish(
        figure, title, note="Standard deviation of an element's noise at ε = 1 and δ = 1e-5, for 28 × 28 elements."
    )


def _draw(ax: Axes, rows: pd.DataFrame, study: str, names: list[str], one: Sequence[str] = ()) -> None:
    """Draws each mechanism's line with its name; those that are one line as marks, with one name for all."""
    together = " = ".join(dict.fromkeys(look(name).label.split(",")[0] for name in one))
    for name in names:
        text = TEXTS.get((study, name)) if name not in one else together if name == one[0] else "_"
        widest = 1.0 if name in one else WIDEST_GAP
        draw_mechanism(ax, rows[rows["mechanism"] == name], name, text=text, widest=widest)


def _with_clean(metrics: pd.DataFrame) -> pd.DataFrame:
    """Returns the metrics, with clean accuracies without privacy as those on perturbed records as well."""
    clean = metrics[(metrics["mechanism"] == NO_PRIVACY) & (metrics["metric"] == "accuracy")]
    return pd.concat([metrics, clean.assign(metric="accuracy_perturbed_test")])


def _with_unit(rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Returns the rows with noise for a unit, or for the only one, and without those of another subspace or length."""
    factors = rows["variant"].map(variant_factors)
    units = factors.map(lambda f: f.get("unit", ""))
    wanted = unit if unit in set(units) else next(iter(sorted(set(units) - {""})), "")
    here = units.isin(["", wanted]) & factors.map(lambda f: not f.keys() & {"subspace", "steps"})
    return with_lines(rows.assign(unit=units)[here.astype(bool)].copy())


def _first_score(rows: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    """Returns the rows of each data set's first score of those wanted."""
    has = rows.groupby("dataset")["metric"].agg(lambda found: min(found, key=list(wanted).index))
    return rows[rows["metric"] == rows["dataset"].map(has)]


# titles


def _answer(study: str, true: pd.DataFrame) -> str:
    """Returns the title: whether at one true epsilon all score alike, all but one, or one mechanism leads."""
    private = true[true["mechanism"] != NO_PRIVACY]
    found = _lines(private, SMALLEST_EPSILON)
    names = order(set(private["mechanism"]))
    one = _on_one_line(private, SAME_SCORE, SMALLEST_EPSILON)
    if one == names:
        return f"At one true ε all mechanisms score alike{_relabelled(private)}"
    for name in names:
        if one and name not in one:
            where = [
                dataset for dataset, lines in found.items() if name in lines and is_behind(lines, name, SAME_SCORE)
            ]
            less = listed([title_name(dataset) for dataset in in_order(where)])
            return f"At one true ε all score alike but {look(name).label}, which scores less on {less}"
    for name in names:
        if all(name in lines and is_ahead(lines, name, SAME_SCORE) for lines in found.values()):
            text = TEXTS.get((study, name)) or look(name).label
            return f"At one true ε {text} scores highest on {listed([title_name(d) for d in in_order(found)])}"
    return f"{NEUTRAL}{_relabelled(private)}"


def _covariance_answer(better: pd.DataFrame) -> str:
    """Returns the title: whether at one true epsilon all errors are the same, or all but one."""
    found = _lines(better, LEAST_EPSILON)
    one = _one_error(better)
    names = order(set(better["mechanism"]))
    if not one:
        return NEUTRAL
    said = listed([look(name).label.split(",")[0] for name in one])
    more = [n for n in names if any(n in lines and is_behind(lines, n, SAME_ERROR) for lines in found.values())]
    others = [look(name).label.split(" ")[0] for name in more]
    return f"At one true ε {said} have one error" + (f"; {others[0]}'s is larger" if others else "")


def _lines(rows: pd.DataFrame, least: float) -> dict[str, dict[str, list[Point]]]:
    """Returns by data set and mechanism the points at this true epsilon or more."""
    rows = rows[(rows["at"] >= least) & (rows["mechanism"] != NO_PRIVACY)]
    return {
        str(dataset): {str(name): points(part) for name, part in here.groupby("mechanism")}
        for dataset, here in rows.groupby("dataset")
    }


def _all_but(found: dict[str, dict[str, list[Point]]], name: str, margin: float, within: float = NEAR_EPSILON) -> bool:
    """Returns whether without a mechanism all are alike in every data set, and it is behind in one."""
    return all(
        all_alike({key: line for key, line in lines.items() if key != name}, margin, within) for lines in found.values()
    ) and any(name in lines and is_behind(lines, name, margin) for lines in found.values())


def _on_one_line(rows: pd.DataFrame, margin: float, least: float, within: float = NEAR_EPSILON) -> list[str]:
    """Returns the mechanisms that are alike in every data set: all, all but one that is behind, or none."""
    found = _lines(rows, least)
    names = order({name for lines in found.values() for name in lines})
    if found and all(all_alike(lines, margin, within) for lines in found.values()):
        return names
    return next(
        ([n for n in names if n != name] for name in names if found and _all_but(found, name, margin, within)), []
    )


def _one_error(better: pd.DataFrame) -> list[str]:
    return _on_one_line(better, SAME_ERROR, LEAST_EPSILON, NEAR_ERROR)


def _relabelled(rows: pd.DataFrame) -> str:
    """Returns what IDN guarantees at the largest printed epsilon, if that is something else."""
    idn = rows[rows["mechanism"] == "idn"]
    idn = finite(idn[idn["epsilon"] == idn["epsilon"].max()])
    if idn.empty or idn["at"].max() > idn["epsilon"].max() / 2:
        return ""
    printed = axis_number(idn["epsilon"].max())
    return f"; IDN's printed {printed} is a true {span(short_number(idn['at'].min()), short_number(idn['at'].max()))}"


def _guaranteed(rows: pd.DataFrame) -> list[str]:
    """Returns what a printed epsilon of 1 guarantees with IDN."""
    one = finite(rows[(rows["mechanism"] == "idn") & (rows["epsilon"] == 1.0)])["at"]
    if one.empty or one.min() <= 0:
        return []
    return [f"IDN's printed ε of 1 is a true {span(f'{one.min():.2g}', f'{one.max():.2g}')}."]


def _times(value: float) -> str:
    return f"{value:.1f}" if value < 10 else short_number(round(value))
