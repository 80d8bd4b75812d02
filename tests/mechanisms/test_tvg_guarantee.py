import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from gaussian_checks import brute_mu, brute_mu_of_mode, explicit_covariance, turn
from typed import gaussian_mu, make_as

from tensorldp.mechanisms import Ball, Box
from tensorldp.mechanisms.directional import ModeFactor
from tensorldp.mechanisms.tvg import Idn, Udn, _Tvg, kappa


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("udn", {"importances": [4.0, 1.0, 0.1], "directions": turn(3)}),
        ("idn", {"importances": [4.0, 1.0, 0.1]}),
        ("tvg", {"importances": [1.0, 9.0, 0.01], "directions": turn(3, 7)}),
    ],
)
def test_exact_guarantee_is_the_worst_corner(name: str, options: dict[str, Any]) -> None:
    m = make_as(_Tvg, name, epsilon=1, domain=Box(-1, 1, (3, 2)), **options)
    assert m.curve().exact
    assert gaussian_mu(m.curve()) == pytest.approx(brute_mu(m), rel=1e-12)
    x, x_prime = m.worst_pair()
    shift = (x - x_prime).reshape(-1).numpy()
    assert math.sqrt(shift @ np.linalg.solve(explicit_covariance(m), shift)) == pytest.approx(
        gaussian_mu(m.curve()), rel=1e-12
    )
    assert m.domain.excess(torch.stack([x, x_prime])) <= 0


def test_long_slanted_modes_are_an_honest_upper_bound() -> None:
    n = 14
    factor = ModeFactor(torch.linspace(1.0, 3.0, n, dtype=torch.float64), turn(n, 3))
    corners = np.array([(1.0, *c) for c in itertools.product((-1.0, 1.0), repeat=n - 1)])
    precision = factor.precision.numpy()
    worst = ((corners @ precision) * corners).sum(axis=1).max()
    assert factor.attained <= worst * (1 + 1e-12)
    assert worst <= factor.bound
    assert factor.attained > 0.97 * worst  # the local search is a good worst pair
    m = make_as(Udn, epsilon=1, domain=Box(-1, 1, (n, 2)), directions=turn(n, 3), importances=np.linspace(1, 5, n))
    curve = m.curve()
    assert not curve.exact
    assert not m.guarantee(1e-5).exact
    assert brute_mu_of_mode(m) <= gaussian_mu(curve)
    assert gaussian_mu(curve) <= m.domain.diameter / float(m.factors[0].sigma.min()) * (1 + 1e-12)


def test_a_long_mode_whose_bound_is_attained_is_exact() -> None:
    """Directions from a Hadamard matrix: the most precise direction is itself a corner."""
    h = np.array([[1.0]])
    for _ in range(4):
        h = np.block([[h, h], [h, -h]])
    m = make_as(
        Udn,
        epsilon=1,
        domain=Box(-1, 1, (16, 2)),
        directions=torch.from_numpy(h / 4),
        importances=np.linspace(1, 5, 16),
    )
    assert m.curve().exact
    assert gaussian_mu(m.curve()) == pytest.approx(m.domain.diameter / float(m.factors[0].sigma.min()), rel=1e-12)


def test_idn_beats_its_spectral_bound() -> None:
    m = make_as(Idn, epsilon=1, domain=Box(-1, 1, (3, 4)), importances=[9.0, 1.0, 1.0])
    assert gaussian_mu(m.curve()) == pytest.approx(kappa(12, 1, 1e-5), rel=1e-12)  # Theorem 3's mu is attained
    assert gaussian_mu(m.curve()) < m.domain.diameter / float(m.factors[0].sigma.min())


def test_a_ball_has_its_own_exact_guarantee() -> None:
    m = make_as(Udn, epsilon=1, domain=Ball(2.0, (3, 2)), directions=turn(3), importances=[4.0, 1.0, 0.1])
    assert m.domain.diameter == 4.0
    assert gaussian_mu(m.curve()) == pytest.approx(4.0 / float(m.factors[0].sigma.min()), rel=1e-14)
    x, x_prime = m.worst_pair()
    shift = (x - x_prime).reshape(-1).numpy()
    assert math.sqrt(shift @ np.linalg.solve(explicit_covariance(m), shift)) == pytest.approx(
        gaussian_mu(m.curve()), rel=1e-12
    )
    assert float(x.norm()) == pytest.approx(2.0)
