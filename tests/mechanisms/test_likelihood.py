"""The likelihood ratio of releases has the law that the privacy curve speaks of."""

import math
from typing import Any

import pytest
import torch
from draws import check_mean, releases

from tensorldp.mechanisms import Ball, Box, Domain, make

BOX = Box(-1, 1, (3, 2))
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
