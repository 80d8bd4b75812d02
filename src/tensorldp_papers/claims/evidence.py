"""The results that claims look at: cells of the plan, with what was measured and what is guaranteed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp_papers.data.catalogue import whole_of
from tensorldp_papers.run.cell import AnyCell, epsilon_text, variant_factors
from tensorldp_papers.run.grid import Plan
from tensorldp_papers.run.sealed import read_prepared
from tensorldp_papers.run.table import CELL, read_rows, read_table

CellKey = tuple[str, str, str, str, str]
AT_HAND = 3  # studies whose rows are in memory: claims of a paper go through its studies again and again


def key_of(cell: AnyCell) -> CellKey:
    """Returns the name of a cell in `StudyRows`."""
    return cell.study, cell.dataset, cell.variant, cell.mechanism, cell.epsilon


NOWHERE = np.array([], dtype=np.intp)


class StudyRows:
    """The rows of a study by cell; the texts are categories, as `read_rows` reads them on request."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self._texts = dict.fromkeys(rows.columns[rows.dtypes == "category"], "str")
        found: Any = self._rows.groupby(CELL, observed=True).indices
        self._places = {(*map(str, name[:4]), epsilon_text(name[4])): places for name, places in found.items()}
        self._chosen: dict[tuple[CellKey, str | None], NDArray[np.intp]] = {}

    def places(self, cell: AnyCell, metric: str | None) -> NDArray[np.intp]:
        """Returns which rows are of a cell's seeds, and of a metric if one is given.

        Raises:
            NotRun: if a seed has none.
        """
        key = (key_of(cell), metric)
        if key not in self._chosen:
            places = self._places.get(key[0], NOWHERE)
            rows = self._rows[["seed", "metric"]].iloc[places]
            if not set(cell.seeds) <= set(rows["seed"]):
                raise NotRun(f"needs the results of {cell.path}")
            wanted = rows["seed"].isin(cell.seeds) & ((rows["metric"] == metric) | (metric is None))
            self._chosen[key] = places[wanted.to_numpy()]
        return self._chosen[key]

    def at(self, places: Sequence[NDArray[np.intp]]) -> pd.DataFrame:
        """Returns these rows in this order."""
        return self._rows.iloc[np.concatenate(places)].astype(self._texts)


def _chosen(value: str, wanted: str | Iterable[str] | None) -> bool:
    return wanted is None or value == wanted or (not isinstance(wanted, str) and value in set(wanted))


def _stands_for(dataset: str, planned: set[str]) -> str:
    """The data set that a part stands for, which is itself where the whole one is planned."""
    whole = whole_of(dataset)
    return dataset if whole in planned else whole


class NotRun(Exception):
    """The runs that a claim needs are not among the results.

    Attributes:
        lacking: which.
        beside: what else the message says.
    """

    def __init__(self, lacking: str, beside: str = "") -> None:
        super().__init__(lacking + beside)
        self.lacking, self.beside = lacking, beside


def _named(cell: AnyCell, factors: dict[str, Any]) -> bool:
    named = variant_factors(cell.variant)
    return all(named.get(key) == (None if value is None else str(value)) for key, value in factors.items())


class Evidence:
    """The outputs of a run.

    A claim that asks for rows gets those of every planned cell that fits, or `NotRun`: half of a grid proves nothing.
    """

    def __init__(self, plan: Plan, results: Path) -> None:
        self.plan = plan
        self.results = results
        self.datasets = results.parent / "resources" / "datasets"
        self._metrics = results / "metrics.parquet"
        self._read: dict[str, StudyRows] = {}
        self.used: list[str] = []
        self.studies: set[str] = set()
        self.ways = 1
        self._keeps: Callable[[AnyCell], bool] = lambda _: True

    def only(self, keeps: Callable[[AnyCell], bool], ways: int) -> Evidence:
        """Returns these outputs as if cells for which `keeps` is false were not planned; one of several such views."""
        view = copy(self)
        view.ways, view.used = ways, []
        view._keeps = lambda cell: self._keeps(cell) and keeps(cell)
        return view

    @property
    def scale(self) -> str:
        """quick, desk or paper."""
        return self.plan.settings.scale

    @property
    def place(self) -> str:
        """Where claims look for runs, in words."""
        return f"the {self.scale} grid"

    def lacks(self, what: str, beside: str = "") -> NotRun:
        """Returns the exception for what a claim needs and the plan does not have, and what it lacks beside that."""
        return NotRun(f"needs {what}, which {self.place} does not have{beside}")

    def cells(
        self,
        study: str,
        *,
        dataset: str | Iterable[str] | None = None,
        mechanism: str | Iterable[str] | None = None,
        **factors: Any,
    ) -> list[AnyCell]:
        """Returns the planned cells of a study with this data set, mechanism and factors (as text; None: without it).

        Where a data set is not planned, a part of it stands for it; `fairness.shortfall` then says so.
        """
        planned = self.plan.of(study)
        names = {cell.dataset for cell in planned}
        chosen = {name for name in names if _chosen(name, dataset) or _chosen(_stands_for(name, names), dataset)}
        return [
            cell
            for cell in planned
            if cell.dataset in chosen
            and _chosen(cell.mechanism, mechanism)
            and _named(cell, factors)
            and self._keeps(cell)
        ]

    def rows(
        self,
        study: str,
        metric: str | None = None,
        *,
        dataset: str | Iterable[str] | None = None,
        mechanism: str | Iterable[str] | None = None,
        **factors: Any,
    ) -> pd.DataFrame:
        """Returns the rows of the metrics table of all planned cells that fit; each name given must have some.

        Raises:
            NotRun: if none is planned at this scale, or one has no results.
            InputError: if a file is damaged.
        """
        self.studies.add(study)
        cells = self.cells(study, dataset=dataset, mechanism=mechanism, **factors)
        chosen = (" or ".join([v] if isinstance(v, str) else sorted(v)) for v in (dataset, mechanism) if v)
        what = " ".join([study, *chosen, *(f"{key}={value}" for key, value in factors.items() if value is not None)])
        datasets = {cell.dataset for cell in cells}
        present = {*datasets, *map(whole_of, datasets), *(cell.mechanism for cell in cells)}
        missing = [
            name
            for wanted in (dataset, mechanism)
            for name in ([wanted] if isinstance(wanted, str) else sorted(wanted or ()))
            if name not in present
        ]
        if not cells or missing:
            raise self.lacks(what, f" with {', '.join(missing)}" if cells else "")
        table = self.measured(cells, metric)
        used = (
            f"the cell {cells[0].path} in results/metrics.parquet"
            if len(cells) == 1
            else f"{len(cells)} cells of {what} in results/metrics.parquet"
        )
        if used not in self.used:
            self.used.append(used)
        if table.empty:
            raise InputError(f"no cell of {what} has the metric {metric}")
        return table

    def measured(self, cells: list[AnyCell], metric: str | None = None) -> pd.DataFrame:
        """Returns the rows of the metrics table of these cells, of one metric or of all.

        Raises:
            NotRun: if one has no results.
            InputError: if a file is damaged.
        """
        if not self._metrics.exists():
            raise NotRun(f"needs the results of {cells[0].path}")
        found = []
        for study, of_study in groupby(cells, key=lambda cell: cell.study):
            rows = self._of(study)
            found.append(rows.at([rows.places(cell, metric) for cell in of_study]))
        return pd.concat(found, ignore_index=True)

    def _of(self, study: str) -> StudyRows:
        """Returns the rows of a study, which stay in memory until so many others have been asked for."""
        found = self._read.pop(study, None)
        if found is None:
            while len(self._read) >= AT_HAND:
                del self._read[next(iter(self._read))]
            found = StudyRows(read_rows(self._metrics, [study], compact=True))
        self._read[study] = found
        return found

    @staticmethod
    def by_mark(rows: pd.DataFrame, metric: str, mark: Literal["round", "epoch"] = "round") -> pd.DataFrame:
        """Returns a metric after each round or epoch at which it was taken: a row a seed and a column a mark, rising.

        For several cells it is the mean.

        Raises:
            NotRun: if it was not taken along the training.
        """
        marked = rows[rows["metric"] == f"{metric}_by_{mark}"]
        if marked.empty:
            raise NotRun(f"needs {metric} by {mark}")
        marked = marked.assign(mark=marked[mark].astype(int))
        return marked.pivot_table(index="seed", columns="mark", values="value").dropna()

    def table(self, name: str) -> pd.DataFrame:
        """Returns a CSV file of results/tables.

        Raises:
            NotRun: if it was not made.
        """
        path = self.results / "tables" / f"{name}.csv"
        if not path.exists():
            raise NotRun(f"needs results/tables/{name}.csv")
        self.used.append(f"results/tables/{name}.csv")
        return read_table(path)

    def sizes(self, dataset: str, cells: list[AnyCell]) -> tuple[int, list[int]]:
        """Returns how many training records `prepare` wrote for a data set, and how many test records its cells scored.

        Raises:
            NotRun: if there are no cells, one has no results, or the data set is not prepared.
        """
        if not cells:
            raise self.lacks(f"unperturbed runs on {dataset}")
        self.measured(cells)
        test = self._prepared(dataset, "test")
        self.used.append(f"{len(cells)} cells of {dataset} in results/metrics.parquet")
        return self._prepared(dataset, "train"), sorted({min(test, cell.training.scored or test) for cell in cells})

    def _prepared(self, dataset: str, split: str) -> int:
        """The number of records in one part of a data set."""
        path = self.datasets / dataset / f"{split}.safetensors"
        if not path.exists():
            raise NotRun(f"needs the prepared data set {dataset}")
        return len(read_prepared(path)[0]["y"])

    def features(self, study: str, dataset: str, extractor: str) -> NDArray[Any]:
        """Returns the features of a study's training records, (records, *shape).

        Raises:
            NotRun: if they are missing.
        """
        path = self.results / "features" / dataset / extractor / "train.safetensors"
        if not path.exists():
            raise NotRun(f"needs the features in {path.relative_to(self.results)}")
        self.used.append(f"results/features/{dataset}/{extractor}/train.safetensors")
        return read_prepared(path)[0]["x"]
