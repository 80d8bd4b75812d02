"""Seconds that a cell's seed takes: measured, or estimated from measured cells like it, with a word on how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tensorldp.config.cell import AnyCell
from tensorldp.kept.likeness import LEVELS, elements, levels, sized, work

UNKNOWN = "unknown"


class Measured(NamedTuple):
    """The seconds that one seed of a cell took, with the settings that it had then."""

    cell: AnyCell
    seconds: float


class Estimate(NamedTuple):
    """Seconds of one seed, NaN where nothing like it was measured, and which of `LEVELS` they come from."""

    seconds: float
    how: str


class Costs:
    """Estimates of seconds from what was measured.

    Args:
        measured: seeds of cells; where a cell shares its models, the seconds are those of the models.
    """

    def __init__(self, measured: Iterable[Measured]) -> None:
        self._rates: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for cell, seconds in measured:
            if seconds <= 0 or (cell.plan.shares_models and cell.path != cell.model_path):
                continue
            rate = seconds / work(cell)
            *near, far = levels(cell)
            for key in near:
                self._rates[key].append(rate)
            if sized(cell.dataset):
                self._rates[far].append(rate / elements(cell.dataset))

    def of(self, cell: AnyCell) -> Estimate:
        """The seconds of one seed of a cell.

        Zero where the cell is scored with models that another cell trains: what scoring takes is not kept. Otherwise
        the mean seconds for each unit of `work` of the measured cells that are most like it, times its own work; from
        other data in proportion to the elements of a record, too, if their number and that of records are known.
        """
        if cell.plan.shares_models and cell.path != cell.model_path:
            return Estimate(0.0, LEVELS[0])
        for key, how in zip(levels(cell), LEVELS, strict=True):
            if (rates := self._rates.get(key)) and (how != LEVELS[-1] or sized(cell.dataset)):
                far = elements(cell.dataset) if how == LEVELS[-1] else 1
                return Estimate(sum(rates) / len(rates) * work(cell) * far, how)
        return Estimate(float("nan"), UNKNOWN)
