import pytest
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.public.least_squares import discriminant_from_releases, least_squares, logistic, second_moment
from tensorldp_papers.public.means import LinearScores, nearest_mean
from tensorldp_papers.public.unlabelled import linear_discriminant


def privunit(epsilon: float, d: int = 6) -> Mechanism:
    return make("privunit", epsilon=epsilon, domain=Ball(1.0, (d,)), lift=False)


@pytest.fixture(scope="module")
def stretched() -> tuple[Tensor, Tensor]:
    """Two classes whose common covariance hides what tells them apart from the plain distance."""
    y = torch.arange(20_000) % 2
    x = torch.randn(20_000, 6, generator=generator("stretched")) * torch.tensor([1.0, 4.0, 4.0, 1.0, 1.0, 1.0])
    x[:, :2] += torch.tensor([[-1.0, -2.0], [1.0, 2.0]])[y]
    return torch.nn.functional.normalize(x), y


@pytest.mark.parametrize(
    "mechanism", [privunit(1.0, 5), privunit(8.0, 40), make("gaussian-analytic", epsilon=2.0, domain=Ball(1.0, (5,)))]
)
def test_the_second_moment_is_that_of_releases(mechanism: Mechanism) -> None:
    x = torch.eye(mechanism.size, dtype=torch.float64)[:1].repeat(30_000, 1)
    z = mechanism.privatize(x, generator("moment", mechanism.size))
    known = second_moment(mechanism)
    for squares, expected in ((z[:, 0].square(), known.along + known.around), (z[:, 1].square(), known.around)):
        assert abs(float(squares.mean()) - expected) < 5.0 * float(squares.std()) / 30_000**0.5  # false alarms: 6e-7


def test_with_little_noise_the_learners_use_the_covariance_that_the_nearest_mean_does_not(
    stretched: tuple[Tensor, Tensor],
) -> None:
    x, y = stretched
    released = privunit(20.0).privatize(x, generator("released"))
    rows = torch.cat([x, torch.ones(20_000, 1)], 1)
    best = torch.linalg.lstsq(rows, torch.nn.functional.one_hot(y).float()).solution.T
    clean = {
        least_squares: LinearScores(best[:, :6], best[:, 6]).accuracy(x, y),
        discriminant_from_releases: linear_discriminant(x, y, 2, ridge=0.01).accuracy(x, y),
    }
    for learner, of_records in clean.items():
        found = learner(released, y, 2, privunit(20.0), ridge=0.1).accuracy(x, y)
        assert found > nearest_mean(released, y, 2).accuracy(x, y) + 0.02
        assert abs(found - of_records) < 0.02


def test_where_noise_is_all_there_is_the_discriminant_is_the_nearest_mean(stretched: tuple[Tensor, Tensor]) -> None:
    x, y = (part[:2000] for part in stretched)
    released = privunit(0.5).privatize(x, generator("released"))
    wide = discriminant_from_releases(released, y, 2, privunit(0.5), ridge=1e6)
    assert float((wide.predict(x) == nearest_mean(released, y, 2).predict(x)).double().mean()) > 0.99


def test_a_mechanism_without_a_known_second_moment_is_refused(stretched: tuple[Tensor, Tensor]) -> None:
    laplace = make("laplace", epsilon=1.0, domain=Ball(1.0, (6,)))
    with pytest.raises(InputError, match="not for laplace"):
        second_moment(laplace)
    with pytest.raises(InputError, match="not for laplace"):
        discriminant_from_releases(*stretched, 2, laplace)


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_separates_what_a_line_separates_whatever_the_scales(classes: int) -> None:
    y = torch.arange(600) % classes
    x = torch.nn.functional.one_hot(y, 5).float() + 0.1 * torch.randn(600, 5, generator=generator("clear"))
    x = x * torch.tensor([1.0, 1e3, 1e-3, 1.0, 1.0]) + 7.0
    assert logistic(x, y, classes).accuracy(x, y) == 1.0


def test_the_logistic_scores_of_two_classes_are_log_odds() -> None:
    g = generator("odds")
    x = torch.randn(4000, 1, generator=g)
    y = (torch.rand(4000, generator=g) < torch.sigmoid(2.0 * x[:, 0])).long()
    odds = logistic(x, y, 2, strength=1e4)(x).diff(dim=1)
    slope = float((odds[0] - odds[1]) / (x[0] - x[1]))
    assert abs(slope - 2.0) < 0.4  # five deviations of the estimate from 4,000 draws
