"""Whether a sampler draws from the distribution that it states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorldp.errors import InputError, check_real

EXPECTED = 10.0  # least expected count of a chi-square cell; smaller ones are pooled


@dataclass(frozen=True)
class Fit:
    """The outcome of a test of fit: `accepted` unless the p-value is below the false-alarm rate."""

    test: str
    statistic: float
    p_value: float
    accepted: bool


def goodness_of_fit(
    values: npt.ArrayLike, law: Callable[[Any], Any] | Mapping[float, float], false_alarm: float = 1e-6
) -> Fit:
    """Tests draws by Kolmogorov-Smirnov against a continuous cdf, or by chi-square against masses of a discrete law.

    Args:
        values: independent draws.
        law: a vectorised cdf, or a mapping from each value to its probability.
        false_alarm: the chance that a correct sampler is refused, in (0, 1).

    Raises:
        InputError: if there are fewer than 2 draws, a draw is not finite, or the masses do not sum to 1.
    """
    from scipy import stats

    draws = np.asarray(values, dtype=np.float64).reshape(-1)
    false_alarm = check_real("false_alarm", false_alarm, low=0.0, high=1.0, open_low=True, open_high=True)
    if draws.size < 2 or not bool(np.isfinite(draws).all()):
        raise InputError(f"a test of fit needs at least 2 finite draws, got {draws.size}")
    if isinstance(law, Mapping):
        statistic, p_value = _chi_square(draws, law)
        return Fit("chi-square", statistic, p_value, p_value >= false_alarm)
    result = stats.kstest(draws, law)
    return Fit("Kolmogorov-Smirnov", float(result.statistic), float(result.pvalue), bool(result.pvalue >= false_alarm))


def _chi_square(draws: npt.NDArray[np.float64], law: Mapping[float, float]) -> tuple[float, float]:
    from scipy import stats

    support = np.array(sorted(law), dtype=np.float64)
    mass = np.array([law[key] for key in sorted(law)], dtype=np.float64)
    if bool((mass < 0.0).any()) or not np.isclose(mass.sum(), 1.0, rtol=0.0, atol=1e-6):
        raise InputError(f"the masses of a discrete law must sum to 1, got {mass.sum():.9g}")
    place = np.searchsorted(support, draws).clip(0, support.size - 1)
    if bool((support[place] != draws).any()) or bool((mass[place] == 0.0).any()):
        return float("inf"), 0.0  # a draw that the law rules out
    seen = np.bincount(place, minlength=support.size).astype(np.float64)
    expected = mass / mass.sum() * draws.size
    rare = expected < EXPECTED
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    if seen.size < 2:
        return 0.0, 1.0
    statistic = float(((seen - expected) ** 2 / np.maximum(expected, 1e-300)).sum())
    return statistic, float(stats.chi2.sf(statistic, seen.size - 1))
