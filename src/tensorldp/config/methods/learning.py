"""TLDP's two methods: learn from released records, and release parameters while learning together."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tensorldp.config.methods.base import MethodPlan, Training


class LearningTraining(Training):
    """How a classifier is trained."""

    epochs: Annotated[int, Field(ge=1)] = 10
    rounds: Annotated[int, Field(ge=1)] = 10
    batch_size: Annotated[int, Field(ge=2)] = 64
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1e-3
    users: Annotated[int, Field(ge=1)] = 3
    clip: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    pretrained: bool = False


LEARNING = MethodPlan("learning", "release", LearningTraining)
FEDERATED = MethodPlan("federated", "inside", LearningTraining)
