import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, make
from tensorldp.randomness import generator
from tensorldp_papers.public.least_squares import least_squares, second_moment
from tensorldp_papers.public.means import nearest_mean


@pytest.mark.parametrize(
    ("name", "epsilon", "d", "options"),
    [("privunit", 1.0, 5, {"lift": False}), ("privunit", 8.0, 40, {"lift": False}), ("gaussian-analytic", 2.0, 5, {})],
)
def test_the_second_moment_is_that_of_releases(name: str, epsilon: float, d: int, options: dict[str, bool]) -> None:
    mechanism = make(name, epsilon=epsilon, domain=Ball(1.0, (d,)), **options)
    x = torch.zeros(60_000, d, dtype=torch.float64)
    x[:, 0] = 1.0
    z = mechanism.privatize(x, generator("moment", name, d))
    known = second_moment(mechanism)
    for squares, expected in ((z[:, 0].square(), known.along + known.around), (z[:, 1].square(), known.around)):
        assert abs(float(squares.mean()) - expected) < 5.0 * float(squares.std()) / 60_000**0.5  # false alarms: 6e-7


def test_at_a_large_epsilon_it_uses_the_covariance_that_the_nearest_mean_does_not() -> None:
    g = torch.Generator().manual_seed(0)
    y = torch.arange(20_000) % 2
    x = torch.randn(20_000, 6, generator=g) * torch.tensor([1.0, 4.0, 4.0, 1.0, 1.0, 1.0])
    x[:, 0] += torch.where(y == 0, -1.0, 1.0)
    x[:, 1] += torch.where(y == 0, -2.0, 2.0)
    x = x / x.norm(dim=1, keepdim=True)
    mechanism = make("privunit", epsilon=20.0, domain=Ball(1.0, (6,)), lift=False)
    released = mechanism.privatize(x, generator("squares"))
    squares = least_squares(released, y, 2, mechanism, ridge=0.1).accuracy(x, y)
    rows = torch.cat([x, torch.ones(20_000, 1)], 1)
    best = torch.linalg.lstsq(rows, torch.nn.functional.one_hot(y).float()).solution
    clean = float(((rows @ best).argmax(1) == y).float().mean())
    assert squares > nearest_mean(released, y, 2).accuracy(x, y) + 0.02
    assert squares > clean - 0.02


def test_a_mechanism_without_a_known_second_moment_is_refused() -> None:
    with pytest.raises(InputError, match="not for laplace"):
        second_moment(make("laplace", epsilon=1.0, domain=Ball(1.0, (4,))))
