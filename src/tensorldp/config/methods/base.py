"""What the plan has to know of a method: the stages that a cell passes, its settings and its modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from tensorldp.config.settings import Strict

Stages = Literal["release", "inside", "shared", "measure"]
SYNTHETIC = "synthetic"  # the dataset of cells that read none


class Training(Strict):
    """Settings of every method; a method adds its own."""

    limit: Annotated[int, Field(ge=10)] | None = Field(None, description="the first so many training records")


@dataclass(frozen=True)
class MethodPlan:
    """How the cells of a study are computed.

    Attributes:
        name: of the module in `tensorldp.studies.methods` that does it.
        stages: `release` (perturb, train, evaluate), `inside` (train with the mechanism inside, evaluate), `shared`
            (train the cell of `none` alone, then evaluate every cell with its models and the mechanism inside) or
            `measure` (one step from the data to the metrics).
        training: its settings.
        release_module: the source file, under src/tensorldp, of the stage `perturb`.
        data: whether cells read a prepared data set; the dataset `synthetic` stands for none in any case.
    """

    name: str
    stages: Stages
    training: type[Training]
    release_module: str = "studies/perturb.py"
    data: bool = True

    @property
    def module(self) -> str:
        """The source file that does it, under src/tensorldp."""
        return f"studies/methods/{self.name}.py"
