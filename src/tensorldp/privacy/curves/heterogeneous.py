"""In progress."""
from __future__ import annotations
from dataclasses import dataclass
from tensorldp.privacy.curves.base import PrivacyCurve
@dataclass(frozen=True)
class ProductCurve(PrivacyCurve):
    parts: tuple[tuple[PrivacyCurve, int], ...]
    @property
    def pure_epsilon(self) -> float:
        raise NotImplementedError
    def _delta(self, epsilon: float) -> float:
        raise NotImplementedError
    def _compose(self, count: int) -> PrivacyCurve:
        raise NotImplementedError
