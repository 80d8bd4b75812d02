import math

import numpy as np
import pytest
import torch
from exact_laws import LAST, Extreme, check_law, check_mean, releases
from scipy.stats import binomtest
from typed import make_as

from tensorldp import randomness
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.pldp_fl import BLOCK, Pdpm, PdpmCurve, fedoa_weights
from tensorldp.randomness import generator


def pdpm(epsilon: float, width: float = 1.0, size: int = 1) -> Pdpm:
    return make_as(Pdpm, epsilon=epsilon, domain=Box(-width / 2, width / 2, (size,)))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 800.0])
def test_probabilities_mean_and_ratio(epsilon: float) -> None:
    m = pdpm(epsilon, 2.0)
    up, down, zero = m.outcomes
    for v in (-1.0, -0.3, 0.0, 1.0):
        first = m.positive_probability(v)
        assert 0 <= first <= 1
        assert first * up + (1 - first) / 2 * (down + zero) == pytest.approx(v, abs=1e-12)
    if epsilon < 30:
        grown = math.exp(epsilon)
        assert m.positive_probability(1.0) == pytest.approx(grown / (grown + 2))
        assert m.positive_probability(-1.0) == pytest.approx(1 / (grown + 2))


@pytest.mark.parametrize(("epsilon", "variance", "laplace"), [(0.1, 1046.17, 800), (0.5, 39.88, 32), (1, 10.04, 8)])
def test_more_variance_than_laplace(epsilon: float, variance: float, laplace: int) -> None:
    assert pdpm(epsilon, 2.0).variance(0.0) == pytest.approx(variance, rel=5e-4)
    assert make("plu-fedoa", epsilon=epsilon, domain=Box(-1, 1, (1,))).squared_error() == pytest.approx(laplace)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_second_moment_formula_and_the_largest_variance(epsilon: float) -> None:
    """docs/mathematics/papers.md#pldp-fl."""
    m, e, length = pdpm(epsilon, 3.0), math.exp(epsilon), 3.0
    for v in (-1.5, 0.2, 1.0):
        top = length**2 * (3 * e**3 + 17 * e**2 + 29 * e + 15) - length * v * (2 * e**3 - 6 * e**2 - 10 * e + 14)
        assert m.variance(v) == pytest.approx(top / (8 * (e - 1) ** 2 * (e + 2)) - v**2)
    assert m.squared_error() == pytest.approx(max(map(m.variance, np.linspace(-1.5, 1.5, 501))), rel=1e-5)


@pytest.mark.parametrize(("length", "holds"), [(2.8, True), (4.0, False)])
def test_printed_variance_bound_has_the_wrong_dimension(length: float, holds: bool) -> None:
    bound = (math.e + 1) * (math.e + 3) * length / (math.e - 1) ** 2
    assert (pdpm(1.0, length).squared_error() <= bound) == holds
    assert pdpm(1.0, length).squared_error() <= bound * length


def test_sampler() -> None:
    m = make_as(Pdpm, epsilon=1.0, domain=Box(2, 6, (1000,)))
    outcomes = torch.tensor(m.outcomes)
    y = releases(m, torch.tensor(5.0), 100, dtype=torch.float32) - 4
    nearest = (y.reshape(-1, 1) - outcomes).abs().min(dim=1)
    assert float(nearest.values.max()) < 1e-3
    first = m.positive_probability(1.0)
    check_law(nearest.indices, {0: first, 1: (1 - first) / 2, 2: (1 - first) / 2})


@pytest.mark.parametrize(
    ("epsilon", "pure", "approximate"), [(0.1, 2184, 101), (0.55, 12012, 2193), (1.0, 21840, 7345)]
)
def test_one_round_of_the_cnn(epsilon: float, pure: int, approximate: int) -> None:
    m = pdpm(epsilon, size=21_840)
    assert m.guarantee(0.0).epsilon == pytest.approx(pure)
    assert m.guarantee(1e-5).epsilon == pytest.approx(approximate, rel=1e-2)
    assert not m.guarantee(1e-5).exact


@pytest.mark.parametrize(("epsilon", "rounds", "approximate"), [(0.1, 50, 3142), (1.0, 100, 689_206)])
def test_many_rounds_of_the_cnn(epsilon: float, rounds: int, approximate: int) -> None:
    composed = pdpm(epsilon, size=21_840).curve().compose(rounds)
    assert composed.epsilon(1e-5) == pytest.approx(approximate, rel=1e-3)


def test_profiles_of_one_and_two_elements_by_enumeration() -> None:
    """The worst pair of two elements mixes directions: all from the upper end is not the worst everywhere."""
    e = math.exp(0.5)
    assert pdpm(0.5).guarantee(0.0).exact
    for other in (0.0, 0.25, 0.45):
        assert pdpm(0.5).privacy_profile(other) == pytest.approx((e - math.exp(other)) / (e + 2))
    up, low = np.array([e, 1, 1]) / (e + 2), np.array([1, (e + 1) / 2, (e + 1) / 2]) / (e + 2)
    pairs = [((up, up), (low, low)), ((up, low), (low, up)), ((low, low), (up, up))]
    curve = PdpmCurve(0.5, 2)
    for other in np.linspace(0, 0.99, 34):
        exact = max(np.maximum(0, np.kron(*p) - math.exp(other) * np.kron(*q)).sum() for p, q in pairs)
        assert curve.delta(float(other)) == pytest.approx(exact, abs=1e-13)
    assert curve.delta(0.0025) > curve.forward(0.0025) * 1.001


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("count", [20, 128])
def test_the_bound_for_many_elements_is_above_every_mixture(epsilon: float, count: int) -> None:
    curve = PdpmCurve(epsilon, count)
    step = epsilon + curve._fall
    for other in np.linspace(0.0, curve.pure_epsilon, 50):
        assert curve.delta(float(other)) <= curve.forward(float(other) - step) * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 100), (1.0, 60), (4.0, 30)])
def test_a_guarantee_holds_if_no_mixture_of_ends_has_more(epsilon: float, count: int) -> None:
    curve = PdpmCurve(epsilon, count)
    for share in (0.2, 0.5, 0.9):
        other = share * curve.pure_epsilon
        assert curve.holds(other, curve.delta(other) * (1 + 1e-9))
        assert not curve.holds(other, curve.delta(other) * (1 - 1e-6))


@pytest.mark.parametrize(("epsilon", "count"), [(1.0, 128), (2.0, 128), (3.0, 100)])
def test_mixtures_that_the_bound_on_moments_leaves_out_have_less(epsilon: float, count: int) -> None:
    curve = PdpmCurve(epsilon, count)
    other = curve.epsilon(1e-2)
    delta = curve.delta(other)
    most = curve._most_lower(other, delta)
    assert most < count
    left = range(most + 1, count + 1)
    assert all(max(curve._mixed(left[i : i + BLOCK], other)) < delta for i in range(0, len(left), BLOCK))


@pytest.mark.parametrize("lower", [63, 8000, 10_000, 19_999])
def test_what_a_mixture_of_many_elements_loses_is_that_of_the_whole_law(lower: int) -> None:
    """20,000 elements, whose losses differ by more than floats can hold as one ratio, after 63 other mixtures."""
    curve = PdpmCurve(1.0, 20_000)
    mass, loss = curve._law(curve.count - lower)
    mean = float(np.dot(mass, loss))
    for deviations in (1, 5):
        other = mean + deviations * math.sqrt(float(np.dot(mass, (loss - mean) ** 2)))
        whole = float(np.dot(mass, -np.expm1(np.minimum(0.0, other - loss))))
        *_, found = curve._mixed(range(lower - 63, lower + 1), other)
        assert found == pytest.approx(whole, rel=1e-11)


@pytest.mark.parametrize("epsilon", [5.0, 7.5, 7.7, 12.0, 23.0, 40.0])
def test_mixtures_whose_misses_are_rare_lose_what_they_do_alone(epsilon: float) -> None:
    """A mass of the 64th mixture may be smaller in the first than any float."""
    curve = PdpmCurve(epsilon, 1000)
    mass, loss = curve._law(curve.count - 63)
    for share in (0.9, 0.999):
        other = share * float(np.dot(mass, loss))
        whole = float(np.dot(mass, -np.expm1(np.minimum(0.0, other - loss))))
        *_, found = curve._mixed(range(64), other)
        assert found == pytest.approx(whole, rel=1e-9)


@pytest.mark.slow
def test_the_guarantee_that_the_first_picture_shows_is_proved() -> None:
    """290,618 for 42 uploads of 21,840 weights at 1: some 10,800 mixtures, in 3 s."""
    run = PdpmCurve(1.0, 42 * 21840)
    assert run.epsilon(1e-5) == pytest.approx(290617.96, abs=0.01)
    assert run.holds(run.epsilon(1e-5), 1e-5)


def test_fedoa_weights() -> None:
    w = fedoa_weights([0.1, 0.5, 1.0], [10, 10, 10])
    assert sum(w) == pytest.approx(1)
    assert w[2] / w[1] == pytest.approx(4)
    assert fedoa_weights([0.7] * 4, [1, 1, 2, 4]) == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2])
    eps = np.array([0.1, 0.5, 1.0])
    assert (np.square(w) * 8 / eps**2).sum() == pytest.approx(8 / (eps**2).sum())
    assert fedoa_weights([1e-9, 1.0], [5, 5])[0] < 1e-15
    assert fedoa_weights([math.inf, 1.0], [5, 5]) == [1.0, 0.0]


def test_averaged_noise_of_the_second_mode() -> None:
    """Seventy clients with epsilon 0.1 .. 1.0 on [-1, 1]: PDPM 1.514, Laplace 1.331; 100 with weights 0.456."""
    levels = np.arange(1, 11) / 10
    mean = np.mean([pdpm(float(e), 2.0).variance(0.0) for e in levels])
    assert math.sqrt(mean / 70) == pytest.approx(1.514, rel=2e-3)
    assert math.sqrt(np.mean(8 / levels**2) / 70) == pytest.approx(1.331, rel=2e-3)
    eps = np.tile(levels, 10)
    w = np.array(fedoa_weights(list(eps), [1] * 100))
    assert math.sqrt((w**2 * 8 / eps**2).sum()) == pytest.approx(0.456, rel=2e-3)


def test_float64_releases_far_from_zero_have_no_bias() -> None:
    m = make("pdpm", epsilon=0.5, domain=Box(1e8, 1e8 + 1.0, (1,)))
    check_mean(releases(m, torch.tensor([1e8 + 0.25], dtype=torch.float64), 100_000), 1e8 + 0.25)


@pytest.mark.parametrize(("end", "draw"), [("low", 0.0), ("high", LAST)])
def test_outcomes_that_are_rare_at_an_end_are_drawn_as_often_as_they_should(
    end: str, draw: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = Extreme(draw, 0.0)
    monkeypatch.setattr(randomness, "numpy_generator", lambda _: draws)
    m = make_as(Pdpm, epsilon=82 * math.log(2.0), domain=Box(0.0, 1.0, (4000,)))
    y = m.privatize(m.box.constant(getattr(m.box, end)).unsqueeze(0), generator("rare"))
    counts = [int(side.sum()) for side in (y > 0.75, y == 0.5)]
    for count, chance in zip(counts, (0.25, 0.0) if end == "low" else (0.5, 0.25), strict=True):  # 2^-82 and so on
        assert binomtest(count, 4000, chance).pvalue > 1e-6
