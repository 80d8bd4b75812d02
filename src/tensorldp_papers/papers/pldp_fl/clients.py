"""PLDP-FL's clients: what each prefers, how its model leaves it, and what it has spent."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError, check_budget, check_positive, check_real
from tensorldp.mechanisms import Ball, Box, Mechanism, make, mechanism_class

EPSILON_MODES: dict[str, tuple[float, ...]] = {
    "e1": (0.1, 0.2),
    "e2": tuple(i / 10 for i in range(1, 11)),
    "e3": (0.9, 1.0),
    "same": (1.0,),
}
RANGE_MODES: dict[str, tuple[float, ...]] = {
    "t1": (0.2, 0.4),
    "t2": tuple(i / 5 for i in range(1, 11)),
    "t3": (1.8, 2.0),
}


@dataclass(frozen=True)
class Preference:
    """One client's (tau, epsilon): the safe range [low, high] of a weight and its privacy budget."""

    client: int
    epsilon: float
    low: float
    high: float

    def __post_init__(self) -> None:
        check_budget(f"epsilon of client {self.client}", self.epsilon, infinite=True)
        low = check_real(f"the lower end of the safe range of client {self.client}", self.low)
        high = check_real(f"the upper end of the safe range of client {self.client}", self.high)
        if not low < high:
            raise InputError(
                f"the safe range of client {self.client} must have a width above 0, got [{low:g}, {high:g}]"
            )


def epsilon_levels(mode: str | Sequence[float], clients: int, largest: float) -> list[float]:
    """Returns every client's epsilon: the mode's levels, in turn, scaled so that the largest client's is `largest`.

    A mode is `e1`, `e2`, `e3` (PLDP-FL, 6.1.3), `same`, or the levels of the first clients.
    """
    levels = EPSILON_MODES[mode] if isinstance(mode, str) else mode
    levels = [check_budget(f"epsilon of client {i}", level) for i, level in enumerate(levels)]
    if math.isinf(largest):
        return [math.inf] * clients
    top = max(levels[:clients])
    return [largest * (levels[i % len(levels)] / top) for i in range(clients)]


def range_lengths(mode: str | float | Sequence[float], clients: int) -> list[float]:
    """Returns every client's length L of its safe range: the mode's lengths, repeated in turn.

    A mode is `t1`, `t2`, `t3` (PLDP-FL, 6.1.3), one length for all, or the lengths of the first clients.
    """
    if isinstance(mode, str):
        mode = RANGE_MODES[mode]
    lengths = [mode] if isinstance(mode, (int, float)) else mode
    lengths = [check_positive(f"the width of the safe range of client {i}", length) for i, length in enumerate(lengths)]
    return [lengths[i % len(lengths)] for i in range(clients)]


def preferences(
    epsilons: str | Sequence[float],
    ranges: str | float | Sequence[float],
    *,
    clients: int,
    largest: float,
    centre: float = 0.0,
) -> list[Preference]:
    """Returns the (tau, epsilon) of every client, by `epsilon_levels` and `range_lengths`.

    `centre` is that of every safe range, in the unit of a weight; the paper does not print its own.
    """
    return [
        Preference(i, epsilon, centre - length / 2, centre + length / 2)
        for i, (epsilon, length) in enumerate(
            zip(epsilon_levels(epsilons, clients, largest), range_lengths(ranges, clients), strict=True)
        )
    ]


def participant_count(clients: int, participation: float) -> int:
    """Returns gamma N, rounded to at least one."""
    return max(1, round(participation * clients))


class Upload(ABC):
    """One client's way to release a model.

    Attributes:
        mechanism: what randomises, either one weight or the whole model.
        per_weight: the nominal epsilon that one upload spends on a weight, or None if there is no such number.
    """

    mechanism: Mechanism
    per_weight: float | None

    def release(self, start: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
        """Releases the model (I,) that the server gets, from the global weights and the client's own, both (I,)."""
        return self.release_each(start, weights.unsqueeze(0), [generator]).squeeze(0)

    @abstractmethod
    def release_each(self, start: Tensor, weights: Tensor, generators: Sequence[torch.Generator]) -> Tensor:
        """Releases the models (clients, I) of several clients, each by its own generator, as `release` does one's."""

    @abstractmethod
    def curve(self) -> PrivacyCurve:
        """Computes the privacy curve of one upload, for replacing the client's whole model by any other."""


@dataclass(frozen=True)
class PerWeight(Upload):
    """Every weight is clipped to the safe range and randomised on its own, with the client's epsilon each.

    Attributes:
        mechanism: what randomises one weight, on the safe range.
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

    def release_each(self, start: Tensor, weights: Tensor, generators: Sequence[torch.Generator]) -> Tensor:
        if not self.mechanism.private:
            return weights
        box = self.mechanism.domain.as_box()
        values = weights - start if self.about_global else weights
        inside = box.project(values.nan_to_num(nan=box.centre, posinf=box.high, neginf=box.low))
        released = self.mechanism.privatize_each(inside.unsqueeze(2), generators).squeeze(2)
        return start + released if self.about_global else released

    def curve(self) -> PrivacyCurve:
        return self.mechanism.curve().compose(self.size)


@dataclass(frozen=True)
class WholeModel(Upload):
    """The change of the model, clipped to an l2 ball, is one record, and epsilon covers the whole of it."""

    mechanism: Mechanism

    @property
    def per_weight(self) -> float | None:  # type: ignore[override]
        return self.mechanism.epsilon if self.mechanism.epsilon_unit == "element" else None

    def release_each(self, start: Tensor, weights: Tensor, generators: Sequence[torch.Generator]) -> Tensor:
        changes = (weights - start).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).unsqueeze(1)
        inside = torch.stack([self.mechanism.given_domain.project(change) for change in changes])
        return start + self.mechanism.privatize_each(inside, generators).squeeze(1)

    def curve(self) -> PrivacyCurve:
        return self.mechanism.curve()


def release_all(
    uploads: Sequence[Upload], start: Tensor, weights: Tensor, generators: Sequence[torch.Generator]
) -> Tensor:
    """Releases each client's model, (clients, I), by its own upload and generator; those of one upload together."""
    alike: dict[Upload, list[int]] = {}
    for place, upload in enumerate(uploads):
        alike.setdefault(upload, []).append(place)
    released = torch.empty_like(weights)
    for upload, places in alike.items():
        released[places] = upload.release_each(start, weights[places], [generators[place] for place in places])
    return released


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
    """Makes a client's upload.

    Args:
        name: the mechanism's registry key.
        preference: the client's safe range and epsilon.
        size: I, the number of weights.
        budget: what the client's epsilon covers: one `weight` of one upload (as in PLDP-FL and PLU-FedOA), the
            whole `model` of one upload, or the whole `run`: split equally over `rounds` uploads, basic composition.
        rounds: the most uploads that the client may make.
        centre: `zero` takes the safe range as it is; `global` as one of changes from the weight that the server has
            sent, if the budget covers a weight.
        clip: the l2 radius of a model's change, if the budget covers a model or a run.
        delta: the delta of mechanisms that have one.
    """
    if budget == "weight":
        if math.isfinite(preference.epsilon) and not mechanism_class(name).private:
            raise InputError(f"client {preference.client} has a finite epsilon but the mechanism {name}")
        return _weight(name, preference.epsilon, preference.low, preference.high, size, delta, centre == "global")
    if centre != "zero":
        raise InputError(
            f"centre is {centre!r}, but a budget of a {budget} has no safe ranges: only zero is allowed, as the "
            "model's change is clipped in any case"
        )
    epsilon = preference.epsilon / rounds if budget == "run" else preference.epsilon
    return _whole(name, epsilon, clip, size, delta)


@dataclass
class Ledger:
    """A book of uploads.

    Args:
        uploads: every client's way to upload.
        nominal: every client's own epsilon, in the unit of its `Upload`.
        price: what one upload takes from it: epsilon itself where it is a weight's or a model's, epsilon / rounds
            where it is a run's.
        on_exhausted: `continue` uploads whatever was spent, as PLDP-FL does; `stop` uploads while the sum of prices
            (sequential composition, PLDP-FL's Proposition 2) is within the client's budget.
        budget: what every client may spend in all, in the unit of its epsilon; None is the client's own epsilon.
    """

    uploads: Sequence[Upload]
    nominal: Sequence[float]
    price: Sequence[float]
    on_exhausted: str = "continue"
    budget: float | None = None
    rounds: list[npt.NDArray[np.bool_]] = field(default_factory=list)

    @property
    def clients(self) -> int:
        """Returns the number of clients."""
        return len(self.uploads)

    def counts(self, after: int | None = None) -> npt.NDArray[np.int64]:
        """Counts each client's uploads, (clients,), in all rounds or in the first `after`."""
        done = self.rounds[:after]
        return np.sum(done, axis=0, dtype=np.int64) if done else np.zeros(self.clients, dtype=np.int64)

    def may_upload(self, client: int) -> bool:
        """Returns whether the client's own budget allows one more upload."""
        if self.on_exhausted == "continue":
            return True
        limit = self.nominal[client] if self.budget is None else self.budget
        return (int(self.counts()[client]) + 1) * self.price[client] <= limit * (1.0 + 1e-9)

    def record(self, clients: Sequence[int]) -> None:
        """Records a round in which just these clients uploaded."""
        row = np.zeros(self.clients, dtype=bool)
        row[list(clients)] = True
        self.rounds.append(row)

    def per_weight(self, after: int | None = None) -> list[float]:
        """Sums each client's nominal epsilon of a weight over its uploads; NaN where a weight has none."""
        return [
            math.nan if u.per_weight is None else (u.per_weight * int(n) if n else 0.0)
            for u, n in zip(self.uploads, self.counts(after), strict=True)
        ]

    def curve(self, client: int, after: int | None = None) -> PrivacyCurve | None:
        """Computes what a client's uploads guarantee for its whole model, all rounds together; None if it made none."""
        count = int(self.counts(after)[client])
        return self.uploads[client].curve().compose(count) if count else None

    def spent(self, delta: float, after: int | None = None) -> list[float]:
        """Computes each client's epsilon of the whole model over its uploads at `delta`; 0 for one that made none."""
        return [
            epsilon_of(upload, int(count), delta)
            for upload, count in zip(self.uploads, self.counts(after), strict=True)
        ]

    def largest(self, delta: float) -> tuple[int, float] | None:
        """Returns the client that has spent most on its whole model, and its epsilon; None before any upload."""
        busiest: dict[Upload, int] = {}
        counts = self.counts()
        for client, upload in enumerate(self.uploads):  # more uploads of a kind always spend more
            if counts[client] > (counts[busiest[upload]] if upload in busiest else 0):
                busiest[upload] = client
        spent = {client: epsilon_of(upload, int(counts[client]), delta) for upload, client in busiest.items()}
        return max(spent.items(), key=lambda item: item[1]) if spent else None


@lru_cache(maxsize=100_000)
def epsilon_of(upload: Upload, count: int, delta: float) -> float:
    """Computes the epsilon of a whole model at `delta` over `count` uploads; 0 for none."""
    if not count:
        return 0.0
    curve = _curve(upload)
    found = _epsilon_of if isinstance(curve, Hashable) else _epsilon_of.__wrapped__  # a plug-in's may be of any kind
    return found(curve, count, delta)


@lru_cache(maxsize=1024)
def _curve(upload: Upload) -> PrivacyCurve:
    return upload.curve()


@lru_cache(maxsize=100_000)  # uploads with other ranges have the same curves
def _epsilon_of(curve: PrivacyCurve, count: int, delta: float) -> float:
    return curve.compose(count).epsilon(delta)
