"""What every client has spent: per weight, per model, over the rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError, unknown
from tensorldp_papers.papers.pldp_fl.uploads import Upload

EXHAUSTED = ("continue", "stop")


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

    def __post_init__(self) -> None:
        if self.on_exhausted not in EXHAUSTED:
            raise unknown("on_exhausted", self.on_exhausted, EXHAUSTED)
        if not len(self.uploads) == len(self.nominal) == len(self.price):
            raise InputError(
                "a ledger needs one upload, one epsilon and one price per client, got "
                f"{len(self.uploads)}, {len(self.nominal)} and {len(self.price)}"
            )

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self.uploads)

    def counts(self, after: int | None = None) -> npt.NDArray[np.int64]:
        """(clients,) how often each has uploaded, in all rounds or in the first `after`."""
        done = self.rounds[:after]
        return np.sum(done, axis=0, dtype=np.int64) if done else np.zeros(self.clients, dtype=np.int64)

    def may_upload(self, client: int) -> bool:
        """Whether the client's own budget allows one more upload."""
        if self.on_exhausted == "continue":
            return True
        limit = self.nominal[client] if self.budget is None else self.budget
        return (int(self.counts()[client]) + 1) * self.price[client] <= limit * (1.0 + 1e-9)

    def record(self, clients: Sequence[int]) -> None:
        """A round in which just these clients uploaded."""
        row = np.zeros(self.clients, dtype=bool)
        row[list(clients)] = True
        self.rounds.append(row)

    def per_weight(self, after: int | None = None) -> list[float]:
        """Each client's nominal epsilon of a weight, summed over its uploads; NaN where a weight has none."""
        return [
            math.nan if u.per_weight is None else (u.per_weight * int(n) if n else 0.0)
            for u, n in zip(self.uploads, self.counts(after), strict=True)
        ]

    def curve(self, client: int, after: int | None = None) -> PrivacyCurve | None:
        """What a client's uploads guarantee of its whole model, all rounds together; None if it made none."""
        count = int(self.counts(after)[client])
        return self.uploads[client].curve().compose(count) if count else None

    def spent(self, delta: float, after: int | None = None) -> list[float]:
        """Each client's epsilon of the whole model over its uploads at `delta`; 0 for one that made none."""
        return [
            epsilon_of(upload, int(count), delta)
            for upload, count in zip(self.uploads, self.counts(after), strict=True)
        ]

    def largest(self, delta: float) -> tuple[int, float] | None:
        """The client that has spent most of its whole model, and its epsilon; None before any upload."""
        busiest: dict[Upload, int] = {}
        counts = self.counts()
        for client, upload in enumerate(self.uploads):  # more uploads of a kind always spend more
            if counts[client] > (counts[busiest[upload]] if upload in busiest else 0):
                busiest[upload] = client
        spent = {client: epsilon_of(upload, int(counts[client]), delta) for upload, client in busiest.items()}
        return max(spent.items(), key=lambda item: item[1]) if spent else None


@lru_cache(maxsize=100_000)
def epsilon_of(upload: Upload, count: int, delta: float) -> float:
    """The epsilon of a whole model at `delta` over `count` uploads; 0 for none."""
    return upload.curve().compose(count).epsilon(delta) if count else 0.0
