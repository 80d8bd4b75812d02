import pytest
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.public.least_squares import discriminant_from_releases
from tensorldp_papers.public.means import nearest_mean
from tensorldp_papers.public.unlabelled import linear_discriminant


def stretched(count: int = 20_000) -> tuple[Tensor, Tensor]:
    """Two classes whose common covariance hides what tells them apart from the plain distance."""
    y = torch.arange(count) % 2
    x = torch.randn(count, 6, generator=generator("stretched")) * torch.tensor([1.0, 4.0, 4.0, 1.0, 1.0, 1.0])
    x[:, 0] += torch.where(y == 0, -1.0, 1.0)
    x[:, 1] += torch.where(y == 0, -2.0, 2.0)
    return x / x.norm(dim=1, keepdim=True), y


def privunit(epsilon: float) -> Mechanism:
    return make("privunit", epsilon=epsilon, domain=Ball(1.0, (6,)), lift=False)


def test_with_little_noise_it_is_the_discriminant_of_the_records() -> None:
    x, y = stretched()
    mechanism = privunit(20.0)
    released = mechanism.privatize(x, generator("released"))
    found = discriminant_from_releases(released, y, 2, mechanism, ridge=0.1).accuracy(x, y)
    assert found > nearest_mean(released, y, 2).accuracy(x, y) + 0.02
    assert abs(found - linear_discriminant(x, y, 2, ridge=0.01).accuracy(x, y)) < 0.02


def test_where_noise_is_all_there_is_it_is_the_nearest_mean() -> None:
    x, y = stretched(2000)
    mechanism = privunit(0.5)
    released = mechanism.privatize(x, generator("released"))
    wide = discriminant_from_releases(released, y, 2, mechanism, ridge=1e6)
    plain = nearest_mean(released, y, 2)
    assert float((wide.predict(x) == plain.predict(x)).double().mean()) > 0.99


def test_a_mechanism_without_a_known_second_moment_is_refused() -> None:
    x, y = stretched(20)
    with pytest.raises(InputError, match="not for laplace"):
        discriminant_from_releases(x, y, 2, make("laplace", epsilon=1.0, domain=Ball(1.0, (6,))))
