"""What holds for the profile of every curve and for its compositions; what curves, audits and checks refuse."""

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tensorldp import privacy
from tensorldp.audit.accuracy import class_ceiling
from tensorldp.curves.base import NoPrivacyCurve, PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve, DiscreteGaussianCurve, PureCurve
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.gaussian import GaussianCurve, mu_of
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.curves.product import AtomCurve, ProductCurve
from tensorldp.curves.shuffling import shuffled_delta, shuffled_epsilon
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make

LOGS = tuple(math.log(mass) if mass else -math.inf for mass in (0.1, 0.6, 0.3, 0.0))
HALVES = (math.log(0.5),) * 2


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda power: 10.0**power)


whole = st.sampled_from([1, 2, 17, 784, 10**5, 10**7])
simple = st.one_of(
    st.builds(GaussianCurve, powers(-3, 1.5)),
    st.builds(LaplaceCurve, powers(-9, 4), whole),
    st.builds(PureCurve, powers(-4, 1), st.booleans(), st.integers(1, 1000)),
    st.builds(DiscreteGaussianCurve, st.integers(64, 2000), st.integers(1, 500), st.integers(1, 9)),
)
curves = st.one_of(
    simple,
    st.builds(AtomCurve, simple, st.sampled_from([1e-4, 0.03, 0.5])),
    st.builds(
        lambda mu, shift, count: ProductCurve(((GaussianCurve(mu), 2), (LaplaceCurve(shift, 40), count))),
        powers(-1, 1),
        powers(-2, 0),
        st.integers(1, 9),
    ),
)
SPECIAL = (
    NoPrivacyCurve(),
    GaussianCurve(0.0),
    DiscreteCurve(HALVES, HALVES, 3),
    DiscreteCurve(LOGS, LOGS[::-1], 2),
    DpSgdCurve(1.0, 0.1, 5),
    DpSgdCurve(0.15, 0.1, 5),
    ProductCurve(((PureCurve(0.8, True), 1), (GaussianCurve(0.7), 1))),
)


def with_special(test: Callable[..., None]) -> Callable[..., None]:
    for curve in SPECIAL:
        test = example(curve)(test)
    return settings(max_examples=30, deadline=None)(given(curves)(test))


@with_special
def test_a_profile_falls_from_1_at_most_to_its_atom_and_is_convex_in_the_exponential(curve: PrivacyCurve) -> None:
    top = min(curve.pure_epsilon, 2.0 * curve.epsilon_without_atom(1e-9), 1e300)
    epsilons = top * np.array([0.0, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 1.0])
    deltas = [curve.delta(float(epsilon)) for epsilon in epsilons]
    assert deltas[0] <= 1.0
    assert all(high >= low * (1.0 - 1e-9) for high, low in itertools.pairwise(deltas))
    assert deltas[-1] >= curve.delta(math.inf) == curve.atom
    if math.isfinite(curve.pure_epsilon):
        assert curve.delta(curve.pure_epsilon) == pytest.approx(curve.atom, abs=1e-12)
    for i in range(1, 8):
        if epsilons[i + 1] - epsilons[i - 1] < 300.0:
            near, far = np.expm1(epsilons[i : i + 2] - epsilons[i - 1])
            chord = deltas[i - 1] + (deltas[i + 1] - deltas[i - 1]) * (near / far if far > 0.0 else 0.0)
            assert deltas[i] <= chord + 1e-9


@with_special
def test_epsilon_is_the_least_whose_delta_is_small_enough(curve: PrivacyCurve) -> None:
    for delta in (0.3, 1e-5, 1e-12):
        epsilon = curve.epsilon(delta)
        if curve.atom > delta:
            assert epsilon == math.inf
        elif epsilon < curve.pure_epsilon:
            assert curve.delta(epsilon) <= delta * (1.0 + 1e-6)
            assert epsilon == 0.0 or curve.delta(epsilon * (1.0 - 1e-4)) > delta * (1.0 - 1e-6)
    assert curve.epsilon(0.0) == (curve.pure_epsilon if curve.log_atom == -math.inf else math.inf)
    if curve.log_atom == -math.inf:
        assert all(curve.epsilon_without_atom(delta) == curve.epsilon(delta) for delta in (0.0, 1e-5, 0.2))


@pytest.mark.slow
@with_special
def test_two_uses_give_away_more_than_one_and_no_more_than_twice_as_much(curve: PrivacyCurve) -> None:
    assert curve.compose(1) is curve
    two = curve.compose(2)
    assert two.pure_epsilon == pytest.approx(2 * curve.pure_epsilon)
    assert two.atom == pytest.approx(1.0 - (1.0 - curve.atom) ** 2)
    top = min(curve.epsilon_without_atom(1e-9), 1e300)
    for epsilon in (0.0, 0.2 * top, 0.7 * top):
        assert two.delta(epsilon) >= curve.delta(epsilon) * (1 - 1e-9)
        assert two.delta(2 * epsilon) <= 2 * curve.delta(epsilon) * (1 + 1e-6) + 1e-12
    assert two.compose(3).delta(top) == pytest.approx(curve.compose(6).delta(top), rel=1e-6, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.builds(LaplaceCurve, powers(-9, 4), whole), st.sampled_from([1e-30, 1e-100, 1e-200]))
def test_logs_reach_where_delta_underflows(curve: LaplaceCurve, delta: float) -> None:
    epsilon = curve.epsilon(delta)
    assert epsilon <= curve.pure_epsilon
    if 0.0 < epsilon < 0.999 * curve.pure_epsilon:
        assert curve.log_delta(epsilon) == pytest.approx(math.log(delta), rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("log_mass", [math.log(1e-3), -700.0, -740.0, -5000.0])
def test_an_atom_is_there_however_small(log_mass: float) -> None:
    curve = AtomCurve.over(LaplaceCurve(0.5, 4), math.exp(log_mass), log_mass)
    for many in (curve, curve.compose(3), ProductCurve(((curve, 2), (LaplaceCurve(0.1, 1), 1)))):
        assert many.epsilon(0.0) == math.inf
        assert many.epsilon_without_atom(0.0) == many.pure_epsilon < math.inf
        assert many.log_atom >= log_mass
        assert many.atom == pytest.approx(math.exp(many.log_atom), rel=1e-9, abs=1e-300)
    assert curve.compose(3).log_atom == pytest.approx(log_mass + math.log(3), rel=1e-3)
    assert curve.compose(2).compose(3).log_atom == pytest.approx(curve.compose(6).log_atom)


def test_an_atom_is_a_chance_of_giving_the_record_away_beside_the_rest() -> None:
    gaussian = GaussianCurve(1.0)
    curve = AtomCurve.over(gaussian, 1e-3)
    assert curve.delta(2.0) == pytest.approx(1e-3 + 0.999 * gaussian.delta(2.0))
    assert curve.epsilon(1e-3) == math.inf
    assert curve.epsilon_without_atom(1e-5) == gaussian.epsilon(1e-5)
    product = ProductCurve(((AtomCurve(LaplaceCurve(0.5, 20), 1e-4), 2), (gaussian, 1)))
    rest = ProductCurve(((LaplaceCurve(0.5, 40), 1), (gaussian, 1)))
    assert product.atom == pytest.approx(1 - (1 - 1e-4) ** 2)
    assert product.epsilon(1e-4) == math.inf
    assert product.delta(3.0) == pytest.approx(product.atom + (1 - product.atom) * rest.delta(3.0), rel=1e-9)
    assert product.epsilon_without_atom(1e-2) == pytest.approx(rest.epsilon(1e-2), rel=1e-6)
    finite = ProductCurve(((DiscreteCurve(LOGS, LOGS[::-1]), 1), (gaussian, 1)))
    assert finite.delta(50.0) == pytest.approx(0.1, abs=1e-6)
    assert 0.1 < finite.delta(1.0) < 1.0
    assert ProductCurve(((NoPrivacyCurve(), 1), (gaussian, 1))).epsilon(0.5) == math.inf


def test_equal_laws_merge_when_they_compose() -> None:
    gaussians = ProductCurve(((GaussianCurve(1.0), 3), (GaussianCurve(2.0), 1)))
    laplaces = ProductCurve(((LaplaceCurve(0.5, 3), 2), (LaplaceCurve(0.5, 4), 1)))
    inner = ProductCurve(((GaussianCurve(1.0), 1), (LaplaceCurve(0.5, 60), 1)))
    for many, one in (
        (gaussians, GaussianCurve(math.sqrt(7))),
        (laplaces, LaplaceCurve(0.5, 10)),
        (ProductCurve(((inner, 2),)), inner.compose(2)),
        (GaussianCurve(0.5).compose(9), GaussianCurve(1.5)),
    ):
        assert many.exact
        assert many.epsilon(1e-5) == pytest.approx(one.epsilon(1e-5), rel=1e-9)
        assert many.delta(1.0) == pytest.approx(one.delta(1.0), rel=1e-9)
    assert PureCurve(1.5).compose(3) == PureCurve(1.5, False, 3)
    assert DpSgdCurve(1.0, 0.1, 5, "rdp").compose(3) == DpSgdCurve(1.0, 0.1, 15, "rdp")


def test_rounds_of_a_mechanism_are_a_run_and_keep_its_note() -> None:
    laplace, gaussian, tldp = (
        make(name, epsilon=1.0, domain=Box(0, 1, (6,))) for name in ("laplace", "gaussian-analytic", "tldp-l")
    )
    once, often = (privacy.compose(laplace, count=n, delta=0.0) for n in (1, 10))
    assert (once.epsilon, once.unit) == (pytest.approx(1.0), "record")
    assert (often.epsilon, often.unit, often.exact) == (pytest.approx(10.0), "run", True)
    assert privacy.compose(laplace, count=10, delta=1e-5).epsilon < 10.0
    assert privacy.compose(gaussian, count=1, delta=1e-5).epsilon == pytest.approx(1.0)
    assert privacy.compose(gaussian, count=5, delta=0.0).epsilon == math.inf
    assert privacy.compose(tldp, count=3, delta=1e-5).note == tldp.note != ""
    assert not hasattr(privacy, "decompose")


WEIGHTS = 2_236_682 * 50  # of a model, over fifty rounds
MANY = tuple((LaplaceCurve(0.01 * k, 100 * k), 50) for k in range(1, 159))  # tensor by tensor
MEAN, SPREAD = (sum(n * getattr(c, name) for c, n in MANY) for name in ("mean_loss", "loss_variance"))


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (LaplaceCurve(0.01, WEIGHTS), WEIGHTS * (0.01 + math.expm1(-0.01)) + 4.265 * 0.01 * math.sqrt(WEIGHTS)),
        (LaplaceCurve(1.0, WEIGHTS), WEIGHTS / math.e),  # the mean a - 1 + e^-a per weight
        (LaplaceCurve(100.0, WEIGHTS), WEIGHTS * 99.0),
        (PureCurve(0.5, True, WEIGHTS), WEIGHTS * 0.5 * math.tanh(0.25)),
        (ProductCurve(MANY), MEAN + 4.265 * math.sqrt(SPREAD)),
    ],
)
def test_a_model_over_fifty_rounds_within_a_second(curve: PrivacyCurve, expected: float) -> None:
    start = time.process_time()
    epsilon = curve.epsilon(1e-5)
    assert time.process_time() - start < 1.0
    assert epsilon == pytest.approx(expected, rel=2e-3)
    assert curve.exact


LAPLACE, BOX, ZERO = make("laplace", epsilon=1.0, domain=Box(0, 1, (1,))), Box(-1.0, 1.0, (2,)), torch.zeros(1)
CHECK: dict[str, Any] = {"checked": lambda x, g: x, "domain": BOX, "claim_epsilon": 1.0}
GOOD: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [  # arguments of each that are fixed, and its numbers
    (LaplaceCurve, {}, {"shift": 1.0, "count": 2}),
    (GaussianCurve, {}, {"mu": 1.0}),
    (AtomCurve, {"inner": PureCurve(1.0)}, {"mass": 0.1}),
    (AtomCurve, {"inner": PureCurve(1.0), "mass": 0.0}, {"log_mass": -800.0}),
    (PureCurve, {}, {"budget": 1.0, "count": 2}),
    (DiscreteGaussianCurve, {}, {"sigma": 64, "shift": 1, "count": 1}),
    (DiscreteCurve, {"log_p": HALVES, "log_q": HALVES}, {"count": 2}),
    (DpSgdCurve, {}, {"noise_multiplier": 1.0, "sampling_rate": 0.1, "steps": 5}),
    (GaussianCurve(1.0).epsilon, {}, {"delta": 0.1}),
    (GaussianCurve(1.0).delta, {}, {"epsilon": 0.1}),
    (mu_of, {}, {"epsilon": 1.0, "delta": 1e-5}),
    (shuffled_epsilon, {}, {"local_epsilon": 1.0, "records": 10, "delta": 1e-6}),
    (shuffled_delta, {}, {"epsilon": 0.5, "local_epsilon": 1.0, "records": 10}),
    (privacy.compose, {"mechanism": LAPLACE}, {"count": 2, "delta": 1e-5}),
    (privacy.accuracy_audit, {}, {"correct": 5, "total": 10, "classes": 10, "confidence": 0.95, "largest_class": 0.3}),
    (privacy.accuracy_ceiling, {}, {"epsilon": 1.0, "classes": 10, "delta": 0.1}),
    (privacy.clean_test_ceiling, {}, {"records": 10, "information": 0.1, "chance": 0.1}),
    (privacy.goodness_of_fit, {"values": [0.0, 1.0], "law": norm.cdf}, {"false_alarm": 0.01}),
    (privacy.audit, {"mechanism": LAPLACE}, {"samples": 100, "confidence": 0.9, "delta": 0.1}),
    (privacy.one_run_bound, {}, {"correct": 4, "guesses": 5, "canaries": 10, "confidence": 0.9, "delta": 0.1}),
    (privacy.check, CHECK, {"claim_epsilon": 1.0, "claim_delta": 0.1, "minutes": 1.0, "confidence": 0.9}),
    (privacy.check, CHECK, {"samples": 256, "rounds": 1, "starts": 1, "seed": 1}),
]
LOW: dict[str, Any] = {"sigma": 63, "classes": 1, "samples": 19, "total": 0, "count": 0, "steps": 0, "rounds": 0}
LOW |= dict.fromkeys(("sampling_rate", "noise_multiplier", "local_epsilon", "confidence", "minutes", "starts"), 0)
HIGH: dict[str, Any] = {"sampling_rate": 1.1, "delta": 1.1, "correct": 11, "confidence": 1.0, "chance": 1.1}
HIGH |= {"claim_delta": 1.0, "samples": 1e3, "count": True, "mu": math.inf, "mass": 1.5, "budget": 1e300}
LOW["log_mass"] = math.inf
CALLS = [(function, fixed | numbers, name) for function, fixed, numbers in GOOD for name in numbers]


@pytest.mark.parametrize(("function", "arguments", "name"), CALLS, ids=lambda value: getattr(value, "__name__", value))
def test_a_number_out_of_range_is_named(function: Any, arguments: dict[str, Any], name: str) -> None:
    label = name.replace("claim_", "claimed ")
    for bad in (-1.5, math.nan, "one", LOW.get(name, -1), HIGH.get(name, -1)):
        with pytest.raises(InputError, match=label):
            function(**arguments | {name: bad})


@pytest.mark.parametrize("shift", [5e-324, 1e-300, 1e-43])
def test_a_loss_too_small_for_floats_is_rounded_up(shift: float) -> None:
    for curve in (LaplaceCurve(shift, 5), LaplaceCurve(shift, 2), PureCurve(shift, count=5)):
        assert shift <= curve.epsilon(1e-200) <= curve.pure_epsilon < 1e-38
        assert curve.epsilon(1e-5) == 0.0


TRAIN: dict[str, Any] = {"train": lambda coins, g: coins[:3].float(), "curve": PureCurve(1.0), "delta": 1e-5}


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (DiscreteCurve, {"log_p": HALVES, "log_q": (0.0,)}, "as many masses"),
        (DiscreteCurve, {"log_p": (), "log_q": ()}, "at least one"),
        (DiscreteCurve, {"log_p": (math.log(0.5), math.log(0.4)), "log_q": HALVES}, "must sum to 1"),
        (DiscreteCurve, {"log_p": HALVES, "log_q": HALVES, "losses": (0.0,)}, "as many losses"),
        (DiscreteCurve, {"log_p": HALVES, "log_q": HALVES, "losses": (0.0, math.nan)}, "must be log_p - log_q, here 0"),
        (DiscreteCurve, {"log_p": None, "log_q": HALVES}, "log_p of a discrete curve must be a sequence of numbers"),
        (AtomCurve, {"inner": 1.0, "mass": 0.1}, "an atom needs the privacy curve of the other outcomes, got 1.0"),
        (AtomCurve.over, {"inner": PureCurve(1.0), "mass": math.nan}, "mass of an atom must be a number in .0, 1."),
        (LaplaceCurve, {"shift": 1e300, "count": 5}, "shift of a Laplace curve must be a number in .0, 1e.50."),
        (GaussianCurve, {"mu": 1e160}, "mu of a Gaussian curve must be a number in .0, 1e.100."),
        (DpSgdCurve, {"noise_multiplier": 1.0, "sampling_rate": 0.1, "steps": 5, "accountant": "m"}, "accountant"),
        *((ProductCurve, {"parts": parts}, "part") for parts in ((), ((1.0, 1),), (GaussianCurve(1.0),))),
        (ProductCurve, {"parts": ((GaussianCurve(1.0), 0),)}, "count of a part"),
        (class_ceiling, {"epsilon": 1.0, "delta": 0.0, "shares": [0.5, 0.6]}, "shares of classes must be .* sum to 1"),
        (privacy.goodness_of_fit, {"law": norm.cdf, "values": [1.0]}, "at least 2"),
        (privacy.goodness_of_fit, {"law": norm.cdf, "values": [1.0, math.nan]}, "finite"),
        (privacy.goodness_of_fit, {"values": [0.0, 1.0], "law": {0.0: 0.5, 1.0: 0.6}}, "sum to 1"),
        (privacy.compose, {"mechanism": "laplace", "count": 2, "delta": 1e-5}, "mechanism"),
        (privacy.compose, {"mechanism": LAPLACE, "count": 2, "delta": 1.0}, "delta"),
        *(
            (privacy.compose, {"mechanism": LAPLACE, "count": 10**n, "delta": 1e-5}, "at most 10{12}")
            for n in (21, 400)
        ),
        (LaplaceCurve, {"shift": 1.0, "count": 10**21}, "count of a Laplace curve must be .* at most 10{20}"),
        (privacy.audit, {"mechanism": "laplace", "samples": 100}, "mechanism"),
        (privacy.audit, {"mechanism": LAPLACE, "samples": 100, "pair": (ZERO, ZERO)}, "differ"),
        (privacy.audit_profile, {"mechanism": LAPLACE, "samples": 100, "epsilons": []}, "at least one"),
        (privacy.one_run_audit, TRAIN | {"canaries": 20}, "one score a canary: for 20, got"),
        (privacy.check, CHECK | {"domain": None}, "domain"),
        (privacy.check, CHECK | {"claim_epsilon": None}, "claim_epsilon"),
        (privacy.check, CHECK | {"minutes": 1e-9}, "a check of 1e-09 minutes is over before it looks at anything"),
        (privacy.check, CHECK | {"samples": 255}, "samples"),
        (privacy.check, CHECK | {"pair": (torch.zeros(3), torch.ones(3))}, "shape"),
        (privacy.check, CHECK | {"dtypes": (torch.float16,)}, "dtypes"),
        (privacy.check, {"checked": make("jl", epsilon=1.0, domain=Box(-1.0, 1.0, (4, 4)))}, "cannot be checked"),
    ],
)
def test_what_makes_no_curve_or_cannot_be_examined_is_refused(
    function: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        function(**arguments)


@pytest.mark.parametrize("local", [36.0, 37.0, 40.0, 299.0, 699.0, 701.0, 3072.0])
def test_a_shuffler_adds_nothing_to_a_local_epsilon_that_no_clone_hides(local: float) -> None:
    assert shuffled_epsilon(local, 10_000, 1e-6) == pytest.approx(local, rel=0.05)
    assert shuffled_epsilon(local, 10_000, 1e-6) <= local
    assert 0.99 < shuffled_delta(1.0, local, 10_000) <= 1.0
    assert shuffled_delta(local, local, 10_000) == 0.0
