"""PLDP-FL's two methods: the mean of synthetic values, and federated averaging with personal budgets."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from tensorldp.errors import check_positive, unknown
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import INSIDE, MEASURE, Factors, MethodPlan, ModelFactors, Positive, Training

Levels = Annotated[list[Positive], Field(min_length=1)]


class SyntheticTraining(Training):
    """How many values are released, and about what centre."""

    participants: Annotated[int, Field(ge=1)] = 70
    records: Annotated[int, Field(ge=1)] = 100
    range_centre: Annotated[float, Field(allow_inf_nan=False)] = Field(
        1.0, description="centre of every safe range; not in the paper, and at 0 no relative error is defined"
    )


class PldpTraining(Training):
    """PLDP-FL, 6.1 and 6.2.2."""

    rounds: Annotated[int, Field(ge=1)] = 50
    epochs: Annotated[int, Field(ge=1)] = 5
    batch_size: Annotated[int, Field(ge=1)] = 20
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.01
    clients: Annotated[int, Field(ge=1)] = 100
    participation: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.7
    split: Literal["iid", "dirichlet"] = "iid"
    alpha: Annotated[float, Field(ge=1e-6, allow_inf_nan=False)] = Field(0.5, description="of the Dirichlet split")
    client_epsilons: Levels | None = Field(
        None, description="levels of the clients in turn instead of the mode's, scaled to the cell's largest epsilon"
    )
    client_ranges: Levels | None = Field(None, description="widths of the clients' safe ranges instead of the mode's")
    range_centre: Annotated[float, Field(allow_inf_nan=False)] = Field(0.0, description="centre of every safe range")
    clip: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        1.0, description="l2 radius of a model's change, where epsilon covers a model or a run"
    )
    on_exhausted: Literal["continue", "stop"] = "continue"
    allowance: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="what a client may spend in the run, in the unit of its epsilon; None is its own epsilon"
    )
    every: Annotated[int, Field(ge=1)] = Field(5, description="rounds between two scores")
    strategy: Literal["auto", "loop", "batched"] = Field("auto", description="how clients are simulated")
    memory_mb: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1024.0
    threads: Annotated[int, Field(ge=1)] = Field(1, description="clients simulated at the same time on a CPU")

    @property
    def shares(self) -> int:
        return self.clients


EpsilonMode = Literal["same", "e1", "e2", "e3"]
RangeMode = Literal["t1", "t2", "t3"]


def _tau(value: object) -> object:
    if isinstance(value, str):
        if value not in get_args(RangeMode):
            raise unknown("safe range mode", value, get_args(RangeMode))
    else:
        check_positive("the width of a safe range", value)
    return value


Tau = Annotated[int | float | RangeMode, BeforeValidator(_tau)]


class SyntheticFactors(Factors):
    """What the participants choose."""

    eps: EpsilonMode = Field("same", description="mode of the participants' epsilons")
    tau: Tau = Field(2.0, description="mode of the safe ranges, or one width for all")


class PldpFactors(ModelFactors):
    """What the clients choose; `participation` and `split` are training settings that a grid may vary."""

    eps: EpsilonMode = Field("same", description="mode of the clients' epsilons")
    tau: Tau = Field(2.0, description="mode of the safe ranges, or one width for all: [-1, 1] (6.2.4)")
    budget: Literal["weight", "model", "run"] = Field("weight", description="what a client's epsilon covers")
    centre: Literal["zero", "global"] = Field(
        "zero", description="what safe ranges are around: the number 0, or each weight as the server has just sent it"
    )


SYNTHETIC = MethodPlan(
    "pldp_synthetic",
    SyntheticTraining,
    SyntheticFactors,
    MEASURE,
    "tensorldp_papers.papers.pldp_fl.synthetic",
    data=False,
)
PLDP = MethodPlan(
    "pldp_fl",
    PldpTraining,
    PldpFactors,
    INSIDE,
    "tensorldp_papers.papers.pldp_fl.method",
    compiled=frozenset({"pldp_cnn", "mlp"}),
    by_seed=True,  # a seed says who uploads when
)

SyntheticCell = Cell[SyntheticTraining, SyntheticFactors]
PldpCell = Cell[PldpTraining, PldpFactors]

for _plan in (SYNTHETIC, PLDP):
    METHODS.add(_plan.name, _plan, __name__)
