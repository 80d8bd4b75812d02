"""Image scores against their definitions."""

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.attacks.quality import image_scores, nearest

IMAGES = torch.rand(4, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 0.5


def test_a_mean_squared_error_of_a_hundredth_is_20_db() -> None:
    scores = image_scores(IMAGES + 0.1, IMAGES)
    assert scores["psnr"] == pytest.approx(20.0)
    assert scores["rmse"] == pytest.approx(0.1)
    assert 0.5 < scores["ssim"] < 1.0


def test_a_copy_is_perfect_and_the_nearest_of_all() -> None:
    assert image_scores(IMAGES, IMAGES) == {"rmse": 0.0, "psnr": 100.0, "ssim": pytest.approx(1.0)}
    assert nearest(IMAGES.flip(0), IMAGES).tolist() == [3, 2, 1, 0]


def test_colour_images_are_scored() -> None:
    colour = IMAGES.unsqueeze(3).expand(4, 8, 8, 3)
    assert image_scores(colour + 0.1, colour)["psnr"] == pytest.approx(20.0)


def test_images_smaller_than_the_window_are_refused() -> None:
    with pytest.raises(InputError, match="at least 7 x 7 pixels"):
        image_scores(IMAGES[:, :5], IMAGES[:, :5])
