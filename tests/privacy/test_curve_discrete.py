"""Finite pairs against enumeration, the binomial, an FFT accountant and the tables of the sources."""

import itertools
import math
import time

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import binom

from tensorldp.curves.base import epsilon_at
from tensorldp.curves.discrete import DiscreteCurve, PureCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.loss_distribution import LatticePart, LatticeSum, envelope, lattice_step, loss_law
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make

# computed apart from the code: per weight -> at 1e-5 after 1, 50 and 100 rounds of 21,840 weights
PDPM = [
    (0.1, 101, 3142, 6095),
    (0.2, 325, 12285, 24184),
    (0.55, 2193, 98033, 194944),
    (0.9, 5926, 276876, 551874),
    (1.0, 7345, 345647, 689206),
]


def logs(*masses: float) -> tuple[float, ...]:
    return tuple(math.log(m) if m > 0 else -math.inf for m in masses)


def brute_force(pairs: list[tuple[tuple[float, ...], ...]], epsilon: float) -> float:
    """The hockey-stick divergence of a product of pairs, over every outcome."""
    total = 0.0
    for outcome in itertools.product(*(range(len(p)) for p, _ in pairs)):
        p = math.prod(pair[0][i] for pair, i in zip(pairs, outcome, strict=True))
        q = math.prod(pair[1][i] for pair, i in zip(pairs, outcome, strict=True))
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize("count", range(1, 13))
def test_randomized_response_enumerated(count: int) -> None:
    budget = 0.7
    keep = 1 / (1 + math.exp(-budget))
    curve = PureCurve(budget, True, count)
    for share in (0.0, 0.15, 0.5, 0.95):
        epsilon = share * curve.pure_epsilon
        expected = brute_force([((keep, 1 - keep), (1 - keep, keep))] * count, epsilon)
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(("budget", "count"), [(1e-3, 92160), (5e-5, 23040), (0.1, 10**6), (2.0, 1000)])
def test_randomized_response_by_the_binomial(budget: float, count: int) -> None:
    curve = PureCurve(budget, True, count)
    k = np.arange(count + 1)
    mass, loss = binom.pmf(k, count, 1 / (1 + math.exp(-budget))), (2 * k - count) * budget
    mean, spread = float(mass @ loss), math.sqrt(float(mass @ (loss - mass @ loss) ** 2))
    for z in (0.0, 2.0, 4.0, 6.0):
        epsilon = mean + z * spread
        expected = float(mass @ -np.expm1(np.minimum(0.0, epsilon - loss)))
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("length", "pure", "approximate"), [(92160, 101248, 51852), (23040, 25312, 13268)])
def test_latent_reading_b(length: int, pure: int, approximate: int) -> None:
    """The exact sum; a normal approximation would have 51,856 and 13,272."""
    budget = math.log(1 + 2 * math.exp(0.5 / length))
    curve = PureCurve(budget, True, length)
    assert curve.pure_epsilon == pytest.approx(pure, rel=2e-5)
    found = curve.epsilon(1e-5)
    assert found == pytest.approx(approximate, rel=5e-5)
    k = np.arange(length + 1)
    loss = (2 * k - length) * budget
    mass = binom.pmf(k, length, 1 / (1 + math.exp(-budget)))
    assert float(mass @ -np.expm1(np.minimum(0.0, found - loss))) == pytest.approx(1e-5, rel=1e-4)


@pytest.mark.parametrize(("nominal", "one", "fifty", "hundred"), PDPM)
def test_pdpm_table(nominal: float, one: int, fifty: int, hundred: int) -> None:
    """All weights from the upper end, by the lattice engine."""
    big = math.exp(nominal)
    low, high = -math.log((big + 1) / 2), nominal
    mass = np.log([2 / (big + 2), big / (big + 2)])
    for rounds, expected in ((1, one), (50, fifty), (100, hundred)):
        total = LatticeSum(high - low, [LatticePart(low, np.array([0, 1]), mass, 21840 * rounds)])
        _, mean, variance = total.tilted(0.0)
        found = epsilon_at(total.log_delta, math.log(1e-5), mean=mean, spread=math.sqrt(variance), top=total.top)
        assert found == pytest.approx(expected, rel=5e-3 if expected < 200 else 3e-4)


def test_one_use_is_the_larger_orientation() -> None:
    p, q = (0.6, 0.3, 0.1), (0.2, 0.3, 0.5)
    curve = DiscreteCurve(logs(*p), logs(*q))
    assert curve.exact
    for epsilon in (0.0, 0.3, 1.0, 1.5, 1.7):
        larger = max(brute_force([(p, q)], epsilon), brute_force([(q, p)], epsilon))
        assert curve.delta(epsilon) == pytest.approx(larger)


@pytest.mark.parametrize("seed", range(8))
def test_envelope_bounds_every_mixture_of_orientations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = (tuple(rng.dirichlet(np.ones(3))) for _ in range(2))
    count = 4
    curve = DiscreteCurve(logs(*p), logs(*q), count)
    assert not curve.exact
    for epsilon in np.linspace(0.0, curve.pure_epsilon, 9):
        worst = max(brute_force([(p, q)] * k + [(q, p)] * (count - k), epsilon) for k in range(count + 1))
        assert curve.delta(float(epsilon)) >= worst - 1e-9


def test_a_mixture_of_orientations_can_be_the_worst() -> None:
    """Why an asymmetric pair is not exact: two uses, one each way, beat both pure choices."""
    rng = np.random.default_rng(0)
    found = False
    for _ in range(300):
        p, q = (tuple(rng.dirichlet(np.ones(2))) for _ in range(2))
        for epsilon in (0.1, 0.5, 1.0):
            same = max(brute_force([(p, q)] * 2, epsilon), brute_force([(q, p)] * 2, epsilon))
            found = found or brute_force([(p, q), (q, p)], epsilon) > same + 1e-6
    assert found


def test_envelope_of_a_symmetric_pair_is_itself() -> None:
    p, q = np.log([0.6, 0.3, 0.1]), np.log([0.1, 0.3, 0.6])
    law = loss_law(p, q)
    assert envelope(law, loss_law(q, p)).matches(law)


@pytest.mark.parametrize("count", [2, 5, 200])
def test_three_outcomes_by_the_fft_accountant(count: int) -> None:
    """k-ary randomised response is on a lattice and exact; dp_accounting rounds it up."""
    keep, other, rest = 0.5, 0.1, 0.4
    curve = DiscreteCurve(logs(keep, other, rest), logs(other, keep, rest), count)
    assert curve.exact
    up, down = (
        pld.from_two_probability_mass_functions(
            dict(enumerate(logs(other, keep, rest))),
            dict(enumerate(logs(keep, other, rest))),
            pessimistic_estimate=side,
            value_discretization_interval=1e-4,
        ).self_compose(count)
        for side in (True, False)
    )
    for share in (0.05, 0.3, 0.6):
        epsilon = share * curve.pure_epsilon
        low, high = down.get_delta_for_epsilon(epsilon), up.get_delta_for_epsilon(epsilon)
        assert low - 1e-10 <= curve.delta(epsilon) <= high + 1e-10


@pytest.mark.parametrize("count", [2, 4])
def test_no_lattice_is_a_close_upper_bound(count: int) -> None:
    p = (0.5, 0.2, 0.13, 0.1, 0.07)
    q = (0.07, 0.1, 0.13, 0.2, 0.5)
    curve = DiscreteCurve(logs(*p), logs(*q), count)
    assert not curve.exact
    for epsilon in (0.0, 0.5, 1.5, 3.0):
        true = brute_force([(p, q)] * count, epsilon)
        assert true - 1e-12 <= curve.delta(epsilon) <= true * 1.01 + 1e-9


def test_impossible_outcomes_are_an_atom() -> None:
    curve = DiscreteCurve(logs(0.1, 0.6, 0.3, 0.0), logs(0.0, 0.3, 0.6, 0.1), 2)
    assert curve.atom == pytest.approx(1 - 0.9**2)
    assert curve.epsilon(0.1) == math.inf
    assert curve.pure_epsilon == pytest.approx(2 * math.log(2))
    p, q = (0.1, 0.6, 0.3, 0.0), (0.0, 0.3, 0.6, 0.1)
    assert curve.delta(0.5) == pytest.approx(brute_force([(p, q)] * 2, 0.5), rel=1e-9)


def test_envelope_of_huge_losses_is_randomised_response() -> None:
    curve = DiscreteCurve((math.log(0.7), math.log(0.3)), (-800.0, 0.0), 2)
    assert not curve.exact
    assert curve.pure_epsilon == pytest.approx(2 * (800 + math.log(0.7)))
    assert 0.7 < curve.delta(100.0) <= 1.0


def test_lattice_steps() -> None:
    assert lattice_step(np.array([-1.0, 0.0, 1.0])) == pytest.approx(1.0)
    assert lattice_step(np.array([-0.75, -0.25, 0.5])) == pytest.approx(0.25)
    assert lattice_step(np.array([0.0, 1.0, math.sqrt(2), math.pi])) is None


def test_pure_curve_closed_form_and_composition() -> None:
    curve = PureCurve(1.5)
    assert not curve.exact
    assert curve.delta(0.4) == pytest.approx((math.exp(1.5) - math.exp(0.4)) / (1 + math.exp(1.5)))
    assert curve.epsilon(0.0) == 1.5
    assert curve.compose(3) == PureCurve(1.5, False, 3)
    assert PureCurve(40000.0).epsilon(1e-5) == pytest.approx(40000.0, rel=1e-6)


def test_equal_masses_give_nothing_away() -> None:
    curve = DiscreteCurve(logs(0.5, 0.5), logs(0.5, 0.5), 3)
    assert curve.delta(0.0) == 0.0
    assert curve.epsilon(1e-5) == curve.pure_epsilon == 0.0


def test_fast_for_a_million_uses() -> None:
    start = time.perf_counter()
    PureCurve(0.5, True, 2_236_682 * 50).epsilon(1e-5)
    assert time.perf_counter() - start < 1.0


@pytest.mark.parametrize(
    ("p", "q", "count"),
    [((0.5, 0.5), (1.0,), 1), ((), (), 1), ((0.5, 0.4), (0.5, 0.5), 1), ((0.5, 0.5), (0.5, 0.5), 0)],
)
def test_bad_arguments(p: tuple[float, ...], q: tuple[float, ...], count: int) -> None:
    with pytest.raises(InputError):
        DiscreteCurve(logs(*p), logs(*q), count)


def test_a_million_small_losses_are_on_their_lattice() -> None:
    """TLDP on whole numbers at a tiny epsilon: differences of logs would show no lattice; the sum is near normal."""
    curve = make("tldp-discrete", epsilon=1e-6, domain=Box(0, 9, (10**6,))).curve()
    assert isinstance(curve, DiscreteCurve)
    assert curve.exact
    law = curve.loss_law
    mu = math.sqrt(10**6 * float(np.exp(law.log_mass) @ law.loss**2))
    assert curve.epsilon(1e-5) == pytest.approx(GaussianCurve(mu).epsilon(1e-5), rel=1e-3)


def test_one_window_serves_epsilons_near_each_other() -> None:
    law = logs(0.5, 0.3, 0.2), logs(0.2, 0.3, 0.5)
    curve = DiscreteCurve(*law, count=500)
    centre = curve.epsilon(1e-4)
    for epsilon in np.linspace(0.8 * centre, 1.2 * centre, 9):
        assert curve.log_delta(epsilon) == pytest.approx(DiscreteCurve(*law, count=500).log_delta(epsilon), rel=1e-10)


def test_known_losses_pair_up_with_the_masses() -> None:
    with pytest.raises(InputError, match="as many losses"):
        DiscreteCurve(logs(0.5, 0.5), logs(0.5, 0.5), losses=(0.0,))
