"""What a method does at each stage of a cell: an abstract class for each kind of plan in `run.method_plan`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp.files import read_arrays
from tensorldp.mechanisms import Mechanism
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import AnyCell, Cell
from tensorldp_papers.run.method_plan import INSIDE, MEASURE, RELEASE, SHARED, Factors, MethodPlan, Training, plan_of
from tensorldp_papers.run.provenance import Stopwatch
from tensorldp_papers.run.records import Records

Arrays = Mapping[str, NDArray[Any]]
Rows = list[dict[str, Any]]  # {"metric": name, "value": number}, and of a series its `round`, `epoch` or `client`
Audited = tuple[Mechanism | None, str]

LARGEST_WEIGHT = 1e12  # no network here has such weights unless its training diverged

T = TypeVar("T", bound=Training)
F = TypeVar("F", bound=Factors)


@dataclass
class Trained:
    """What `train` keeps of one seed: arrays, such as a model's state, and what else `evaluate` must know (JSON)."""

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any] = field(default_factory=dict)


def describe_labels(labels: torch.Tensor) -> dict[str, Any]:
    """Counts the test records and computes the shares of their classes: an audit from accuracy needs both."""
    shares = (labels.bincount().double() / len(labels)).tolist()
    return {"records": len(labels), "largest_class": max(shares), "shares": shares}


def read_trained(path: Path) -> tuple[Trained, dict[str, Any]]:
    """Reads what `train` wrote for a seed, and the record of that run."""
    arrays, metadata = read_arrays(path)
    return Trained(arrays, json.loads(metadata["facts"])), json.loads(metadata["record"])


def diverged(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Returns a trained model's first array with an element not finite or above `LARGEST_WEIGHT`; "" if none."""
    for name, values in arrays.items():
        if (
            np.issubdtype(values.dtype, np.floating)
            and values.size
            and not float(np.abs(values).max()) <= LARGEST_WEIGHT
        ):
            return name
    return ""


class Method(ABC, Generic[T, F]):
    """How the cells of a study are computed, for training settings T and factors F.

    Every hook is called for one cell and, where it has one, one seed. All randomness comes from `common_stream`
    and `noise_stream`.
    """

    rules: ClassVar[tuple[str, ...]]  # as in its plan


class ReleaseMethod(Method[T, F]):
    """Owners release records, someone learns from the releases, and the models are scored.

    The releases depend on no training setting but the limit, so that `release` sees no other.
    """

    rules = RELEASE

    @abstractmethod
    def release(
        self, cell: Cell[Training, F], records: Records, seed: int, split: str, device: torch.device
    ) -> dict[str, NDArray[Any]]:
        """Computes, as stage `perturb`, what owners of a split (`train` or `test`) release; keys begin with it."""

    @abstractmethod
    def train(
        self,
        cell: Cell[T, F],
        records: Records,
        released: Arrays,
        seed: int,
        device: torch.device,
        weights: Path | None = None,
    ) -> Trained:
        """Trains, as stage `train`, on the released arrays (`train...` keys).

        Args:
            cell: the cell that is computed.
            records: the data set's training records.
            released: what `perturb` wrote for the seed.
            seed: for everything random.
            device: where the model is trained.
            weights: a file of pretrained weights, where the cell asks for them.
        """

    def train_all(
        self,
        cell: Cell[T, F],
        records: Records,
        released: Callable[[int], Arrays],
        device: torch.device,
        weights: Path | None = None,
    ) -> Iterator[tuple[int, Trained, float]]:
        """Trains all seeds of a cell, as stage `train`: (seed, what to keep, seconds), one seed after the other.

        A method whose models can be trained together does it here, with the same numbers.
        `released` reads what a seed released, and the other arguments are those of `train`.
        """
        for seed in cell.seeds:
            watch = Stopwatch()
            yield seed, self.train(cell, records, released(seed), seed, device, weights), watch.seconds

    @abstractmethod
    def evaluate(
        self, cell: Cell[T, F], test: Records, trained: Trained, released: Arrays, seed: int, device: torch.device
    ) -> Rows:
        """Computes, as stage `evaluate`, scores on the test records, and on those released (`test...` keys)."""

    @abstractmethod
    def guarantee(self, cell: Cell[T, F], data: Path) -> dict[str, Any]:
        """Returns what the cell's releases guarantee, as `tensorldp_papers.run.privacy.describe` writes it."""

    @abstractmethod
    def audited(self, cell: Cell[T, F], data: Path) -> Audited:
        """Returns the mechanism to audit and a note about it; None where no audit by samples can be made."""


class _OnRecords(Method[T, F]):
    """Training on the records themselves."""

    @abstractmethod
    def train(
        self, cell: Cell[T, F], records: Records, seed: int, device: torch.device, weights: Path | None = None
    ) -> Trained:
        """Trains, as stage `train`, on the records; arguments as of `ReleaseMethod.train`."""

    def train_all(
        self, cell: Cell[T, F], records: Records, device: torch.device, weights: Path | None = None
    ) -> Iterator[tuple[int, Trained, float]]:
        """Trains all seeds of a cell, as stage `train`: (seed, what to keep, seconds), one seed after the other."""
        for seed in cell.seeds:
            watch = Stopwatch()
            yield seed, self.train(cell, records, seed, device, weights), watch.seconds

    @abstractmethod
    def evaluate(self, cell: Cell[T, F], test: Records, trained: Trained, seed: int, device: torch.device) -> Rows:
        """Computes, as stage `evaluate`, scores on the test records."""


class InsideMethod(_OnRecords[T, F]):
    """The mechanism works inside the training; then the models are scored."""

    rules = INSIDE

    @abstractmethod
    def guarantee(self, cell: Cell[T, F], data: Path) -> dict[str, Any]:
        """Describes the guarantee as `ReleaseMethod` does."""

    @abstractmethod
    def audited(self, cell: Cell[T, F], data: Path) -> Audited:
        """Returns the mechanism to audit as `ReleaseMethod` does."""


class SharedMethod(_OnRecords[T, F]):
    """Only the cell of `none` is trained; every cell is scored with its models, the mechanism inside the scoring."""

    rules = SHARED

    def common(
        self, cell: Cell[T, F], test: Records, trained: Trained, seed: int, device: torch.device
    ) -> dict[str, NDArray[Any]]:
        """Computes once what the scoring of every cell would compute alike from the test records and the model.

        `train` keeps it with the model's arrays.
        """
        return {}

    @abstractmethod
    def guarantee(self, cell: Cell[T, F], data: Path, models: list[Trained]) -> dict[str, Any]:
        """Describes the guarantee as `ReleaseMethod` does; mechanisms may follow the shared models, one a seed."""

    @abstractmethod
    def audited(self, cell: Cell[T, F], data: Path, models: list[Trained]) -> Audited:
        """Returns the mechanism to audit as `ReleaseMethod` does, with the shared models."""


class MeasureMethod(Method[T, F]):
    """One step from the data to the metrics; `data` is None for the data set `synthetic`."""

    rules = MEASURE

    @abstractmethod
    def measure(self, cell: Cell[T, F], data: Path | None, seed: int, device: torch.device) -> Rows:
        """Computes the metrics, as stage `measure`: all in one step, from the folder of a prepared data set."""

    def test_labels(self, cell: Cell[T, F], data: Path | None) -> torch.Tensor | None:
        """Returns the labels of the test records behind `accuracy_perturbed_test`, for a method with that metric."""
        return None

    @abstractmethod
    def guarantee(self, cell: Cell[T, F], data: Path | None) -> dict[str, Any]:
        """Describes the guarantee as `ReleaseMethod` does."""

    @abstractmethod
    def audited(self, cell: Cell[T, F], data: Path | None) -> Audited:
        """Returns the mechanism to audit as `ReleaseMethod` does."""


AnyMethod = ReleaseMethod[Any, Any] | InsideMethod[Any, Any] | SharedMethod[Any, Any] | MeasureMethod[Any, Any]


C = TypeVar("C", bound=type[Any])
_FROM_OUTSIDE: dict[str, AnyMethod] = {}


def method(name: str) -> AnyMethod:
    """Returns the method of a name."""
    plan = plan_of(name)
    found: AnyMethod = import_module(plan.module).METHOD if plan.module else _FROM_OUTSIDE[name]
    return found


def register_method(plan: MethodPlan[Any, Any]) -> Callable[[C], C]:
    """Makes a method known, from outside the package; use as a decorator of its class.

    Args:
        plan: what planning has to know of it, under the method's name.

    Returns:
        A decorator that raises InputError if the class is not of the kind that the plan says, or the name is taken.
    """

    def register(cls: C) -> C:
        if not issubclass(cls, (ReleaseMethod, InsideMethod, SharedMethod, MeasureMethod)) or cls.rules != plan.rules:
            raise InputError(
                f"the method {plan.name} has the rules {', '.join(plan.rules)}, which {cls.__name__} does not fit"
            )
        METHODS.add(plan.name, plan, cls.__module__)
        _FROM_OUTSIDE[plan.name] = cls()
        return cls

    return register


def guarantee_of(cell: AnyCell, data: Path | None, models: Sequence[Path] | None = None) -> dict[str, Any]:
    """Describes what a cell's releases guarantee, whatever its method.

    Args:
        cell: the cell.
        data: the folder of the prepared data; None for the data set `synthetic`.
        models: the files of shared models, where the method has such.
    """
    guarantee: dict[str, Any] = method(cell.method).guarantee(cell, *_inputs(cell, data, models))
    return guarantee


def audited_of(cell: AnyCell, data: Path | None, models: Sequence[Path] | None = None) -> Audited:
    """Returns a cell's mechanism to audit and a note about it, whatever its method; arguments as of `guarantee_of`."""
    audited: Audited = method(cell.method).audited(cell, *_inputs(cell, data, models))
    return audited


def _inputs(cell: AnyCell, data: Path | None, models: Sequence[Path] | None) -> tuple[Any, ...]:
    """Returns what `guarantee` and `audited` of a method take besides the cell."""
    plan = plan_of(cell.method)
    if plan.rules == MEASURE:
        return (data,)
    if data is None:
        raise InputError(f"cells of the method {cell.method} read a data set: give its folder as --data")
    if not plan.shares_models:
        return (data,)
    if models is None:
        raise InputError(f"cells of the method {cell.method} share models: give their files")
    return data, [read_trained(path)[0] for path in models]
