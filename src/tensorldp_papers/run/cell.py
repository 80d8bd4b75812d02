"""One point of a study's grid, as the plan makes it and as every stage gets it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import GenericAlias
from typing import Any, Generic, Self

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY, version_of
from tensorldp_papers.run.method_plan import SYNTHETIC, AnyPlan, F_co, Factors, T_co, Training, plan_of
from tensorldp_papers.run.precision import Precision
from tensorldp_papers.strict import explain


def epsilon_text(epsilon: float) -> str:
    """Writes an epsilon as file names and keys have it: 1, 0.5, 1e-05, inf."""
    if math.isinf(epsilon):
        return "inf"
    return str(int(epsilon)) if epsilon == int(epsilon) and epsilon < 1e15 else repr(float(epsilon))


def variant_text(factors: Mapping[str, Any]) -> str:
    """Writes a study's further factors as `key=value,...`; `base` if there are none."""
    return ",".join(f"{key}={factors[key]}" for key in sorted(factors)) or "base"


def check_name(mechanism: str, options: Mapping[str, Any]) -> str:
    """Returns the name of a mechanism's check, in which options make another mechanism: `gaussian+form=table5`."""
    return "+".join([mechanism, *(f"{key}={options[key]}" for key in sorted(options))])


def variant_factors(variant: str) -> dict[str, str]:
    """Reads what `variant_text` wrote, `key=value,...`, as a dictionary of texts; `base` is empty."""
    return {} if variant == "base" else dict(pair.split("=", 1) for pair in variant.split(","))


@dataclass(frozen=True)
class Cell(Generic[T_co, F_co]):
    """One point of a study's grid, with all its seeds.

    Attributes:
        study, dataset, variant, mechanism, epsilon: its key; epsilon is the canonical text of the nominal one.
        release: what leaves its owner.
        method: a name of `METHODS`.
        delta: the nominal delta.
        options: further arguments of the mechanism.
        seeds: the seeds that are wanted.
        training: the method's settings.
        factors: what the method reads of the variant.
        base: the variant of the cell of `none` whose models this one uses, where a method shares them.
        precision: what its networks compute in, float32, bfloat16 or compiled (float32 too); never its mechanism.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    study: str
    dataset: str
    variant: str
    mechanism: str
    epsilon: str
    release: str = field(compare=False)
    method: str = field(compare=False)
    delta: float = field(compare=False)
    training: T_co = field(compare=False)
    factors: F_co = field(compare=False)
    options: dict[str, Any] = field(compare=False, default_factory=dict)
    seeds: tuple[int, ...] = field(compare=False, default=())
    base: str = field(compare=False, default="base")
    precision: Precision = field(compare=False, default="float32")

    @property
    def folder(self) -> str:
        """Returns the variant as in file names, without commas: Snakemake cannot pass them on to a job on a cluster."""
        return self.variant.replace(",", "+")

    @property
    def path(self) -> str:
        """Returns study/dataset/variant/mechanism/epsilon~E, the middle of every file name of the cell."""
        return f"{self.study}/{self.dataset}/{self.folder}/{self.mechanism}/epsilon~{self.epsilon}"

    @property
    def plan(self) -> AnyPlan:
        """Returns how its method is computed."""
        return plan_of(self.method)

    @property
    def data_folder(self) -> str | None:
        """Returns where its records come from: the prepared data set, features or representations of it, or nowhere."""
        if not self.plan.data or self.dataset == SYNTHETIC:
            return None
        backbone = getattr(self.factors, "backbone", None)
        if self.plan.represented:
            return f"results/representations/{self.dataset}/{backbone}"
        if self.release == "features":
            return f"results/features/{self.dataset}/{backbone}"
        return f"resources/datasets/{self.dataset}"

    @property
    def versions(self) -> dict[str, int]:
        """Returns the versions of the numbers of its method and its mechanism."""
        return {"method_version": self.plan.version, "mechanism_version": version_of(self.mechanism)}

    @property
    def model_path(self) -> str:
        """Returns the path of the cell whose models this one uses: its own, or where they are shared that of `none`."""
        if not self.plan.shares_models:
            return self.path
        return f"{self.study}/{self.dataset}/{self.base.replace(',', '+')}/{NO_PRIVACY}/epsilon~inf"

    def names(self) -> frozenset[str]:
        """Returns the words by which it chooses code: its method, mechanism, network and other values of settings."""
        chosen = {**self.training.model_dump(), **self.factors.model_dump(), **self.options}
        words = {value for value in chosen.values() if isinstance(value, str)}
        return frozenset({self.method, self.mechanism, self.dataset, *words})

    @property
    def private(self) -> bool:
        """Returns whether anything is perturbed: false for the reference that releases records as they are."""
        return self.mechanism != NO_PRIVACY

    @property
    def nominal_epsilon(self) -> float:
        """Returns the nominal epsilon as a number."""
        return math.inf if self.epsilon == "inf" else float(self.epsilon)

    def settings(self) -> dict[str, Any]:
        """Returns the cell as a JSON object that `parse_cell` reads: what its models and scores depend on."""
        precision = {} if self.precision == "float32" else {"precision": self.precision}
        return {**self.private_settings(), **precision}

    def private_settings(self) -> dict[str, Any]:
        """Returns the same without the precision: what its guarantee and its audit depend on."""
        return {**self.release_settings(), "training": self.training.model_dump()}

    def computing_in(self, choices: Sequence[Precision]) -> Self:
        """Returns the cell with the first precision that its networks may compute in, else PyTorch's float32."""
        model = getattr(self.factors, "model", None)
        allowed = {"bfloat16": self.plan.reduced, "compiled": self.plan.compiled}
        found: Precision = next((name for name in choices if model in allowed.get(name, ())), "float32")
        return replace(self, precision=found) if found != self.precision else self

    def release_settings(self) -> dict[str, Any]:
        """Returns what a release of the cell depends on, for `parse_release`: of its training only the limit."""
        return {
            "study": self.study,
            "dataset": self.dataset,
            "variant": self.variant,
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "release": self.release,
            "method": self.method,
            "delta": self.delta,
            "training": {"limit": self.training.limit},
            "factors": self.factors.named(),
            "options": self.options,
            "seeds": list(self.seeds),
            "base": self.base,
        }


AnyCell = Cell[Training, Factors]


@cache
def _adapter(training: type[Training], factors: type[Factors]) -> TypeAdapter[Any]:
    kind: Any = GenericAlias(Cell, (training, factors))
    return TypeAdapter(kind)


def _parse(raw: Mapping[str, Any], *, released: bool) -> AnyCell:
    plan = plan_of(str(raw.get("method")))
    try:
        text = json.dumps(dict(raw))
        cell: AnyCell = _adapter(Training if released else plan.training, plan.factors).validate_json(text)
        return cell
    except ValidationError as error:
        raise explain(error, "the cell's settings", dict.fromkeys(Cell.__dataclass_fields__)) from None
    except (TypeError, ValueError):
        raise InputError("the cell's settings are not JSON") from None


def parse_cell(raw: Mapping[str, Any]) -> AnyCell:
    """Reads the cell of a JSON object, with its training settings and factors in the types of its method."""
    return _parse(raw, released=False)


def parse_release(raw: Mapping[str, Any]) -> AnyCell:
    """Reads `release_settings` as `parse_cell` does: the training settings are those that every method has."""
    return _parse(raw, released=True)
