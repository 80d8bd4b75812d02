"""Scores against epsilon: as a source prints it, and the same runs at what the whole record is guaranteed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.mechanism_table import MECHANISMS, NO_PRIVACY
from tensorldp_papers.plots.axes import epsilons, shares
from tensorldp_papers.plots.comparing import SAME_SCORE, as_well, is_ahead, points
from tensorldp_papers.plots.heat import draw_heat
from tensorldp_papers.plots.lines import MOST_LINES, draw_chance, draw_level, draw_mechanism, draw_proposed
from tensorldp_papers.plots.means import finite, placed, study_rows
from tensorldp_papers.plots.names import METRICS, dataset_name, in_order, line_name, title_name, variant_words
from tensorldp_papers.plots.sheets import finish, panels
from tensorldp_papers.plots.style import look, order, short
from tensorldp_papers.plots.words import listed, refuted_words, span, true_axis, whole_number
from tensorldp_papers.rooms import Room, named, paper_of, proposer
from tensorldp_papers.run.cell import variant_factors

SHOWN = ("tldp-l", "tldp-g", "privunit", "laplace", "gaussian")  # with those from outside before them
PANEL_FACTORS = ("backbone", "model", "where", "range")


def draw_study(
    metrics: pd.DataFrame, study: str, *, source: str, part: str = "", metric: str = "weighted_f1"
) -> Figure:
    """Draws two panels for each data set with one score axis: epsilon as printed, and the same runs as guaranteed.

    At most `MOST_LINES` mechanisms are drawn, in each data set's main setting: those from outside, then `SHOWN`.

    Args:
        metrics: the metrics table.
        study: whose rows are drawn.
        source: the figure that it repeats, such as "TLDP, Figure 1".
        part: what the printed epsilon of the paper's own mechanisms is of, if not what its room says.
        metric: the score.

    Raises:
        InputError: if the table has no such rows.
    """
    every = with_lines(study_rows(metrics, study, metric))
    rows = main_setting(every)
    names = most_telling(set(rows["line"]))
    rows = rows[rows["line"].isin([*names, NO_PRIVACY])]
    datasets = in_order(rows["dataset"])
    nominal, true = placed(_as_printed(rows), "epsilon"), placed(rows, "guarantee_epsilon")
    figure, axes = panels(2 * len(datasets), columns=2, height=2.75, sharey=True)
    room = _proposer(names)
    covers = f"; {room.short}'s is of one {part or room.unit}" if room and room.unit != "record" else ""
    shares(axes, METRICS[metric][0])
    titles = (f"printed ε (nats{covers})", true_axis(str(rows["guarantee_unit"].iloc[0])))
    for i, dataset in enumerate(datasets):
        parts, places = (nominal, true), ("as printed", "true ε")
        for ax, part_of, words, axis in zip(axes[2 * i : 2 * i + 2], parts, places, titles, strict=True):
            here = part_of[part_of["dataset"] == dataset]
            epsilons(ax, finite(here)["at"], axis)
            _draw(ax, here, names)
            ax.set_title(f"{dataset_name(dataset)}, {words}")
        draw_proposed(axes[2 * i], study, dataset, metric, "printed by the paper")
    notes = [
        *what_is_drawn(rows, datasets),
        *_unplaced(true[true["line"] != NO_PRIVACY]),
        *_apart(every, datasets),
        refuted_words(rows),
    ]
    return finish(
        figure,
        _answer(true),
        source=source,
        paper=paper_of(study),
        datasets=datasets,
        note=" ".join(filter(None, notes)),
    )


def draw_every_mechanism(metrics: pd.DataFrame, study: str, *, source: str, metric: str = "weighted_f1") -> Figure:
    """Draws which of a study's mechanisms need the least epsilon of a whole record, see `draw_heat`.

    Args:
        metrics: the metrics table.
        study: whose rows are drawn, in each data set's main setting.
        source: the figure that it extends.
        metric: the score.

    Raises:
        InputError: if the table has no such rows.
    """
    rows = placed(main_setting(with_lines(study_rows(metrics, study, metric))), "guarantee_epsilon")
    unit, note = (
        str(rows["guarantee_unit"].iloc[0]),
        " ".join(what_is_drawn(rows, in_order(rows["dataset"]), bands=False)),
    )
    return draw_heat(rows, metric, unit, source=source, paper=paper_of(study), note=note)


def with_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows with their panel's setting, `setting`, and their line: mechanism and other factors."""
    split = rows["variant"].map(variant_factors)
    rows["setting"] = [",".join(f"{k}={f[k]}" for k in PANEL_FACTORS if k in f) for f in split]
    rows["line"] = [line_name(m, v, PANEL_FACTORS) for m, v in zip(rows["mechanism"], rows["variant"], strict=True)]
    return rows


def main_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of each data set's setting with the most of them, noise by users before noise at a server."""
    apart = named("apart").keys()
    own: pd.DataFrame = rows[rows["setting"].map(lambda setting: apart.isdisjoint(setting.split(",")))]
    counts = own.groupby(["dataset", "setting"]).size().reset_index(name="rows")
    best = counts.sort_values(["rows", "setting"]).groupby("dataset")["setting"].last()
    return own[own["setting"] == own["dataset"].map(best)]


def _proposer(lines: Iterable[str]) -> Room | None:
    """Returns the room whose paper proposes the mechanism of one of some lines."""
    return proposer(line.split(" ")[0] for line in lines)


def _proposed(lines: pd.Series) -> pd.Series:
    """Returns which lines are of mechanisms that the paper of `_proposer` proposes."""
    room = _proposer(set(lines))
    found: pd.Series = lines.str.split(" ").str[0].isin(room.proposed if room else [])
    return found


def most_telling(names: set[str], shown: Sequence[str] = SHOWN) -> list[str]:
    """Returns at most `MOST_LINES` of these mechanisms: from outside, then those shown, in the order of mention."""
    outside = sorted(n for n in names if n in MECHANISMS and MECHANISMS.module(n) is None)
    wanted = [*outside, *(name for name in shown if name in names)]
    wanted += [name for name in order(names - {NO_PRIVACY}) if name not in wanted and not wanted]
    return order(set(wanted[:MOST_LINES]))


def by_family(names: set[str]) -> list[list[str]]:
    """Returns names in the order of their mention, in groups of whole families with at most `MOST_LINES` names each.

    A family with more names than that is cut.
    """
    families: dict[str, list[str]] = {}
    for name in order(names):
        families.setdefault(look(name).family, []).append(name)
    groups: list[list[str]] = []
    for members in families.values():
        for start in range(0, len(members), MOST_LINES):
            part = members[start : start + MOST_LINES]
            if groups and len(groups[-1]) + len(part) <= MOST_LINES:
                groups[-1] += part
            else:
                groups.append(part)
    return groups


def _as_printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows within the paper's own epsilons: others also run at the true ones, far to the right."""
    own = rows[_proposed(rows["mechanism"]) & np.isfinite(rows["epsilon"])]
    if own.empty:
        return rows
    largest = rows["dataset"].map(own.groupby("dataset")["epsilon"].max()).fillna(own["epsilon"].max())
    shown: pd.DataFrame = rows[(rows["epsilon"] <= largest) | np.isinf(rows["epsilon"])]
    return shown


def _draw(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    draw_level(ax, rows[rows["line"] == NO_PRIVACY]["value"], "no privacy")
    draw_chance(ax, rows)
    for name in names:
        draw_mechanism(ax, rows[rows["line"] == name], name)


def _answer(rows: pd.DataFrame) -> str:
    """Returns the title: whether at one true epsilon what is known does as well as what the paper proposes."""
    ahead: list[str] = []
    level: dict[str, set[str]] = {}
    room = _proposer(set(rows["line"]))
    if room is None:
        return "The same runs at their printed and at their true ε"
    for dataset, here in rows.groupby("dataset"):
        found = {str(name): points(line) for name, line in here.groupby("line") if name != NO_PRIVACY}
        own = [line for name, line in found.items() if name.split(" ")[0] in room.proposed]
        known = {name: line for name, line in found.items() if name.split(" ")[0] not in room.proposed}
        equal = {name for name, line in known.items() if own and all(as_well(line, one, SAME_SCORE) for one in own)}
        if equal:
            level[title_name(str(dataset))] = equal
        elif known and any(is_ahead({**known, "": one}, "", SAME_SCORE) for one in own):
            ahead.append(title_name(str(dataset)))
    if level and not ahead:
        return f"{room.short}'s lead is a relabelled axis: at one true ε {_as_well(level, rows['dataset'].nunique())}"
    if ahead:
        return f"At one true ε {room.short} leads on {listed(ahead)}" + (", and not elsewhere" if level else "")
    return "The same runs at their printed and at their true ε"


def _as_well(level: dict[str, set[str]], count: int) -> str:
    """Returns which mechanisms do as well, on which of `count` data sets: first those that do so on most of them."""
    names = order(set.union(*level.values()))
    parts: list[str] = []
    rest = set(level)
    while rest:
        most = max(names, key=lambda name: sum(name in level[dataset] for dataset in rest))
        here = [dataset for dataset in level if dataset in rest and most in level[dataset]]
        known = [name for name in names if all(name in level[dataset] for dataset in here)]
        verb = "" if parts else " do as well" if len(known) > 1 else " does as well"
        where = f" on {listed(here)}" if len(here) < count else ""  # elsewhere nothing is compared, or is not alike
        parts.append(f"{listed([short(name) for name in known])}{verb}{where}")
        rest -= set(here)
    return ", ".join(parts)


def what_is_drawn(rows: pd.DataFrame, datasets: list[str], *, bands: bool = True) -> list[str]:
    """Returns what is drawn of each data set, and what a band is, in sentences.

    Args:
        rows: with the columns of `with_lines`.
        datasets: in their order.
        bands: whether there are lines with bands.
    """
    same: dict[str, list[str]] = {}
    for dataset in datasets:
        setting = rows[rows["dataset"] == dataset]["setting"].iloc[0]
        same.setdefault(variant_words(setting) if setting else "", []).append(dataset_name(dataset))
    said = "; ".join(f"{listed(names)}: {words}" if len(same) > 1 else words for words, names in same.items() if words)
    seeds = rows.groupby(["dataset", "line", "epsilon"])["seed"].nunique()
    many = f"eans of {span(seeds.min(), seeds.max())} seeds"
    band = f" Lines: m{many}; bands: lowest to highest." if bands else f" M{many}."
    band = band if seeds.max() > 1 else " One seed."
    return [f"{said[:1].upper()}{said[1:]}.{band}" if said else band.strip()]


def _unplaced(rows: pd.DataFrame) -> list[str]:
    """Returns which mechanisms have cells without a finite guarantee, which have no place on a true axis."""
    lost = rows[np.isinf(rows["at"])]
    names = [look(name).label for name in order(set(lost["line"]))]
    return [f"Not drawn at their true ε, which is infinite at that δ: some of {listed(names)}."] if names else []


def _apart(rows: pd.DataFrame, datasets: list[str]) -> list[str]:
    """Returns what settings that are not drawn give, in sentences."""
    room = _proposer(set(rows["mechanism"]))
    if room is None:
        return []
    sentences = []
    for setting, words in room.apart.items():
        own = rows[
            rows["setting"].str.contains(setting) & _proposed(rows["mechanism"]) & rows["dataset"].isin(datasets)
        ]
        if own.empty:
            continue
        at = own["epsilon"].max()
        means = own[own["epsilon"] == at].groupby(["dataset", "setting", "line"])["value"].mean()
        scores = span(f"{means.min():.2f}", f"{means.max():.2f}")
        sentences.append(f"With {words}, not drawn, {room.short} has {scores} at ε = {whole_number(at)}.")
    return sentences
