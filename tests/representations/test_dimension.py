import inspect
from typing import Any

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, make
from tensorldp.randomness import generator
from tensorldp_papers.public.dimension import Error, PublicTask, choose_dimension, mean_error
from tensorldp_papers.public.projection import principal


def privunit_error(epsilon: float) -> Error:
    def error(size: int) -> float:
        found = make("privunit", epsilon=epsilon, domain=Ball(1.0, (size,)), lift=False).squared_error()
        assert found is not None
        return found

    return error


def promised(task: PublicTask, epsilon: float, records: int, dimension: int = 64, **options: Any) -> float:
    """What the rule says of one dimension."""
    return choose_dimension([task], privunit_error(epsilon), records, dimensions=(dimension,), **options).accuracy


@pytest.fixture(scope="module")
def task() -> PublicTask:
    g = torch.Generator().manual_seed(3)
    centres = torch.randn(10, 64, generator=g) * torch.linspace(0.6, 0.15, 64)
    y = torch.arange(4000) % 10
    x = centres[y] + torch.randn(4000, 64, generator=g) * torch.linspace(1.0, 0.8, 64)
    return PublicTask(x[:2000], y[:2000], x[2000:], y[2000:], principal(x, 64))


@pytest.mark.parametrize("private", [False, True])
def test_the_error_of_a_class_mean_is_that_of_privunit(private: bool) -> None:
    d, classes, records, epsilon = 8, 4, 20_000, 1.0
    size = d * classes if private else d
    mechanism = make("privunit", epsilon=epsilon, domain=Ball(1.0, (size,)), lift=False)
    x = torch.zeros(records, size, dtype=torch.float64)
    x[:, 0] = 1.0
    noise = mechanism.privatize(x, generator("error")) - x
    mechanism_error = privunit_error(epsilon)
    spread = float(noise.var(dim=0).mean())  # of 160,000 numbers and more: the deviation is below 1 %
    expected = spread * (classes**2 / records if private else classes / records)
    assert mean_error(mechanism_error, d, records, classes, labels_private=private) == pytest.approx(expected, rel=0.05)


def test_more_records_or_a_larger_epsilon_promise_more(task: PublicTask) -> None:
    assert promised(task, 1.0, 2_000) < promised(task, 1.0, 100_000)
    assert promised(task, 0.2, 20_000) < promised(task, 4.0, 20_000)
    assert promised(task, 1.0, 20_000, labels_private=True) < promised(task, 1.0, 20_000)


def test_the_dimension_grows_with_epsilon_and_the_plan_is_the_best(task: PublicTask) -> None:
    low = choose_dimension([task], privunit_error(0.3), 5_000, exponents=(0.0, 0.5))
    high = choose_dimension([task], privunit_error(20.0), 60_000, exponents=(0.0, 0.5))
    assert low.dimension < high.dimension
    for d in (8, 32):
        assert promised(task, 20.0, 60_000, d, exponents=(0.5,)) <= high.accuracy
    assert choose_dimension([task], privunit_error(0.3), 5_000, exponents=(0.0, 0.5)) == low


def test_the_rule_has_no_way_to_see_a_private_record() -> None:
    parameters = inspect.signature(choose_dimension).parameters
    assert list(parameters) == ["tasks", "error", "records", "dimensions", "exponents", "ridges", "labels_private"]
    assert parameters["records"].annotation == "int"


def test_what_does_not_fit_is_refused(task: PublicTask) -> None:
    with pytest.raises(InputError, match="no dimension among"):
        choose_dimension([task], privunit_error(1.0), 100, dimensions=(500,))
