"""The Laplace mechanism on a grid: its guarantee, and no leak by floats."""

from typing import Any

import pytest
import torch

from tensorldp.check import check
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.exact_draws import STEPS
from tensorldp.randomness import generator

UNIT = Box(-1.0, 1.0, (1,))


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 1), (1e-3, 4), (0.3, 784), (100.0, 2)])
def test_epsilon_is_met_from_below_up_to_a_millionth(epsilon: float, size: int) -> None:
    pure = make("laplace-secure", epsilon=epsilon, domain=Box(0.0, 1.0, (size,))).guarantee(0.0).epsilon
    assert epsilon * (1 - 2e-6) <= pure <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_release_is_on_the_grid_whatever_the_record(dtype: torch.dtype) -> None:
    m = make("laplace-secure", epsilon=1.0, domain=UNIT)
    x = torch.linspace(-1, 1, 5000, dtype=dtype).reshape(-1, 1)
    steps = (m.privatize(x, generator("grid")).double() + 1.0) / (2.0 / STEPS)
    assert torch.equal(steps, steps.round())


def test_the_support_attack_works_on_laplace_and_not_here() -> None:
    options: dict[str, Any] = {"floating_point": True, "samples": 3000, "minutes": 10.0, "dtypes": (torch.float32,)}
    assert check(make("laplace", epsilon=1.0, domain=UNIT), rounds=4, **options).refuted
    options["rounds"] = 1
    assert not check(make("laplace-secure", epsilon=1.0, domain=UNIT), confidence=1 - 1e-6, **options).refuted


def test_an_epsilon_that_integers_cannot_hold_is_refused() -> None:
    with pytest.raises(InputError, match="must be at least"):
        make("laplace-secure", epsilon=1e-9, domain=UNIT)
