import math
from typing import Any

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.public.oriented_gradients import align


def ellipse(
    row: float = 28.0, column: float = 28.0, *, tall: float = 6.0, wide: float = 3.0, shear: float = 0.0, side: int = 56
) -> torch.Tensor:
    y, x = torch.meshgrid(torch.arange(side).float(), torch.arange(side).float(), indexing="ij")
    across = x - column - shear * (y - row)
    return torch.exp(-((y - row) / tall).square() / 2 - (across / wide).square() / 2)[None]


@pytest.mark.parametrize(
    "moved", [{"row": 33.0}, {"column": 21.0}, {"shear": 0.5}, {"shear": -0.4, "row": 25.0}, {"tall": 9.0, "wide": 4.5}]
)
def test_a_moved_sheared_or_scaled_figure_has_one_standard_position(moved: dict[str, Any]) -> None:
    assert torch.allclose(align(ellipse(**moved)), align(ellipse()), atol=0.02)


def test_the_ink_is_centred_and_has_the_standard_spread() -> None:
    image = align(ellipse(row=20.0, column=33.0, shear=0.3), size=40, spread=5.0)[0]
    at = torch.arange(40).float()
    mass = image.sum()
    row, column = (image.sum(1) @ at) / mass, (image.sum(0) @ at) / mass
    assert float(row) == pytest.approx(19.5, abs=0.05)
    assert float(column) == pytest.approx(19.5, abs=0.05)
    tall = (image.sum(1) @ (at - row).square()) / mass
    wide = (image.sum(0) @ (at - column).square()) / mass
    # variances 36 and 9: the longer side becomes 5, the shorter 5 sqrt(3 / 6)
    assert math.sqrt(float(tall)) == pytest.approx(5.0, rel=0.03)
    assert math.sqrt(float(wide)) == pytest.approx(5.0 * math.sqrt(0.5), rel=0.03)


def test_each_image_alone_decides_its_place() -> None:
    images = torch.cat([ellipse(), ellipse(row=20.0), torch.zeros(1, 56, 56)])
    together = align(images)
    for k in range(3):
        assert torch.allclose(together[k], align(images[k : k + 1])[0], atol=1e-5)
    assert bool(torch.isfinite(together).all())
    assert align(images[:0]).shape == (0, 28, 28)


@pytest.mark.parametrize(
    "images", [torch.zeros(28, 28), torch.zeros(1, 28, 28, dtype=torch.uint8), torch.ones(1, 8, 8) * 2]
)
def test_what_is_no_grey_image_is_refused(images: torch.Tensor) -> None:
    with pytest.raises(InputError, match="grey images"):
        align(images)
