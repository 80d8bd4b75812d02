"""The typed form of config.yaml, and reading YAML that a person has written."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from tensorldp.errors import InputError, check_budget, shown, unknown
from tensorldp_papers.data.own import NAMES, OwnDataset, Place

try:
    from yaml import CSafeLoader as SafeLoader  # several times as fast, and planning reads every study
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader  # type: ignore[assignment]


class _Loader(SafeLoader):
    """Refuses what PyYAML takes in silence for something else: a key that occurs twice, 010 for 8, 1:30 for 90."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value} occurs twice", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """A number as people write it."""
        text = node.value
        if re.match(r"[-+]?0[0-9_]", text) or re.search(r"[:box]", text):
            told = f"{text} is another number in YAML: write a number without zeros before it, or a text in quotes"
            raise yaml.constructor.ConstructorError(None, None, told, node.start_mark)
        whole = node.tag.endswith("int")
        return self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)


for _tag in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.construct_number)


def read_yaml(path: Path, what: str) -> Any:
    """The content of a YAML file.

    Args:
        path: the file.
        what: what it is, for messages.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(f"{what} {path} cannot be read") from None
    try:
        loader = _Loader(content.decode())
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{what} {path} is not UTF-8 text at line {number}: save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{what} {path} is not valid YAML{line}: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{what} {path} is not valid YAML: {shown(str(error).splitlines()[0])}") from None


def read_config(path: Path) -> dict[str, Any]:
    """A config file, YAML or JSON, which is YAML too; it must have keys."""
    content = read_yaml(path, "the config file")
    if not isinstance(content, dict):
        found = "nothing" if content is None else shown(content)
        raise InputError(f"the config file {path} must have keys with values, such as studies, found {found}")
    return content


Scale = Literal["quick", "desk", "paper"]
Device = Literal["auto", "cpu", "cuda"]
PrecisionWish = Literal["auto", "float32", "bfloat16", "compiled"]


def short(name: str) -> str:
    """A name as it is, or its beginning where it could not be read in a message."""
    return name if len(repr(name)) <= 80 else f"{name[: 20 if name[:20].isprintable() else 6]} ..."


def _epsilon(value: object) -> float:
    """A nominal epsilon, or the word inf, as YAML may give it."""
    if isinstance(value, str) and value in ("inf", ".inf"):
        return math.inf
    return check_budget("epsilon", value, infinite=True)


Epsilon = Annotated[
    float, BeforeValidator(_epsilon), PlainSerializer(lambda e: "inf" if e == math.inf else e), Field(gt=0)
]


def _plain(value: object) -> object:
    """What can be written down as JSON: jobs get their settings that way."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("must be text, a finite number, true, false or a list of those") from None
    return value


Setting = Annotated[Any, BeforeValidator(_plain)]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Strict(BaseModel):
    """A model that refuses unknown keys and does not turn text into numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


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


UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def _first(error: ValidationError) -> Any:
    """The problem to tell: a key that is unknown, which may be why another one is missing, else the first."""
    return min(error.errors(), key=lambda problem: problem["type"] not in UNKNOWN)


def explain(error: ValidationError, where: str, allowed: dict[str, Any] | None = None) -> InputError:
    """One problem of a pydantic error as one sentence that names the key, the value and what is allowed."""
    first = _first(error)
    key = ".".join(str(part) for part in first["loc"]) or "(whole file)"
    if first["type"] in UNKNOWN:
        *inside, last = map(str, first["loc"])
        return unknown(f"key in {' '.join([where, *filter(None, ['.'.join(inside)])])}", short(last), allowed or {})
    key = key if key.isprintable() and len(key) <= 80 else shown(key)[1:-1]
    if first["type"] == "missing":
        return InputError(f"{where}: {key} is missing")
    message = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
    message = message.removeprefix("Value error, ")
    if first["type"] == "too_short" and first["ctx"]["min_length"] == 1:
        message = "list at least one"
    if first["type"] == "too_long":
        message = f"list at most {first['ctx']['max_length']}"
    if first["type"] == "list_type" and isinstance(first["input"], (int, float, str)):
        text = str(first["input"])
        message = f"Input should be a list, [{text if text.isprintable() and len(text) <= 80 else shown(text)}]"
    return InputError(f"{where}: {key} = {shown(first['input'])} is not valid: {message[0].lower() + message[1:]}")


BY_STUDY = ("datasets", "mechanisms", "epsilons", "factors", "training")
NUMERIC = ("seeds", "cells_per_job", "epsilons", "factors", "training", "check_minutes")


def _typed(value: Any) -> Any:
    """Numbers and truth values for their texts: inside lists and mappings, `snakemake --config` gives only text."""
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
    """Entries of `own_datasets` with numbers for their texts, except for names: a column `01` is not the number 1."""
    if not isinstance(value, dict):
        return value
    return {
        name: {key: own if key in NAMES else _typed(own) for key, own in entry.items()}
        if isinstance(entry, dict)
        else entry
        for name, entry in value.items()
    }


def _filled(raw: dict[str, Any]) -> dict[str, Any]:
    """The keys that are not left empty; a training setting may be null, and an entry of one's own data may not."""
    filled = {key: value for key, value in raw.items() if value is not None or key not in Settings.model_fields}
    for key in BY_STUDY:
        if isinstance(studies := filled.get(key), dict):
            filled[key] = {study: value for study, value in studies.items() if value is not None}
    return filled


def _in_order(settings: Settings) -> Settings:
    """The same with its grid in one order and each value once, as the order in a config asks for nothing.

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
    """config.yaml, merged with the command line, as `Settings`; lists of the grid are sorted."""
    typed = raw
    if isinstance(raw, dict):
        raw = _filled(raw)
        typed = {key: _typed(value) if key in NUMERIC else value for key, value in raw.items()}
        if "own_datasets" in raw:
            typed["own_datasets"] = _typed_own(raw["own_datasets"])
    try:
        return _in_order(Settings.model_validate(typed))
    except ValidationError as error:
        own = _first(error)["loc"][:1] == ("own_datasets",)
        raise explain(error, "config", dict((OwnDataset if own else Settings).model_fields)) from None
