"""What holds for all mechanisms, those of the package and their options."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any, get_args, get_type_hints

import contract
import pytest
import torch
import typed
from exact_laws import check_mean, releases
from typed import exact_error

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, Mechanism, make, mechanism_class, names
from tensorldp.mechanisms.matrix import MOST_OPTIMISED
from tensorldp.privacy import audit
from tensorldp.randomness import generator

SAME_SHAPE = [name for name in names() if mechanism_class(name).same_shape]
PRIVATE = [name for name in names() if name != "none"]
each = pytest.mark.parametrize("name", SAME_SHAPE)
# their noise does not grow as 1 / epsilon, what they keep tells the weights, or a grid bounds epsilon from below
NOT_LINEAR = {"jl", "gaussian", "tldp-g", "tldp-g-w", "tldp-l-w"} | {
    name for name in names() if name.endswith("-secure")
}
DOMAINS: list[Callable[..., Domain]] = [
    *(partial(Box, 0, high) for high in (1e300, 1e38, 1e-30, 1e-300, 2**53, 2**60, 255, 1)),
    *(partial(Box, -end, end) for end in (1e308, 1e30, 2**24)),
    *(partial(Box, low, high) for low, high in ((1e30 - 1e15, 1e30), (1, 1 + 1e-15), (0.1, 0.1 + 1e-9))),
    partial(Box, 2**30, 2**30 + 1),
    *(partial(Ball, radius) for radius in (1e300, 1e30, 1e19, 1e-30, 1e-300)),
    *(partial(Ball, radius, centre=c) for radius, c in ((1, 1e30), (1e30, 1e30), (1, 1e6), (1e-3, 1000.0001))),
]


@each
@pytest.mark.parametrize("shape", [(1,), (64,), (3, 16, 16)], ids=str)
@pytest.mark.parametrize("check", contract.CHECKS, ids=lambda check: check.__name__)
def test_contract(name: str, shape: tuple[int, ...], check: Callable[[Mechanism], None]) -> None:
    check(contract.build(name, shape))


@each
@pytest.mark.parametrize(("clip", "shape"), [(False, (7,)), (False, (3, 4, 5)), (True, (3, 4, 5))])
def test_layouts_of_a_batch_make_no_difference(name: str, shape: tuple[int, ...], clip: bool) -> None:
    contract.check_layouts(contract.build(name, shape, clip=clip))


@each
@pytest.mark.parametrize("epsilon", [1e-12, 1.0, 1e12])
def test_a_release_on_any_domain_and_in_any_precision_is_finite_or_refused_in_a_sentence(
    name: str, epsilon: float
) -> None:
    refused = []
    for domain, shape in zip(DOMAINS, itertools.cycle([(1,), (4,), (4,)])):
        try:
            m = make(name, epsilon=epsilon, domain=domain(shape=shape), clip=True)
        except InputError as error:
            refused.append(str(error))
            continue
        assert (m.squared_error() or 0.0) >= 0.0
        for end, dtype in itertools.product(m.given_domain.farthest(), (torch.float32, torch.float64, torch.bfloat16)):
            try:
                assert bool(m.privatize(end.unsqueeze(0).to(dtype), generator("any")).isfinite().all())
            except InputError as error:
                refused.append(str(error))
    assert refused
    assert not any("\n" in sentence for sentence in refused)


@pytest.mark.parametrize("name", ["laplace", "gaussian-classical", "duchi", "tldp-l", "privunit"])
def test_a_release_beyond_float32_says_so_and_float64_has_it(name: str) -> None:
    m = make(name, epsilon=1e-10, domain=Box(0, 1e30, (4,)))
    with pytest.raises(InputError, match=r"left the range of torch.float32: take a domain nearer to 0, a larger eps"):
        m.privatize(torch.zeros(3, 4), generator("range"))
    assert bool(m.privatize(torch.zeros(3, 4, dtype=torch.float64), generator("range")).isfinite().all())


@pytest.mark.parametrize(
    "domain", [partial(Box, 0, 1e38), partial(Ball, 1e38), partial(Ball, 1, centre=-1e31), partial(Box, 0, 1e-38)]
)
def test_the_range_of_domains_is_stated(domain: Callable[..., object]) -> None:
    with pytest.raises(InputError, match=r"must be a number in \[(-1e\+30|1e-30), [12]e\+30\]"):
        domain(shape=(4,))


@pytest.mark.parametrize("name", ["k-rr", "k-rr-secure", "tldp-discrete"])
def test_whole_numbers_that_the_precision_lacks_are_refused(name: str) -> None:
    for dtype, bits in ((torch.float32, 24), (torch.bfloat16, 8)):
        wide, fits = (make(name, epsilon=1, domain=Box(0, top, (4,))) for top in (2**bits + 2, 2**bits))
        with pytest.raises(InputError, match=f"all of its whole numbers, {dtype} holds them up to {2**bits}"):
            wide.privatize(torch.zeros(2, 4, dtype=dtype), generator("whole"))
        assert fits.privatize(torch.zeros(2, 4, dtype=dtype), generator("whole")).dtype == dtype
    with pytest.raises(InputError, match=r"between -2\^53 and 2\^53"):
        make(name, epsilon=1, domain=Box(0, 2.0**54, (4,)))
    bytes_of_bfloat16 = make(name, epsilon=0.1, domain=Box(0, 255, (1,)))
    y = bytes_of_bfloat16.privatize(torch.full((20_000, 1), 255.0, dtype=torch.bfloat16), generator("bytes"))
    assert y.unique().numel() >= 256


@each
def test_bad_input(name: str) -> None:
    contract.check_input_errors(*(contract.build(name, (4, 5), clip=clip) for clip in (False, True)))


@pytest.mark.parametrize("name", names())
def test_bad_construction(name: str) -> None:
    contract.check_construction_errors(name, (4, 5))


@pytest.mark.parametrize("name", PRIVATE)
def test_only_epsilons_between_the_ends_are_allowed_and_all_of_those_have_a_guarantee(name: str) -> None:
    refused = []
    for epsilon, size in itertools.product((1e-12, 1e-6, 1e6, 1e12), (1, 64)):
        try:
            assert contract.build(name, (size,), epsilon=epsilon).guarantee(1e-5).epsilon >= 0
        except InputError as error:  # a mechanism may have a narrower interval, and says so in a sentence
            refused.append(str(error))
    assert all("epsilon" in sentence for sentence in refused)
    for epsilon in (1e-300, 1e150):
        with pytest.raises(InputError, match=rf"epsilon of {name} must be a number in \[1e-12, 1e\+12\], got 1e"):
            contract.build(name, (4,), epsilon=epsilon)


REALS = [
    (name, f.name)
    for name in PRIVATE
    for f in dataclasses.fields(mechanism_class(name))
    if f.init and float in (get_args(hint := get_type_hints(mechanism_class(name))[f.name]) or (hint,))
]


@pytest.mark.parametrize(("name", "option"), REALS)
@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e-30, 1e-15, 1e15, 1e30, 1e300, 1.7e308])
def test_a_real_option_of_any_size_is_refused_at_once_or_has_finite_numbers(
    name: str, option: str, value: float
) -> None:
    variants = [{}, {"noise": "gaussian"}] if name == "dphsgd" else [{}]
    for domain, epsilon, variant in itertools.product((Box(0, 1, (4,)), Ball(1, (4,))), (1e-12, 1.0, 1e12), variants):
        arguments: dict[str, Any] = {"epsilon": epsilon, "domain": domain, **variant, option: value}
        try:
            m = make(name, **arguments)
        except InputError:
            continue
        assert m.guarantee(1e-5).epsilon >= 0.0
        assert 0.0 <= (m.squared_error() or 0.0) < math.inf


@pytest.mark.parametrize("name", sorted({*PRIVATE} - NOT_LINEAR))
@pytest.mark.parametrize("size", [1, 3, 64])
def test_pure_epsilon_is_the_nominal_one_and_loses_no_digits_at_the_least(name: str, size: int) -> None:
    """delta(c epsilon) / epsilon has a limit, which differences of nearly equal terms would miss."""
    shares = {}
    for epsilon in (1e-12, 1e-8, 0.3, 7.6, 700.0):
        m = contract.build(name, (size,), epsilon=epsilon)
        pure = m.curve().pure_epsilon
        unit = pure if math.isfinite(pure) else typed.gaussian_mu(m.curve())
        per_use = epsilon * (size if m.epsilon_unit == "element" else 1)
        assert math.isinf(pure) or pure == pytest.approx(per_use, rel=1e-9)
        assert math.isfinite(m.squared_error() or 0.0)
        shares[epsilon] = [m.privacy_profile(share * unit) / unit for share in (0.0, 0.1, 0.5)]
    assert shares[1e-12] == pytest.approx(shares[1e-8], rel=2e-6)


@each
def test_audit_stays_below_the_guarantee(name: str) -> None:
    for epsilon in (0.5, 3.0):
        contract.check_audit(contract.build(name, (6,), epsilon=epsilon), audit)


@pytest.mark.parametrize("name", [name for name in SAME_SHAPE if name in PRIVATE])
def test_error_falls_and_guarantee_grows_with_epsilon(name: str) -> None:
    weak, strong = (contract.build(name, (64,), epsilon=e) for e in (0.5, 4.0))
    assert weak.guarantee(1e-5).epsilon <= strong.guarantee(1e-5).epsilon
    assert weak.squared_error() is None or exact_error(weak) > exact_error(strong)


@each
def test_additive_says_whether_the_noise_depends_on_the_record(name: str) -> None:
    m = contract.build(name, (2, 3), epsilon=0.05)  # so small that TLDP keeps elements
    x, other = (contract.records(m, 2000, dtype=torch.float64, seed=seed) for seed in (0, 1))
    noise, elsewhere = (m.privatize(z, generator("additive")) - z for z in (x, other))
    assert torch.allclose(noise, elsewhere, rtol=0.0, atol=1e-12 * (1.0 + float(noise.abs().max()))) == m.additive


def test_what_clips_or_weighs_by_the_record_is_not_additive() -> None:
    box, ball = Box(-1, 1, (4,)), Ball(1.0, (4,))
    assert not make("dphsgd", epsilon=1, domain=box, threshold=0.5).additive
    assert not make("llagp", epsilon=1, domain=ball, layers=[2, 2]).additive
    assert make("llagp", epsilon=1, domain=box, layers=[2, 2]).additive
    assert make("tldp-l-w", epsilon=1, domain=box, weights=torch.ones(4)).additive


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@each
def test_release_on_an_accelerator(name: str) -> None:
    contract.check_release(contract.build(name, (3, 32, 32)), device="cuda")


BOX, SQUARE, BALL = Box(-1, 1, (3, 2)), Box(-1, 1, (4, 4)), Ball(1.0, (9,))
BEYOND_THE_ENDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "laplace": {"delta_range": (0, -1)},
    "dphsgd": {"threshold": (0,), "steps": (0, 1.5)},
    "jl": {"eta": (0, 1), "nu": (0, 1)},
    "llagp": {"layers": ((9, 0),), "step": (2,), "kappa": (1.0,), "steps": (0,)},
    "matrix": {"constant": (0,)},
    "mvg": {"tau": (0, 1.5), "gamma": (0,)},
    "optimized": {"steps": (0,)},
    "tldp-discrete": {"rho": (1.0, -0.1)},
}
OTHERS: list[tuple[str, Domain, dict[str, Any], str]] = [
    ("latent", BOX, {"whole": 20, "fraction": 20}, "bits"),
    ("latent-secure", BOX, {"reading": "B"}, "reading"),
    ("llagp", BALL, {"layers": (2, 3)}, "sum to"),
    ("matrix", BOX, {"workload": torch.ones(2, 4)}, "3 columns"),
    ("matrix", BOX, {"workload": torch.zeros(2, 3)}, "all zero"),
    ("matrix", BOX, {"strategy": torch.ones(3, 3)}, "full column rank"),
    ("matrix", Box(-1, 1, (MOST_OPTIMISED + 1, 1)), {"workload": torch.ones(1, MOST_OPTIMISED + 1)}, "at most"),
    ("matrix", Box(0, 1, (1_000_000,)), {}, "8192 at most, got 1000000"),  # before memory is taken
    ("mvg", SQUARE, {"theta": [0.5] * 4}, "sum to 1"),
    ("mvg", SQUARE, {"theta": [1.0]}, "vector of 4"),
    ("mvg", SQUARE, {"theta": [0.25] * 4, "tau": 0.8}, "not both"),
    ("mvg", SQUARE, {"tau": 0.8, "important": 9}, "important"),
    ("mvg", SQUARE, {"directions": torch.ones(4, 4)}, "orthogonal"),
    ("optimized", Ball(1.0, (4,)), {"weights": [1.0] * 4}, "need a Box"),
    ("optimized", BOX, {"weights": [1.0]}, "6 finite"),
    ("optimized", BOX, {"weights": [-1.0] * 6}, "non-negative"),
    ("udn", BOX, {"importances": [1.0, -1.0, 1.0]}, "non-negative"),
    ("udn", BOX, {"importances": [1.0, 1.0]}, "vector of 3"),
    ("udn", BOX, {"importances": [0.0, 0.0, 0.0]}, "not all zero"),
    ("udn", BOX, {"directions": torch.ones(3, 3)}, "orthogonal"),
    ("udn", BOX, {"directions": torch.eye(2)}, "3"),
    ("udn", BOX, {"workload": torch.ones(2, 4)}, "3 columns"),
    ("udn", BOX, {"workload": torch.ones(2, 3), "importances": [1.0] * 3}, "not both"),
    ("udn", BOX, {"form": "printed"}, "unknown option"),
    ("idn", BOX, {"directions": torch.eye(3)}, "directions"),
    ("tldp-discrete", Box(0, 0.5, (1,)), {}, "whole numbers"),
    ("k-rr", Box(0, 1.5, (2,)), {}, "whole numbers"),
    ("randomized-response", Box(0, 2, (2,)), {}, "k-rr takes more"),
    ("laplace-secure", BOX, {"epsilon": 1e-9}, "must be at least"),
    ("gaussian-secure", Box(0, 1, (100,)), {"epsilon": 1e-7}, "too small for a record of 100 elements"),
]


def refused(name: str, domain: Domain, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as told:
        make(name, domain=domain, **{"epsilon": 1.0, **options})
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", names())
def test_an_option_of_another_kind_or_beyond_its_ends_is_named(name: str) -> None:
    domain = Box(0, 1, (3, 3))
    for option in mechanism_class(name).options():
        for value in ("no such word", *BEYOND_THE_ENDS.get(name, {}).get(option, ())):
            refused(name, domain, {option: value}, option)


STRANGE: tuple[Any, ...] = (math.nan, math.inf, -1, 1.5, 10**30, "", [], [math.nan], {}, True, torch.tensor(math.nan))


@pytest.mark.parametrize("name", names())
def test_whatever_an_option_is_given_a_mechanism_is_made_or_one_sentence_told(name: str) -> None:
    told = []
    for option in mechanism_class(name).options():
        for value in STRANGE:
            options: dict[str, Any] = {"epsilon": 1.0, option: value}
            try:
                make(name, domain=Box(0, 1, (3, 3)), **options)
            except InputError as error:  # any other fails the test
                told.append(str(error))
    assert not [text for text in told if "\n" in text]


@pytest.mark.parametrize(("name", "domain", "options", "words"), OTHERS)
def test_mistakes_are_told_in_a_sentence(name: str, domain: Domain, options: dict[str, Any], words: str) -> None:
    refused(name, domain, options, words)


WORST: list[tuple[str, float, Domain, dict[str, Any]]] = [
    ("gaussian-analytic", 2.0, Box(-1, 1, (5,)), {}),
    ("dphsgd", 1.0, BOX, {"threshold": 0.5, "noise": "laplace"}),
    ("dphsgd", 1.0, BOX, {"threshold": 0.5, "noise": "gaussian"}),
    ("llagp", 3.0, Ball(1.0, (9,)), {"layers": (2, 3, 4), "step": 1}),
    ("idn", 60.0, Box(-1, 1, (2, 2)), {"importances": [4.0, 1.0]}),
    ("udn", 60.0, Ball(1.0, (3, 2)), {"importances": [4.0, 1.0, 0.1]}),
    ("privunit", 1.5, Box(-1, 1, (6,)), {}),
    ("privunit-g", 1.5, Box(-1, 1, (6,)), {}),
    ("piecewise", 1.5, Box(5, 6, (2,)), {}),
    ("hybrid", 1.5, Box(5, 6, (2,)), {}),
    ("duchi", 1.5, Box(5, 6, (4,)), {}),
    ("pdpm", 1.5, Box(5, 6, (1,)), {}),
    ("latent", 1.5, Box(-1, 1, (2,)), {"whole": 0, "fraction": 3}),
    ("tldp-discrete", 1.5, Box(0, 6, (2,)), {"rho": 0.3}),
]


@pytest.mark.parametrize(("name", "epsilon", "domain", "options"), WORST)
def test_the_worst_pair_attains_the_profile(name: str, epsilon: float, domain: Domain, options: dict[str, Any]) -> None:
    m = make(name, epsilon=epsilon, domain=domain, **options)
    assert m.curve().exact
    first, second = m.worst_pair()
    pure = m.curve().pure_epsilon
    largest = pure if math.isfinite(pure) else m.guarantee(1e-2).epsilon
    for dtype in (torch.float32, torch.float64):
        ratio = m.log_likelihood_ratio(releases(m, first, 40_000, dtype=dtype), first, second)
        # a float32 release of a grid of floats may lie off the mechanism's support by a rounding
        assert float(ratio.abs().max()) <= pure * (1 + 1e-9)
        for share in (0.0, 0.45, 0.85):
            gain = (1 - torch.exp(share * largest - ratio)).clamp_min(0)
            check_mean(gain, m.privacy_profile(share * largest))


INNER = [
    ("privunit", Ball(1.0, (4,)), [0.3, 0.0, -0.2, 0.1], [0.0, 0.9, 0.1, 0.0]),
    ("privunit-g", Ball(1.0, (4,)), [0.3, 0.0, -0.2, 0.1], [0.0, 0.9, 0.1, 0.0]),
    ("piecewise", Box(-1, 1, (1,)), [0.9], [-0.2]),
    ("hybrid", Box(-1, 1, (1,)), [0.9], [-0.2]),
    ("laplace", BOX, [[0.9, -0.1], [0.2, 0.0], [0.0, 1.0]], [[-0.9, 0.5], [0.2, 0.1], [0.4, -1.0]]),
]


@pytest.mark.parametrize(("name", "domain", "x", "x_prime"), INNER)
def test_the_ratio_of_inner_records_has_the_mean_one(name: str, domain: Domain, x: Any, x_prime: Any) -> None:
    m = make(name, epsilon=2.0, domain=domain)
    x, x_prime = (torch.tensor(record, dtype=torch.float64) for record in (x, x_prime))
    ratio = m.log_likelihood_ratio(releases(m, x_prime, 60_000), x, x_prime)
    assert float(ratio.abs().max()) <= 2.0 + 1e-9
    check_mean(ratio.exp(), 1.0)
