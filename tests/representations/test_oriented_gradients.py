import math
from typing import Any

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.public.oriented_gradients import FEATURES, GRID, ORIENTATIONS, align, oriented_energies


def images(count: int, side: int) -> torch.Tensor:
    return torch.rand(count, side, side, generator=torch.Generator().manual_seed(0))


def ellipse(
    row: float = 28.0, column: float = 28.0, *, tall: float = 6.0, wide: float = 3.0, shear: float = 0.0
) -> torch.Tensor:
    y, x = torch.meshgrid(torch.arange(56.0), torch.arange(56.0), indexing="ij")
    across = x - column - shear * (y - row)
    return torch.exp(-((y - row) / tall).square() / 2 - (across / wide).square() / 2)[None]


@pytest.mark.parametrize(
    "moved", [{"row": 33.0}, {"column": 21.0}, {"shear": 0.5}, {"shear": -0.4, "row": 25.0}, {"tall": 9.0, "wide": 4.5}]
)
def test_a_moved_sheared_or_scaled_figure_has_one_standard_position(moved: dict[str, Any]) -> None:
    assert torch.allclose(align(ellipse(**moved)), align(ellipse()), atol=0.02)


def test_the_ink_is_centred_and_has_the_standard_spread() -> None:
    image = align(ellipse(row=20.0, column=33.0, shear=0.3), size=40, spread=5.0)[0]
    # variances 36 and 9: the longer side becomes 5, the shorter 5 sqrt(3 / 6)
    for ink, deviation in ((image.sum(1), 5.0), (image.sum(0), 5.0 * math.sqrt(0.5))):
        at, share = torch.arange(40.0), ink / ink.sum()
        assert float(share @ at) == pytest.approx(19.5, abs=0.05)
        assert math.sqrt(float(share @ (at - share @ at).square())) == pytest.approx(deviation, rel=0.03)


def test_each_image_alone_decides_its_place() -> None:
    several = torch.cat([ellipse(), ellipse(row=20.0), torch.zeros(1, 56, 56)])
    assert torch.allclose(align(several), torch.cat([align(image[None]) for image in several]), atol=1e-5)
    assert bool(torch.isfinite(align(several)).all())
    assert align(several[:0]).shape == (0, 28, 28)


@pytest.mark.parametrize("wrong", [images(1, 28)[0], torch.zeros(1, 28, 28, dtype=torch.uint8), 1.0 + images(1, 8)])
def test_what_is_no_grey_image_is_refused(wrong: torch.Tensor) -> None:
    with pytest.raises(InputError, match="grey images"):
        align(wrong)
    with pytest.raises(InputError, match="divide bytes by 255"):
        oriented_energies(images(1, 28) * 255)


def test_rows_have_unit_length_and_depend_on_one_image_alone() -> None:
    rows = oriented_energies(images(1100, 12))
    assert rows.shape == (1100, FEATURES)
    assert torch.allclose(rows.norm(dim=1), torch.ones(1100), atol=1e-5)
    assert torch.allclose(rows[[0, 700]], oriented_energies(images(1100, 12)[[0, 700]]), atol=1e-6)


@pytest.mark.parametrize(("slope", "direction"), [((1, 0), 0), ((1, 1), 1), ((0, 1), 2), ((-1, 0), 4), ((0, -1), 6)])
def test_a_ramp_has_the_orientation_of_its_gradient(slope: tuple[int, ...], direction: int) -> None:
    y, x = torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij")
    ramp = 0.5 + (slope[0] * (x - 13.5) + slope[1] * (y - 13.5)) / 60.0
    centre = oriented_energies(ramp[None]).reshape(2, ORIENTATIONS, GRID, GRID)[0, :, 3, 3].square()
    assert int(centre.argmax()) == direction
    assert float(centre[direction] / centre.sum()) > 0.98


def test_brightness_and_contrast_do_not_matter_and_an_empty_image_is_zero() -> None:
    assert torch.allclose(oriented_energies(images(1, 28)), oriented_energies(0.3 * images(1, 28)), atol=1e-5)
    assert float(oriented_energies(torch.zeros(1, 28, 28)).abs().max()) == 0.0
