"""What the plan has to know of a method: the stages that its cells pass, its settings, its factors and its modules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import BeforeValidator, Field

from tensorldp.errors import check_real
from tensorldp_papers.run.settings import Strict

SYNTHETIC = "synthetic"  # the dataset of cells that read none
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Limit = Annotated[int, Field(ge=10)] | None


def _number(value: object) -> object:
    check_real("it", value)
    return value


Number = Annotated[int | float, BeforeValidator(_number)]  # an int stays one, in texts too


class Training(Strict):
    """Settings of every method; a method adds its own."""

    limit: Limit = Field(None, description="the first so many training records")

    @property
    def scored(self) -> int | None:
        """The first so many test records that models are scored on; None is all."""
        return None


class ModelTraining(Training):
    """Of methods whose network may start from ImageNet weights."""

    pretrained: bool = False


class Factors(Strict):
    """The dimensions of a method's grid that its computation reads; a method adds its own.

    A field that the variant does not name has its default.
    """

    def named(self) -> dict[str, Any]:
        """The factors that the variant names, by name."""
        return self.model_dump(exclude_unset=True)


class ModelFactors(Factors):
    """Of methods that train a network of the registry."""

    model: str = Field(description="the network, a name of tensorldp_papers.nets")


T_co = TypeVar("T_co", bound=Training, covariant=True)
F_co = TypeVar("F_co", bound=Factors, covariant=True)


@dataclass(frozen=True)
class MethodPlan(ABC, Generic[T_co, F_co]):
    """How the cells of a study are computed; the subclass says which stages there are.

    Attributes:
        name: of the module in `tensorldp_papers.run.methods` that does it.
        training: its settings.
        factors: what its computation reads of a cell's variant.
        data: whether cells read a prepared data set; the dataset `synthetic` stands for none in any case.
        reduced: the values of the factor `model` whose networks may compute in bfloat16: those that it makes faster
            without a loss of accuracy. Networks that make releases are never among them.
        compiled: the values of the factor `model` whose training the loop in C++ can do.
        guarantee_by_seed: whether what a cell guarantees depends on the seed, so that it is computed for each.
    """

    name: str
    training: type[T_co]
    factors: type[F_co]
    data: bool = True
    reduced: frozenset[str] = field(default=frozenset(), kw_only=True)
    compiled: frozenset[str] = field(default=frozenset(), kw_only=True)
    guarantee_by_seed: bool = field(default=False, kw_only=True)

    perturbs: ClassVar[bool] = False
    trains: ClassVar[bool] = True
    shares_models: ClassVar[bool] = False
    randomises_training: ClassVar[bool] = False
    randomises_scoring: ClassVar[bool] = False

    @property
    @abstractmethod
    def rules(self) -> tuple[str, ...]:
        """The rules that run for a cell, in order."""


@dataclass(frozen=True)
class ReleasePlan(MethodPlan[T_co, F_co]):
    """Owners release records, someone learns from the releases, and the models are scored."""

    perturbs: ClassVar[bool] = True

    @property
    def rules(self) -> tuple[str, ...]:
        return "perturb", "train", "evaluate"


@dataclass(frozen=True)
class InsidePlan(MethodPlan[T_co, F_co]):
    """The mechanism works inside the training; then the models are scored."""

    randomises_training: ClassVar[bool] = True

    @property
    def rules(self) -> tuple[str, ...]:
        return "train", "evaluate"


@dataclass(frozen=True)
class SharedPlan(MethodPlan[T_co, F_co]):
    """The cell of `none` alone is trained; every cell is scored with its models, the mechanism inside the scoring."""

    guarantee_by_seed: bool = field(default=True, kw_only=True)  # mechanisms may follow the seed's model

    shares_models: ClassVar[bool] = True
    randomises_scoring: ClassVar[bool] = True

    @property
    def rules(self) -> tuple[str, ...]:
        return "train_shared", "evaluate"


@dataclass(frozen=True)
class MeasurePlan(MethodPlan[T_co, F_co]):
    """One step from the data to the metrics."""

    trains: ClassVar[bool] = False

    @property
    def rules(self) -> tuple[str, ...]:
        return ("measure",)


AnyPlan = MethodPlan[Training, Factors]
