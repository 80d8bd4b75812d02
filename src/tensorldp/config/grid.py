"""From settings and studies to the cells to compute."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tensorldp.config.methods import METHODS
from tensorldp.config.methods.base import SYNTHETIC
from tensorldp.config.settings import Settings, explain, short
from tensorldp.config.study import Arm, ScalePlan, Study, load_study
from tensorldp.errors import InputError, unknown


def epsilon_text(epsilon: float) -> str:
    """The canonical text of an epsilon in file names and keys: 1, 0.5, 1e-05, inf."""
    if math.isinf(epsilon):
        return "inf"
    return str(int(epsilon)) if epsilon == int(epsilon) and epsilon < 1e15 else repr(float(epsilon))


def variant_text(factors: dict[str, Any]) -> str:
    """The canonical `key=value,...` text of a study's further factors; `base` if there are none."""
    return ",".join(f"{key}={factors[key]}" for key in sorted(factors)) or "base"


@dataclass(frozen=True)
class Cell:
    """One point of a study's grid; all its seeds are computed in one process."""

    study: str
    dataset: str
    variant: str
    mechanism: str
    epsilon: str
    release: str = field(compare=False, default="data")
    method: str = field(compare=False, default="learning")
    delta: float = field(compare=False, default=1e-5)
    factors: dict[str, Any] = field(compare=False, default_factory=dict)
    options: dict[str, Any] = field(compare=False, default_factory=dict)
    seeds: tuple[int, ...] = field(compare=False, default=())
    training: dict[str, Any] = field(compare=False, default_factory=dict)
    limit: int | None = field(compare=False, default=None)
    base: str = field(compare=False, default="base")

    @property
    def folder(self) -> str:
        """The variant in file names, without commas: Snakemake cannot pass them on to a job on a cluster."""
        return self.variant.replace(",", "+")

    @property
    def path(self) -> str:
        """study/dataset/variant/mechanism/epsilon~E, the middle of every file name of the cell."""
        return f"{self.study}/{self.dataset}/{self.folder}/{self.mechanism}/epsilon~{self.epsilon}"

    @property
    def model_path(self) -> str:
        """The path of the cell whose models this one uses: its own, or where they are shared that of `none`."""
        if METHODS[self.method].stages != "shared":
            return self.path
        return f"{self.study}/{self.dataset}/{self.base.replace(',', '+')}/none/epsilon~inf"

    def key(self) -> dict[str, Any]:
        """What the cell is, as every output records it."""
        return {
            "study": self.study,
            "dataset": self.dataset,
            "variant": self.variant,
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "release": self.release,
            "delta": self.delta,
            "method": self.method,
        }

    def perturbation(self) -> dict[str, Any]:
        """The settings that a release of the cell depends on."""
        return {
            **self.key(),
            "options": self.options,
            "seeds": list(self.seeds),
            "limit": self.limit,
            "factors": self.factors,
        }

    def training_settings(self) -> dict[str, Any]:
        """The settings that the trained models of the cell depend on."""
        return {**self.perturbation(), "training": self.training}


def _training(study: Study, plan: ScalePlan, settings: Settings, factors: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    model = METHODS[study.method].training
    merged: dict[str, Any] = {"limit": plan.limit, **plan.training}
    for key, value in factors.items():
        merged.update(plan.per_factor.get(f"{key}={value}", {}))
    merged.update({key: value for key, value in factors.items() if key in model.model_fields})  # a search's factors
    merged.update(settings.training.get(study.study, {}))
    try:
        training = model.model_validate(merged).model_dump()
    except ValidationError as error:
        raise explain(error, f"training of {study.study}", dict(model.model_fields)) from None
    return training, training.pop("limit")


def _factors(study: Study, plan: ScalePlan, settings: Settings) -> dict[str, list[str | int | float]]:
    """The plan's factors with those of the config; words must be among those that the study has at some scale."""
    wanted = settings.factors.get(study.study, {})
    for key, values in wanted.items():
        if key not in plan.factors:
            raise unknown(f"factor of {study.study}", short(key), sorted(plan.factors))
        words = sorted({v for scale in study.scales.values() for v in scale.factors.get(key, []) if isinstance(v, str)})
        for value in values:
            if isinstance(value, str) and value not in words:
                raise unknown(f"value of the factor {key} of {study.study}", short(value), words)
    return {**plan.factors, **wanted}


def _arm_epsilons(mechanism: str, epsilons: list[float]) -> list[float]:
    return [math.inf] if mechanism == "none" else [e for e in epsilons if not math.isinf(e)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _study_cells(study: Study, settings: Settings) -> list[Cell]:
    if settings.scale not in study.scales:
        raise InputError(f"the study {study.study} has no scale {settings.scale!r}; it has {', '.join(study.scales)}")
    plan = study.scales[settings.scale]
    seeds = tuple(dict.fromkeys(settings.seeds or plan.seeds))
    wanted = settings.mechanisms.get(study.study)
    chosen = _factors(study, plan, settings)
    cells: dict[Cell, None] = {}
    for arm in study.arms if wanted is None else _chosen(study, wanted):
        if arm.scales is not None and settings.scale not in arm.scales:
            continue
        for dataset in settings.datasets.get(study.study, plan.datasets):
            if arm.datasets is not None and dataset not in arm.datasets:
                continue
            grid = {**chosen, **{key: _listed(value) for key, value in arm.factors.items()}}
            for values in itertools.product(*grid.values()):
                factors = dict(zip(grid, values, strict=True))
                training, limit = _training(study, plan, settings, factors)
                own = (arm.epsilons or {}).get(settings.scale, plan.epsilons)
                for mechanism in arm.mechanisms:
                    for epsilon in _arm_epsilons(mechanism, settings.epsilons.get(study.study, own)):
                        cells[
                            Cell(
                                study.study,
                                dataset,
                                variant_text(factors),
                                mechanism,
                                epsilon_text(epsilon),
                                study.release,
                                study.method,
                                study.delta,
                                factors,
                                arm.options,
                                seeds,
                                training,
                                limit,
                                variant_text({key: factors[key] for key in plan.factors}),
                            )
                        ] = None
    cells |= _models_of(study, plan, settings, cells)
    for dataset in settings.datasets.get(study.study, plan.datasets):
        if not any(cell.dataset == dataset for cell in cells):
            raise InputError(
                f"the study {study.study} has no cell for the dataset {dataset!r}: "
                "an arm of its file must name the data set and a mechanism with a finite epsilon"
            )
    return list(cells)


def _models_of(study: Study, plan: ScalePlan, settings: Settings, cells: dict[Cell, None]) -> dict[Cell, None]:
    """The cells of `none` that train the models which the other cells share, whether or not they are asked for."""
    found: dict[Cell, None] = {}
    if METHODS[study.method].stages == "shared":
        for cell in cells:
            factors = {key: cell.factors[key] for key in plan.factors}
            training, limit = _training(study, plan, settings, factors)
            found[
                replace(
                    cell,
                    variant=cell.base,
                    mechanism="none",
                    epsilon="inf",
                    factors=factors,
                    options={},
                    training=training,
                    limit=limit,
                )
            ] = None
    return found


def _chosen(study: Study, wanted: list[str]) -> list[Arm]:
    """The study's arms narrowed to the wanted mechanisms, and a plain arm for those that no arm has."""
    arms = [arm.model_copy(update={"mechanisms": [m for m in arm.mechanisms if m in wanted]}) for arm in study.arms]
    known = {m for arm in study.arms for m in arm.mechanisms}
    rest = [m for m in wanted if m not in known]
    return [arm for arm in arms if arm.mechanisms] + ([Arm(mechanisms=rest)] if rest else [])


@dataclass(frozen=True)
class Plan:
    """Everything that the workflow has to compute."""

    settings: Settings
    studies: dict[str, Study]
    cells: tuple[Cell, ...]

    def of(self, study: str) -> list[Cell]:
        """The cells of one study."""
        return [cell for cell in self.cells if cell.study == study]

    def find(self, **key: str) -> Cell:
        """The cell of the given study, dataset, variant (as in file names), mechanism and epsilon."""
        return self._table()[tuple(key[k] for k in ("study", "dataset", "variant", "mechanism", "epsilon"))]

    def _table(self) -> dict[tuple[str, ...], Cell]:
        table: dict[tuple[str, ...], Cell] | None = self.__dict__.get("_by_key")
        if table is None:
            table = {(c.study, c.dataset, c.folder, c.mechanism, c.epsilon): c for c in self.cells}
            object.__setattr__(self, "_by_key", table)
        return table


def make_plan(settings: Settings, folder: Path, *, mechanisms: list[str], datasets: list[str]) -> Plan:
    """The cells of the chosen studies, which are read from `folder`.

    Raises:
        InputError: if a study, dataset, mechanism or training setting is unknown or not valid.
    """
    available = sorted(path.stem for path in folder.glob("*.yaml"))
    for name in settings.studies:
        if name not in available:
            raise unknown("study", short(name), available)
    for key in ("datasets", "mechanisms", "epsilons", "factors", "training"):
        for name in getattr(settings, key):
            if name not in available:
                raise unknown(f"study under {key}", short(name), available)
    studies = {name: load_study(folder / f"{name}.yaml") for name in dict.fromkeys(settings.studies)}
    cells = tuple(cell for study in studies.values() for cell in _study_cells(study, settings))
    for cell in cells:
        if cell.mechanism not in mechanisms:
            raise unknown("mechanism", short(cell.mechanism), mechanisms)
        if METHODS[cell.method].data and cell.dataset not in (*datasets, SYNTHETIC):
            raise unknown("dataset", short(cell.dataset), datasets)
    return Plan(settings, studies, cells)
