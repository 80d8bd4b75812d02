"""LLAGP and DPHSGD, whose noise follows the layers, the steps and the curvature of a training."""

import math
from typing import Any

import contract
import pytest
import torch
from typed import gaussian_mu, make_as

from tensorldp.curves.gaussian import mu_of
from tensorldp.mechanisms import Ball, Box, Domain, make
from tensorldp.mechanisms.dphsgd import Dphsgd
from tensorldp.mechanisms.llagp import Llagp, layer_weights
from tensorldp.randomness import generator

BALL, BOX, STEP_MU = Ball(1.0, (9,)), Box(-1, 1, (9,)), mu_of(1, 1e-5) / math.sqrt(10)
each_noise = pytest.mark.parametrize(("noise", "domain", "delta"), [("laplace", BOX, 0), ("gaussian", BALL, 1e-5)])


def llagp(domain: Domain = BALL, **options: Any) -> Llagp:
    return make_as(Llagp, domain=domain, **{"epsilon": 1, "layers": (2, 3, 4), "steps": 10, **options})


@pytest.mark.parametrize("progress", ["linear", "exponential", "logarithmic"])
def test_weights_sum_to_the_layers_and_move_one_way(progress: str) -> None:
    weights = torch.stack([layer_weights(5, step=t, steps=20, progress=progress) for t in range(21)])
    assert weights[0].tolist() == [1.0] * 5
    assert torch.allclose(weights.sum(dim=1), torch.full((21,), 5.0, dtype=torch.float64), rtol=1e-14)
    assert bool((weights[1:, 0] > weights[:-1, 0]).all())
    assert bool((weights[1:, -1] < weights[:-1, -1]).all())
    assert bool((weights[:, 2] == 1).all())


@pytest.mark.parametrize("step", [0, 3, 10])
def test_identities_at_every_step(step: int) -> None:
    assert float(llagp(step=step).layer_budgets.sum()) == pytest.approx(1 / 10, rel=1e-12)
    m = llagp(mode="honest", step=step)
    assert float((m.layer_sensitivity**2 / m.layer_sigma**2).sum()) == pytest.approx(STEP_MU**2, rel=1e-12)
    assert m.curve().compose(10).epsilon(1e-5) == pytest.approx(1, rel=1e-8)
    assert gaussian_mu(llagp(BOX, mode="honest", step=step).curve()) == pytest.approx(STEP_MU, rel=1e-12)
    unshifted = llagp(kappa=0, step=step, mode="honest").layer_sigma  # is layerwise DP-SGD
    assert torch.allclose(unshifted, unshifted[0].expand(3))


def test_modes_of_the_last_step() -> None:
    assert layer_weights(3, step=10, steps=10).tolist() == [1.5, 1.0, 0.5]
    m, honest = llagp(step=10), llagp(mode="honest", step=10)
    expected = [2 / math.sqrt(3) * math.sqrt(2 * math.log(1.25e5)) / (0.1 / 3 * w) for w in (1.5, 1.0, 0.5)]
    assert m.layer_sigma.tolist() == pytest.approx(expected, rel=1e-12)  # the classical formula per layer
    assert m.guarantee(1e-5).epsilon < 0.1  # basic composition over layers is loose here
    assert (m.status, m.guarantee(1e-5).unit) == ("reconstructed", "step")
    assert float(honest.layer_sigma[2] / honest.layer_sigma[0]) == pytest.approx(math.sqrt(3), rel=1e-12)
    one = make_as(Llagp, epsilon=1, domain=BALL)  # layer: a Gaussian mechanism without clipping
    assert one.sigma == pytest.approx(2 * math.sqrt(2 * math.log(1.25e5)), rel=1e-12)
    assert one.squared_error() == pytest.approx(9 * one.sigma**2, rel=1e-12)
    assert llagp(BOX).layer_sensitivity.tolist() == pytest.approx([2 * math.sqrt(n) for n in (2, 3, 4)])


@pytest.mark.parametrize("mode", ["paper", "honest"])
def test_layers_are_clipped_on_a_ball_and_the_worst_input_loses_most(mode: str) -> None:
    contract.check_squared_error(llagp(epsilon=300, steps=1, mode=mode))
    m = llagp(epsilon=1e9, steps=1, mode=mode)
    x = torch.cat([m.worst_input()[None], torch.randn(300, 9, dtype=torch.float64, generator=generator("inputs"))])
    x /= x.norm(dim=1, keepdim=True)
    lost = ((x - m.privatize(x, generator("clip"))) ** 2).sum(dim=1)
    assert float(lost.max()) == pytest.approx(float(lost[0]), rel=1e-3)
    assert float(lost[0]) == pytest.approx((1 - 1 / math.sqrt(3)) ** 2, rel=1e-3)


def test_table_five_noise() -> None:
    m = make_as(Dphsgd, epsilon=2, domain=Box(-1, 1, (10, 10)))
    assert m.scale == pytest.approx(2 * 100 / 2)
    assert math.sqrt(m.squared_error()) == pytest.approx(2 / 2 * 100 * math.sqrt(200), rel=1e-12)
    assert make("dphsgd", epsilon=1, domain=BOX, threshold=4.0).guarantee(0).epsilon == pytest.approx(0.25, rel=1e-12)


@each_noise
@pytest.mark.parametrize("threshold", [0.25, 1.0])
def test_the_threshold_changes_the_clipping_error_and_not_the_guarantee(
    noise: str, domain: Domain, delta: float, threshold: float
) -> None:
    for box_or_ball in (BOX, BALL):
        m = make("dphsgd", epsilon=1, domain=box_or_ball, threshold=threshold, noise=noise)
        assert m.guarantee(delta).epsilon == pytest.approx(1, rel=1e-8)
        assert m.guarantee(delta).unit == "step"
    contract.check_squared_error(make("dphsgd", epsilon=40, domain=domain, threshold=threshold, noise=noise))
    of_ten = make("dphsgd", epsilon=1, domain=domain, threshold=threshold, steps=10, noise=noise)
    assert of_ten.curve().compose(10).epsilon(delta) == pytest.approx(1, rel=1e-8)
