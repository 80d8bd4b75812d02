"""Two-layer networks: gradients against autograd, linear ones that keep their data, and Hermite coefficients."""

import math

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.attacks import two_layer
from tensorldp_papers.attacks.two_layer import TwoLayer, unit_records


def small(name: str = "relu-shifted") -> tuple[TwoLayer, torch.Tensor, torch.Tensor]:
    stream = torch.Generator().manual_seed(3)
    return TwoLayer.draw(50, 6, name, stream), *unit_records(4, 6, stream)


def test_the_gradient_is_autograds_for_records_of_norm_one_with_both_labels() -> None:
    network, x, y = small()
    torch.testing.assert_close(x.norm(dim=1), torch.ones(4, dtype=torch.float64))
    assert y.tolist() == [1.0, -1.0, 1.0, -1.0]
    a = network.output.clone().requires_grad_()
    loss = ((torch.relu(x @ network.weights.double().T - 1.0) @ a - y) ** 2 / 2).sum()
    torch.testing.assert_close(network.output_gradient(x, y), torch.autograd.grad(loss, a)[0])


def test_local_steps_sum_gradients_along_the_path() -> None:
    network, x, y = small()
    torch.testing.assert_close(network.local_update(x, y, 1, 0.1), network.output_gradient(x, y))
    first = network.output_gradient(x[:2], y[:2])
    second = network.output_gradient(x[2:], y[2:], network.output - 0.1 * first)
    torch.testing.assert_close(network.local_update(x, y, 2, 0.1), first + second)


def test_a_linear_network_gives_away_one_combination_only() -> None:
    """dp-lecture, section 4.4: with the identity, other records with the same sum of r x give the same gradient."""
    network, x, y = small("identity")
    combined = network.residuals(x, y) @ x
    expected = network.weights.double() @ combined
    torch.testing.assert_close(network.output_gradient(x, y), expected)
    one = combined.unsqueeze(0)  # one record x' with residual 1 explains all four
    torch.testing.assert_close(network.output_gradient(one, network.residuals(one, torch.zeros(1)) - 1), expected)


def test_hermite_coefficients_have_closed_forms() -> None:
    zero, one = (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in (0, 1))
    turn = math.exp(-0.5) / math.sqrt(2)  # E sin(z + c) He_k(z) = Im(i^k e^{ic}) e^{-1/2}, here with c = pi/4
    for name, expected in {
        "relu": {1: 0.5, 2: zero, 4: -zero},
        "relu-shifted": {2: one, 3: one},  # ReLU(z + beta): h_2 = phi(beta), h_3 = -beta phi(beta), with beta = -1
        "sin-shifted": {2: -turn, 3: -turn},
        "identity": {0: 0.0, 1: 1.0, 2: 0.0, 3: 0.0},
    }.items():
        assert {k: two_layer.hermite_coefficient(name, k) for k in expected} == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("name", two_layer.ACTIVATIONS)
def test_an_activation_with_a_zero_coefficient_is_refused_in_one_sentence(name: str) -> None:
    if name in ("elu", "relu-shifted", "sin-shifted", "tanh-shifted"):
        assert min(map(abs, two_layer.tensor_coefficients(name))) > 0.05
        return
    order = 3 if name in ("relu", "gelu", "silu", "softplus") else 2
    with pytest.raises(InputError, match=f"{name}.*order {order} is zero; allowed are elu, relu-shifted") as caught:
        two_layer.tensor_coefficients(name)
    assert "\n" not in str(caught.value)


def test_an_unknown_activation_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown activation 'relux': did you mean 'relu'"):
        two_layer.activation("relux")
