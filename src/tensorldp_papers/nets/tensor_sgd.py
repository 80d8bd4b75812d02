"""Private SGD with any clipping and any Gaussian noise per tensor.

Networks of linear layers and convolutions have their clipped sums from `ExampleGradients`; others from opacus.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive, check_real, check_whole
from tensorldp.randomness import add_gaussian
from tensorldp_papers.nets.example_gradients import (
    ExampleGradients,
    clamped_sum,
    clip_factors,
    squared_norms,
    weighted_sum,
)
from tensorldp_papers.nets.gradient_noise import GradientNoise
from tensorldp_papers.run.progress import track

PHYSICAL = 256  # examples whose gradients are held at once


def clipped_sums(gradients: list[Tensor], norm: str, clip: float) -> list[Tensor]:
    """Sums over examples of their clipped gradients, float64; one that is not finite counts as zero.

    Args:
        gradients: (examples, *shape) for each tensor; changed in place.
        norm: "linf" clips every element to [-clip, clip]; "l2" scales an example's whole gradient to norm <= clip.
        clip: the bound, > 0.
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

    Raises:
        InputError: if the noise is for other tensors.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        release: GradientNoise,
        *,
        lot: int,
        noise: torch.Generator,
        physical: int = PHYSICAL,
    ) -> None:
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        if tuple(p.numel() for p in self.parameters) != release.sizes:
            raise InputError(
                f"the noise is for tensors of {release.sizes} elements, the model has "
                f"{tuple(p.numel() for p in self.parameters)}"
            )
        self.own = ExampleGradients(model) if ExampleGradients.fits(model) else None
        self.private = None if self.own else _wrapped(model)
        self.optimizer, self.release, self.lot, self.noise = optimizer, release, lot, noise
        self.physical = check_whole("physical", physical, low=1)

    def __call__(self, x: Tensor, y: Tensor) -> None:
        """A step on a lot, which may be empty; x (examples, ...), y (examples,)."""
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
        assert self.private is not None
        nn.functional.cross_entropy(self.private(x), y, reduction="sum").backward()
        gradients = [p.grad_sample for p in self.parameters]  # type: ignore[attr-defined]
        found = clipped_sums(gradients, self.release.norm, self.release.clip)
        for p in self.parameters:
            p.grad_sample, p.grad = None, None  # type: ignore[attr-defined]
        return found

    def close(self) -> None:
        """Take opacus' hooks off the model."""
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
    what: str = "private SGD",
) -> nn.Module:
    """Minimise cross-entropy in place with `steps` private steps over Poisson lots of rate lot / records.

    Args:
        model: the network, changed in place.
        x: (records, ...) inputs, on the model's device.
        y: (records,) class indices.
        release: clips and randomises the gradient of a lot.
        lot: expected lot size, at most the number of records.
        steps: number of lots.
        learning_rate: of gradient descent.
        momentum: of gradient descent, 0 for none.
        generator: a CPU generator for the lots.
        noise: of the noise, on the model's device.
        what: what a progress line calls it.

    Raises:
        InputError: if a setting is out of range.
    """
    lot = check_whole("lot", lot, low=1, high=len(x))
    if len(x) != len(y):
        raise InputError(f"training needs as many labels as records, got {len(x)} and {len(y)}")
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(
        trainable,
        lr=check_positive("learning_rate", learning_rate),
        momentum=check_real("momentum", momentum, low=0.0, high=1.0, open_high=True),
    )
    model.train()
    step = PrivateStep(model, optimizer, release, lot=lot, noise=noise)
    for _ in track(range(check_whole("steps", steps, low=1)), what):
        chosen = torch.rand(len(x), generator=generator, dtype=torch.float64) < lot / len(x)
        batch = chosen.nonzero().squeeze(1).to(x.device)
        step(x[batch], y[batch])
    step.close()
    return model


def _wrapped(model: nn.Module) -> Any:
    from opacus import GradSampleModule  # which takes longer to import than most networks to train

    return GradSampleModule(model, loss_reduction="sum")
