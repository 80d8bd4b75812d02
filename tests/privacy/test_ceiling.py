"""The accuracy that a privacy profile allows."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from tensorldp.audit.accuracy import class_ceiling, profile_ceiling
from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.privacy import accuracy_ceiling


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_balanced_classes_have_the_closed_form(epsilon: float, delta: float) -> None:
    assert class_ceiling(epsilon, delta, [0.1] * 10) == pytest.approx(accuracy_ceiling(epsilon, 10, delta), rel=1e-6)


def test_without_information_the_largest_class_is_the_best_answer() -> None:
    assert class_ceiling(0.0, 0.0, [0.7, 0.2, 0.1]) == pytest.approx(0.7)


def test_a_profile_gives_its_best_point() -> None:
    shares = [0.1] * 10
    curve = GaussianCurve(0.0019)  # IDN at epsilon 10 on 256 x 16 x 5 x 5 features, for one record
    assert 0.1 < profile_ceiling(curve, shares) < 0.101
    assert profile_ceiling(NoPrivacyCurve(), shares) == pytest.approx(1.0)
    for point in ((0.0, curve.delta(0.0)), (curve.epsilon(1e-3), 1e-3)):
        assert profile_ceiling(curve, shares) <= class_ceiling(*point, shares) + 1e-12


def test_the_best_classifier_of_two_points_stays_below_the_ceiling_and_comes_close() -> None:
    mechanism = make("gaussian-analytic", epsilon=1.0, domain=Box(-1.0, 1.0, (1,)))
    x = torch.tensor([-1.0, 1.0]).repeat(100_000).reshape(-1, 1)
    right = (mechanism.privatize(x, torch.Generator().manual_seed(0)).sign() == x).double().mean()
    ceiling = profile_ceiling(mechanism.curve(), [0.5, 0.5])  # at epsilon 0 it is (1 + total variation) / 2, attained
    assert float(right) == pytest.approx(ceiling, abs=5 * (0.25 / len(x)) ** 0.5)


def test_shares_that_are_none_are_named() -> None:
    with pytest.raises(InputError, match="sum to 1"):
        class_ceiling(1.0, 0.0, [0.5, 0.6])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("shares", [[0.7, 0.2, 0.1], [0.1135, 0.0982, 0.1028, 0.101, 0.5845]])
def test_without_delta_some_channel_attains_the_ceiling(epsilon: float, shares: list[float]) -> None:
    """The programme over all channels, columns Q(. | c): likelihood ratios of at most e^epsilon, each summing to 1."""
    count = len(shares)
    bounds, sums = [], np.zeros((count, count * count))
    for answer, c, other in itertools.product(range(count), repeat=3):
        if c != other:
            row = np.zeros(count * count)
            row[answer * count + c], row[answer * count + other] = 1.0, -math.exp(epsilon)
            bounds.append(row)
    for c in range(count):
        sums[c, c::count] = 1.0
    gain = np.diag(shares).reshape(-1)
    found = linprog(-gain, A_ub=np.array(bounds), b_ub=np.zeros(len(bounds)), A_eq=sums, b_eq=np.ones(count)).fun
    assert found is not None
    assert class_ceiling(epsilon, 0.0, shares) == pytest.approx(-found, rel=1e-6)
