"""The ceilings of docs/mathematics/audits.md#ceiling-on-clean-inputs and LATENT's information."""

import math

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.latent import Latent
from tensorldp.privacy import clean_test_ceiling

SIZES = {"mnist": (9216, 4, 5), "cifar10": (2304, 2, 7)}


def latent(dataset: str, epsilon: float, reading: str = "A") -> Latent:
    size, n, m = SIZES[dataset]
    made = make("latent", epsilon=epsilon, domain=Box(-(2.0**n), 2.0**n, (size,)), whole=n, fraction=m, reading=reading)
    assert isinstance(made, Latent)
    return made


@pytest.mark.parametrize(
    ("dataset", "epsilon", "records", "chance", "expected"),
    [
        ("mnist", 0.5, 60_000, 0.1135, 0.214),
        ("mnist", 2.0, 60_000, 0.1135, 0.517),
        ("cifar10", 0.5, 50_000, 0.1, 0.284),
        ("cifar10", 0.5, 100_000, 0.1, 0.360),
        ("cifar10", 2.0, 50_000, 0.1, 0.837),
        ("cifar10", 2.0, 100_000, 0.1, 1.0),
    ],
)
def test_ceilings_for_clean_test_records(
    dataset: str, epsilon: float, records: int, chance: float, expected: float
) -> None:
    bound = clean_test_ceiling(records, latent(dataset, epsilon).information, chance)
    assert bound == pytest.approx(expected, abs=6e-4)


def test_the_whole_training_set_of_mnist_leaks_a_fiftieth_of_a_nat() -> None:
    assert latent("mnist", 0.5).information == pytest.approx(3.4e-7, rel=0.01)
    assert 60_000 * latent("mnist", 0.5).information == pytest.approx(0.0204, rel=0.01)


@pytest.mark.parametrize("epsilon", [1.0, 40.0, 80.0, 500.0, 4000.0, 80_000.0])
@pytest.mark.parametrize("reading", ["A", "B"])
def test_information_is_the_divergence_from_a_fair_coin(epsilon: float, reading: str) -> None:
    m = make("latent", epsilon=epsilon, domain=Box(-1, 1, (1000,)), whole=0, fraction=3, reading=reading)
    assert isinstance(m, Latent)
    q, f = 1.0 - m.flip, m.flip
    entropy = -q * math.log(q) - (f * math.log(f) if f > 0 else 0.0)
    assert m.information == pytest.approx(4000 * (math.log(2.0) - entropy), rel=1e-6, abs=1e-11)


def test_arguments_are_checked() -> None:
    for arguments in ((-1, 0.1, 0.1), (10, -0.1, 0.1), (10, 0.1, 1.1)):
        with pytest.raises(InputError):
            clean_test_ceiling(*arguments)
