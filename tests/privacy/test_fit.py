"""Tests of fit accept right samplers and refuse wrong ones."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binom, laplace, norm

from tensorldp.errors import InputError
from tensorldp.privacy import goodness_of_fit
from tensorldp.randomness import add_gaussian, add_laplace


@pytest.mark.parametrize(("draw", "cdf"), [(add_laplace, laplace.cdf), (add_gaussian, norm.cdf)])
def test_the_package_s_own_noise(draw: Any, cdf: Any) -> None:
    zeros = torch.zeros(200_000, dtype=torch.float64)
    fit = goodness_of_fit(draw(zeros, 1.0, torch.Generator().manual_seed(1)).numpy(), cdf)
    assert fit.accepted
    assert fit.test == "Kolmogorov-Smirnov"


def test_wrong_scale_is_refused() -> None:
    zeros = torch.zeros(200_000, dtype=torch.float64)
    assert not goodness_of_fit(add_laplace(zeros, 1.05, torch.Generator().manual_seed(1)).numpy(), laplace.cdf).accepted


def test_discrete_law() -> None:
    draws = np.random.default_rng(0).binomial(12, 0.3, size=50_000)
    right, wrong = ({float(k): float(binom.pmf(k, 12, p)) for k in range(13)} for p in (0.3, 0.31))
    assert goodness_of_fit(draws, right).accepted
    assert not goodness_of_fit(draws, wrong).accepted
    assert not goodness_of_fit([0.0, 1.0, 0.5], {0.0: 0.5, 1.0: 0.5}).accepted


def test_false_alarms_are_rare() -> None:
    rng = np.random.default_rng(3)
    alarms = sum(not goodness_of_fit(rng.normal(size=500), norm.cdf, 0.01).accepted for _ in range(300))
    assert alarms <= 15


@pytest.mark.parametrize(
    ("values", "law"), [([1.0], norm.cdf), ([1.0, math.nan], norm.cdf), ([0.0, 1.0], {0.0: 0.5, 1.0: 0.6})]
)
def test_bad_arguments(values: list[float], law: Any) -> None:
    with pytest.raises(InputError):
        goodness_of_fit(values, law)
