"""What planning knows of a method: the rules that its cells pass, its settings and its factors; imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator, Field

from tensorldp.errors import check_real
from tensorldp_papers.registries import METHODS
from tensorldp_papers.strict import Strict

SYNTHETIC = "synthetic"  # the dataset of cells that read none
OWN_TABLE = "own_table"  # in an arm: any table of a user's own
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
HeldOut = Annotated[
    float,
    Field(
        ge=0,
        lt=1,
        description="share of the training records, the last, that models are scored on in place of test records",
    ),
]
Limit = Annotated[int, Field(ge=10)] | None


def _number(value: object) -> object:
    check_real("it", value)
    return value


Number = Annotated[int | float, BeforeValidator(_number)]  # an int stays one, in texts too


class Training(Strict):
    """Settings of every method; a method adds its own."""

    limit: Limit = Field(None, description="how many of the first training records to use")

    @property
    def scored(self) -> int | None:
        """Returns how many of the first test records models are scored on; None is all."""
        return None

    @property
    def shares(self) -> int:
        """Returns into how many parts the training records are dealt, each of which needs one."""
        return 1


class ModelTraining(Training):
    """For methods whose network may start from ImageNet weights."""

    pretrained: bool = False


class EpochTraining(Training):
    """For methods whose networks see all records in every epoch, in minibatches."""

    epochs: Annotated[int, Field(ge=1)] = 10
    batch_size: Annotated[int, Field(ge=2)] = 64
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1e-3


class Factors(Strict):
    """The dimensions of a method's grid that its computation reads; a method adds its own.

    A field that the variant does not name has its default.
    """

    def named(self) -> dict[str, Any]:
        """Returns the factors that the variant names, by name."""
        return self.model_dump(exclude_unset=True)


class ModelFactors(Factors):
    """For methods that train a network of the registry."""

    model: str = Field(description="the network, a name of tensorldp_papers.nets")


T_co = TypeVar("T_co", bound=Training, covariant=True)
F_co = TypeVar("F_co", bound=Factors, covariant=True)


# the rules that run for a cell, in order, by the kind of its method
RELEASE = ("perturb", "train", "evaluate")  # owners release records, someone learns from them, models are scored
INSIDE = ("train", "evaluate")  # the mechanism works inside the training; then the models are scored
SHARED = ("train_shared", "evaluate")  # only `none` is trained; the mechanism works inside the scoring of its models
MEASURE = ("measure",)  # one step from the data to the metrics


@dataclass(frozen=True)
class MethodPlan(Generic[T_co, F_co]):
    """How the cells of a study are computed.

    Attributes:
        name: the name that studies use.
        training: its settings.
        factors: what its computation reads of a cell's variant.
        rules: `RELEASE`, `INSIDE`, `SHARED` or `MEASURE`.
        module: that has what its stages do, as `METHOD`; empty for methods from outside, which register it.
        data: whether cells read a prepared data set; the dataset `synthetic` means none in any case.
        reduced: the values of the factor `model` whose networks may compute in bfloat16: those that it makes faster
            without a loss of accuracy. Networks that make releases are never among them.
        compiled: the values of the factor `model` whose training the loop in C++ can do.
        represented: whether cells read public representations of the data set that the factor `backbone` names.
        by_seed: whether what a cell guarantees depends on the seed, so that it is computed for each.
        version: of its numbers; whoever changes scores raises it by one, and kept results with another version no
            longer count.
    """

    name: str
    training: type[T_co]
    factors: type[F_co]
    rules: tuple[str, ...]
    module: str = ""
    data: bool = field(default=True, kw_only=True)
    reduced: frozenset[str] = field(default=frozenset(), kw_only=True)
    compiled: frozenset[str] = field(default=frozenset(), kw_only=True)
    represented: bool = field(default=False, kw_only=True)
    by_seed: bool = field(default=False, kw_only=True)
    version: int = field(default=1, kw_only=True)

    @property
    def perturbs(self) -> bool:
        """Returns whether its cells release records before anything is trained."""
        return self.rules == RELEASE

    @property
    def trains(self) -> bool:
        """Returns whether its cells have models."""
        return self.rules != MEASURE

    @property
    def shares_models(self) -> bool:
        """Returns whether all cells are scored with the models of the cell of `none`."""
        return self.rules == SHARED

    @property
    def guarantee_by_seed(self) -> bool:
        """Returns whether a guarantee holds for one seed: with shared models, mechanisms may follow its model."""
        return self.by_seed or self.shares_models


AnyPlan = MethodPlan[Training, Factors]


def plan_of(method: str) -> AnyPlan:
    """Returns the plan of a method."""
    plan: AnyPlan = METHODS.get(method)
    return plan
