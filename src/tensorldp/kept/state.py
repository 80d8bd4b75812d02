"""What is computed already, in a run's folder and among the kept results, with today's settings and code or not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tensorldp.config.cell import AnyCell
from tensorldp.config.grid import make_plan
from tensorldp.config.settings import parse_settings
from tensorldp.data.catalogue import names as dataset_names
from tensorldp.errors import InputError
from tensorldp.kept.costs import Measured
from tensorldp.kept.digests import settings_digest, source_digests
from tensorldp.kept.provenance import (
    SEEDED,
    Key,
    as_trained,
    cells_of_run,
    key_of,
    keys,
    noted_training,
    read_provenance,
)
from tensorldp.kept.tables import METRICS
from tensorldp.registration.kinds import MECHANISMS
from tensorldp.runtime.files import read_json

DONE, KEPT, OTHER, LEFT = "done", "kept", "other", "left"


def cells_as_planned(study: str, scale: str, datasets: list[str], studies: Path) -> dict[Key, AnyCell]:
    """The cells of a study's file at a scale by name: of these are rows that were kept without a note of settings."""
    try:
        settings = parse_settings({"scale": scale, "studies": [study], "datasets": {study: datasets}})
        cells = make_plan(settings, studies, mechanisms=MECHANISMS.names(), datasets=dataset_names()).cells
    except InputError:  # a study, a scale or a data set that the files have no more: nothing is known of its rows
        return {}
    return {key_of(cell): cell for cell in cells}


class State:
    """Of each cell and seed, whether it is computed.

    Args:
        cells: those that are planned.
        results: the folder of the run, which may be empty.
        reference: the folder of the kept results, which may be empty.
        repository: the checkout: its studies, and its code, which is compared with that of the kept rows.

    Attributes:
        measured: the seconds of all cells that are done or kept.

    Raises:
        InputError: if a file in one of the folders is damaged.
    """

    def __init__(self, cells: tuple[AnyCell, ...], results: Path, reference: Path, repository: Path) -> None:
        self.measured: list[Measured] = []
        self._done: dict[Key, tuple[str, frozenset[int]]] = {}
        self._kept: dict[tuple[Key, int], tuple[str, str]] = {}
        self._read_run(results)
        if (reference / METRICS).exists():
            self._read_kept(reference, repository / "workflow" / "studies")
        noted = [
            cell for cell in cells if any(self._kept.get((key_of(cell), seed), ("", ""))[1] for seed in cell.seeds)
        ]
        self._sources = source_digests(noted, repository) if noted else {}

    def _read_run(self, results: Path) -> None:
        for key, cell in cells_of_run(results, skip_old=True).items():
            runs = read_json(results / "metrics" / f"{cell.path}.json").get("runs", {})
            self._done[key] = settings_digest(cell), frozenset(int(seed) for seed in runs)
            self.measured += [Measured(cell, float(run["seconds"])) for run in runs.values()]

    def _read_kept(self, reference: Path, studies: Path) -> None:
        rows = pd.read_parquet(reference / METRICS, columns=[*SEEDED, "seconds", "scale"]).drop_duplicates(SEEDED)
        noted, trained = read_provenance(reference), noted_training(reference)
        pairs = zip(noted["settings"], noted["source"], strict=True)
        digests = dict(zip(zip(keys(noted), noted["seed"].astype(int), strict=True), pairs, strict=True))
        for (study, scale), part in rows.groupby(["study", "scale"], observed=True):
            then = cells_as_planned(str(study), str(scale), sorted(part["dataset"].unique()), studies)
            for key, seed, seconds in zip(keys(part), part["seed"].astype(int), part["seconds"], strict=True):
                self._kept[key, seed] = digests.get((key, seed), ("", ""))
                if key in then:
                    self.measured.append(Measured(as_trained(then[key], trained), float(seconds)))

    def of(self, cell: AnyCell, seed: int) -> str:
        """`done` in the run's folder, `kept` with today's settings and code, kept with `other` ones, or `left`."""
        key, today = key_of(cell), settings_digest(cell)
        settings, seeds = self._done.get(key, ("", frozenset()))
        if settings == today and seed in seeds:
            return DONE
        if (key, seed) not in self._kept:
            return LEFT
        settings, source = self._kept[key, seed]
        return KEPT if settings == today and source and source == self._sources.get(cell) else OTHER
