"""The typed form of a study: one experiment of one paper, with its grid at each scale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError, unknown
from tensorldp_papers.registries import METHODS
from tensorldp_papers.room_folders import ROOM, room_folders
from tensorldp_papers.rooms import paper_of
from tensorldp_papers.run.settings import Epsilon, Scale, Seed
from tensorldp_papers.strict import Strict, explain, read_yaml, short

Release = Literal["data", "features", "test_features", "gradients", "parameters", "bits"]
Factors = dict[str, list[str | int | float]]


VIEWS = {
    "": "Left as the source prints it, right the same runs at what one whole record is guaranteed.",
    "_mechanisms": "All mechanisms of the study at what one whole record is guaranteed.",
}


class Arm(Strict):
    """Mechanisms that share options; `factors` single this arm out in the variant.

    An arm for some data sets is for their parts, too (`part_of` in the catalogue).
    """

    mechanisms: Annotated[list[str], Field(min_length=1)]
    datasets: list[str] | None = None
    scales: list[Scale] | None = None
    epsilons: dict[Scale, list[Epsilon]] | None = Field(default=None, description="this arm's own grid, by scale")
    factors: dict[str, str | int | float | list[str | int | float]] = Field(
        default_factory=dict, description="only for this arm; a list means each of its values in turn"
    )
    options: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict, description="training settings only for this arm")


class ScalePlan(Strict):
    """The grid of a study at one scale."""

    datasets: Annotated[list[str], Field(min_length=1)]
    epsilons: Annotated[list[Epsilon], Field(min_length=1)]
    seeds: Annotated[list[Seed], Field(min_length=1)]
    factors: Factors = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    per_factor: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="'key=value' of a factor: training settings and a limit only for it"
    )
    limit: int | None = Field(None, ge=10, description="how many of the first training records to use; None is all")
    cells_per_job: int | None = Field(
        None, ge=1, description="how many cells a job computes; None is all of a data set"
    )


class Study(Strict):
    """The file of a study."""

    study: str
    title: str
    source: str
    release: Release
    figure: str = Field(description="the source's figure that it draws; empty where no source has it")
    paper: str | None = Field(
        default=None,
        min_length=1,
        description="the section of the report and the source of the "
        "claims that it belongs to; where this is empty the room that lists the study tells",
    )
    method: str = Field(default="learning", description="how its cells are computed, a name of config/methods")
    views: dict[str, str] = Field(
        default_factory=lambda: dict(VIEWS), description="its figures: ending of the file's name: caption"
    )
    tables: list[str] = Field(
        default_factory=list, description="files that its notebook writes into results/tables, without .csv"
    )
    draws_others: bool = Field(default=False, description="whether its figures draw other studies, too")
    delta: Annotated[float, Field(gt=0, lt=1)] = NOMINAL_DELTA
    arms: Annotated[list[Arm], Field(min_length=1)]
    scales: dict[Scale, ScalePlan]

    @property
    def section(self) -> str:
        """Returns the paper that the study belongs to: as stated, or of the room that lists it, or its own name."""
        return self.paper or paper_of(self.study) or self.study


def study_files() -> dict[str, Path]:
    """Returns the files of all studies by name, sorted: of the papers' rooms, and a user's own.

    A user's lie in the folder `studies` of the working directory, or in the folder of a plug-in that is a package.
    """
    found: dict[str, Path] = {}
    for folder in (*room_folders().values(), Path.cwd() / "studies"):
        for path in sorted(folder.glob("*.yaml")):
            if path.name in (ROOM, "printed.yaml"):
                continue
            if path.stem in found:
                raise InputError(f"the study {path.stem} has two files, {found[path.stem]} and {path}: rename one")
            found[path.stem] = path
    return dict(sorted(found.items()))


def load_study(path: Path) -> Study:
    """Reads the study in a YAML file."""
    raw = read_yaml(path, "the study file")
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        raise explain(error, str(path), dict(Study.model_fields)) from None
    if study.method not in METHODS:
        raise unknown(f"method of {study.study}", short(study.method), sorted(METHODS))
    if study.study != path.stem:
        raise InputError(f"the study file {path} says study: {study.study}, but its name says {path.stem}")
    for scale, plan in study.scales.items():
        grids: list[dict[str, Any]] = [plan.factors]
        grids += [arm.factors for arm in study.arms if arm.scales is None or scale in arm.scales]
        known = {
            f"{key}={value}"
            for factors in grids
            for key, values in factors.items()
            for value in (values if isinstance(values, list) else [values])
        }
        for key in plan.per_factor:
            if key not in known:
                raise unknown(f"factor and value in {path}: scales.{scale}.per_factor", short(key), known)
    return study
