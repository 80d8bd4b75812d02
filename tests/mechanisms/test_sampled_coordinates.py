import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from exact_laws import LAST, Extreme, check_law, check_mean, releases
from scipy.stats import binomtest
from typed import make_as

from tensorldp import randomness
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.sampled_coordinates import (
    HYBRID_THRESHOLD,
    Duchi,
    Hybrid,
    Piecewise,
    SampledCoordinates,
    cube_constant,
    distinct_indices,
    duchi_variance,
    piecewise_bound,
    piecewise_variance,
)
from tensorldp.randomness import generator, numpy_generator

UNIT = Box(-1, 1, (1,))
Law = npt.NDArray[np.float64]


def duchi(size: int, epsilon: float = 1.0, ties: str = "corrected") -> Duchi:
    return make_as(Duchi, epsilon=epsilon, domain=Box(-1, 1, (size,)), ties=ties)


def corners_of(size: int) -> Law:
    return np.array(list(itertools.product((-1.0, 1.0), repeat=size)))


def law(m: Duchi, v: npt.ArrayLike) -> Law:
    """p(u | v) over all corners u, by the definition: uniform on the half that agrees, or on the other."""
    s, grown = corners_of(m.size) @ np.asarray(v), math.exp(m.epsilon)
    if m.ties == "printed":
        up, down, share = s >= 0, s <= 0, grown / (grown + 1)
        return np.asarray(share * up / up.sum() + (1 - share) * down / down.sum())
    weight = np.where(s > 0, grown, 1.0)
    return np.asarray(weight / weight.sum())


def test_constants_of_the_cube() -> None:
    assert [cube_constant(d) for d in range(1, 6)] == pytest.approx([1, 3, 2, 3.666667, 2.666667], abs=1e-6)
    assert cube_constant(784) == pytest.approx(36.103988, abs=1e-6)
    assert cube_constant(2_236_683) == pytest.approx(math.sqrt(math.pi * 2_236_683 / 2), rel=1e-5)
    assert duchi(1).squared_error() == pytest.approx(4.682694, abs=1e-6)  # Duchi's two points
    odd = [duchi(size, 1.1, ties).bound for size in (1, 3, 7) for ties in ("corrected", "printed")]
    assert odd[::2] == pytest.approx(odd[1::2], rel=1e-12)  # which agree with the print


@pytest.mark.parametrize(
    ("size", "epsilon", "printed"),
    [(784, 0.5, 147.4), (784, 4, 37.46), (784, 10, 36.1), (3072, 1, 152.5), (2_236_682, 100, 1875)],
)
def test_printed_rms_of_section_7(size: int, epsilon: float, printed: float) -> None:
    assert duchi(size, epsilon, "printed").bound == pytest.approx(printed, rel=1.5e-3)
    assert duchi(size, epsilon).bound < duchi(size, epsilon, "printed").bound  # the correction costs no error


@pytest.mark.parametrize("size", [2, 4, 6])
def test_the_printed_form_is_not_epsilon_ldp_for_even_sizes(size: int) -> None:
    """As printed it should be exactly epsilon: enumeration gives ln(1 + e^epsilon)."""
    m = duchi(size, ties="printed")
    losses = [float(np.log(law(m, np.ones(size)) / law(m, v)).max()) for v in corners_of(size)]
    assert max(losses) == pytest.approx(math.log(1 + math.e)) == pytest.approx(m.guarantee(0.0).epsilon)
    assert losses[0] == pytest.approx(1.0)  # which is why opposite corners alone look right


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_duchi_is_exactly_epsilon_and_unbiased(size: int, epsilon: float) -> None:
    m = duchi(size, epsilon)
    first = law(m, np.ones(size))
    pairs = [law(m, v) for v in corners_of(size)]
    assert max(float(np.log(first / p).max()) for p in pairs) == pytest.approx(epsilon)
    assert m.guarantee(0.0).epsilon == pytest.approx(epsilon)
    assert m.guarantee(0.0).exact
    assert m.bound * (first @ corners_of(size)) == pytest.approx(np.ones(size))
    for e in (0.0, 0.5 * epsilon, 0.9 * epsilon):
        exact = max(float(np.maximum(0, first - math.exp(e) * p).sum()) for p in pairs)
        assert m.privacy_profile(e) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("ties", ["corrected", "printed"])
@pytest.mark.parametrize("size", [3, 4])
def test_duchi_draws_corners_by_their_law(size: int, ties: str) -> None:
    m = make_as(Duchi, epsilon=0.8, domain=Box(2, 6, (size,)), ties=ties)
    u = (releases(m, torch.tensor([6.0, 2.0, 6.0, 2.0])[:size], 100_000, dtype=torch.float32) - 4) / (2 * m.bound)
    assert torch.allclose(u.abs(), torch.ones_like(u), atol=1e-5)
    index = ((u > 0).long() * torch.tensor([2**k for k in reversed(range(size))])).sum(dim=1)
    check_law(index, dict(enumerate(law(m, [1, -1, 1, -1][:size]))))


@pytest.mark.parametrize("size", [3, 4])
def test_likelihood_by_enumeration(size: int) -> None:
    m, corners = duchi(size, 1.2), corners_of(size)
    x, x_prime = torch.tensor([0.3, -1.0, 0.9, 0.0])[:size], torch.tensor([1.0, 1.0, -0.2, 0.5])[:size]
    masses, others = (
        np.sum([np.prod((1 + v * t.double().numpy()) / 2) * law(m, v) for v in corners], axis=0) for t in (x, x_prime)
    )
    ratio = m.log_likelihood_ratio(torch.tensor(corners) * m.bound, x, x_prime)
    assert ratio.numpy() == pytest.approx(np.log(masses / others), abs=1e-9)


def test_one_dimensional_variances_and_thresholds() -> None:
    found = [duchi_variance(t, 1) for t in (0, 1)] + [piecewise_variance(t, e) for e in (1, 4) for t in (0, 1)]
    assert found == pytest.approx([4.682694, 3.682694, 3.682103, 5.223597, 0.084836, 0.241354], abs=1e-6)
    for epsilon, variance in ((1, 4.288992), (4, 0.218979)):
        hybrid = make_as(SampledCoordinates, "hybrid", epsilon=epsilon, domain=UNIT)
        assert [hybrid.variance(t) for t in (0.0, 0.3, 1.0)] == pytest.approx([variance] * 3, abs=1e-6)
    assert pytest.approx(0.6093525, abs=1e-7) == HYBRID_THRESHOLD
    for e, better in ((1.289, False), (1.2905, True)):
        assert (piecewise_variance(1, e) < duchi_variance(0, e)) == better


@pytest.mark.parametrize(
    ("epsilon", "piecewise", "hybrid"),
    [(0.5, (17420, 13880), (13070, 13070)), (2, (1745, 506), (1600, 817)), (100, (33.3, 6.84), (31.3, 12.7))],
)
def test_cube_of_784(epsilon: float, piecewise: tuple[float, float], hybrid: tuple[float, float]) -> None:
    for name, (corner, zero) in (("piecewise", piecewise), ("hybrid", hybrid)):
        m = make_as(SampledCoordinates, name, epsilon=epsilon, domain=Box(-1, 1, (784,)))
        assert m._element_error(1.0) == pytest.approx(corner, rel=2e-3)
        assert m._element_error(0.0) == pytest.approx(zero, rel=5e-3)
        assert m.squared_error() == pytest.approx(784 * max(m._element_error(0.0), m._element_error(1.0)))


@pytest.mark.parametrize(("epsilon", "size", "expected"), [(0.1, 784, 1), (100, 784, 40), (100, 3, 3), (2.5, 1, 1)])
def test_sampled_coordinates(epsilon: float, size: int, expected: int) -> None:
    m = make_as(Hybrid, epsilon=epsilon, domain=Box(-1, 1, (size,)))
    assert m.sampled == expected
    y = m.privatize(torch.full((50, size), 0.25), generator("count"))
    assert bool(((y != 0).sum(dim=1) == expected).all())


@pytest.mark.parametrize("t", [-1.0, 0.4, 1.0])
def test_piecewise_law(t: float) -> None:
    bound, z = piecewise_bound(2.0), math.e
    left = (bound + 1) / 2 * t - (bound - 1) / 2
    right = left + bound - 1

    def cdf(v: Any) -> Any:
        near = z / (z + 1) * np.clip((v - left) / (bound - 1), 0, 1)
        far = (np.clip(v, -bound, left) + bound + np.clip(v, right, bound) - right) / (bound + 1)
        return near + far / (z + 1)

    y = releases(make("piecewise", epsilon=2.0, domain=UNIT), torch.tensor([t]), 50_000, t)
    check_law(y, cdf)
    assert float(y.abs().max()) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("name", ["duchi", "piecewise", "hybrid"])
def test_unbiased_on_any_box(name: str) -> None:
    x = torch.tensor([10.0, 11.0, 12.0, 13.5, 14.0], dtype=torch.float64)
    check_mean(releases(make(name, epsilon=6.0, domain=Box(10, 14, (5,))), x, 100_000), x)


@pytest.mark.parametrize(("rows", "d", "k"), [(6000, 6, 2), (300, 6, 6), (100, 300, 120)])
def test_distinct_indices(rows: int, d: int, k: int) -> None:
    drawn = distinct_indices(rows, d, k, numpy_generator(generator("distinct", d, k)))
    assert all(len(set(row)) == k for row in drawn.tolist())
    assert 0 <= drawn.min() <= drawn.max() < d
    if k == 2:
        low, high = np.sort(drawn, axis=1).T
        check_law(6 * low + high, {6.0 * i + j: 1 / 15 for j in range(6) for i in range(j)})


@pytest.mark.parametrize("kind", ["duchi", "two points", "piecewise"])
def test_the_side_that_is_rare_at_a_corner_is_drawn_as_often_as_it_should(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws, corner, epsilon = Extreme(LAST, 0.0), torch.ones(4000, 1, dtype=torch.float64), 82 * math.log(2.0)
    monkeypatch.setattr(randomness, "numpy_generator", lambda _: draws)
    if kind == "duchi":
        y = make_as(Duchi, epsilon=epsilon, domain=UNIT).privatize(corner, generator("rare"))
    elif kind == "two points":
        y = make_as(Hybrid, epsilon=epsilon, domain=UNIT)._two_points(corner, generator("rare"))
    else:
        y = make_as(Piecewise, epsilon=2 * epsilon, domain=UNIT)._pieces(corner, generator("rare"))
    assert binomtest(int((y < 1.0).sum()), 4000, 0.25).pvalue > 1e-6  # 2^-82, of which 2^-80 has come to pass
