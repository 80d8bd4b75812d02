"""Oriented gradient energies of images, and of stroke figures brought to standard position by their own moments."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError

SHEAR = 1.0  # the largest shear, in columns a row
LEAST_ASPECT = 0.3  # no figure is stretched to more than this share of its longer side
FLOOR = 1e-3  # variance of a figure of one pixel


def check_images(images: Tensor) -> None:
    """Checks that images are grey and in [0, 1], (images, height, width)."""
    if images.dim() != 3 or not images.is_floating_point():
        raise InputError(
            f"grey images must be a float tensor (images, height, width), got {images.dtype} {tuple(images.shape)}"
        )
    if images.numel() and not (float(images.min()) >= 0.0 and float(images.max()) <= 1.0):
        raise InputError("grey images must lie in [0, 1]; divide bytes by 255")


def align(images: Tensor, *, size: int = 28, spread: float = 5.5) -> Tensor:
    """Turns each image about its centre of mass to upright second moments of a standard size: (images, size, size).

    The map is affine: a shear that removes the correlation of rows and columns, then a scaling that takes the larger
    standard deviation of the ink to `spread` pixels and the smaller one half of the way there. It is a function of a
    single image, so a mechanism after it guarantees what it guarantees without it. Images, (images, height, width), are
    in [0, 1], dark where nothing is drawn.
    """
    check_images(images)
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


SCALES = (0.7, 1.6)  # standard deviations of the blur before the gradient, in pixels
ORIENTATIONS = 8  # of a gradient, over the whole circle
GRID = 7  # cells of a side
POOLING = 0.62  # standard deviation of a cell's window, in cells
FEATURES = len(SCALES) * ORIENTATIONS * GRID * GRID
BLOCK = 500  # images at a time: their energies fit a cache


def _window(rows: int, at: Tensor, deviation: float) -> Tensor:
    """Computes Gaussian weights (len(at), rows) about the positions `at`, each row with sum 1."""
    weights = torch.exp(-((torch.arange(rows) - at[:, None]) / deviation).square() / 2.0)
    return weights / weights.sum(dim=1, keepdim=True)


def oriented_energies(images: Tensor) -> Tensor:
    """Computes square roots of gradient energies by orientation, scale and place, as unit rows (images, 784).

    An image is blurred at two scales; its gradient's length goes to the two nearest of 8 directions, in linear shares;
    each direction is averaged with Gaussian windows on a grid of 7 x 7 places; the square root of all is divided by
    its norm. A function of a single image, for images (images, height, width) in [0, 1].
    """
    check_images(images)
    height, width = images.shape[1:]
    cells_y = _window(height, (torch.arange(GRID) + 0.5) * height / GRID - 0.5, POOLING * height / GRID)
    cells_x = _window(width, (torch.arange(GRID) + 0.5) * width / GRID - 0.5, POOLING * width / GRID)
    blurs = [
        (_window(height, torch.arange(height).float(), s), _window(width, torch.arange(width).float(), s))
        for s in SCALES
    ]
    out = torch.empty(len(images), FEATURES)
    for block in range(0, len(images), BLOCK):
        part = images[block : block + BLOCK].float()
        pooled = []
        for blur_y, blur_x in blurs:
            smooth = torch.nn.functional.pad(blur_y @ (part @ blur_x.T), (1, 1, 1, 1))
            across = (smooth[:, 1:-1, 2:] - smooth[:, 1:-1, :-2]) / 2.0
            down = (smooth[:, 2:, 1:-1] - smooth[:, :-2, 1:-1]) / 2.0
            length = torch.hypot(across, down)
            angle = torch.atan2(down, across) * (ORIENTATIONS / (2.0 * math.pi))
            angle = torch.where(angle < 0.0, angle + ORIENTATIONS, angle)  # from 0, the direction to the right
            for k in range(ORIENTATIONS):
                away = (angle - k).abs_()
                away = torch.minimum(away, ORIENTATIONS - away) if k == 0 else away
                share = away.neg_().add_(1.0).clamp_min_(0.0)
                pooled.append(cells_y @ (share.mul_(length) @ cells_x.T))
        energy = torch.stack(pooled, dim=1).flatten(1).clamp_min(0.0).sqrt()
        out[block : block + BLOCK] = energy / torch.linalg.vector_norm(energy, dim=1, keepdim=True).clamp_min(1e-12)
    return out
