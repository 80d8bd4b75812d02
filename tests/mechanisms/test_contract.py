import contract
import pytest
import torch
from typed import exact_error

from tensorldp import mechanisms
from tensorldp.errors import InputError
from tensorldp.randomness import generator

SHAPES = [(64,), (1, 28, 28), (3, 32, 32), (1280,), (1,)]
NAMES = mechanisms.names()
SAME_SHAPE = [name for name in NAMES if mechanisms.mechanism_class(name).same_shape]

each = pytest.mark.parametrize("name", SAME_SHAPE)
private = pytest.mark.parametrize("name", [name for name in SAME_SHAPE if name != "none"])
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


@each
@each_shape
def test_release(name: str, shape: tuple[int, ...]) -> None:
    contract.check_release(contract.build(name, shape))


@each
@each_shape
def test_squared_error(name: str, shape: tuple[int, ...]) -> None:
    contract.check_squared_error(contract.build(name, shape))


@each
@each_shape
def test_privacy(name: str, shape: tuple[int, ...]) -> None:
    contract.check_privacy(contract.build(name, shape))


@each
@each_shape
def test_worst_records_and_likelihood(name: str, shape: tuple[int, ...]) -> None:
    m = contract.build(name, shape)
    contract.check_worst_records(m)
    contract.check_likelihood(m)


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
