"""The error of a mean of personalised releases, against closed forms."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from tensorldp.mechanisms import Box, make
from tensorldp_papers.papers.pldp_fl.synthetic import expected_error, released_means, uniform_variance


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("length", [0.2, 2.0])
def test_pdpms_variance_of_a_uniform_value(epsilon: float, length: float) -> None:
    """L^2 (g - 1/12), and the average of Var(v) itself."""
    e = math.exp(epsilon)
    m = make("pdpm", epsilon=epsilon, domain=Box(1 - length / 2, 1 + length / 2, (1,)))
    g = (e + 1) * (e + 3) * (3 * e + 5) / (8 * (e - 1) ** 2 * (e + 2))
    assert uniform_variance(m) == pytest.approx(length**2 * (g - 1 / 12))
    half = length / 2
    assert uniform_variance(m) == pytest.approx(quad(m.variance, -half, half)[0] / length)  # type: ignore[attr-defined]


@pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa", "duchi", "piecewise"])
def test_the_measured_error_is_the_expected_one(mechanism: str) -> None:
    levels = np.tile(np.arange(1, 11) / 10, 7)
    found = [make(mechanism, epsilon=float(e), domain=Box(0.5, 1.5, (1,))) for e in levels]
    truth, released = released_means(found, 20_000, gen(1), gen(2))
    errors = (released - truth).abs()
    expected = expected_error(found)
    assert expected is not None
    # five standard errors, and one per cent for the central limit theorem at 70 participants
    slack = 5 * float(errors.std()) / math.sqrt(20_000) + 0.01 * expected
    assert float(errors.mean()) == pytest.approx(expected, abs=slack)
    assert abs(float(truth.mean()) - 1.0) < 5 * math.sqrt(1 / 12 / 70 / 20_000)


def test_pdpm_has_the_largest_error_of_all_at_every_epsilon() -> None:
    """PLDP-FL's section 2 says that of Laplace."""
    for epsilon in (0.1, 0.3, 1.0, 3.0):
        errors = {
            name: expected_error([make(name, epsilon=epsilon, domain=Box(-1, 1, (1,)))])
            for name in ("pdpm", "plu-fedoa", "duchi", "piecewise")
        }
        assert max(errors, key=lambda name: errors[name] or 0.0) == "pdpm"


def test_a_mechanism_without_a_closed_form_has_no_expectation() -> None:
    box = Box(-1, 1, (1,))
    assert expected_error([make("pdpm", epsilon=1.0, domain=box), make("hybrid", epsilon=1.0, domain=box)]) is None
