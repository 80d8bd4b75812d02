"""TVG's methods: covariance estimation, and classification of private test features."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tensorldp.config.methods.base import MethodPlan, Training


class CovarianceTraining(Training):
    """How a table becomes the domain of the covariance query."""

    reach: Annotated[float, Field(
        gt=0, allow_inf_nan=False, description="standardised columns are clipped to [-reach, reach]")] = 3.0


COVARIANCE = MethodPlan("covariance", "measure", CovarianceTraining, ("studies/covariance.py",))


class TestingTraining(Training):
    """How the network that all cells share is trained, on clean data."""

    epochs: Annotated[int, Field(ge=1)] = 10
    batch_size: Annotated[int, Field(ge=2)] = 256
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1e-3
    test_limit: Annotated[int, Field(ge=10)] | None = Field(None, description="the first so many test records")


TESTING = MethodPlan("testing", "shared", TestingTraining,
                     ("studies/testing.py", "studies/batches.py", "models/tanh.py", "models/registry.py",
                      "models/seeding.py", "training/classify.py"))
