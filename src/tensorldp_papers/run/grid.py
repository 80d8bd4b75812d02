"""From settings and studies to the cells to compute."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from sys import intern
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tensorldp.errors import InputError, shown, unknown
from tensorldp.mechanism_table import MECHANISMS, NO_PRIVACY, TABLE
from tensorldp_papers.data.catalogue import get, whole_of
from tensorldp_papers.data.catalogue import names as dataset_names
from tensorldp_papers.data.own import check_own
from tensorldp_papers.extractors import EXTRACTORS
from tensorldp_papers.registries import MODELS
from tensorldp_papers.run.cell import AnyCell, Cell, epsilon_text, variant_text
from tensorldp_papers.run.method_plan import OWN_TABLE, SYNTHETIC, Factors, ModelFactors, Training, plan_of
from tensorldp_papers.run.precision import Precision
from tensorldp_papers.run.settings import BY_STUDY, Settings
from tensorldp_papers.run.study import Arm, ScalePlan, Study, load_study, study_files
from tensorldp_papers.strict import explain, short

M = TypeVar("M", bound=BaseModel)


def _validated(model: type[M], values: dict[str, Any], where: str) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise explain(error, where, dict(model.model_fields)) from None


def _training(study: Study, plan: ScalePlan, settings: Settings, factors: dict[str, Any], arm: Arm) -> Training:
    """Merges settings of the study, a factor's value, the arm and the config, and factors that are settings."""
    model = plan_of(study.method).training
    merged: dict[str, Any] = {"limit": plan.limit, **plan.training}
    for key, value in factors.items():
        merged.update(plan.per_factor.get(f"{key}={value}", {}))
    merged.update(arm.training)
    merged.update(settings.training.get(study.study, {}))
    merged.update({key: value for key, value in factors.items() if key in model.model_fields})
    return _validated(model, merged, f"training of {study.study}")


def _typed_factors(study: Study, arm: Arm, factors: dict[str, Any]) -> Factors:
    """Reads what the method takes from a variant."""
    method = plan_of(study.method)
    own = {key: value for key, value in factors.items() if key in method.factors.model_fields}
    for key, value in factors.items():
        if key in own or key in method.training.model_fields:
            continue
        if key not in arm.options:
            raise unknown(
                f"factor of {study.study}",
                short(key),
                [*method.factors.model_fields, *method.training.model_fields, *arm.options],
            )
        if arm.options[key] != value:
            raise InputError(
                f"the factor {key} of {study.study} is {value!r}, but the option of that name is {arm.options[key]!r}"
            )
    if study.release == "features":
        if not own.get("backbone"):
            raise InputError(
                f"the study {study.study} releases features, so a factor backbone must name their extractor"
            )
        if own["backbone"] not in EXTRACTORS:
            raise unknown(f"backbone of {study.study}", short(str(own["backbone"])), EXTRACTORS)
    return _validated(method.factors, own, f"factors of {study.study}")


def _factors(study: Study, plan: ScalePlan, settings: Settings) -> dict[str, list[str | int | float]]:
    """Returns the plan's factors with those of the config; words must be among those that the study has at some scale.

    A network may be any of the registry's where the data set is the user's own: tables need others than images. What
    only arms have does not enter the plan's own grid: it narrows theirs (`_is_wanted`).
    """
    chosen = dict(plan.factors)
    for key, values in settings.factors.get(study.study, {}).items():
        of_arms = [value for arm in study.arms for value in _listed(arm.factors.get(key, []))]
        if key not in plan.factors and not of_arms:
            arms = {key for arm in study.arms for key in arm.factors}
            raise unknown(f"factor of {study.study}", short(key), sorted({*plan.factors, *arms}))
        words = {v for scale in study.scales.values() for v in scale.factors.get(key, []) if isinstance(v, str)}
        if key == "model" and set(settings.datasets.get(study.study, ())) & set(settings.own_datasets):
            words |= set(MODELS.names())
        known = {*words, *of_arms, *([WITHOUT] if key not in plan.factors else [])}
        for value in values:
            if (isinstance(value, str) or key not in plan.factors) and value not in known:
                listed = sorted(map(str, known))
                raise unknown(f"value of the factor {key} of {study.study}", short(str(value)), listed)
        if key in plan.factors:
            chosen[key] = [value for value in values if not isinstance(value, str) or value in words]
    return chosen


WITHOUT = "without"  # in a config's list of values: cells that do not have the factor, too


def _is_wanted(factors: dict[str, Any], mechanism: str, settings: Settings, study: Study) -> bool:
    """Returns whether a cell has a value that the config names for each factor that its mechanism has in some arm.

    Cells without privacy that lack a factor stay, because others are compared with them.
    """
    known = set(factors)
    if mechanism != NO_PRIVACY:
        known |= {key for arm in study.arms if mechanism in arm.mechanisms for key in arm.factors}
    wanted = settings.factors.get(study.study, {})
    return all(factors.get(key, WITHOUT) in values for key, values in wanted.items() if key in known)


def _arm_epsilons(mechanism: str, epsilons: list[float]) -> list[float]:
    return [math.inf] if mechanism == NO_PRIVACY else [e for e in epsilons if not math.isinf(e)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _stands_for(dataset: str, study: Study, settings: Settings) -> set[str]:
    """Returns the data sets whose arms are for this one: itself, the whole of a part, and for a user's own another.

    That is `OWN_TABLE` for a table, where the study has such arms. Else it is `digits`, where all arms name data sets,
    as the study would have none for it otherwise.
    """
    names = {name for arm in study.arms for name in arm.datasets or ()}
    alike = set()
    if (own := settings.own_datasets.get(dataset)) is not None:
        if own.is_table and OWN_TABLE in names:
            alike = {OWN_TABLE}
        elif all(arm.datasets is not None for arm in study.arms):
            alike = {"digits"}
    return {dataset, whole_of(dataset), *alike}


CELL = tuple(field.name for field in fields(Cell))  # `vars` would give each cell a dictionary to keep
_but_epsilon = attrgetter(*(name for name in CELL if name not in ("epsilon", "options")))


def alike(cells: Iterable[AnyCell]) -> Iterator[list[AnyCell]]:
    """Groups cells in a row that differ in nothing but their epsilon, as most of a large grid do."""
    # options that are equal may still be written differently, such as 1 and 1.0
    for _, group in groupby(cells, key=lambda cell: (id(cell.options), *_but_epsilon(cell))):
        yield list(group)


def study_cells(study: Study, settings: Settings, precision: Sequence[Precision] = ()) -> list[AnyCell]:
    """Returns the cells of one study, each once; arguments as of `make_plan`."""
    if settings.scale not in study.scales:
        raise InputError(f"the study {study.study} has no scale {settings.scale!r}; it has {', '.join(study.scales)}")
    plan = study.scales[settings.scale]
    seeds = tuple(sorted(set(settings.seeds or plan.seeds)))
    wanted = settings.mechanisms.get(study.study)
    chosen = _factors(study, plan, settings)
    shared = plan_of(study.method).shares_models
    cells: dict[AnyCell, AnyCell] = {}
    models: dict[AnyCell, AnyCell] = {}
    for arm in study.arms if wanted is None else _chosen(study, wanted):
        if arm.scales is not None and settings.scale not in arm.scales:
            continue
        for dataset in settings.datasets.get(study.study, plan.datasets):
            if arm.datasets is not None and not _stands_for(dataset, study, settings) & set(arm.datasets):
                continue
            grid = {**chosen, **{key: _listed(value) for key, value in arm.factors.items()}}
            for values in itertools.product(*grid.values()):
                factors = dict(zip(grid, values, strict=True))
                mechanisms = [name for name in arm.mechanisms if _is_wanted(factors, name, settings, study)]
                if not mechanisms:
                    continue
                first: AnyCell = Cell(
                    study=study.study,
                    dataset=dataset,
                    variant=variant_text(factors),
                    mechanism=NO_PRIVACY,
                    epsilon="inf",
                    release=study.release,
                    method=study.method,
                    delta=study.delta,
                    training=_training(study, plan, settings, factors, arm),
                    factors=_typed_factors(study, arm, factors),
                    options=arm.options,
                    seeds=seeds,
                    base=variant_text({key: factors[key] for key in plan.factors}),
                ).computing_in(precision)
                own = (arm.epsilons or {}).get(settings.scale, plan.epsilons)
                for mechanism in mechanisms:
                    epsilons = _arm_epsilons(mechanism, settings.epsilons.get(study.study, own))
                    for epsilon in epsilons:
                        cell = Cell(**{**vars(first), "mechanism": mechanism, "epsilon": intern(epsilon_text(epsilon))})
                        if (known := cells.setdefault(cell, cell)) is not cell:
                            _check_same(known, cell)
                    if shared and epsilons:
                        model = _model_cell(first, study, settings, factors).computing_in(precision)
                        models.setdefault(model, model)
    cells |= models
    for dataset in settings.datasets.get(study.study, plan.datasets):
        if not any(cell.dataset == dataset for cell in cells):
            raise InputError(
                f"the study {study.study} has no cell for the dataset {dataset!r}: "
                "an arm of its file must name the data set and a mechanism with a finite epsilon"
            )
    return list(cells)


def _check_same(one: AnyCell, other: AnyCell) -> None:
    """Refuses two cells of one key that are not the same: only one of them would be computed."""
    for key in CELL:
        mine, yours = getattr(one, key), getattr(other, key)
        if mine != yours:
            raise InputError(
                f"two arms of the study {one.study} make the cell {one.path.removeprefix(f'{one.study}/')}, with {key} "
                f"{shown(mine)} and {shown(yours)}: tell them apart by a factor, or leave one out"
            )


def _model_cell(cell: AnyCell, study: Study, settings: Settings, factors: dict[str, Any]) -> AnyCell:
    """Returns the cell of `none` that trains the models which a cell shares, whether or not the run includes it."""
    plan = study.scales[settings.scale]
    own, alone = {key: factors[key] for key in plan.factors}, Arm(mechanisms=[NO_PRIVACY])
    return replace(
        cell,
        variant=cell.base,
        mechanism=NO_PRIVACY,
        epsilon="inf",
        factors=_typed_factors(study, alone, own),
        options={},
        training=_training(study, plan, settings, own, alone),
    )


def _chosen(study: Study, wanted: list[str]) -> list[Arm]:
    """Narrows the study's arms to the wanted mechanisms, with a plain arm for those that no arm has."""
    arms = [arm.model_copy(update={"mechanisms": [m for m in arm.mechanisms if m in wanted]}) for arm in study.arms]
    known = {m for arm in study.arms for m in arm.mechanisms}
    rest = [m for m in wanted if m not in known]
    for mechanism in rest:
        _check_use(study, mechanism, known)
    return [arm for arm in arms if arm.mechanisms] + ([Arm(mechanisms=rest)] if rest else [])


def _check_use(study: Study, mechanism: str, known: set[str]) -> None:
    """Refuses a mechanism that no arm of the study names and whose release the study could not use."""
    listed = TABLE.get(mechanism)
    needed = [key for key, field in plan_of(study.method).factors.model_fields.items() if field.is_required()]
    missing = [key for key in needed if not any(key in scale.factors for scale in study.scales.values())]
    if listed and listed.only_for and study.method not in listed.only_for:
        why = MECHANISMS.get(mechanism).not_elsewhere
    elif listed and listed.integer and study.release != "data":
        why = f"it takes whole numbers, and what is released here, {study.release.replace('_', ' ')}, has real ones"
    elif missing:
        why = f"an arm of its file must name it with a factor {' and '.join(missing)}"
    else:
        return
    raise InputError(
        f"mechanisms: the study {study.study} cannot run {mechanism!r}: {why}; it has {', '.join(sorted(known))}"
    )


def _check_options(cell: AnyCell) -> None:
    """Refuses what is no option of a cell's mechanism; those of the package come from the table, without torch."""
    if cell.mechanism == NO_PRIVACY:  # has the options of the arm that it shares, and no use for them
        return
    listed = TABLE.get(cell.mechanism)
    if listed is None:
        MECHANISMS.get(cell.mechanism).check_options(cell.options)
        return
    for name in cell.options:
        if name not in (allowed := {"clip", *listed.options}):
            raise unknown(f"option of {cell.mechanism} in {cell.study}", short(name), allowed)


def _check_data(cell: AnyCell, study: Study, known: Sequence[str]) -> None:
    """Refuses a data set that is not there, or that the cell's method cannot use."""
    if not cell.plan.data:
        if cell.dataset not in (named := {name for scale in study.scales.values() for name in scale.datasets}):
            raise InputError(
                f"datasets: the study {study.study} reads no data, not even {cell.dataset!r}: leave it out or "
                f"name {' or '.join(sorted(named))}"
            )
    elif cell.dataset == SYNTHETIC:
        if cell.plan.trains or not any(SYNTHETIC in scale.datasets for scale in study.scales.values()):
            listed = ", ".join(known)
            raise InputError(f"the study {study.study} reads data, which {SYNTHETIC!r} has not: take one of {listed}")
    elif cell.dataset not in known:
        raise unknown("dataset", short(cell.dataset), known)
    elif cell.dataset in dataset_names():
        entry = get(cell.dataset)
        records = min(entry.sizes[0], cell.training.limit or entry.sizes[0])
        if cell.training.shares > records:
            raise InputError(
                f"training: the study {study.study} deals {records:,} records of the dataset {cell.dataset!r} to "
                f"{cell.training.shares:,} clients, of whom each needs one: use fewer clients or more records"
            )
        if cell.plan.perturbs and cell.release == "data" and not math.isfinite(entry.high - entry.low):
            raise InputError(
                f"the study {study.study} releases records, and those of the dataset {cell.dataset!r} have no public "
                "range: take a study that releases features or parameters, or another data set"
            )


@dataclass(frozen=True)
class Plan:
    """Everything that the workflow has to compute."""

    settings: Settings
    studies: dict[str, Study]
    cells: tuple[AnyCell, ...]

    def of(self, study: str) -> list[AnyCell]:
        """Returns the cells of one study."""
        return [cell for cell in self.cells if cell.study == study]

    def batches(self) -> dict[tuple[str, str, str], list[AnyCell]]:
        """Returns the cells that one job computes, by study, data set and a number."""
        found: dict[tuple[str, str, str], list[AnyCell]] = {}
        groups: dict[tuple[str, str], list[AnyCell]] = {}
        for cell in self.cells:
            groups.setdefault((cell.study, cell.dataset), []).append(cell)
        for (study, dataset), cells in groups.items():
            scale = self.studies[study].scales[self.settings.scale]
            whole = len(cells) if self.settings.scale == "quick" else 1
            size = self.settings.cells_per_job or scale.cells_per_job or whole
            found |= {(study, dataset, str(i // size)): cells[i : i + size] for i in range(0, len(cells), size)}
        return found

    def trainer(self, cell: AnyCell) -> AnyCell:
        """Returns the cell whose models another one is scored with."""
        base = cell.base.replace(",", "+")
        return self.find(study=cell.study, dataset=cell.dataset, variant=base, mechanism=NO_PRIVACY, epsilon="inf")

    def find(self, *, study: str, dataset: str, variant: str, mechanism: str, epsilon: str) -> AnyCell:
        """Returns the cell of the given key; the variant is as in file names."""
        return self._table[study, dataset, variant, mechanism, epsilon]

    @cached_property
    def _table(self) -> dict[tuple[str, str, str, str, str], AnyCell]:
        return {(c.study, c.dataset, c.folder, c.mechanism, c.epsilon): c for c in self.cells}


def make_plan(settings: Settings, precision: tuple[Precision, ...] = ()) -> Plan:
    """Makes the plan: the cells of the chosen studies.

    Args:
        settings: the run's.
        precision: for the networks that may compute in it: the first of these, else PyTorch's float32.
    """
    available, mechanisms, datasets, models = study_files(), MECHANISMS.names(), dataset_names(), MODELS.names()
    for name in settings.studies:
        if name not in available:
            raise unknown("study", short(name), available)
    check_own(settings.own_datasets, (*datasets, SYNTHETIC))
    for name, grid in settings.epsilons.items():
        if all(map(math.isinf, grid)):
            raise InputError(
                f"epsilons of {name} = {grid}: at least one must be finite; the mechanism none, which alone has an "
                "infinite one, needs no entry"
            )
    for key in BY_STUDY:
        for name in getattr(settings, key):
            if name not in available:
                raise unknown(f"study under {key}", short(name), available)
    studies = {name: load_study(available[name]) for name in dict.fromkeys(settings.studies)}
    known = (*datasets, *settings.own_datasets)
    for study in studies.values():
        for name in (name for arm in study.arms for name in arm.datasets or ()):
            if plan_of(study.method).data and name not in (*known, SYNTHETIC, OWN_TABLE):
                raise unknown(f"dataset of an arm of {study.study}", short(name), (*known, SYNTHETIC))
    cells = tuple(cell for study in studies.values() for cell in study_cells(study, settings, precision))
    if settings.precision in ("bfloat16", "compiled") and all(cell.precision == "float32" for cell in cells):
        raise InputError(
            f"precision is {settings.precision!r} but every network of the chosen studies computes in PyTorch's "
            "float32: set it to auto"
        )
    for cell, *_ in alike(cells):
        if cell.mechanism not in mechanisms:
            raise unknown("mechanism", short(cell.mechanism), mechanisms)
        _check_options(cell)
        if isinstance(cell.factors, ModelFactors) and cell.factors.model not in models:
            raise unknown(f"value of the factor model of {cell.study}", short(cell.factors.model), models)
        _check_data(cell, studies[cell.study], known)
    return Plan(settings, studies, cells)
