"""Private SGD: DP-SGD [abadi2016], and any clipping with any Gaussian noise per tensor.

What a run guarantees is computed only from the noise, over all tensors and steps (`GradientNoise.curve`).

Networks of linear layers and convolutions have their clipped sums from C++ or from `ExampleGradients`; others from
opacus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from tensorldp.curves.base import NoPrivacyCurve, PrivacyCurve
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms.tvg_budget import Schedule
from tensorldp.randomness import add_gaussian
from tensorldp_papers.nets.compiled.clipped import CompiledGradients
from tensorldp_papers.nets.example_gradients import (
    ExampleGradients,
    clamped_sum,
    clip_factors,
    squared_norms,
    weighted_sum,
)
from tensorldp_papers.nets.replay import Replay, can_replay
from tensorldp_papers.progress import track
from tensorldp_papers.run.precision import Precision

Norm = Literal["linf", "l2"]


@dataclass(frozen=True)
class GradientNoise:
    """Noise of standard deviation `sigmas[k]` per element of tensor k, on the sum over a lot.

    Attributes:
        norm: "linf" clips each element of an example's gradient to [-clip, clip]; "l2" scales the whole gradient of
            an example, all tensors together, to norm `clip` at most.
        clip: C, > 0.
        sigmas: one for each tensor; all 0 without privacy.
        sizes: elements of each tensor.
    """

    norm: Norm
    clip: float
    sigmas: tuple[float, ...]
    sizes: tuple[int, ...]

    @property
    def multiplier(self) -> float:
        """Returns an equal DP-SGD's noise multiplier: 1 over the Mahalanobis norm of the largest clipped gradient."""
        if self.norm == "l2":
            return min(self.sigmas) / self.clip
        return 1.0 / math.sqrt(
            sum(size * (self.clip / sigma) ** 2 for size, sigma in zip(self.sizes, self.sigmas, strict=True))
        )

    def curve(self, schedule: Schedule) -> PrivacyCurve:
        """Computes what a whole run guarantees for adding or removing one record, by PLD accounting."""
        if not all(self.sigmas):
            return NoPrivacyCurve()
        return DpSgdCurve(self.multiplier, schedule.rate, schedule.steps)


def clipped_sums(gradients: list[Tensor], norm: str, clip: float) -> list[Tensor]:
    """Sums over examples their clipped gradients, float64; one that is not finite counts as zero.

    The gradients, (examples, *shape) for each tensor, are changed in place. The norm "linf" clips every element to
    [-clip, clip]; "l2" scales an example's whole gradient to norm <= clip.
    """
    if norm == "linf":
        return [clamped_sum(g, clip) for g in gradients]
    factor = clip_factors([squared_norms(g) for g in gradients], clip)
    return [weighted_sum(factor, g).view(g.shape[1:]) for g in gradients]


class PrivateStep:
    """One step after another: clipped sums over a lot, noise, and a step of an optimiser in the mean direction.

    Args:
        model: any network of layers that `ExampleGradients` or opacus knows; opacus wraps it until `close`.
        optimizer: a torch optimiser of the trainable parameters.
        release: clipping and noise, its tensors in the order of the trainable parameters.
        lot: expected number of examples in a lot, which the sum is divided by.
        noise: generator of the noise, on the model's device.
        physical: examples whose gradients are held at once, in PyTorch.
        compiled: the shape of an example, to compute gradients in C++; None for PyTorch.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        release: GradientNoise,
        *,
        lot: int,
        noise: torch.Generator,
        physical: int = 256,
        compiled: Sequence[int] | None = None,
    ) -> None:
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        if tuple(p.numel() for p in self.parameters) != release.sizes:
            raise InputError(
                f"the noise is for tensors of {release.sizes} elements, the model has "
                f"{tuple(p.numel() for p in self.parameters)}"
            )
        self.own: CompiledGradients | ExampleGradients | None = None
        if compiled is not None:
            self.own = CompiledGradients(model, compiled)
        elif ExampleGradients.fits(model):
            self.own = ExampleGradients(model)
        self.private: Any = None
        if self.own is None:
            from opacus import GradSampleModule  # which takes longer to import than most networks to train

            self.private = GradSampleModule(model, loss_reduction="sum")
        self.optimizer, self.release, self.lot, self.noise = optimizer, release, lot, noise
        self.physical = physical

    def __call__(self, x: Tensor, y: Tensor) -> None:
        """Takes a step on a lot, which may be empty; x (examples, ...), y (examples,)."""
        sums: list[Tensor] | None = None
        for inputs, labels in zip(x.split(self.physical), y.split(self.physical), strict=True):
            if not len(inputs):
                continue
            part = self._clipped_sums(inputs, labels)
            sums = part if sums is None else [a.add_(b) for a, b in zip(sums, part, strict=True)]
        for index, (parameter, sigma) in enumerate(zip(self.parameters, self.release.sigmas, strict=True)):
            total = torch.zeros_like(parameter, dtype=torch.float64) if sums is None else sums[index]
            if sigma:  # drawn in the parameters' precision, added in that of the sum
                total += add_gaussian(torch.zeros_like(parameter), sigma, self.noise)
            parameter.grad = total.div_(self.lot).to(parameter.dtype)
        self.optimizer.step()

    def _clipped_sums(self, x: Tensor, y: Tensor) -> list[Tensor]:
        if self.own is not None:
            return self.own.clipped_sums(x, y, self.release.norm, self.release.clip)
        nn.functional.cross_entropy(self.private(x), y, reduction="sum").backward()
        gradients = [p.grad_sample for p in self.parameters]  # type: ignore[attr-defined]
        found = clipped_sums(gradients, self.release.norm, self.release.clip)
        for p in self.parameters:
            p.grad_sample, p.grad = None, None  # type: ignore[attr-defined]
        return found

    def close(self) -> None:
        """Takes opacus' hooks off the model."""
        if self.private is not None:
            self.private.to_standard_module()


def fit_private(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    release: GradientNoise,
    *,
    lot: int,
    steps: int,
    learning_rate: float,
    momentum: float = 0.0,
    generator: torch.Generator,
    noise: torch.Generator,
    precision: Precision = "float32",
    what: str = "private SGD",
) -> nn.Module:
    """Minimises cross-entropy in place with `steps` private steps over Poisson lots of rate lot / records.

    The lots are drawn from a CPU generator; inputs, labels and the generator of the noise are on the model's device.
    With the precision "compiled" gradients are computed in C++, for networks that `Layout` takes.
    """
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=learning_rate, momentum=momentum)
    model.train()
    shape = x.shape[1:] if precision == "compiled" else None
    step = PrivateStep(model, optimizer, release, lot=lot, noise=noise, compiled=shape)
    take = Replay(step, x.device, model, [noise]) if step.own is not None and can_replay(model) else step
    for _ in track(range(steps), what):
        chosen = torch.rand(len(x), generator=generator, dtype=torch.float64) < lot / len(x)
        batch = chosen.nonzero().squeeze(1).to(x.device)
        take(x[batch], y[batch])
    step.close()
    return model
