"""Activations of two-layer networks and their Hermite coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import torch
from scipy.special import eval_hermitenorm
from torch import Tensor
from torch.nn import functional

from tensorldp.errors import InputError, check_whole, unknown

ZERO = 1e-6


@dataclass(frozen=True)
class Activation:
    """A function of one real number, with the places where it has a kink."""

    function: Callable[[Tensor], Tensor]
    kinks: tuple[float, ...] = ()


ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda z: z),
    "relu": Activation(torch.relu, (0.0,)),
    "softplus": Activation(functional.softplus),
    "gelu": Activation(functional.gelu),
    "silu": Activation(functional.silu),
    "tanh": Activation(torch.tanh),
    "sigmoid": Activation(torch.sigmoid),
    "relu-shifted": Activation(lambda z: torch.relu(z - 1.0), (1.0,)),
    "elu": Activation(functional.elu, (0.0,)),
    "sin-shifted": Activation(lambda z: torch.sin(z + math.pi / 4)),
    "tanh-shifted": Activation(lambda z: torch.tanh(z + 1.0)),
}


def activation(name: str) -> Activation:
    """The activation of a name.

    Raises:
        InputError: if there is none.
    """
    if name not in ACTIVATIONS:
        raise unknown("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]


@cache
def hermite_coefficient(name: str, order: int) -> float:
    """h_k = E s(z) He_k(z) for z ~ N(0, 1), with the probabilists' Hermite polynomials, by quadrature.

    Raises:
        InputError: if the activation is unknown or the order negative.
    """
    from scipy.integrate import quad

    chosen, order = activation(name), check_whole("order", order)

    def integrand(z: float) -> float:
        value = float(chosen.function(torch.tensor(z, dtype=torch.float64)))
        return value * float(eval_hermitenorm(order, z)) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    edges = (-12.0, *chosen.kinks, 12.0)
    total = sum(quad(integrand, low, high, limit=200)[0] for low, high in pairwise(edges))
    return 0.0 if abs(total) < ZERO else float(total)


def tensor_coefficients(name: str) -> tuple[float, float]:
    """(h_2, h_3) of an activation for which the second and the third moment both see the data.

    Raises:
        InputError: if one of them is zero, naming the activations that work.
    """
    found = {order: hermite_coefficient(name, order) for order in (2, 3)}
    missing = [order for order, value in found.items() if value == 0.0]
    if missing:
        working = [
            other
            for other in ACTIVATIONS
            if hermite_coefficient(other, 2) != 0.0 and hermite_coefficient(other, 3) != 0.0
        ]
        raise InputError(
            f"the tensor attack cannot work with the activation {name!r}, whose Hermite coefficient of "
            f"order {missing[0]} is zero; allowed are {', '.join(sorted(working))}"
        )
    return found[2], found[3]
