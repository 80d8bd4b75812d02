import math
from typing import Any

import pytest
import torch
from gaussian_checks import check_sampler, check_squared_error
from typed import gaussian_mu, make_as

from tensorldp.curves.gaussian import mu_of
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, make
from tensorldp.mechanisms.llagp import Llagp, layer_weights
from tensorldp.randomness import generator


def llagp(domain: Box | None = None, **options: Any) -> Llagp:
    return make_as(
        Llagp, domain=domain or Ball(1.0, (9,)), **{"epsilon": 1, "layers": (2, 3, 4), "steps": 10, **options}
    )


def test_start_is_an_equal_split() -> None:
    assert layer_weights(4, step=0, steps=10).tolist() == [1.0] * 4


def test_last_step_oracle() -> None:
    assert layer_weights(3, step=10, steps=10).tolist() == [1.5, 1.0, 0.5]
    honest = llagp(mode="honest", step=10)
    assert float(honest.layer_sigma[2] / honest.layer_sigma[0]) == pytest.approx(math.sqrt(3), rel=1e-12)


@pytest.mark.parametrize("progress", ["linear", "exponential", "logarithmic"])
def test_weights_sum_to_the_layers_and_move_one_way(progress: str) -> None:
    weights = torch.stack([layer_weights(5, step=t, steps=20, progress=progress) for t in range(21)])
    assert torch.allclose(weights.sum(dim=1), torch.full((21,), 5.0, dtype=torch.float64), rtol=1e-14)
    assert bool((weights[1:, 0] > weights[:-1, 0]).all())
    assert bool((weights[1:, -1] < weights[:-1, -1]).all())
    assert bool((weights[:, 2] == 1).all())


def test_budgets_sum_to_the_step() -> None:
    for step in (0, 3, 10):
        assert float(llagp(step=step).layer_budgets.sum()) == pytest.approx(1 / 10, rel=1e-12)


def test_no_shift_is_layerwise_dp_sgd() -> None:
    for step in (0, 10):
        sigma = llagp(kappa=0, step=step, mode="honest").layer_sigma
        assert torch.allclose(sigma, sigma[0].expand(3))


def test_honest_identity_holds_at_every_step() -> None:
    mu = mu_of(1, 1e-5) / math.sqrt(10)
    for step in range(11):
        m = llagp(mode="honest", step=step)
        assert float((m.layer_sensitivity**2 / m.layer_sigma**2).sum()) == pytest.approx(mu**2, rel=1e-12)
        assert m.curve().compose(10).epsilon(1e-5) == pytest.approx(1, rel=1e-8)


def test_paper_mode_is_the_classical_formula_per_layer() -> None:
    m = llagp(step=10)
    expected = [2 / math.sqrt(3) * math.sqrt(2 * math.log(1.25e5)) / (0.1 / 3 * w) for w in (1.5, 1.0, 0.5)]
    assert m.layer_sigma.tolist() == pytest.approx(expected, rel=1e-12)
    assert m.guarantee(1e-5).epsilon < 0.1  # basic composition over layers is loose here


def test_one_layer_is_a_gaussian_mechanism_without_clipping() -> None:
    m = make_as(Llagp, epsilon=1, domain=Ball(1.0, (9,)))
    assert m.sigma == pytest.approx(2 * math.sqrt(2 * math.log(1.25e5)), rel=1e-12)
    assert m.squared_error() == pytest.approx(9 * m.sigma**2, rel=1e-12)


def test_box_has_the_sensitivity_of_each_layers_box() -> None:
    m = llagp(domain=Box(-1, 1, (9,)), mode="honest", step=5)
    assert m.layer_sensitivity.tolist() == pytest.approx([2 * math.sqrt(n) for n in (2, 3, 4)])
    assert gaussian_mu(m.curve()) == pytest.approx(mu_of(1, 1e-5) / math.sqrt(10), rel=1e-12)


def test_layers_are_clipped_on_a_ball() -> None:
    m = make("llagp", epsilon=1e9, domain=Ball(1.0, (9,)), layers=(2, 3, 4), mode="honest")
    x = m.worst_input()[None]
    out = m.privatize(x, generator("clip"))
    assert float(x.norm()) == pytest.approx(1)
    assert float(out[0, :2].norm()) == pytest.approx(1 / math.sqrt(3), abs=1e-3)


@pytest.mark.parametrize("mode", ["paper", "honest"])
def test_squared_error_at_the_worst_input(mode: str) -> None:
    m = make_as(Llagp, epsilon=300, domain=Ball(1.0, (9,)), layers=(2, 3, 4), mode=mode)
    check_squared_error(m)
    share = torch.randn(300, 9, dtype=torch.float64, generator=generator("inputs"))
    share /= share.norm(dim=1, keepdim=True)
    lost = ((share - m._clipped(share)) ** 2).sum(dim=1)
    assert float(lost.max()) <= (1 - 1 / math.sqrt(3)) ** 2 + 1e-12


def test_worst_pair_attains_the_profile() -> None:
    m = make("llagp", epsilon=3, domain=Ball(1.0, (9,)), layers=(2, 3, 4), step=1)
    x, x_prime = m.worst_pair()
    assert float(x.norm()) == pytest.approx(1, rel=1e-12)
    y = m.privatize(x.expand(100_000, 9), generator("pair"))
    loss = m.log_likelihood_ratio(y, x, x_prime)
    mu = gaussian_mu(m.curve())
    assert abs(float(loss.mean()) - mu**2 / 2) < 5 * mu / math.sqrt(100_000)
    assert float(loss.std()) == pytest.approx(mu, rel=0.02)


def test_sampler() -> None:
    check_sampler(llagp(domain=Box(-1, 1, (3, 3)), step=7))


def test_reconstruction_is_labelled() -> None:
    m = llagp()
    assert m.status == "reconstructed"
    assert m.guarantee(1e-5).unit == "step"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": (2, 3)}, "sum to"),
        ({"layers": (9, 0)}, "layers"),
        ({"step": 11}, "step"),
        ({"kappa": 1.0}, "kappa"),
        ({"mode": "fast"}, "mode"),
        ({"progress": "cubic"}, "progress"),
        ({"steps": 0}, "steps"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        llagp(**options)
