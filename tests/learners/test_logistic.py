import pytest
import torch

from tensorldp.randomness import generator
from tensorldp_papers.public.least_squares import logistic


@pytest.mark.parametrize("classes", [2, 3])
def test_it_separates_what_a_line_separates_whatever_the_scales(classes: int) -> None:
    y = torch.arange(600) % classes
    x = torch.nn.functional.one_hot(y, 5).float() + 0.1 * torch.randn(600, 5, generator=generator("clear"))
    x = x * torch.tensor([1.0, 1e3, 1e-3, 1.0, 1.0]) + 7.0
    assert logistic(x, y, classes).accuracy(x, y) == 1.0


def test_the_scores_of_two_classes_are_log_odds() -> None:
    g = generator("odds")
    x = torch.randn(4000, 1, generator=g)
    y = (torch.rand(4000, generator=g) < torch.sigmoid(2.0 * x[:, 0])).long()
    fit = logistic(x, y, 2, strength=1e4)
    odds = fit(x)[:, 1] - fit(x)[:, 0]
    slope = float((odds[0] - odds[1]) / (x[0] - x[1]))
    assert abs(slope - 2.0) < 0.4  # five deviations of the estimate from 4,000 draws
