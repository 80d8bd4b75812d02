"""Checks of draws against exact laws. A correct sampler fails one at most once in a million."""

import math
from typing import Any

import torch

from tensorldp.mechanisms import Mechanism
from tensorldp.privacy import goodness_of_fit
from tensorldp.randomness import generator


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
