"""Two-layer networks with Gaussian weights, and the gradients that a client sends."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.errors import check_positive, check_whole
from tensorldp_papers.attacks.activations import activation

BLOCK = 1 << 15  # neurons at once


@dataclass(frozen=True)
class TwoLayer:
    """f(x) = sum_j a_j s(w_j . x) with w_j ~ N(0, I_d) and squared loss (f - y)^2 / 2 (dp-lecture, Eq. 4.3).

    Attributes:
        weights: (m, d) float32 hidden weights.
        output: (m,) float64 output weights a.
        activation: name of s, one of `ACTIVATIONS`.
    """

    weights: Tensor
    output: Tensor
    activation: str

    @classmethod
    def draw(cls, m: int, d: int, name: str, generator: torch.Generator) -> TwoLayer:
        """A network with a_j = 1/m (dp-lecture, Eq. 4.7).

        Raises:
            InputError: if a size is below 1 or the activation unknown.
        """
        m, d = check_whole("m", m, low=1), check_whole("d", d, low=1)
        activation(name)
        return cls(torch.randn(m, d, generator=generator), torch.full((m,), 1.0 / m, dtype=torch.float64), name)

    def hidden(self, x: Tensor, rows: slice = slice(None)) -> Tensor:
        """s(w_j . x_i) as float64, shape (neurons of `rows`, batch)."""
        return activation(self.activation).function(self.weights[rows].double() @ x.double().T)

    def residuals(self, x: Tensor, y: Tensor, output: Tensor | None = None) -> Tensor:
        """r_i = f(x_i) - y_i (Eq. 4.5), shape (batch,)."""
        output = self.output if output is None else output
        total = torch.zeros(len(x), dtype=torch.float64)
        for start in range(0, len(self.weights), BLOCK):
            rows = slice(start, start + BLOCK)
            total += output[rows] @ self.hidden(x, rows)
        return total - y.double()

    def output_gradient(self, x: Tensor, y: Tensor, output: Tensor | None = None) -> Tensor:
        """dL/da_j = sum_i r_i s(w_j . x_i) (Eq. 4.4), shape (m,) float64.

        Args:
            x: (batch, d).
            y: (batch,).
            output: other output weights than the network's own.
        """
        r = self.residuals(x, y, output)
        return torch.cat(
            [self.hidden(x, slice(start, start + BLOCK)) @ r for start in range(0, len(self.weights), BLOCK)]
        )

    def local_update(self, x: Tensor, y: Tensor, steps: int, rate: float) -> Tensor:
        """What a client sends after k local steps, (a_0 - a_k) / rate, shape (m,) float64.

        Each step descends on its own share of the records, so that the sum covers them all; one step is
        `output_gradient`.

        Raises:
            InputError: if steps is below 1 or above the number of records, or the rate is not positive.
        """
        steps, rate = check_whole("steps", steps, low=1, high=len(x)), check_positive("rate", rate)
        total = torch.zeros_like(self.output)
        for part_x, part_y in zip(x.tensor_split(steps), y.tensor_split(steps), strict=True):
            total += self.output_gradient(part_x, part_y, self.output - rate * total)
        return total


def unit_records(count: int, d: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Records on the unit sphere with labels +1 and -1 in turn: x (count, d) float64, y (count,).

    Raises:
        InputError: if a size is below 1.
    """
    x = torch.randn(
        check_whole("count", count, low=1), check_whole("d", d, low=1), generator=generator, dtype=torch.float64
    )
    return x / x.norm(dim=1, keepdim=True), 1.0 - 2.0 * (torch.arange(count) % 2).double()
