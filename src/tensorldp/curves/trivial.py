"""The curve of a release without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensorldp.curves.base import PrivacyCurve


@dataclass(frozen=True)
class NoPrivacyCurve(PrivacyCurve):
    """The record is released as it is: delta(epsilon) = 1 for every epsilon."""

    exact: bool = True

    @property
    def pure_epsilon(self) -> float:
        return math.inf

    @property
    def atom(self) -> float:
        return 1.0

    def _delta(self, epsilon: float) -> float:
        return 1.0

    def _compose(self, count: int) -> PrivacyCurve:
        return self
