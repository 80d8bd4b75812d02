"""Finite pairs, whole-number noise and shuffled releases against sums over every outcome."""

import itertools
import math
import time
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tensorldp.curves.discrete import DiscreteCurve, DiscreteGaussianCurve, PureCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.product import ProductCurve
from tensorldp.curves.shuffling import shuffled_delta, shuffled_epsilon
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make

Reals = npt.NDArray[np.floating[Any]]
Pair = tuple[Reals, Reals]
shares = st.floats(0.0, 0.999)


def divergence(pairs: list[Pair], epsilon: float) -> float:
    """The hockey-stick divergence of a product of pairs, over every outcome."""
    p, q = (reduce(np.kron, side) for side in zip(*pairs, strict=True))
    return float(np.maximum(0.0, p - math.exp(epsilon) * q).sum())


def of_losses(mass: Reals, loss: Reals, epsilon: float) -> float:
    return float(mass @ -np.expm1(np.minimum(0.0, epsilon - loss)))


def response(budget: float) -> Pair:
    p = np.array([1.0, math.exp(-budget)]) / (1.0 + math.exp(-budget))
    return p, p[::-1]


def discrete(pair: Pair, count: int = 1) -> DiscreteCurve:
    with np.errstate(divide="ignore"):
        return DiscreteCurve(tuple(np.log(pair[0])), tuple(np.log(pair[1])), count)


@settings(max_examples=50, deadline=None)
@given(budget=st.floats(0.01, 5.0), count=st.integers(1, 12), share=shares)
def test_randomized_response_enumerated(budget: float, count: int, share: float) -> None:
    curve = PureCurve(budget, True, count)
    epsilon = share * curve.pure_epsilon
    assert curve.exact
    assert curve.delta(epsilon) == pytest.approx(divergence([response(budget)] * count, epsilon), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("budget", "count"), [(1e-3, 92160), (5e-5, 23040), (0.1, 10**6), (2.0, 1000)])
def test_randomized_response_by_the_binomial(budget: float, count: int) -> None:
    curve = PureCurve(budget, True, count)
    k = np.arange(count + 1)
    mass, loss = binom.pmf(k, count, 1 / (1 + math.exp(-budget))), (2 * k - count) * budget
    mean = float(mass @ loss)
    for z in (0.0, 2.0, 4.0, 6.0):
        epsilon = mean + z * math.sqrt(float(mass @ (loss - mean) ** 2))
        assert curve.delta(epsilon) == pytest.approx(of_losses(mass, loss, epsilon), rel=1e-6)


masses = st.lists(st.integers(1, 50), min_size=3, max_size=3).map(lambda v: np.array(v) / sum(v))


@settings(max_examples=50, deadline=None)
@given(p=masses, q=masses, mirrored=st.booleans(), count=st.integers(1, 4), share=shares)
def test_every_mixture_of_orientations_is_bounded_and_one_use_is_exact(
    p: Reals, q: Reals, mirrored: bool, count: int, share: float
) -> None:
    """Two uses of an asymmetric pair, one each way, may beat both pure choices."""
    q = p[::-1] if mirrored else q
    curve = discrete((p, q), count)
    epsilon = share * curve.pure_epsilon
    worst = max(divergence([(p, q)] * k + [(q, p)] * (count - k), epsilon) for k in range(count + 1))
    assert curve.exact or count > 1
    assert curve.exact or not mirrored
    assert curve.delta(epsilon) >= worst - 1e-9
    law = curve.loss_law  # which dominates both orientations
    losses, mass = reduce(np.add.outer, [law.loss] * count), reduce(np.multiply.outer, [np.exp(law.log_mass)] * count)
    most = worst if curve.exact else of_losses(mass.ravel(), losses.ravel(), epsilon)
    assert curve.delta(epsilon) <= (most * (1 + 1e-8) + 1e-9 if curve.exact else most * 1.01 + 1e-3)


@pytest.mark.parametrize(
    ("p", "exact"),
    [
        (np.exp([0.375, 0.125, -0.125, -0.375]), True),  # losses of 0.75, 0.25 and back are on a lattice
        (np.array([0.1, 0.6, 0.3, 0.0]), True),  # and what is impossible under the other record is an atom
        (np.array([0.5, 0.2, 0.13, 0.1, 0.07]), False),
    ],
)
@pytest.mark.parametrize("count", [2, 4])
def test_losses_on_a_lattice_compose_exactly_and_others_to_a_close_upper_bound(
    p: Reals, exact: bool, count: int
) -> None:
    pair = p / p.sum(), p[::-1] / p.sum()
    curve = discrete(pair, count)
    assert curve.exact == exact
    for epsilon in (0.0, 0.5, 1.2, 3.0):
        true = divergence([pair] * count, epsilon)
        assert true * (1 - 1e-9) - 1e-12 <= curve.delta(epsilon) <= true * (1 + 1e-9 if exact else 1.01) + 1e-9


@pytest.mark.parametrize("trials", [60, 1000])
def test_the_pure_epsilon_of_one_use_is_the_largest_loss_however_rare(trials: int) -> None:
    k = np.arange(trials + 1)
    p, q = binom.logpmf(k, trials, 0.5), binom.logpmf(k, trials, 0.4)
    assert DiscreteCurve(tuple(p), tuple(q)).epsilon(0.0) == pytest.approx(float(np.abs(p - q).max()), rel=1e-12)


def test_a_rare_large_loss_counts_in_every_composition() -> None:
    rare = math.log(5e-17)
    curve = DiscreteCurve((rare, math.log1p(-5e-17)), (rare - 30.0, 0.0))
    for count in (1, 2, 10**10):
        assert curve.compose(count).delta(5.0) == pytest.approx(5e-17 * count, rel=2e-6)


def test_an_atom_counts_whichever_record_is_first() -> None:
    pair = np.array([0.0, 0.49999, 0.50001]), np.array([5e-16, 0.50001 - 5e-16, 0.49999])
    for either in (pair, pair[::-1]):
        assert discrete(either).epsilon(0.0) == math.inf
        assert discrete(either).atom == pytest.approx(5e-16, rel=1e-9)


def test_more_uses_than_the_transform_has_digits_for_are_refused_but_for_what_is_known_without_it() -> None:
    most = PureCurve(1e-5, True, 10**10)
    assert most.epsilon(1e-5) == pytest.approx(GaussianCurve(1.0).epsilon(1e-5), abs=1e-6)
    many = PureCurve(1e-6, True).compose(10**12)
    with pytest.raises(InputError, match="at most 10000000000, got 1000000000000"):
        many.epsilon(1e-5)
    assert many.epsilon(0.0) == pytest.approx(1e6)


def test_two_hundred_k_ary_responses_are_a_convolution() -> None:
    p, count = np.array([0.5, 0.4, 0.1]), 200
    curve = discrete((p, p[::-1]), count)
    mass = reduce(np.convolve, [p] * count)
    loss = math.log(5.0) * (count - np.arange(2 * count + 1))
    assert curve.exact
    for share in (0.05, 0.3, 0.6):
        epsilon = share * curve.pure_epsilon
        assert curve.delta(epsilon) == pytest.approx(of_losses(mass, loss, epsilon), rel=1e-9)


def test_randomized_response_dominates_pure_curves_and_the_envelope_of_huge_losses() -> None:
    assert not PureCurve(1.5).exact
    assert PureCurve(1.5).delta(0.4) == pytest.approx((math.exp(1.5) - math.exp(0.4)) / (1 + math.exp(1.5)))
    assert PureCurve(40000.0).epsilon(1e-5) == pytest.approx(40000.0, rel=1e-6)
    curve = DiscreteCurve((math.log(0.7), math.log(0.3)), (-800.0, 0.0), 2)
    assert not curve.exact
    assert curve.pure_epsilon == pytest.approx(2 * (800 + math.log(0.7)))
    assert 0.7 < curve.delta(100.0) <= 1.0


def test_a_million_small_losses_are_on_their_lattice() -> None:
    """TLDP on whole numbers at a tiny epsilon: differences of logs would show no lattice; the sum is near normal."""
    curve = make("tldp-discrete", epsilon=1e-6, domain=Box(0, 9, (10**6,))).curve()
    assert isinstance(curve, DiscreteCurve)
    assert curve.exact
    law = curve.loss_law
    mu = math.sqrt(10**6 * float(np.exp(law.log_mass) @ law.loss**2))
    assert curve.epsilon(1e-5) == pytest.approx(GaussianCurve(mu).epsilon(1e-5), rel=1e-3)


def test_one_window_serves_epsilons_near_each_other() -> None:
    pair = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    curve = discrete(pair, 500)
    for epsilon in curve.epsilon(1e-4) * np.linspace(0.8, 1.2, 9):
        assert curve.log_delta(epsilon) == pytest.approx(discrete(pair, 500).log_delta(epsilon), rel=1e-10)


def test_different_randomized_responses_are_a_close_upper_bound() -> None:
    budgets = (1.0, 0.5, 0.3)
    curve = ProductCurve(tuple((PureCurve(b, True), 1) for b in budgets))
    assert not curve.exact
    for epsilon in (0.0, 0.4, 1.0, 1.7):
        true = divergence([response(b) for b in budgets], epsilon)
        assert true - 1e-9 <= curve.delta(epsilon) <= true + 2e-3


@pytest.mark.parametrize(("sigma", "shift", "count"), [(64, 1, 1), (64, 64, 1), (100, 333, 1), (70, 35, 3)])
def test_discrete_gaussian_noise_is_summed_over_its_whole_law(sigma: int, shift: int, count: int) -> None:
    one = np.exp(-(np.arange(-12 * sigma, 12 * sigma + 1) ** 2) / (2 * sigma**2))
    mass = reduce(np.convolve, [one / one.sum()] * count)
    total = np.arange(mass.size) - mass.size // 2
    loss = (2 * shift * total + count * shift**2) / (2 * sigma**2)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        found = DiscreteGaussianCurve(sigma, shift, count).delta(epsilon)
        assert found == pytest.approx(of_losses(mass, loss, epsilon), rel=1e-7, abs=1e-13)


def test_no_smaller_shift_of_a_discrete_gaussian_is_worse_and_it_approaches_the_gaussian() -> None:
    for epsilon in (0.1, 1.0):
        deltas = [DiscreteGaussianCurve(64, shift).delta(epsilon) for shift in range(1, 129)]
        assert all(near <= far for near, far in itertools.pairwise(deltas))
    fine = DiscreteGaussianCurve(1 << 20, 1 << 18, 4)
    assert fine.epsilon(1e-6) == pytest.approx(GaussianCurve(0.5).epsilon(1e-6), rel=1e-5)


@pytest.mark.parametrize(("sigma", "shift", "epsilon"), [(64, 64 * 70, 2700.0), (100, 50_000, 126_000.0)])
def test_discrete_gaussian_noise_of_a_shift_of_very_many_deviations_is_summed_as_well(
    sigma: int, shift: int, epsilon: float
) -> None:
    total = np.arange(-12.0 * sigma, 12.0 * sigma + 1)
    mass = np.exp(-(total**2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))
    true = of_losses(mass, (2 * shift * total + shift**2) / (2 * sigma**2), epsilon)
    assert DiscreteGaussianCurve(sigma, shift).delta(epsilon) == pytest.approx(true, rel=1e-9)
    fine = DiscreteGaussianCurve(1 << 20, 1 << 20, 10_000)
    assert fine.epsilon(1e-6) == pytest.approx(GaussianCurve(100.0).epsilon(1e-6), rel=1e-9)


def enumerated(epsilon: float, local: float, records: int) -> float:
    """delta of the two mixtures from all their probabilities, in both directions: a second implementation."""
    keep = math.exp(local) / (math.exp(local) + 1)
    c, a = np.tril_indices(records)
    mass = binom.pmf(c, records - 1, math.exp(-local)) * binom.pmf(a, c, 0.5)
    both = np.zeros((2, records + 1, records + 1))
    for side, chance in enumerate((keep, 1 - keep)):
        np.add.at(both[side], (a + 1, c - a), mass * chance)
        np.add.at(both[side], (a, c - a + 1), mass * (1 - chance))
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in (both, both[::-1]))


@settings(max_examples=50, deadline=None)
@given(local=st.floats(0.1, 4.0), share=st.floats(0.0, 0.99), records=st.integers(1, 150))
def test_delta_of_shuffled_releases_is_that_of_all_probabilities(local: float, share: float, records: int) -> None:
    expected = enumerated(share * local, local, records)
    assert shuffled_delta(share * local, local, records) == pytest.approx(expected, rel=1e-9, abs=3e-15)


def test_shuffled_releases_of_a_tiny_delta_are_summed_over_likely_clones_alone() -> None:
    start = time.thread_time()
    assert shuffled_epsilon(1.0, 1_000_000, 1e-9) < shuffled_epsilon(1.0, 1_000_000, 1e-12) < 0.0087915
    assert time.thread_time() - start < 5.0


def test_epsilon_of_shuffled_releases_inverts_delta_and_falls_with_records() -> None:
    few, many = (shuffled_epsilon(1.0, n, 1e-6) for n in (1_000, 60_000))
    assert many < few < 1.0
    assert shuffled_delta(many, 1.0, 60_000) <= 1e-6 < shuffled_delta(many * 0.99, 1.0, 60_000)
    assert shuffled_epsilon(1.0, 1, 1e-6) == pytest.approx(1.0, abs=1e-4)
