import itertools
import math
from collections.abc import Callable
from functools import partial

import contract
import pytest
import torch
import typed
from typed import exact_error

from tensorldp import mechanisms
from tensorldp.errors import InputError
from tensorldp.randomness import generator

SHAPES = [(64,), (1, 28, 28), (3, 32, 32), (1280,), (1,)]
NAMES = mechanisms.names()
SAME_SHAPE = [name for name in NAMES if mechanisms.mechanism_class(name).same_shape]

each = pytest.mark.parametrize("name", SAME_SHAPE)
private = pytest.mark.parametrize("name", [name for name in SAME_SHAPE if name != "none"])
CHECKS = [
    contract.check_release,
    contract.check_squared_error,
    contract.check_privacy,
    contract.check_worst_records,
    contract.check_likelihood,
]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


@each
@each_shape
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(name: str, shape: tuple[int, ...], check: Callable[[mechanisms.Mechanism], None]) -> None:
    check(contract.build(name, shape))


@each
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("shape", [(3, 4, 5), (7,)], ids=str)
def test_layouts_of_a_batch_make_no_difference(name: str, shape: tuple[int, ...], clip: bool) -> None:
    contract.check_layouts(contract.build(name, shape, clip=clip))


ENDS = [(0, 1e300), (-1e308, 1e308), (0, 1e38), (-1e30, 1e30), (0, 1e-30), (0, 1e-300), (1e30 - 1e15, 1e30)]
WHOLE = [(0, 2**53), (0, 2**60), (-(2**24), 2**24), (2**30, 2**30 + 1), (0, 255), (0, 1)]
BALLS = [
    (1e300, 0),
    (1e30, 0),
    (1e-30, 0),
    (1e-300, 0),
    (1, 1e30),
    (1e30, 1e30),
    (1, 1e6),
    (1e-3, 1000.0001),
    (1e19, 0),
]


@each
@pytest.mark.parametrize("epsilon", [1e-12, 1.0, 1e12])
def test_a_release_on_any_domain_and_in_any_precision_is_finite_or_refused_in_a_sentence(
    name: str, epsilon: float
) -> None:
    domains = [partial(mechanisms.Box, low, high) for low, high in (*ENDS, (1, 1 + 1e-15), (0.1, 0.1 + 1e-9), *WHOLE)]
    domains += [lambda shape, r=r, c=c: mechanisms.Ball(r, shape, centre=c) for r, c in BALLS]  # type: ignore[misc]
    refused = []
    for domain, shape in itertools.product(domains, ((1,), (4,))):
        try:
            m = mechanisms.make(name, epsilon=epsilon, domain=domain(shape), clip=True)
        except InputError as error:
            refused.append(str(error))
            continue
        assert (m.squared_error() or 0.0) >= 0.0
        for end, dtype in itertools.product(m.given_domain.farthest(), (torch.float32, torch.float64, torch.bfloat16)):
            try:
                y = m.privatize(end.unsqueeze(0).to(dtype), generator("any"))
            except InputError as error:
                refused.append(str(error))
            else:
                assert bool(y.isfinite().all())
    assert refused
    assert not any("\n" in sentence for sentence in refused)


@pytest.mark.parametrize("name", ["laplace", "gaussian-classical", "duchi", "tldp-l", "privunit"])
def test_a_release_beyond_float32_says_so_and_float64_has_it(name: str) -> None:
    m = mechanisms.make(name, epsilon=1e-10, domain=mechanisms.Box(0, 1e30, (4,)))
    with pytest.raises(InputError, match=r"left the range of torch.float32: take a domain nearer to 0, a larger eps"):
        m.privatize(torch.zeros(3, 4), generator("range"))
    assert bool(m.privatize(torch.zeros(3, 4, dtype=torch.float64), generator("range")).isfinite().all())


def test_the_range_of_domains_is_stated() -> None:
    for build in (
        lambda: mechanisms.Box(0, 1e38, (4,)),
        lambda: mechanisms.Ball(1e38, (4,)),
        lambda: mechanisms.Ball(1, (4,), centre=-1e31),
        lambda: mechanisms.Box(0, 1e-38, (4,)),
    ):
        with pytest.raises(InputError, match=r"must be a number in \[(-1e\+30|1e-30), [12]e\+30\]"):
            build()


@pytest.mark.parametrize("name", ["k-rr", "k-rr-secure", "tldp-discrete"])
def test_whole_numbers_that_the_precision_lacks_are_refused(name: str) -> None:
    for dtype, bits in ((torch.float32, 24), (torch.bfloat16, 8)):
        wide, fits = (
            mechanisms.make(name, epsilon=1, domain=mechanisms.Box(0, top, (4,))) for top in (2**bits + 2, 2**bits)
        )
        with pytest.raises(InputError, match=f"all of its whole numbers, {dtype} holds them up to {2**bits}"):
            wide.privatize(torch.zeros(2, 4, dtype=dtype), generator("whole"))
        assert fits.privatize(torch.zeros(2, 4, dtype=dtype), generator("whole")).dtype == dtype
    with pytest.raises(InputError, match=r"between -2\^53 and 2\^53"):
        mechanisms.make(name, epsilon=1, domain=mechanisms.Box(0, 2.0**54, (4,)))


@pytest.mark.parametrize("name", ["k-rr", "k-rr-secure"])
def test_every_whole_number_of_a_bfloat16_domain_is_released(name: str) -> None:
    m = mechanisms.make(name, epsilon=0.1, domain=mechanisms.Box(0, 255, (1,)))
    y = m.privatize(torch.full((20_000, 1), 255.0, dtype=torch.bfloat16), generator("bytes"))
    assert y.unique().numel() == 256


@each
def test_bad_input(name: str) -> None:
    shape = (4, 5)
    contract.check_input_errors(contract.build(name, shape), contract.build(name, shape, clip=True))


@pytest.mark.parametrize("name", NAMES)
def test_bad_construction(name: str) -> None:
    contract.check_construction_errors(name, (4, 5))


@private
@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 1e6, 1e12])
def test_the_ends_of_the_allowed_epsilons_have_a_guarantee(name: str, epsilon: float) -> None:
    for shape in ((1,), (64,)):
        refused = ""
        try:
            m = contract.build(name, shape, epsilon=epsilon)
        except InputError as error:  # a mechanism may have a narrower interval, and says so in a sentence
            refused = str(error)
        assert "epsilon" in refused if refused else m.guarantee(1e-5).epsilon >= 0


# their noise does not grow as 1 / epsilon, or a finer grid of whole numbers bounds epsilon from below
NOT_LINEAR = {"none", "jl", "gaussian", "tldp-g", "tldp-g-w", "gaussian-secure", "laplace-secure"}


@pytest.mark.parametrize("name", sorted({name for name in NAMES if not name.endswith("-secure")} - NOT_LINEAR))
@pytest.mark.parametrize("size", [1, 3, 64])
def test_no_digits_of_a_guarantee_are_lost_at_the_least_epsilon(name: str, size: int) -> None:
    """delta(c epsilon) / epsilon has a limit, which differences of nearly equal terms would miss."""
    shares = []
    for epsilon in (1e-12, 1e-8):
        m = contract.build(name, (size,), epsilon=epsilon)
        pure = m.curve().pure_epsilon
        unit = pure if math.isfinite(pure) else typed.gaussian_mu(m.curve())
        per_use = epsilon * (size if m.epsilon_unit == "element" else 1)
        assert math.isinf(pure) or pure == pytest.approx(per_use, rel=1e-9)
        shares.append([m.privacy_profile(share * unit) / unit for share in (0.0, 0.1, 0.5)])
    assert shares[0] == pytest.approx(shares[1], rel=2e-6)


@pytest.mark.parametrize("epsilon", [1e-300, 1e150])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "none"])
def test_an_epsilon_out_of_bounds_is_one_sentence(name: str, epsilon: float) -> None:
    with pytest.raises(InputError, match=rf"epsilon of {name} must be a number in \[1e-12, 1e\+12\], got 1e"):
        contract.build(name, (4,), epsilon=epsilon)


@each
def test_audit_stays_below_the_guarantee(name: str) -> None:
    from tensorldp.privacy import audit

    for epsilon in (0.5, 3.0):
        contract.check_audit(contract.build(name, (6,), epsilon=epsilon), audit)


@private
def test_error_falls_and_guarantee_grows_with_epsilon(name: str) -> None:
    weak, strong = (contract.build(name, (64,), epsilon=e) for e in (0.5, 4.0))
    assert weak.guarantee(1e-5).epsilon <= strong.guarantee(1e-5).epsilon
    if weak.squared_error() is not None:
        assert exact_error(weak) > exact_error(strong)


@each
def test_additive_says_whether_the_noise_depends_on_the_record(name: str) -> None:
    m = contract.build(name, (2, 3), epsilon=0.05)  # so small that TLDP keeps elements
    x, other = (contract.records(m, 2000, dtype=torch.float64, seed=seed) for seed in (0, 1))
    noise, elsewhere = (m.privatize(z, generator("additive")) - z for z in (x, other))
    assert torch.allclose(noise, elsewhere, rtol=0.0, atol=1e-12 * (1.0 + float(noise.abs().max()))) == m.additive


def test_what_clips_or_weighs_by_the_record_is_not_additive() -> None:
    box, ball = mechanisms.Box(-1, 1, (4,)), mechanisms.Ball(1.0, (4,))
    assert not mechanisms.make("dphsgd", epsilon=1, domain=box, threshold=0.5).additive
    assert not mechanisms.make("llagp", epsilon=1, domain=ball, layers=[2, 2]).additive
    assert mechanisms.make("llagp", epsilon=1, domain=box, layers=[2, 2]).additive
    assert mechanisms.make("tldp-l-w", epsilon=1, domain=box, weights=torch.ones(4)).additive


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@each
def test_release_on_an_accelerator(name: str) -> None:
    m = contract.build(name, (3, 32, 32))
    x = contract.records(m, 6).cuda()
    y = m.privatize(x, generator("release", device="cuda"))
    assert y.device == x.device
    assert y.dtype == x.dtype
    assert bool(torch.isfinite(y).all())
    assert torch.equal(y, m.privatize(x, generator("release", device="cuda")))
