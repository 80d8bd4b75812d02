"""The typed form of config.yaml."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationError

from tensorldp.errors import InputError, check_budget, shown
from tensorldp_papers.data.own import NAME_KEYS, OwnDataset, Place
from tensorldp_papers.strict import Strict, explain, first_problem, read_yaml


def read_config(path: Path) -> dict[str, Any]:
    """Reads a config file, YAML or JSON, which is YAML too; it must have keys."""
    content = read_yaml(path, "the config file")
    if not isinstance(content, dict):
        found = "nothing" if content is None else shown(content)
        raise InputError(f"the config file {path} must have keys with values, such as studies, found {found}")
    return content


Scale = Literal["quick", "desk", "paper"]
Device = Literal["auto", "cpu", "cuda"]
PrecisionWish = Literal["auto", "float32", "bfloat16", "compiled"]


def _epsilon(value: object) -> float:
    """Reads a nominal epsilon, or the word inf, as YAML may give it."""
    if isinstance(value, str) and value in ("inf", ".inf"):
        return math.inf
    return check_budget("epsilon", value, infinite=True)


Epsilon = Annotated[
    float, BeforeValidator(_epsilon), PlainSerializer(lambda e: "inf" if e == math.inf else e), Field(gt=0)
]


def _plain(value: object) -> object:
    """Returns what can be written down as JSON: jobs get their settings that way."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("must be text, a finite number, true, false or a list of those") from None
    return value


Setting = Annotated[Any, BeforeValidator(_plain)]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Settings(Strict):
    """config.yaml. An empty value means what the study states for this scale."""

    scale: Scale = Field("quick", description="quick, desk or paper")
    studies: list[str] = Field(min_length=1, description="the studies to run, by the names of their files")
    seeds: list[Seed] | None = Field(None, min_length=1, description="the seeds of every cell")
    datasets: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(
        default_factory=dict, description="study: its datasets"
    )
    own_datasets: dict[str, OwnDataset] = Field(
        default_factory=dict, description="name: a file or folder of the user's own, to be named under datasets"
    )
    mechanisms: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(
        default_factory=dict, description="study: its mechanisms"
    )
    epsilons: dict[str, Annotated[list[Epsilon], Field(min_length=1)]] = Field(
        default_factory=dict, description="study: its grid of nominal epsilons"
    )
    factors: dict[str, dict[str, Annotated[list[str | int | float], Field(min_length=1)]]] = Field(
        default_factory=dict, description="study: values of its factors that replace its own"
    )
    training: dict[str, dict[str, Setting]] = Field(
        default_factory=dict, description="study: training settings that replace the study's own"
    )
    cells_per_job: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="how many cells one job computes, which changes no number; empty: as the study states",
    )
    check_minutes: Annotated[float, Field(gt=0, le=600)] = Field(
        2.0, description="processor time of each job of `snakemake checks`, in minutes"
    )
    mirror: Place | None = Field(None, description="a folder that holds the datasets' files")
    device: Device = Field("auto", description="auto, cpu or cuda")
    precision: PrecisionWish = Field(
        "auto", description="what networks compute in: auto, float32, bfloat16 or compiled"
    )
    plugins: list[str] = Field(default_factory=list, description="modules to import that register mechanisms")


BY_STUDY = ("datasets", "mechanisms", "epsilons", "factors", "training")
NUMERIC = ("seeds", "cells_per_job", "epsilons", "factors", "training", "check_minutes")


def _typed(value: Any) -> Any:
    """Turns texts into numbers and truth values: inside lists and mappings, `snakemake --config` gives only text."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    if not isinstance(value, str) or len(value) > 40:
        return value
    if value in ("true", "false"):
        return value == "true"
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
    except ValueError:
        return value
    return number if math.isfinite(number) else value


def _typed_own(value: Any) -> Any:
    """Turns texts into numbers in entries of `own_datasets`, except for names: a column `01` is not the number 1."""
    if not isinstance(value, dict):
        return value
    return {
        name: {key: own if key in NAME_KEYS else _typed(own) for key, own in entry.items()}
        if isinstance(entry, dict)
        else entry
        for name, entry in value.items()
    }


def _filled(raw: dict[str, Any]) -> dict[str, Any]:
    """Returns the keys that are not left empty; a training setting may be null, an entry of one's own data may not."""
    filled = {key: value for key, value in raw.items() if value is not None or key not in Settings.model_fields}
    for key in BY_STUDY:
        if isinstance(studies := filled.get(key), dict):
            filled[key] = {study: value for study, value in studies.items() if value is not None}
    return filled


def _in_order(settings: Settings) -> Settings:
    """Returns the same with its grid in one order and each value once, as the order in a config asks for nothing.

    Figures and tables have their own: by catalogue and by value.
    """
    own = {key: dict(sorted(getattr(settings, key).items())) for key in (*BY_STUDY, "own_datasets")}
    for key in ("datasets", "mechanisms", "epsilons"):
        own[key] = {study: sorted(set(values)) for study, values in own[key].items()}
    for study, factors in own["factors"].items():
        once = {factor: {repr(value): value for value in values}.values() for factor, values in sorted(factors.items())}
        own["factors"][study] = {
            factor: sorted(values, key=lambda value: (isinstance(value, str), value)) for factor, values in once.items()
        }
    own["training"] = {study: dict(sorted(training.items())) for study, training in own["training"].items()}
    seeds = None if settings.seeds is None else sorted(set(settings.seeds))
    return settings.model_copy(update={**own, "seeds": seeds})


def parse_settings(raw: dict[str, Any]) -> Settings:
    """Reads config.yaml, merged with the command line, as `Settings`; lists of the grid are sorted."""
    typed = raw
    if isinstance(raw, dict):
        raw = _filled(raw)
        typed = {key: _typed(value) if key in NUMERIC else value for key, value in raw.items()}
        if "own_datasets" in raw:
            typed["own_datasets"] = _typed_own(raw["own_datasets"])
    try:
        return _in_order(Settings.model_validate(typed))
    except ValidationError as error:
        own = first_problem(error)["loc"][:1] == ("own_datasets",)
        raise explain(error, "config", dict((OwnDataset if own else Settings).model_fields)) from None
