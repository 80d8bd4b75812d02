"""Oriented gradient energies on two scales, pooled over a grid: what a histogram of gradients measures."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tensorldp_papers.public.alignment import check_images

SCALES = (0.7, 1.6)  # standard deviations of the blur before the gradient, in pixels
ORIENTATIONS = 8
GRID = 7
POOLING = 0.62  # standard deviation of a cell's window, in cells
FEATURES = len(SCALES) * ORIENTATIONS * GRID * GRID
BLOCK = 500  # images at a time: their energies fit a cache


def _window(rows: int, at: Tensor, deviation: float) -> Tensor:
    """Gaussian weights (len(at), rows) about the positions `at`, each row with sum 1."""
    weights = torch.exp(-((torch.arange(rows) - at[:, None]) / deviation).square() / 2.0)
    return weights / weights.sum(dim=1, keepdim=True)


def oriented_energies(images: Tensor) -> Tensor:
    """Square roots of gradient energies by orientation, scale and place, as unit rows (images, 784).

    An image is blurred at two scales; its gradient's length goes to the two nearest of 8 directions, in linear shares;
    each direction is averaged with Gaussian windows on a grid of 7 x 7 places; the square root of all is divided by
    its norm. A function of one image alone.

    Args:
        images: (images, height, width) in [0, 1].

    Raises:
        InputError: if the images are no grey images in [0, 1].
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
