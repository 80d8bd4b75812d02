"""A typed package that uses the library; `mypy --strict` accepts it where the library is installed (.ci/wheel)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

import tensorldp
from tensorldp import mechanisms
from tensorldp.errors import InputError


@dataclass(frozen=True)
class Collector:
    """Releases records with one mechanism, and knows what they cost."""

    mechanism: mechanisms.Mechanism

    @classmethod
    def of(cls, name: str, epsilon: float, width: float) -> Collector:
        """A collector of records of one element in [0, width]."""
        try:
            return cls(mechanisms.make(name, epsilon=epsilon, domain=mechanisms.Box(0.0, width, (1,))))
        except InputError as error:
            raise SystemExit(str(error)) from None

    def collect(self, records: Tensor, seed: int) -> Tensor:
        """One release of each record."""
        return self.mechanism.privatize(records, torch.Generator().manual_seed(seed))

    def cost(self, rounds: int) -> float:
        """Epsilon at delta 1e-5 after some rounds."""
        spent: tensorldp.privacy.Guarantee = tensorldp.privacy.compose(self.mechanism, count=rounds, delta=1e-5)
        return spent.epsilon

    def is_refuted(self) -> bool:
        """Whether a short check refutes the mechanism's own claim."""
        return tensorldp.privacy.check(self.mechanism, minutes=0.1).refuted
