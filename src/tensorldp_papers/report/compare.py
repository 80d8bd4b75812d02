"""Two runs over one another: what changed in settings, values, guarantees and verdicts."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp.pages import rendered
from tensorldp_papers.plots.axes import decades
from tensorldp_papers.plots.curves import by_family
from tensorldp_papers.plots.lines import draw_level
from tensorldp_papers.plots.names import dataset_name, heading, metric_label, study_name, variant_words
from tensorldp_papers.plots.sheets import finish, panels
from tensorldp_papers.plots.style import PAPER, label, look
from tensorldp_papers.plots.words import PRINTED_AXIS
from tensorldp_papers.run.table import CELL, read_table

POINT = [*CELL, "metric"]
GUARANTEES = ["guarantee_epsilon", "guarantee_pure_epsilon", "guarantee_delta", "guarantee_unit", "guarantee_exact"]
ALIKE = 1e-9
"""Relative difference below which two numbers are called the same."""


@dataclass(frozen=True)
class Run:
    """The results of a run.

    Attributes:
        name: what the page calls it.
        metrics: its rows of metrics.parquet.
        claims: its claims.csv by id; empty without one.
    """

    name: str
    metrics: pd.DataFrame
    claims: pd.DataFrame


def read_run(folder: Path, name: str) -> Run:
    """Reads a run's results from its folder, or from the folder above `results`.

    Raises:
        InputError: if there is no metrics.parquet, or it is not a table of metrics.
    """
    inner = folder / "results" if (folder / "results" / "metrics.parquet").is_file() else folder
    path = inner / "metrics.parquet"
    try:
        metrics = read_table(path)
    except InputError as error:
        raise InputError(f"the run {folder} has no readable metrics: {error}") from None
    if missing := sorted({*POINT, *GUARANTEES, "value", "seed"} - set(metrics.columns)):
        raise InputError(f"{path} is not a table of metrics, it lacks the column {missing[0]}")
    verdicts = inner / "claims.csv"
    columns = ["claim", "verdict", "observed"]
    claims = pd.DataFrame(columns=columns)
    if verdicts.is_file():
        claims = read_table(verdicts, keep_default_na=False).set_index("id")[columns]
    return Run(name, metrics, claims)


def settings_table(first: Run, second: Run) -> pd.DataFrame:
    """Returns what each run was computed with, by study: one row for each setting that differs."""
    rows = []
    studies = sorted({*first.metrics["study"], *second.metrics["study"]})
    settings = ["scale", "dataset", "variant", "mechanism", "epsilon", "seed", "device", "precision", "commit"]
    for study in studies:
        for key in settings:
            lists = [_listed(run.metrics, study, key) for run in (first, second)]
            if lists[0] != lists[1]:
                shared = set(lists[0]) & set(lists[1])
                words = [", ".join(v for v in values if v not in shared) or "nothing further" for values in lists]
                rows.append((study, key, *words, len(shared)))
    return pd.DataFrame(rows, columns=["study", "setting", first.name, second.name, "in both"])


def _listed(metrics: pd.DataFrame, study: str, key: str) -> list[str]:
    if key not in metrics:
        return []
    values = metrics.loc[metrics["study"] == study, key].dropna().unique()
    return [f"{v:g}" if isinstance(v, float) else str(v) for v in sorted(values)]


def values_table(first: Run, second: Run) -> pd.DataFrame:
    """Computes the means over seeds that both runs have and that differ, the largest difference first.

    The difference comes with its standard error from both runs' seeds, NaN where a run has one seed.
    """
    both = _means(first.metrics).join(_means(second.metrics), how="inner", lsuffix="_a", rsuffix="_b").reset_index()
    both = both[~_same(both["mean_a"], both["mean_b"])]
    difference = both["mean_b"] - both["mean_a"]
    error = np.sqrt(both["var_a"] / both["count_a"] + both["var_b"] / both["count_b"])
    scale = both[["mean_a", "mean_b"]].abs().max(axis=1)
    table = both[POINT].assign(
        **{first.name: both["mean_a"], second.name: both["mean_b"], "difference": difference, "standard error": error},
        seeds=both["count_a"].astype(str) + " and " + both["count_b"].astype(str),
    )
    return table.loc[(difference.abs() / scale).sort_values(ascending=False, kind="stable").index]


def guarantees_table(first: Run, second: Run) -> pd.DataFrame:
    """Returns the cells of both runs whose guarantees differ: one row for each number."""
    tables = [run.metrics.drop_duplicates(CELL).set_index(CELL)[GUARANTEES] for run in (first, second)]
    both = tables[0].join(tables[1], how="inner", lsuffix="_a", rsuffix="_b").reset_index()
    rows = []
    for key in GUARANTEES:
        changed = both[~_same(both[f"{key}_a"], both[f"{key}_b"])]
        part = changed[CELL].assign(guarantee=key.removeprefix("guarantee_").replace("_", " "))
        rows.append(part.assign(**{first.name: changed[f"{key}_a"], second.name: changed[f"{key}_b"]}).astype(object))
    return pd.concat(rows, ignore_index=True)


def verdicts_table(first: Run, second: Run) -> pd.DataFrame:
    """Returns the claims whose verdict changed, and what each run observed."""
    both = first.claims.join(second.claims, how="inner", lsuffix="_a", rsuffix="_b")
    both = both[both["verdict_a"] != both["verdict_b"]].reset_index()
    columns = ["id", "claim_a", "verdict_a", "verdict_b", "observed_a", "observed_b"]
    names = [first.name, second.name, f"{first.name} observed", f"{second.name} observed"]
    return both.reindex(columns=columns).set_axis(["id", "claim", *names], axis=1)


def _means(metrics: pd.DataFrame) -> pd.DataFrame:
    return metrics.groupby(POINT)["value"].agg(["mean", "var", "count"])


def _same(first: pd.Series, second: pd.Series) -> pd.Series:
    """Returns where two columns agree; a missing value agrees with a missing one."""
    missing = first.isna() & second.isna()
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        return pd.Series(np.isclose(first, second, rtol=ALIKE, atol=0), index=first.index) | missing
    return (first == second) | missing


def draw(first: Run, second: Run, most: int = 24) -> Iterator[tuple[str, Figure]]:
    """Draws the mechanisms that changed of each study, data set, variant and metric, over the epsilon that is printed.

    No more than `most` pictures, those of the largest relative differences.
    """
    changed = values_table(first, second)
    keys = ["study", "dataset", "variant", "metric"]
    for key in changed[keys].drop_duplicates().head(most).itertuples(index=False):
        tables = []
        for run in (first, second):
            chosen = (run.metrics[keys] == list(key)).all(axis=1)
            tables.append(run.metrics[chosen].groupby(["mechanism", "epsilon"])["value"].mean())
        groups = by_family(set(changed[(changed[keys] == list(key)).all(axis=1)]["mechanism"]))
        figure, axes = panels(len(groups), columns=2, sharey=True)
        decades(axes, [float(epsilon) for table in tables for _, epsilon in table.index], PRINTED_AXIS)
        words = metric_label(str(key.metric))
        for ax, group in zip(axes, groups, strict=True):
            for name in group:
                for table, face, run in zip(tables, (PAPER, look(name).colour), (first, second), strict=True):
                    _draw_line(ax, table, name, face, f"{label(name)}, {run.name}")
            ax.set_ylabel(words)
        place = [study_name(str(key.study)), dataset_name(str(key.dataset)), variant_words(str(key.variant))]
        note = f"Means over seeds; open marks: {first.name}, filled marks: {second.name}."
        yield ", ".join([*place, words]), finish(figure, ", ".join(place), note=note)
        plt.close(figure)


def _draw_line(ax: Axes, table: pd.Series, name: str, face: str, text: str) -> None:
    """Draws a mechanism's means of one run over epsilon, or a level line where it has none."""
    if name not in table.index.get_level_values(0):
        return
    line = table.loc[name].sort_index()
    finite = line[np.isfinite(line.index)]
    if finite.empty:
        draw_level(ax, float(line.iloc[0]), text)
        return
    seen = look(name)
    style: dict[str, Any] = {"markeredgewidth": 1.2, "markeredgecolor": seen.colour, "markerfacecolor": face}
    ax.plot(finite.index, finite, color=seen.colour, marker=seen.marker, label=text, **style)


def _as_svg(figure: Figure, title: str) -> Markup:
    """Returns the figure as an image that carries its own data, with a title for those who cannot see it."""
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return Markup('<img class="light" alt="{}" src="data:image/svg+xml;base64,{}">').format(escape(title), data)


def render_comparison(first: Run, second: Run, *, rows: int = 300) -> str:
    """Renders the page: one HTML file that needs no network, with this many rows of each table at most.

    Raises:
        InputError: if both runs have one name.
    """
    if first.name == second.name:
        raise InputError(f"two runs cannot both be called {first.name!r}")
    values = values_table(first, second)
    common = len(_means(first.metrics).index.intersection(_means(second.metrics).index))
    single = [run.metrics.drop_duplicates(CELL)[CELL].apply(tuple, axis=1) for run in (first, second)]
    tables: Sequence[tuple[str, str, pd.DataFrame]] = (
        ("Settings", "What one run has and the other lacks, by study.", settings_table(first, second)),
        ("Verdicts", "Claims with another verdict.", verdicts_table(first, second)),
        ("Guarantees", "Cells whose guarantee differs between the runs.", guarantees_table(first, second)),
        ("Values", "Means over seeds that differ, the largest relative difference first.", values),
    )
    return rendered(
        files("tensorldp_papers.report.page"),
        "compare.html",
        first=first.name,
        second=second.name,
        common=common,
        changed=len(values),
        alone=[int((~cells.isin(others)).sum()) for cells, others in (single, single[::-1])],
        tables=[(title, text, len(t), _plain(t.head(rows))) for title, text, t in tables],
        pictures=[(title, _as_svg(figure, title)) for title, figure in draw(first, second)],
    )


def _plain(table: pd.DataFrame) -> list[list[str]]:
    """Heads and rows as text."""
    labels = {"variant": variant_words, "metric": metric_label, "mechanism": label}
    labels |= {"study": study_name, "dataset": dataset_name}
    shown = table.assign(**{key: table[key].astype(str).map(words) for key, words in labels.items() if key in table})
    rows = [[f"{v:.5g}" if isinstance(v, float) else str(v) for v in row] for row in shown.itertuples(index=False)]
    return [[heading(str(c)) if c in POINT else str(c) for c in table.columns], *rows]
