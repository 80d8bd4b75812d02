"""Images of one stroke figure, moved, scaled and sheared to standard position by their own moments."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive, check_whole

SHEAR = 1.0  # the largest shear, in columns a row
LEAST_ASPECT = 0.3  # no figure is stretched to more than this share of its longer side
FLOOR = 1e-3  # variance of a figure of one pixel


def check_images(images: Tensor) -> None:
    """Grey images in [0, 1], (images, height, width).

    Raises:
        InputError: if they are not.
    """
    if images.dim() != 3 or not images.is_floating_point():
        raise InputError(
            f"grey images must be a float tensor (images, height, width), got {images.dtype} {tuple(images.shape)}"
        )
    if images.numel() and not (float(images.min()) >= 0.0 and float(images.max()) <= 1.0):
        raise InputError("grey images must lie in [0, 1]; divide bytes by 255")


def align(images: Tensor, *, size: int = 28, spread: float = 5.5) -> Tensor:
    """Each image about its centre of mass, with upright second moments of a standard size: (images, size, size).

    The map is affine: a shear that removes the correlation of rows and columns, then a scaling that takes the larger
    standard deviation of the ink to `spread` pixels and the smaller one half of the way there. It is a function of one
    image alone, so a mechanism after it guarantees what it guarantees without.

    Args:
        images: (images, height, width) in [0, 1], dark where nothing is drawn.
        size: side of the result.
        spread: standard deviation of the ink along the longer side, in pixels of the result.

    Raises:
        InputError: if the images are no grey images in [0, 1] or a size is not positive.
    """
    check_images(images)
    size, spread = check_whole("size", size, low=1), check_positive("spread", spread)
    count, height, width = images.shape
    if not count:
        return images.new_zeros(0, size, size)
    rows, columns = torch.arange(height, dtype=images.dtype), torch.arange(width, dtype=images.dtype)
    by_row, by_column = images.sum(dim=2), images.sum(dim=1)
    mass = by_row.sum(dim=1).clamp_min(1e-6)
    middle, centre = (by_row @ rows) / mass, (by_column @ columns) / mass
    down, across = rows - middle[:, None], columns - centre[:, None]
    tall = (by_row * down.square()).sum(dim=1) / mass + FLOOR
    wide = (by_column * across.square()).sum(dim=1) / mass + FLOOR
    both = ((images @ across.unsqueeze(2)).squeeze(2) * down).sum(dim=1) / mass
    shear = (both / tall).clamp(-SHEAR, SHEAR)
    wide = (wide - 2.0 * shear * both + shear.square() * tall).clamp_min(0.3)
    longest = torch.maximum(tall, wide).sqrt()
    unit = longest / spread
    scale_x = unit * (wide.sqrt() / longest).clamp(LEAST_ASPECT, 1.0).sqrt()
    scale_y = unit * (tall.sqrt() / longest).clamp(LEAST_ASPECT, 1.0).sqrt()
    theta = images.new_zeros(count, 2, 3)  # from sides of length 2 to sides of length 2
    theta[:, 0, 0] = scale_x * size / width
    theta[:, 0, 1] = shear * scale_y * size / width
    theta[:, 0, 2] = (2.0 * centre + 1.0) / width - 1.0
    theta[:, 1, 1] = scale_y * size / height
    theta[:, 1, 2] = (2.0 * middle + 1.0) / height - 1.0
    grid = nn.functional.affine_grid(theta, [count, 1, size, size], align_corners=False)
    moved = nn.functional.grid_sample(images.unsqueeze(1), grid, align_corners=False)
    return moved.squeeze(1)
