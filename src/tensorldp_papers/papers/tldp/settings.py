"""TLDP's methods: learn from released records, release parameters while learning together, and release only noise."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import (
    INSIDE,
    MEASURE,
    RELEASE,
    Count,
    EpochTraining,
    Limit,
    MethodPlan,
    ModelFactors,
    ModelTraining,
    Positive,
)


class LearningTraining(ModelTraining, EpochTraining):
    """How a classifier is trained."""

    rounds: Annotated[int, Field(ge=1)] = 10
    users: Annotated[int, Field(ge=1)] = 3
    clip: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class NoiseTraining(ModelTraining):
    """Rounds in which users learn nothing; the scores of all of them are averaged."""

    rounds: Count = 100
    users: Count = 3
    clip: Positive = 1.0
    test_limit: Limit = Field(None, description="how many of the first test records to use")

    @property
    def scored(self) -> int | None:
        return self.test_limit


class LearningFactors(ModelFactors):
    """What learns from which releases."""

    backbone: str | None = Field(None, description="the extractor of the features, where features are released")
    unit: Literal["record", "batch"] = Field("record", description="what the noise is made for: a record, or 256")
    range: Literal["printed"] | None = Field(None, description="marks an arm that has the printed Delta as an option")


class FederatedFactors(ModelFactors):
    """Who perturbs the parameters."""

    where: Literal["server", "user"]
    range: Literal["printed"] | None = Field(None, description="marks an arm that has the printed Delta as an option")


LEARNING = MethodPlan(
    "learning",
    LearningTraining,
    LearningFactors,
    RELEASE,
    "tensorldp_papers.papers.tldp.learning",
    reduced=frozenset({"small_cnn"}),
    compiled=frozenset({"small_cnn", "lenet_tanh_head"}),
)
FEDERATED = MethodPlan(
    "federated",
    LearningTraining,
    FederatedFactors,
    INSIDE,
    "tensorldp_papers.papers.tldp.federated",
    compiled=frozenset({"small_cnn"}),
)
NOISE_NETWORKS = MethodPlan(
    "noise_networks", NoiseTraining, FederatedFactors, MEASURE, "tensorldp_papers.papers.tldp.noise_networks"
)

LearningCell = Cell[LearningTraining, LearningFactors]
FederatedCell = Cell[LearningTraining, FederatedFactors]
NoiseCell = Cell[NoiseTraining, FederatedFactors]

for _plan in (LEARNING, FEDERATED, NOISE_NETWORKS):
    METHODS.add(_plan.name, _plan, __name__)
