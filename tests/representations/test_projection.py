import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball
from tensorldp_papers.public.projection import discriminant, principal


@pytest.fixture(scope="module")
def blobs() -> tuple[torch.Tensor, ...]:
    """Three classes apart along coordinate 0, with a spread within of 5 along coordinate 1 and of 1 elsewhere."""
    g = torch.Generator().manual_seed(0)
    y = torch.arange(6000) % 3
    x = torch.randn(6000, 6, generator=g)
    x[:, 1] *= 5.0
    x[:, 0] += 3.0 * y
    return x, y


def test_principal_directions_are_those_of_the_covariance(blobs: tuple[torch.Tensor, ...]) -> None:
    x, _ = blobs
    projection = principal(x, 4)
    assert projection.dimension == 4
    assert projection.ball == Ball(1.0, (4,))
    assert abs(float(projection.directions[1, 0])) == pytest.approx(1.0, abs=0.01)
    assert abs(float(projection.directions[0, 1])) == pytest.approx(1.0, abs=0.01)
    assert float(projection.scales[0]) == pytest.approx(5.0, rel=0.05)


def test_the_exponent_one_whitens(blobs: tuple[torch.Tensor, ...]) -> None:
    x, _ = blobs
    rows = principal(x, 5).weighted(1.0).coordinates(x)
    assert torch.allclose(rows.T @ rows / len(rows), torch.eye(5), atol=1e-3)
    assert torch.equal(principal(x, 5).weighted(0.0).coordinates(x), principal(x, 5).coordinates(x))


def test_the_first_discriminant_is_fishers(blobs: tuple[torch.Tensor, ...]) -> None:
    x, y = blobs
    direction = discriminant(x, y, 3, ridge=1e-6).directions[:, 0]
    means = torch.stack([x[y == k].mean(0) for k in range(3)])
    rest = x - means[y]
    fisher = torch.linalg.solve(rest.T @ rest, means[2] - means[0])
    assert abs(float(torch.nn.functional.cosine_similarity(direction, fisher, dim=0))) > 0.999
    within = discriminant(x, y, 3, ridge=1e-6).coordinates(rest + x.mean(0))
    assert torch.allclose(within.T @ within / len(x), torch.eye(3), atol=1e-2)


def test_records_go_to_the_unit_sphere_each_alone(blobs: tuple[torch.Tensor, ...]) -> None:
    x, y = blobs
    projection = discriminant(x, y, 6).first(2)
    rows = projection(x)
    assert torch.allclose(rows.norm(dim=1), torch.ones(len(x)), atol=1e-5)
    assert torch.allclose(rows[:2], projection(x[:2]), atol=1e-6)
    assert projection(projection.centre[None]).tolist() == [[1.0, 0.0]]


def test_what_does_not_fit_is_refused(blobs: tuple[torch.Tensor, ...]) -> None:
    x, y = blobs
    with pytest.raises(InputError, match="one class index each"):
        discriminant(x, y[:5])
    with pytest.raises(InputError, match="must be finite"):
        principal(x * torch.nan)
    with pytest.raises(InputError, match="takes 6 columns, got 5"):
        principal(x)(x[:, :5])
    with pytest.raises(InputError, match="dimension"):
        principal(x, 4).first(5)
    with pytest.raises(InputError, match="exponent"):
        principal(x, 4).weighted(2.0)
