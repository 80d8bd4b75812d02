"""LATENT's method: bit strings of untrained features, randomised, and an ANN that learns from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import RELEASE, Factors, MethodPlan, Training


class LatentTraining(Training):
    """How the ANN on bits, or the baseline CNN, is trained (the keys of LATENT's Table 1)."""

    epochs: Annotated[int, Field(ge=1)] = 10
    batch_size: Annotated[int, Field(ge=2)] = 128
    optimizer: Literal["sgd", "adadelta", "adam"] = "adam"
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="None is Keras's default of the optimiser: 0.01, 1 and 0.001"
    )
    activation: Literal["relu", "tanh", "sigmoid"] = "relu"
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.5
    width: Annotated[int, Field(ge=1)] = 128
    checkpoints: Annotated[int, Field(ge=1)] = Field(1, description="epochs whose models are scored, evenly spread")


class LatentFactors(Factors):
    """What an owner releases, and what learns from it."""

    model: Literal["ann", "cnn", "centroid"]
    features: Annotated[int, Field(ge=2)] = Field(64, description="k, random projections that `centroid` releases")
    augment: Annotated[int, Field(ge=0)] = Field(0, description="altered copies released of each training image")
    labels: Literal["permuted"] | None = Field(None, description="trains on permuted labels, to show what chance is")


LATENT = MethodPlan(
    "latent",
    LatentTraining,
    LatentFactors,
    RELEASE,
    "tensorldp_papers.papers.latent.method",
    reduced=frozenset({"ann", "cnn"}),
)

LatentCell = Cell[LatentTraining, LatentFactors]

METHODS.add(LATENT.name, LATENT, __name__)
