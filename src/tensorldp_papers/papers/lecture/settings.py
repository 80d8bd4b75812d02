"""Reconstruction and membership attacks on gradients, data releases and trained models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import MEASURE, Count, Factors, MethodPlan, Number, Positive, Training


class AttackTraining(Training):
    """Sizes of the attacks, and of the training that shows what a defence costs."""

    victims: Count = Field(2, description="records that an attack is tried on, for each seed")
    candidates: Annotated[int, Field(ge=2)] = Field(100, description="N, records among which a victim is to be named")
    draws: Count = Field(3, description="networks that the tensor attack is tried on, for each seed")
    steps: Count = Field(200, description="iterations of gradient inversion")
    pairs: Count = Field(50, description="replacements tried for a gradient's sensitivity")
    local_rate: Positive = Field(0.1, description="learning rate of local steps; of a two-layer network divided by m")
    users: Count = Field(32, description="clients of one round of training on defended gradients")
    rounds: Count = Field(100, description="rounds of it")
    learning_rate: Positive = Field(0.02, description="of it")
    epochs: Count = Field(10, description="of a classifier on released records")
    members: Annotated[int, Field(ge=10)] = Field(100, description="records that a model under a membership attack saw")
    member_epochs: Count = Field(60, description="epochs of that model")


class AttackFactors(Factors):
    """Which attack, on what, against which defence."""

    attack: Literal[
        "tensor", "sensitivity", "dlg", "idlg", "cosine", "cosine-tv", "analytic", "likelihood", "membership"
    ]
    defence: Literal["none", "local", "noise", "clip", "prune", "dropout", "mechanism"] = "none"
    strength: Number | None = Field(None, description="of the defence, in the unit of attacks/defences.py")
    m: Count | None = Field(None, description="neurons of a two-layer network")
    d: Count | None = Field(None, description="dimension of its records")
    B: Count | None = Field(None, description="records of a batch")
    activation: str = Field("relu-shifted", description="of the two-layer network, a name of attacks/two_layer.py")
    scaling: Literal["mean", "root", "sign"] | None = Field(None, description="of its output weights")


ATTACKS = MethodPlan("attacks", AttackTraining, AttackFactors, MEASURE, "tensorldp_papers.papers.lecture.method")

AttackCell = Cell[AttackTraining, AttackFactors]

METHODS.add(ATTACKS.name, ATTACKS, __name__)
