"""Checks of draws against exact laws. A correct sampler fails one at most once in a million."""

import math
from typing import Any

import numpy as np
import torch

from tensorldp.mechanisms import Mechanism
from tensorldp.privacy import goodness_of_fit
from tensorldp.randomness import generator

LAST = 1.0 - 2.0**-53


class Extreme(np.random.Generator):
    """A generator whose first calls for uniform draws all give these numbers: what comes once in 2^80 draws."""

    def __init__(self, *first: float) -> None:
        super().__init__(np.random.SFC64(7))
        self.first = list(first)

    def random(self, size: Any = None, *others: Any, **options: Any) -> Any:
        return np.full(size, self.first.pop(0)) if self.first else super().random(size, *others, **options)

    def integers(self, low: Any, high: Any = None, size: Any = None, **options: Any) -> Any:  # type: ignore[override]
        if high == 1 << 53 and self.first:
            return np.full(size, int(self.first.pop(0) * 2**53), dtype=np.uint64)
        return super().integers(low, high, size=size, **options)


def check_mean(draws: Any, expected: float | torch.Tensor, *, deviations: float = 5.0) -> None:
    """The mean over the first dimension, within five standard errors."""
    draws = torch.as_tensor(draws, dtype=torch.float64)
    error = deviations * draws.std(dim=0) / math.sqrt(len(draws))
    assert bool(((draws.mean(dim=0) - expected).abs() <= error + 1e-12).all())


def check_law(draws: Any, law: Any) -> None:
    """Chi-square against the masses of values, or Kolmogorov-Smirnov against a cdf."""
    assert goodness_of_fit(torch.as_tensor(draws, dtype=torch.float64).reshape(-1).numpy(), law).accepted


def releases(m: Mechanism, record: torch.Tensor, count: int, *key: object, dtype: torch.dtype = torch.float64) -> Any:
    """Independent releases of one record, in the given precision."""
    return m.privatize(record.to(dtype).expand(count, *m.shape).contiguous(), generator("releases", m.name, *key))


def turn(n: int, seed: int = 0) -> torch.Tensor:
    q, _ = torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=generator("turn", seed)))
    assert isinstance(q, torch.Tensor)
    return q
