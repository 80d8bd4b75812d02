"""Ceilings of the accuracy that a guarantee or a privacy profile allows (docs/mathematics/audits.md)."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from typed import make_as

from tensorldp.audit.accuracy import accuracy_ceiling, class_ceiling, profile_ceiling
from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.latent import Latent
from tensorldp.privacy import clean_test_ceiling


@settings(max_examples=20, deadline=None)
@given(epsilon=st.floats(0.0, 8.0), delta=st.sampled_from([0.0, 1e-3, 0.2]), classes=st.integers(2, 12))
def test_balanced_classes_have_the_closed_form(epsilon: float, delta: float, classes: int) -> None:
    ceiling = class_ceiling(epsilon, delta, [1 / classes] * classes)
    assert ceiling == pytest.approx(accuracy_ceiling(epsilon, classes, delta), rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(epsilon=st.floats(0.0, 5.0), weights=st.lists(st.integers(1, 99), min_size=2, max_size=5))
def test_without_delta_some_channel_attains_the_ceiling(epsilon: float, weights: list[int]) -> None:
    """The programme over all channels, columns Q(. | c): likelihood ratios of at most e^epsilon, each summing to 1."""
    shares, one = np.array(weights) / sum(weights), np.eye(len(weights))
    ratios = [one[c] - math.exp(epsilon) * one[other] for c, other in itertools.permutations(range(len(shares)), 2)]
    found = linprog(
        -np.diag(shares).reshape(-1),
        A_ub=np.kron(one, ratios),
        b_ub=np.zeros(len(shares) * len(ratios)),
        A_eq=np.kron(np.ones(len(shares)), one),
        b_eq=np.ones(len(shares)),
    ).fun
    assert found is not None
    assert class_ceiling(epsilon, 0.0, shares.tolist()) == pytest.approx(-found, rel=1e-6)


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


def latent(size: int, whole: int, fraction: int, epsilon: float, reading: str = "A") -> Latent:
    domain = Box(-(2.0**whole), 2.0**whole, (size,))
    return make_as(Latent, epsilon=epsilon, domain=domain, whole=whole, fraction=fraction, reading=reading)


@pytest.mark.parametrize(
    ("layout", "chance", "epsilon", "expected"),
    [
        ((9216, 4, 5), 0.1135, 0.5, {60_000: 0.214}),  # MNIST
        ((9216, 4, 5), 0.1135, 2.0, {60_000: 0.517}),
        ((2304, 2, 7), 0.1, 0.5, {50_000: 0.284, 100_000: 0.360}),  # CIFAR-10
        ((2304, 2, 7), 0.1, 2.0, {50_000: 0.837, 100_000: 1.0}),
    ],
)
def test_ceilings_for_clean_test_records(
    layout: tuple[int, int, int], chance: float, epsilon: float, expected: dict[int, float]
) -> None:
    information = latent(*layout, epsilon).information
    for records, ceiling in expected.items():
        assert clean_test_ceiling(records, information, chance) == pytest.approx(ceiling, abs=6e-4)


@pytest.mark.parametrize("epsilon", [1.0, 40.0, 80.0, 500.0, 4000.0, 80_000.0])
@pytest.mark.parametrize("reading", ["A", "B"])
def test_information_is_the_divergence_from_a_fair_coin(epsilon: float, reading: str) -> None:
    m = latent(1000, 0, 3, epsilon, reading)
    q, f = 1.0 - m.flip, m.flip
    entropy = -q * math.log(q) - (f * math.log(f) if f > 0 else 0.0)
    assert m.information == pytest.approx(4000 * (math.log(2.0) - entropy), rel=1e-6, abs=1e-11)
