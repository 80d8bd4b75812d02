"""LLAGP [zhang2025], reconstructed from its abstract: budgets per layer that shift with training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve, mu_of
from tensorldp.domain import Ball
from tensorldp.errors import InputError, check_real, check_whole, check_word, unknown
from tensorldp.mechanisms.directional import DirectionalGaussian, ModeFactor
from tensorldp.mechanisms.registry import register

PROGRESS: dict[str, Callable[[int, int], float]] = {
    "linear": lambda t, total: t / total,
    "exponential": lambda t, total: -math.expm1(-t / total),
    "logarithmic": lambda t, total: math.log1p(t) / math.log1p(total),
}


def layer_weights(layers: int, *, step: int, steps: int, kappa: float = 0.5, progress: str = "linear") -> Tensor:
    """w_l = 1 + kappa s_t rho_l for layers 1 (input) to L (output); rho runs from +1 to -1, so they sum to L."""
    step = check_whole("step of llagp", step, high=steps)
    kappa = check_real("kappa of llagp", kappa, low=0.0, high=1.0, open_high=True)
    if not isinstance(progress, str) or progress not in PROGRESS:
        raise unknown("progress of llagp", progress, PROGRESS)
    place = torch.linspace(1.0 if layers > 1 else 0.0, -1.0, layers, dtype=torch.float64)
    return torch.as_tensor(1.0 + kappa * PROGRESS[progress](step, steps) * place)


@register
class Llagp(DirectionalGaussian):
    """Gaussian noise per layer, less near the input and more near the output as training goes on.

    The record is one flat gradient (or parameter tensor) cut into consecutive layers. On a ball of radius C each
    layer is first clipped to C_l = C / sqrt(L) about the centre, so s2_l = 2 C_l; on a box s2_l = width sqrt(I_l).
    epsilon and delta are those of `steps` uses together. The guarantee is that of one step at this `step`, exact for
    replacing the whole record.

    Args:
        layers: the sizes of the layers, which sum to I; None is one layer.
        step: t, in [0, steps].
        steps: T.
        kappa: how far budgets shift, in [0, 1); 0.5 is a guess.
        mode: "paper" splits epsilon / T over layers by basic composition, sigma_l = s2_l sqrt(2 ln(1.25/delta)) /
            epsilon_l, which like the classical Gaussian may be too small from an epsilon of 8.42 on (delta 1e-5);
            "honest" has sigma_l = s2_l sqrt(L / w_l) / mu with mu such that `steps` uses together give
            exactly (epsilon, delta).
        progress: "linear" t/T, "exponential" 1 - exp(-t/T), or "logarithmic" ln(1+t) / ln(1+T).
    """

    name = "llagp"
    formula = r"x_l + \mathcal{N}(0, \sigma_l^2), \sigma_l = s_{2,l} \sqrt{2 \ln(1.25/\delta)} L T / (\varepsilon w_l)"
    epsilon_unit = "run"
    scheduled = True
    unit = "step"
    source = "[zhang2025], from the abstract"
    status = "reconstructed"
    leaves_input = True

    layers: Sequence[int] | None = None
    step: int = 0
    steps: int = 1
    kappa: float = 0.5
    mode: Literal["paper", "honest"] = "paper"
    progress: str = "linear"

    def _prepare(self) -> None:
        super()._prepare()
        check_word("mode of llagp", self.mode, "paper", "honest")
        given = [self.size] if self.layers is None else self.layers
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise InputError(f"layers of llagp must be a list of whole numbers, got {given!r}")
        self.sizes = tuple(check_whole("layers of llagp", size, low=1) for size in given)
        if sum(self.sizes) != self.size:
            raise InputError(f"layers of llagp must sum to the record's {self.size} elements, got {sum(self.sizes)}")
        count = len(self.sizes)
        self.additive = count == 1 or not isinstance(self.domain, Ball)  # on a ball layers are clipped
        self.steps = check_whole("steps of llagp", self.steps, low=1)
        self.weights = layer_weights(count, step=self.step, steps=self.steps, kappa=self.kappa, progress=self.progress)
        expanded = torch.repeat_interleave(self.layer_sigma, torch.tensor(self.sizes))
        self.factors = (ModeFactor(self.layer_sigma if count == 1 else expanded),)

    @classmethod
    def round_options(cls, *, index: int, rounds: int, epsilon: float, layers: Sequence[int]) -> dict[str, Any]:
        """Step `index` of `rounds` with the layers as they are, at the budget of all rounds together."""
        return {"layers": layers, "step": index, "steps": rounds, "epsilon": epsilon * rounds}

    @property
    def layer_sensitivity(self) -> Tensor:
        """s2_l per layer."""
        if isinstance(self.domain, Ball):
            return torch.full((len(self.sizes),), 2.0 * self.layer_radius, dtype=torch.float64)
        return self.domain.width * torch.tensor(self.sizes, dtype=torch.float64).sqrt()

    @property
    def layer_radius(self) -> float:
        """C_l, the l2 norm that a layer is clipped to when the domain is a ball; infinite on a box."""
        return self.domain.radius / math.sqrt(len(self.sizes)) if isinstance(self.domain, Ball) else math.inf

    @property
    def layer_budgets(self) -> Tensor:
        """epsilon_{l,t}: epsilon / T split over the layers."""
        return self.epsilon / self.steps / len(self.sizes) * self.weights

    @property
    def layer_sigma(self) -> Tensor:
        """sigma_{l,t} per layer, float64."""
        if self.mode == "paper":
            return self.layer_sensitivity * math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.layer_budgets
        mu = mu_of(self.epsilon, self.delta) / math.sqrt(self.steps)
        return self.layer_sensitivity * (len(self.sizes) / self.weights).sqrt() / mu

    def _clipped(self, x: Tensor) -> Tensor:
        """Each layer of the batch `x` within C_l of the centre."""
        if not isinstance(self.domain, Ball) or len(self.sizes) == 1:
            return x
        pieces = [
            Ball(self.layer_radius, (piece.shape[1],), centre=self.domain.centre).project(piece)
            for piece in x.reshape(x.shape[0], -1).split(self.sizes, dim=1)
        ]
        return torch.cat(pieces, dim=1).reshape(x.shape)

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return super()._release(self._clipped(x), generator)

    def curve(self) -> PrivacyCurve:
        return GaussianCurve(float((self.layer_sensitivity / self.layer_sigma).norm()))

    def squared_error(self) -> float:
        noise = float((self.layer_sigma**2 * torch.tensor(self.sizes, dtype=torch.float64)).sum())
        if not isinstance(self.domain, Ball):
            return noise
        return noise + (self.domain.radius - self.layer_radius) ** 2  # clipping hurts a gradient in one layer most

    def worst_input(self) -> Tensor:
        if not isinstance(self.domain, Ball):
            return self.worst_pair()[0]
        record = self.domain.constant(self.domain.centre).reshape(-1)
        record[: self.sizes[0]] += self.domain.radius / math.sqrt(self.sizes[0])
        return record.reshape(self.shape)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        domain = self.domain
        if not isinstance(domain, Ball):
            return domain.farthest()
        sizes = torch.tensor(self.sizes)
        offset = torch.repeat_interleave(self.layer_radius / sizes.double().sqrt(), sizes).reshape(self.shape)
        return domain.centre - offset, domain.centre + offset

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        batch = (-1, *self.shape)
        return super().log_likelihood_ratio(
            y, self._clipped(x.double().reshape(batch)), self._clipped(x_prime.double().reshape(batch))
        )
