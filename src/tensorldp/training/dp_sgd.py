"""DP-SGD through opacus [abadi2016]: per-example clipping, Gaussian noise, Poisson lots."""

from __future__ import annotations

import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive, check_real, check_whole
from tensorldp.privacy.curves.dp_sgd import DpSgdCurve
from tensorldp.privacy.guarantee import Guarantee
from tensorldp.runtime.progress import track


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
    lot = check_whole("lot", lot, low=1, high=len(x))
    noise_multiplier = check_real("noise_multiplier", noise_multiplier, low=0.0)
    if len(x) != len(y):
        raise InputError(f"training needs as many labels as records, got {len(x)} and {len(y)}")
    trainable = [p for p in model.parameters() if p.requires_grad]
    model.train()
    private = GradSampleModule(model)
    optimizer = DPOptimizer(
        torch.optim.SGD(trainable, lr=check_positive("learning_rate", learning_rate)),
        noise_multiplier=noise_multiplier,
        max_grad_norm=check_positive("clip", clip),
        expected_batch_size=lot,
        generator=noise,
    )
    for _ in track(range(check_whole("steps", steps, low=1)), "private steps"):
        chosen = torch.rand(len(x), generator=generator, dtype=torch.float64) < lot / len(x)
        batch = chosen.nonzero().squeeze(1).to(x.device)
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(private(x[batch]), y[batch], reduction="mean").backward()
        optimizer.step()
    private.to_standard_module()
    return model


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
