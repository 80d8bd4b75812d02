"""Altered images: exact shifts and mirror images, and ranges."""

import pytest
import torch

from tensorldp.randomness import generator
from tensorldp_papers.data.images import augment


def ramp() -> torch.Tensor:
    """Images whose pixels are their own column and row, so that a shift can be read off them."""
    rows, columns = torch.meshgrid(torch.arange(20.0), torch.arange(10.0), indexing="ij")
    return torch.stack((columns, rows)).expand(50, 2, 20, 10)


def test_no_alteration_is_the_identity_and_a_sure_flip_the_mirror_image() -> None:
    images = torch.rand(3, 3, 12, 12, generator=generator("images"))
    same = augment(images, generator("a"), shift=0.0, degrees=0.0, flip=0.0)
    assert torch.allclose(same, images, atol=1e-5)
    mirrored = augment(images, generator("a"), shift=0.0, degrees=0.0, flip=1.0)
    assert torch.allclose(mirrored, images.flip(3), atol=1e-5)


def test_shifts_stay_in_their_range_and_vary() -> None:
    moved = augment(ramp(), generator("shift"), shift=0.1, degrees=0.0, flip=0.0)
    across, down = (moved - ramp())[:, 0, 10, 5], (moved - ramp())[:, 1, 10, 5]
    assert float(across.abs().max()) <= 1.0 + 1e-4  # a tenth of 10 columns
    assert 1.0 < float(down.abs().max()) <= 2.0 + 1e-4  # of 20 rows
    assert float(across.std()) == pytest.approx(1 / 3**0.5, rel=0.25)


def test_rotation_turns_about_the_centre_and_keeps_lengths() -> None:
    turned = augment(ramp(), generator("turn"), shift=0.0, degrees=10.0, flip=0.0)
    inner = turned[:, :, 8:12, 4:6]
    assert torch.allclose(inner.mean(dim=(2, 3)), torch.tensor([4.5, 9.5]).expand(50, 2), atol=1e-3)
    right = inner[:, :, 1, 1] - inner[:, :, 1, 0]  # one pixel to the right, in source pixels
    assert torch.allclose(right.norm(dim=1), torch.ones(50), atol=1e-3)
    degrees = torch.rad2deg(torch.atan2(right[:, 1], right[:, 0]))
    assert 8.0 < float(degrees.abs().max()) <= 10.0 + 1e-3
