"""LATENT's image augmentation (4.1.3): random shifts, rotations and mirror images."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tensorldp.errors import check_real


def augment(
    images: Tensor, generator: torch.Generator, *, shift: float = 0.1, degrees: float = 10.0, flip: float = 0.5
) -> Tensor:
    """One altered copy of every image: shifted by up to `shift` of each side, rotated by up to `degrees`, mirrored.

    All three are drawn anew for each image; pixels from beyond the border repeat it, as Keras does by default.

    Args:
        images: float (batch, channels, height, width).
        generator: a CPU generator.
        shift: the largest shift, as a share of each side, in [0, 1].
        degrees: the largest rotation, in [0, 180].
        flip: the probability of a horizontal mirror image.

    Raises:
        InputError: if an amount is out of range.
    """
    shift, flip = check_real("shift", shift, low=0.0, high=1.0), check_real("flip", flip, low=0.0, high=1.0)
    turn = math.radians(check_real("degrees", degrees, low=0.0, high=180.0))
    count, _, height, width = images.shape
    draws = torch.rand(4, count, generator=generator)
    angle, mirror = (2.0 * draws[0] - 1.0) * turn, torch.where(draws[1] < flip, -1.0, 1.0)
    across, down = (2.0 * (2.0 * draw - 1.0) * shift for draw in draws[2:])  # sides have length 2 in a sampling grid
    cos, sin, aspect = angle.cos(), angle.sin(), height / width
    theta = torch.stack(
        (torch.stack((mirror * cos, -sin * aspect, across), 1), torch.stack((mirror * sin / aspect, cos, down), 1)), 1
    )
    grid = nn.functional.affine_grid(theta, list(images.shape), align_corners=False).to(images)
    return nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)
