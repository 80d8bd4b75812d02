"""How a client's model leaves it: weight by weight as the papers do, or as one record with an honest budget."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError, check_positive, unknown
from tensorldp.mechanisms import Ball, Box, Mechanism, make, mechanism_class
from tensorldp_papers.papers.pldp_fl.preferences import Preference

BUDGETS = ("weight", "model", "run")
CENTRES = ("zero", "global")


class Upload(ABC):
    """One client's way to release a model.

    Attributes:
        mechanism: what randomises; of one weight or of the whole model.
        per_weight: the nominal epsilon that one upload spends on a weight, or None where there is no such number.
    """

    mechanism: Mechanism
    per_weight: float | None

    @abstractmethod
    def release(self, start: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
        """The model (I,) that the server gets, from the global weights and the client's own, both (I,)."""

    @abstractmethod
    def curve(self) -> PrivacyCurve:
        """The privacy curve of one upload, for replacing the client's whole model by any other."""


@dataclass(frozen=True)
class PerWeight(Upload):
    """Every weight is clipped to the safe range and randomised on its own, with the client's epsilon each.

    Attributes:
        mechanism: of one weight, on the safe range.
        size: I, the number of weights.
        about_global: the range is around the weight that the server has sent: its change is clipped, randomised and
            added to it. What was sent is public, so that the guarantee is the same.
    """

    mechanism: Mechanism
    size: int
    about_global: bool = False

    @property
    def per_weight(self) -> float:  # type: ignore[override]
        return self.mechanism.epsilon

    def release(self, start: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
        if not self.mechanism.private:
            return weights
        box = self.mechanism.domain.as_box()
        values = weights - start if self.about_global else weights
        inside = box.project(values.nan_to_num(nan=box.centre, posinf=box.high, neginf=box.low))
        released = self.mechanism.privatize(inside.unsqueeze(1), generator).squeeze(1)
        return start + released if self.about_global else released

    def curve(self) -> PrivacyCurve:
        return self.mechanism.curve().compose(self.size)


@dataclass(frozen=True)
class WholeModel(Upload):
    """The change of the model, clipped to an l2 ball, is one record, and epsilon is of the whole of it."""

    mechanism: Mechanism

    @property
    def per_weight(self) -> float | None:  # type: ignore[override]
        return self.mechanism.epsilon if self.mechanism.epsilon_unit == "element" else None

    def release(self, start: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
        change = (weights - start).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).unsqueeze(0)
        return start + self.mechanism.privatize(self.mechanism.given_domain.project(change), generator).squeeze(0)

    def curve(self) -> PrivacyCurve:
        return self.mechanism.curve()


@lru_cache(maxsize=256)
def _whole(name: str, epsilon: float, radius: float, size: int, delta: float) -> WholeModel:
    nominal = epsilon / size if mechanism_class(name).epsilon_unit == "element" else epsilon
    return WholeModel(make(name, epsilon=nominal, domain=Ball(radius, (size,)), delta=delta))


@lru_cache(maxsize=256)
def _weight(
    name: str, epsilon: float, low: float, high: float, size: int, delta: float, about_global: bool
) -> PerWeight:
    return PerWeight(make(name, epsilon=epsilon, domain=Box(low, high, (1,)), delta=delta), size, about_global)


def make_upload(
    name: str,
    preference: Preference,
    *,
    size: int,
    budget: str = "weight",
    rounds: int = 1,
    centre: str = "zero",
    clip: float = 1.0,
    delta: float = NOMINAL_DELTA,
) -> Upload:
    """A client's upload.

    Args:
        name: the mechanism's registry key.
        preference: the client's safe range and epsilon.
        size: I, the number of weights.
        budget: what the client's epsilon is of: one `weight` of one upload (as PLDP-FL and PLU-FedOA have it), the
            whole `model` of one upload, or the whole `run`: split equally over `rounds` uploads, basic composition.
        rounds: the most uploads that the client may make.
        centre: `zero` takes the safe range as it is; `global` as one of changes from the weight that the server has
            sent, where the budget is of a weight.
        clip: the l2 radius of a model's change, where the budget is of a model or a run.
        delta: of mechanisms that have one.

    Raises:
        InputError: if the budget or the centre is unknown, they do not go together, or the mechanism refuses its
            domain.
    """
    if centre not in CENTRES:
        raise unknown("centre", centre, CENTRES)
    if budget == "weight":
        if math.isfinite(preference.epsilon) and not mechanism_class(name).private:
            raise InputError(f"client {preference.client} has a finite epsilon but the mechanism {name}")
        return _weight(name, preference.epsilon, preference.low, preference.high, size, delta, centre == "global")
    if budget not in BUDGETS:
        raise unknown("budget", budget, BUDGETS)
    if centre != "zero":
        raise InputError(
            f"centre is {centre!r}, but a budget of a {budget} has no safe ranges: allowed is zero, as what is clipped "
            "there is the model's change in any case"
        )
    epsilon = preference.epsilon / rounds if budget == "run" else preference.epsilon
    return _whole(name, epsilon, check_positive("clip", clip), size, delta)
