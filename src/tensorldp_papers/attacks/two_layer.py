"""Two-layer networks with Gaussian weights, the gradients that a client sends, and the analytic attack on them."""

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

from tensorldp.errors import InputError, unknown

NO_COEFFICIENT = 1e-6  # a smaller Hermite coefficient is an error of the quadrature


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
    """Returns the activation of a name."""
    if name not in ACTIVATIONS:
        raise unknown("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]


@cache
def hermite_coefficient(name: str, order: int) -> float:
    """Computes h_k = E s(z) He_k(z) for z ~ N(0, 1), with the probabilists' Hermite polynomials, by quadrature."""
    from scipy.integrate import quad

    chosen = activation(name)

    def integrand(z: float) -> float:
        value = float(chosen.function(torch.tensor(z, dtype=torch.float64)))
        return value * float(eval_hermitenorm(order, z)) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    edges = (-12.0, *chosen.kinks, 12.0)
    total = sum(quad(integrand, low, high, limit=200)[0] for low, high in pairwise(edges))
    return 0.0 if abs(total) < NO_COEFFICIENT else float(total)


def tensor_coefficients(name: str) -> tuple[float, float]:
    """Computes (h_2, h_3) of an activation for which both the second and the third moment depend on the data."""
    found = {order: hermite_coefficient(name, order) for order in (2, 3)}
    missing = [order for order, value in found.items() if value == 0.0]
    if missing:
        working = [other for other in ACTIVATIONS if all(hermite_coefficient(other, order) for order in (2, 3))]
        raise InputError(
            f"the tensor attack cannot work with the activation {name!r}, whose Hermite coefficient of "
            f"order {missing[0]} is zero; allowed are {', '.join(sorted(working))}"
        )
    return found[2], found[3]


BLOCK = 1 << 15  # neurons at once


@dataclass(frozen=True)
class TwoLayer:
    """f(x) = sum_j a_j s(w_j . x) with w_j ~ N(0, I_d) and squared loss (f - y)^2 / 2 (dp-lecture, Eq. 4.3)."""

    weights: Tensor  # (m, d) float32
    output: Tensor  # (m,) float64, the weights a
    activation: str  # name of s, one of `ACTIVATIONS`

    @classmethod
    def draw(cls, m: int, d: int, name: str, generator: torch.Generator) -> TwoLayer:
        """Draws a network with a_j = 1/m (dp-lecture, Eq. 4.7)."""
        return cls(torch.randn(m, d, generator=generator), torch.full((m,), 1.0 / m, dtype=torch.float64), name)

    def hidden(self, x: Tensor, rows: slice = slice(None)) -> Tensor:
        """Computes s(w_j . x_i) as float64, shape (neurons of `rows`, batch)."""
        return activation(self.activation).function(self.weights[rows].double() @ x.double().T)

    def residuals(self, x: Tensor, y: Tensor, output: Tensor | None = None) -> Tensor:
        """Computes r_i = f(x_i) - y_i (Eq. 4.5), shape (batch,)."""
        output = self.output if output is None else output
        total = torch.zeros(len(x), dtype=torch.float64)
        for start in range(0, len(self.weights), BLOCK):
            rows = slice(start, start + BLOCK)
            total += output[rows] @ self.hidden(x, rows)
        return total - y.double()

    def output_gradient(self, x: Tensor, y: Tensor, output: Tensor | None = None) -> Tensor:
        """Computes dL/da_j = sum_i r_i s(w_j . x_i) (Eq. 4.4), (m,) float64; `output` replaces the output weights."""
        r = self.residuals(x, y, output)
        return torch.cat(
            [self.hidden(x, slice(start, start + BLOCK)) @ r for start in range(0, len(self.weights), BLOCK)]
        )

    def local_update(self, x: Tensor, y: Tensor, steps: int, rate: float) -> Tensor:
        """Computes what a client sends after k local steps, (a_0 - a_k) / rate, shape (m,) float64.

        Each step descends on its own share of the records, so that the sum covers them all; one step is
        `output_gradient`.
        """
        total = torch.zeros_like(self.output)
        for part_x, part_y in zip(x.tensor_split(steps), y.tensor_split(steps), strict=True):
            total += self.output_gradient(part_x, part_y, self.output - rate * total)
        return total


def unit_records(count: int, d: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draws records on the unit sphere with labels +1 and -1 in turn: x (count, d) float64, y (count,)."""
    x = torch.randn(count, d, generator=generator, dtype=torch.float64)
    return x / x.norm(dim=1, keepdim=True), 1.0 - 2.0 * (torch.arange(count) % 2).double()


def analytic_attack(weight_gradient: Tensor, bias_gradient: Tensor) -> Tensor:
    """Computes the input of a fully connected layer from its gradients for one record, shape (inputs,).

    dL/dW_i = dL/db_i x for every neuron i, so x is exact wherever a bias gradient is not zero; the least-squares
    answer over all neurons, sum_i b_i W_i / sum_i b_i^2, is exact as well and robust to noise.
    """
    square = bias_gradient.square().sum()
    if float(square) == 0.0:
        raise InputError("every bias gradient is zero, so the analytic attack has nothing to divide by")
    return bias_gradient @ weight_gradient / square


SCALINGS = ("mean", "root", "sign")  # a_j = 1/m, +-1/sqrt(m), +-1


def output_weights(m: int, scaling: str, generator: torch.Generator) -> Tensor:
    """Returns a_j = 1/m (`mean`, Eq. 4.7), +-1/sqrt(m) (`root`) or +-1 (`sign`), shape (m,) float64."""
    if scaling == "mean":
        return torch.full((m,), 1.0 / m, dtype=torch.float64)
    signs = 1.0 - 2.0 * torch.randint(0, 2, (m,), generator=generator).double()
    return signs / math.sqrt(m) if scaling == "root" else signs


def gradient_parts(w: Tensor, a: Tensor, x: Tensor, y: float) -> tuple[Tensor, Tensor]:
    """Computes the gradient of (f(x) - y)^2 for a ReLU network: over a, (m,), and over W, (m, d).

    G(a_j) = 2 r s(w_j . x) and G(w_j) = 2 r a_j s'(w_j . x) x: Eq. 4.4 and 4.6 with the factor 2 of the squared loss.
    """
    z = w @ x
    r = a @ z.clamp_min(0) - y
    return 2 * r * z.clamp_min(0), 2 * r * torch.outer(a * (z > 0), x)


def measured_change(m: int, d: int, scaling: str, pairs: int, generator: torch.Generator) -> tuple[float, float]:
    """Measures the largest l1 change of the gradient over random replacements of one record: of its a and w parts.

    A lower bound of the sensitivity; records have norm one and labels +1 or -1, and labels may change.
    """
    w = torch.randn(m, d, generator=generator, dtype=torch.float64)
    a = output_weights(m, scaling, generator)
    x, _ = unit_records(2 * pairs, d, generator)
    most_a = most_w = 0.0
    for left, right in zip(x[:pairs], x[pairs:], strict=True):
        first, second = gradient_parts(w, a, left, 1.0), gradient_parts(w, a, right, -1.0)
        most_a = max(most_a, float((first[0] - second[0]).abs().sum()))
        most_w = max(most_w, float((first[1] - second[1]).abs().sum()))
    return most_a, most_w
