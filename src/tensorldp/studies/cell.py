"""The settings that a stage of a cell is given, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator


@dataclass(frozen=True)
class CellSettings:
    """One cell as a script gets it, in JSON; see `tensorldp.config.grid.Cell`."""

    study: str
    dataset: str
    variant: str
    mechanism: str
    epsilon: str
    release: str
    delta: float
    options: dict[str, Any]
    seeds: list[int]
    method: str = "learning"
    limit: int | None = None
    factors: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> CellSettings:
        """Settings from a JSON object.

        Raises:
            InputError: if a key is missing or unknown.
        """
        try:
            return cls(**raw)
        except TypeError as error:
            raise InputError(f"the cell's settings are not complete: {str(error).split('__init__() ')[-1]}") from None

    @property
    def nominal_epsilon(self) -> float:
        """The nominal epsilon as a number."""
        return math.inf if self.epsilon == "inf" else float(self.epsilon)

    def mechanism_on(self, domain: Domain, **extra: Any) -> Mechanism:
        """The cell's mechanism on a domain."""
        return make(
            self.mechanism, epsilon=self.nominal_epsilon, domain=domain, delta=self.delta, **{**self.options, **extra}
        )

    def generator(self, seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
        """The cell's random stream for one seed and one purpose, whatever ran before it."""
        return generator(self.study, self.dataset, self.mechanism, self.epsilon, seed, purpose, device=device)
