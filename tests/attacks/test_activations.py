"""Hermite coefficients against closed forms, and the activations that the tensor attack refuses."""

import math

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.attacks.two_layer import ACTIVATIONS, activation, hermite_coefficient, tensor_coefficients


def density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def test_closed_forms() -> None:
    assert hermite_coefficient("relu", 1) == pytest.approx(0.5)
    assert hermite_coefficient("relu", 2) == pytest.approx(density(0))
    assert hermite_coefficient("relu", 4) == pytest.approx(-density(0))
    # ReLU(z + beta): h_2 = phi(beta), h_3 = -beta phi(beta), with beta = -1
    assert hermite_coefficient("relu-shifted", 2) == pytest.approx(density(1))
    assert hermite_coefficient("relu-shifted", 3) == pytest.approx(density(1))
    # E sin(z + c) He_k(z) = Im(i^k e^{ic}) e^{-1/2}
    assert hermite_coefficient("sin-shifted", 2) == pytest.approx(-math.sin(math.pi / 4) * math.exp(-0.5))
    assert hermite_coefficient("sin-shifted", 3) == pytest.approx(-math.cos(math.pi / 4) * math.exp(-0.5))
    assert [hermite_coefficient("identity", k) for k in range(4)] == pytest.approx([0, 1, 0, 0], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "order"),
    [("relu", 3), ("gelu", 3), ("silu", 3), ("softplus", 3), ("tanh", 2), ("sigmoid", 2), ("identity", 2)],
)
def test_an_activation_with_a_zero_coefficient_is_refused_in_one_sentence(name: str, order: int) -> None:
    with pytest.raises(InputError, match=f"{name}.*order {order} is zero; allowed are elu, relu-shifted") as caught:
        tensor_coefficients(name)
    assert "\n" not in str(caught.value)


def test_the_others_are_taken_and_unknown_names_are_not() -> None:
    taken = [name for name in ACTIVATIONS if name in ("elu", "relu-shifted", "sin-shifted", "tanh-shifted")]
    assert all(min(map(abs, tensor_coefficients(name))) > 0.05 for name in taken)
    with pytest.raises(InputError, match="unknown activation 'relux': did you mean 'relu'"):
        activation("relux")
