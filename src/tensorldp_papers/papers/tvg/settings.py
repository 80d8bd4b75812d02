"""TVG's methods: covariance estimation, classification of private test features, and private SGD."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import (
    INSIDE,
    MEASURE,
    SHARED,
    EpochTraining,
    Factors,
    HeldOut,
    Limit,
    MethodPlan,
    ModelFactors,
    ModelTraining,
    Training,
)


class CovarianceTraining(Training):
    """How a table becomes the domain of the covariance query."""

    reach: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="standardised columns are clipped to [-reach, reach]")
    ] = 3.0


class CovarianceFactors(Factors):
    """The sensitivity of the query."""

    sensitivity: Literal["printed", "tight"] = "printed"


COVARIANCE = MethodPlan(
    "covariance", CovarianceTraining, CovarianceFactors, MEASURE, "tensorldp_papers.papers.tvg.covariance"
)


class TestingTraining(EpochTraining):
    """How the network that all cells share is trained, on clean data."""

    batch_size: Annotated[int, Field(ge=2)] = 256
    test_limit: Limit = Field(None, description="how many of the first test records to use")

    @property
    def scored(self) -> int | None:
        return self.test_limit


class TestingFactors(ModelFactors):
    """Which network, what the noise is made for, and what it knows of the task."""

    unit: Literal["record", "batch"] = "record"
    subspace: Literal["weights", "identity"] = Field(
        "weights", description="the utility subspace W: the weights that the features meet, or E where nothing is known"
    )


TESTING = MethodPlan("testing", TestingTraining, TestingFactors, SHARED, "tensorldp_papers.papers.tvg.testing")


class PrivateSgdTraining(ModelTraining):
    """A run of private steps; the settings that end in l2 are those of the honest mechanism, which clips in l2."""

    lot: Annotated[int, Field(ge=1)] = 128
    steps: Annotated[int, Field(ge=1)] = 1000
    clip: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    clip_l2: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.1
    learning_rate_l2: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.5
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    accountant: Literal["pld", "rdp"] = Field("pld", description="which finds the honest noise; PLD states the result")
    held_out: HeldOut = 0.0
    pretrained: Literal[False] = False


PRIVATE_SGD = MethodPlan(
    "private_sgd",
    PrivateSgdTraining,
    ModelFactors,
    INSIDE,
    "tensorldp_papers.papers.tvg.private_sgd",
    compiled=frozenset({"lenet", "lenet_wide", "mlp_12", "mlp_10"}),
)

CovarianceCell = Cell[CovarianceTraining, CovarianceFactors]
TestingCell = Cell[TestingTraining, TestingFactors]
PrivateSgdCell = Cell[PrivateSgdTraining, ModelFactors]

for _plan in (COVARIANCE, TESTING, PRIVATE_SGD):
    METHODS.add(_plan.name, _plan, __name__)
