"""The best accuracy that an epsilon truly buys: public representations and learners from releases."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import MEASURE, Count, Factors, HeldOut, MethodPlan, Training

Backbone = Literal["strokes", "gradients", "imagenet_160", "words", "columns"]


class FrontierTraining(Training):
    """The public side of a run."""

    public_records: Annotated[int, Field(ge=0)] = Field(
        5000,
        description="how many of the last training records are public, unlabelled; `strokes` and `columns` use none",
    )
    clients: Count = Field(1000, description="that share the records, where clients are protected")
    held_out: HeldOut = 0.0


class FrontierFactors(Factors):
    """What is released from what, over which representation."""

    backbone: Backbone = Field(description="the public representation")
    private: Literal["features", "code", "record", "test", "answer", "client"] = Field(
        "features",
        description="what is released: features of training records, the number of their nearest public codeword, "
        "features with the label, features of test records, the device's own answer to a test record, or the change of "
        "a client's model over the representation",
    )
    rounds: Count = Field(1, description="uploads of a client in the whole run, which share its epsilon")
    learner: Literal["chosen", "prior", "nearest", "least_squares", "covariance", "logistic"] = Field(
        "chosen",
        description="from the releases, `prior` with what public records teach; `logistic` without privacy",
    )
    control: Literal["shuffled", "public"] | None = Field(
        None,
        description="labels shuffled, or public data alone: where they have no label, clusters named by test labels",
    )

    @model_validator(mode="after")
    def _codes_are_learnt_from_by_class_means(self) -> FrontierFactors:
        if self.private == "code" and self.learner not in ("chosen", "nearest", "prior"):
            raise ValueError(f"private is 'code', whose learner is chosen, nearest or prior, got {self.learner!r}")
        return self

    @model_validator(mode="after")
    def _rounds_are_of_clients(self) -> FrontierFactors:
        if self.rounds > 1 and self.private != "client":
            raise ValueError(f"rounds is {self.rounds}, but private is {self.private!r}: only clients upload in rounds")
        return self


FRONTIER = MethodPlan(
    "frontier",
    FrontierTraining,
    FrontierFactors,
    MEASURE,
    "tensorldp_papers.papers.frontier.method",
    represented=True,
)

FrontierCell = Cell[FrontierTraining, FrontierFactors]

METHODS.add(FRONTIER.name, FRONTIER, __name__)
