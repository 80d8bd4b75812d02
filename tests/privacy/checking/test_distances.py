"""Claims that scale with a distance: held at pairs of several distances, and bounds are said for each unit of it."""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from schemas import VERDICT, misfits
from scipy import stats
from scipy.integrate import quad
from scipy.special import k0, k1
from torch import Tensor

from tensorldp.check import check
from tensorldp.check.claim import Claim, Metric
from tensorldp.check.pairs import at_distance, pairs
from tensorldp.check.target import Target
from tensorldp.check.verdict import page
from tensorldp.composition import compose
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.laplace import Laplace

PLANE, TEN = Box(-10.0, 10.0, (2,)), Box(0.0, 9.0, (1,))
FEW: dict[str, Any] = {"samples": 6400, "rounds": 3, "minutes": 10.0, "dtypes": ()}
SURE: dict[str, Any] = FEW | {"samples": 1600, "starts": 6, "confidence": 1 - 1e-6}


def planar(x: Tensor, g: torch.Generator, epsilon: float) -> Tensor:
    """Planar Laplace noise: a direction, and a length of the Gamma law of shape 2."""
    length = torch.empty(len(x), 2, dtype=x.dtype).exponential_(generator=g).sum(dim=1) / epsilon
    angle = 2.0 * math.pi * torch.rand(len(x), generator=g, dtype=x.dtype)
    return x + length[:, None] * torch.stack((angle.cos(), angle.sin()), dim=1)


PLACES = np.array([0.0, 0.3, 0.5, 1.5, 2.0, 4.0, 4.1, 6.0, 8.0, 9.0])  # of ten categories on a line


def between(x: Any, x_prime: Any) -> float:
    """How far the categories of two records are from each other."""
    first, second = (PLACES[int(np.rint(record).reshape(-1)[0])] for record in (x, x_prime))
    return float(abs(first - second))


def exponential(x: Tensor, g: torch.Generator, epsilon: float) -> Tensor:
    """A category drawn with probability in proportion to exp(-epsilon d / 2)."""
    apart = torch.from_numpy(np.abs(PLACES[:, None] - PLACES[None, :]))
    weights = torch.exp(-epsilon / 2.0 * apart)[x.reshape(-1).round().long()]
    return torch.multinomial(weights, 1, generator=g)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "domain", "metric", "epsilon"),
    [(planar, PLANE, "l2", 0.5), (planar, PLANE, "l2", 20.0), (exponential, TEN, between, 1.0)],
)
def test_what_keeps_a_claim_per_distance_passes_and_half_the_noise_does_not(
    release: Any, domain: Box, metric: Any, epsilon: float
) -> None:
    claim: dict[str, Any] = {"domain": domain, "claim_epsilon_per_distance": epsilon, "metric": metric}
    honest = check(partial(release, epsilon=epsilon), **claim, **SURE)
    assert not honest.refuted, honest
    assert honest.epsilon_lower <= epsilon
    name, unit = (metric, f"unit of {metric} distance") if isinstance(metric, str) else ("between", "unit of between")
    assert f"for each {unit} at delta 0" in honest.proved or honest.no_bound
    lie = check(partial(release, epsilon=2.0 * epsilon), **claim, **FEW)
    assert lie.refuted, lie
    finding = lie.findings[0]
    assert finding.distance is not None
    assert finding.epsilon == pytest.approx(epsilon * finding.distance)
    assert f"{finding.distance:.4g} apart in {name}" in finding.text
    assert epsilon <= lie.epsilon_lower <= 3.0 * epsilon
    assert f"where the claim has {epsilon:.4g}" in str(lie)
    assert f"for each {unit}" in page(lie)


@pytest.mark.slow
def test_a_bound_for_each_unit_of_distance_is_near_the_truth() -> None:
    mechanism = Laplace(epsilon=2.0, domain=Box(0.0, 4.0, (1,)))
    found = check(mechanism, claim_epsilon_per_distance=0.5, metric="l1", **FEW | {"starts": 2, "rounds": 2})
    assert not found.refuted
    assert 0.35 <= found.epsilon_lower <= 0.5


def test_a_claim_knows_its_points_at_a_pair_and_which_can_be_counted() -> None:
    claim = Claim.per_distance(3.0, "l1", 1e-3)
    near, far = torch.zeros(2).double(), torch.full((2,), 5.0).double()
    assert claim.at(near, near + 0.5) == ((3.0, 1e-3),)
    assert claim.at(near, far) == ((30.0, 1e-3),)
    assert claim.countable_at(near, far) == ()
    assert Claim.per_distance(1.0, lambda x, y: math.inf).at(near, far) == ()
    assert Claim.point(1.0).at(near, far) == ((1.0, 0.0),)
    distances = [Metric.of(name).between(near, torch.tensor([3.0, 4.0])) for name in ("l1", "l2", "linf", "hamming")]
    assert distances == [7.0, 5.0, 4.0, 2.0]


@pytest.mark.parametrize(("metric", "epsilon"), [("l1", 0.1), ("l2", 40.0), ("linf", 1.0), ("hamming", 0.25)])
def test_pairs_come_at_several_distances(metric: str, epsilon: float) -> None:
    claim = Claim.per_distance(epsilon, metric)
    made = pairs(Target("nothing", lambda x, g: x, Box(-1.0, 1.0, (8,))), 0, None, claim)
    told = [claim.at(pair.x, pair.x_prime)[0][0] for pair in made]
    largest = max(told)
    assert sum(0.15 <= epsilon <= 4.0 for epsilon in told) >= 6
    assert max(told) == largest
    assert {round(epsilon, 1) for epsilon in told} >= ({0.3, 1.0} if metric != "hamming" else {0.2, 1.0})


def test_elements_change_one_by_one_where_a_straight_way_has_no_distances() -> None:
    low, high = torch.zeros(8).double(), torch.ones(8).double()
    found = at_distance(low, high, Metric.of("hamming").between, 3.0, torch.arange(8))
    assert found is not None
    assert found.tolist() == [1.0] * 3 + [0.0] * 5
    assert at_distance(low, high, Metric.of("l1").between, 9.0, torch.arange(8)) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"claim_epsilon": 1.0, "claim_epsilon_per_distance": 1.0, "metric": "l1"}, "not both"),
        ({"claim_epsilon_per_distance": 1.0}, "needs metric, one of l1, l2, linf, hamming or a function"),
        ({"claim_epsilon": 1.0, "metric": "l1"}, "needs claim_epsilon_per_distance"),
        (
            {"claim_epsilon_per_distance": 0.0, "metric": "l1"},
            "claimed epsilon per distance must be a finite number ab",
        ),
        ({"claim_epsilon_per_distance": 1.0, "metric": "l3"}, "must be one of l1, l2, linf, hamming or a function of"),
        ({"claim_epsilon_per_distance": 1.0, "metric": 2}, "got 2"),
        ({"claim_epsilon_per_distance": 1.0, "metric": "l1", "claim_delta": 1.0}, "claimed delta must be"),
        ({"claim_epsilon_per_distance": 1.0, "metric": lambda x, y: -1.0}, "must return one number of at least 0, got"),
        (
            {"claim_epsilon_per_distance": 1.0, "metric": lambda x, y: x - y},
            "must return one number of at least 0, got",
        ),
        ({"claim_epsilon_per_distance": 1.0, "metric": lambda x, y: 1 / 0}, "failed: ZeroDivisionError"),
        (
            {"claim_epsilon_per_distance": 1.0, "metric": lambda x, y: max(0.0, (x - y).sum())},
            "must be symmetric, got",
        ),
        ({"claim_delta": 1e-3}, "needs claim_epsilon, the epsilon of the same claim"),
        ({"claim_curve": GaussianCurve(1.0), "claim_epsilon": 1.0}, "takes claim_curve, or an epsilon and claim_delta"),
        ({"claim_curve": GaussianCurve(1.0), "metric": "l2"}, "must be a function of the distance; got GaussianCurve"),
        ({"claim_curve": GaussianCurve}, "must be a PrivacyCurve, as there is no metric; got"),
        ({"claim_curve": lambda d: d, "metric": "l2"}, "claim_curve must return a PrivacyCurve, got"),
        ({"claim_curve": lambda d: 1 / 0, "metric": "l2"}, "claim_curve failed at distance .*: ZeroDivisionError"),
    ],
)
def test_a_claim_that_makes_no_sense_is_refused_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        check(partial(planar, epsilon=1.0), domain=PLANE, **FEW, **options)
    assert "\n" not in str(error.value)


def test_releases_of_other_records_may_not_differ_at_any_distance() -> None:
    def mixed(x: Tensor, g: torch.Generator) -> Tensor:
        return planar(x + 0.2 * x.roll(1, 0) * (len(x) > 1), g, 1.0)

    found = check(mixed, domain=PLANE, claim_epsilon_per_distance=100.0, metric="l2", **FEW | {"samples": 1600})
    assert found.refuted
    assert [finding.kind for finding in found.findings] == ["locality"]
    assert found.findings[0].distance is None


def gaussian(x: Tensor, g: torch.Generator, sigma: float) -> Tensor:
    """Gaussian noise, whose mu is the l2 distance in standard deviations."""
    return x + sigma * torch.randn(x.shape, generator=g, dtype=x.dtype)


@pytest.mark.slow
def test_a_curve_for_each_distance_is_kept_by_gaussian_noise_and_broken_by_half_of_it() -> None:
    claim: dict[str, Any] = {"domain": PLANE, "metric": "l2", "claim_curve": lambda d: GaussianCurve(d / 4.0)}
    honest = check(partial(gaussian, sigma=4.0), **claim, **SURE)
    assert not honest.refuted, honest
    assert honest.epsilon_lower <= GaussianCurve((honest.distance or 0.0) / 4.0).epsilon(honest.delta_lower)
    lie = check(partial(gaussian, sigma=2.0), **claim, **FEW)
    assert lie.refuted, lie
    finding = lie.findings[0]
    assert lie.distance is not None
    assert lie.distance == finding.distance
    claimed, true = GaussianCurve(lie.distance / 4.0), GaussianCurve(lie.distance / 2.0)
    assert finding.delta == pytest.approx(claimed.delta(finding.epsilon or 0.0))
    assert claimed.epsilon(lie.delta_lower) < lie.epsilon_lower < true.epsilon(lie.delta_lower)
    assert f"of records {lie.distance:.4g} apart in l2 at delta" in lie.proved
    assert misfits(json.loads(lie.to_json()), VERDICT) == []
    assert "for each unit" not in page(lie) + str(lie) + lie.summary()
    assert all(f"claimed epsilon of about {told:g}" in str(pairs_of(GaussianCurve)) for told in (0.3, 1.0, 3.0))


def pairs_of(curve: Any) -> list[str]:
    """The names of the pairs that are tried under a claim of a curve for each distance."""
    claim = Claim.curve_per_distance(lambda d: curve(d / 4.0), "l2")
    return [pair.name for pair in pairs(Target("nothing", lambda x, g: x, PLANE), 0, None, claim)]


@pytest.mark.slow
def test_a_whole_curve_is_claimed_of_a_function() -> None:
    noise = partial(gaussian, sigma=4.0)
    claim: dict[str, Any] = {"domain": Box(0.0, 4.0, (1,))}
    assert not check(noise, **claim, claim_curve=GaussianCurve(1.0), **SURE | {"starts": 2}).refuted
    assert check(noise, **claim, claim_curve=GaussianCurve(0.5), **FEW).refuted


def hockey_stick(law: Any, scale: float, distance: float, epsilon: float) -> float:
    """delta between two laws of one number that are `distance` apart, from their densities."""

    def excess(y: float) -> float:
        return max(0.0, float(law.pdf(y, 0.0, scale) - math.exp(epsilon) * law.pdf(y, distance, scale)))

    places = (-40.0 * scale, *np.linspace(-scale, distance + scale, 12), 40.0 * scale)
    return float(sum(quad(excess, low, high)[0] for low, high in pairwise(places)))


@pytest.mark.parametrize("distance", [0.25, 3.0])
def test_the_curve_of_noise_at_a_distance_is_that_of_two_densities(distance: float) -> None:
    for key, law, scale in (("laplace", stats.laplace, 8.0), ("gaussian", stats.norm, 4.0)):
        curve = make(key, epsilon=1.0, domain=Box(0.0, 4.0, (2,))).curve_at(distance)
        assert curve.exact
        assert curve.delta(0.0) == pytest.approx(hockey_stick(law, scale, distance, 0.0), abs=1e-6)
        assert curve.delta(0.02) == pytest.approx(hockey_stick(law, scale, distance, 0.02), abs=1e-6)


def planar_delta(shift: float, epsilon: float) -> float:
    """delta of two places whose distance is `shift` in planar Laplace noise's unit, in elliptic coordinates.

    With a = shift / 2 the loss is 2 a cos v, and v in (0, pi) has the density
    a / pi e^(a cos v) (K1(a) + a K0(a) sin^2 v).
    """
    a = shift / 2.0

    def gain(v: float) -> float:
        density = a / math.pi * math.exp(a * math.cos(v)) * (k1(a) + a * k0(a) * math.sin(v) ** 2)
        return max(0.0, -math.expm1(epsilon - 2.0 * a * math.cos(v))) * density

    return float(quad(gain, 0.0, math.acos(epsilon / shift))[0])


@pytest.mark.parametrize("shift", [0.1, 1.0, 6.0])
def test_planar_noise_and_a_change_of_several_elements_tell_less_than_one_laplace_element(shift: float) -> None:
    one, spread = LaplaceCurve(shift), LaplaceCurve(shift / 4.0, 4)
    for epsilon in (0.0, 0.3 * shift, 0.9 * shift):
        assert 0.0 < planar_delta(shift, epsilon) < one.delta(epsilon)
        assert 0.0 < spread.delta(epsilon) < one.delta(epsilon)


def test_randomized_response_has_a_curve_for_each_number_of_elements_that_differ() -> None:
    mechanism = make("k-rr", epsilon=1.0, domain=Box(0.0, 3.0, (3,)))
    assert mechanism.curve_at(1.0).delta(0.5) == pytest.approx((math.e - math.exp(0.5)) / (math.e + 3.0))
    assert mechanism.curve_at(3) == mechanism.curve()
    assert compose(mechanism, count=1, delta=0.0, distance=2.0).epsilon == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("key", "distance", "message"),
    [
        ("tldp-l", 1.0, "tldp-l has no privacy curve for each distance"),
        ("laplace", 0.0, "distance of two records must be"),
        ("k-rr", 0.5, "distance of two records must be a"),
    ],
)
def test_a_distance_without_a_curve_is_refused(key: str, distance: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(key, epsilon=1.0, domain=Box(0.0, 3.0, (3,))).curve_at(distance)
