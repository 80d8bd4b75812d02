import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.public.oriented_gradients import FEATURES, GRID, ORIENTATIONS, oriented_energies


def test_rows_have_unit_length_and_depend_on_one_image_alone() -> None:
    images = torch.rand(1100, 12, 12, generator=torch.Generator().manual_seed(0))
    rows = oriented_energies(images)
    assert rows.shape == (1100, FEATURES)
    assert torch.allclose(rows.norm(dim=1), torch.ones(1100), atol=1e-5)
    assert torch.allclose(rows[[0, 700]], oriented_energies(images[[0, 700]]), atol=1e-6)


@pytest.mark.parametrize(("slope", "direction"), [((1, 0), 0), ((1, 1), 1), ((0, 1), 2), ((-1, 0), 4), ((0, -1), 6)])
def test_a_ramp_has_the_orientation_of_its_gradient(slope: tuple[int, ...], direction: int) -> None:
    y, x = torch.meshgrid(torch.arange(28).float(), torch.arange(28).float(), indexing="ij")
    ramp = 0.5 + (slope[0] * (x - 13.5) + slope[1] * (y - 13.5)) / 60.0
    row = oriented_energies(ramp[None]).reshape(2, ORIENTATIONS, GRID, GRID)
    centre = row[0, :, 3, 3].square()
    assert int(centre.argmax()) == direction
    assert float(centre[direction] / centre.sum()) > 0.98


def test_brightness_and_contrast_do_not_matter_and_an_empty_image_is_zero() -> None:
    image = torch.rand(1, 28, 28, generator=torch.Generator().manual_seed(1))
    inside = oriented_energies(0.3 * image)
    assert torch.allclose(oriented_energies(image), inside, atol=1e-5)
    assert float(oriented_energies(torch.zeros(1, 28, 28)).abs().max()) == 0.0
    with pytest.raises(InputError, match="divide bytes by 255"):
        oriented_energies(image * 255)
