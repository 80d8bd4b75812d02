"""DP-SGD [abadi2016]: per-example clipping, Gaussian noise, Poisson lots."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.guarantee import Guarantee
from tensorldp.errors import check_positive, check_real, check_whole
from tensorldp_papers.nets.gradient_noise import GradientNoise
from tensorldp_papers.nets.tensor_sgd import fit_private


def fit_dp_sgd(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    lot: int,
    steps: int,
    noise_multiplier: float,
    clip: float,
    learning_rate: float,
    generator: torch.Generator,
    noise: torch.Generator,
) -> nn.Module:
    """Minimise cross-entropy with private gradient steps, in place; x and y lie on the model's device.

    Each step draws a Poisson lot of rate lot / records, clips each example's gradient to l2 norm `clip`, adds
    N(0, (noise_multiplier clip)^2) to the sum and divides by the expected lot size.

    Args:
        model: the network, changed in place.
        x: (records, ...) inputs.
        y: (records,) class indices.
        lot: expected lot size, at most the number of records.
        steps: number of lots.
        noise_multiplier: z; 0 adds no noise and guarantees nothing.
        clip: l2 norm that an example's gradient is clipped to.
        learning_rate: of the optimiser.
        generator: a CPU generator for the lots.
        noise: the generator of the noise, on the model's device.

    Raises:
        InputError: if a setting is out of range.
    """
    clip = check_positive("clip", clip)
    sigma = check_real("noise_multiplier", noise_multiplier, low=0.0) * clip
    sizes = tuple(p.numel() for p in model.parameters() if p.requires_grad)
    release = GradientNoise("l2", clip, (sigma,) * len(sizes), sizes)
    return fit_private(
        model, x, y, release, lot=lot, steps=steps, learning_rate=learning_rate, generator=generator, noise=noise
    )


def run_guarantee(*, records: int, lot: int, steps: int, noise_multiplier: float, delta: float) -> Guarantee:
    """What a whole run of `fit_dp_sgd` guarantees for adding or removing one record, by PLD accounting.

    Raises:
        InputError: if a setting is out of range; noise_multiplier must be above 0.
    """
    curve = DpSgdCurve(
        check_positive("noise_multiplier", noise_multiplier),
        check_whole("lot", lot, low=1, high=records) / records,
        check_whole("steps", steps, low=1),
    )
    return Guarantee.of(curve, delta, "run", "for adding or removing one record")
