"""Defences of a gradient."""

import pytest
import torch
from scipy import stats
from typed import exact_error

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, make
from tensorldp_papers.attacks.defences import Defence, prune

GRADIENTS = torch.randn(3, 1000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def protect(defence: Defence, gradients: torch.Tensor = GRADIENTS) -> torch.Tensor:
    return defence.protect(gradients, torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("name", "strength"), [("none", 0), ("noise", 0.0), ("prune", 0.0), ("clip", 1e9), ("local", 1), ("dropout", 1.0)]
)
def test_a_defence_of_no_strength_is_none(name: str, strength: float) -> None:
    defence = Defence(name, strength)
    assert torch.equal(protect(defence), GRADIENTS)
    assert defence.steps == 1
    mask = defence.keep_mask(100, torch.Generator())
    assert mask is None or bool(mask.all())


def test_clipping_keeps_directions_and_bounds_norms() -> None:
    clipped = protect(Defence("clip", 2.0))
    torch.testing.assert_close(clipped.norm(dim=1), torch.full((3,), 2.0, dtype=torch.float64))
    torch.testing.assert_close(torch.cosine_similarity(clipped, GRADIENTS), torch.ones(3, dtype=torch.float64))
    assert torch.equal(protect(Defence("clip", 2.0), GRADIENTS / 1e6), GRADIENTS / 1e6)
    assert Ball(2.0, (300_000,)).excess(protect(Defence("clip", 2.0), torch.full((2, 300_000), 7.0))) <= 0.0


def test_pruning_keeps_the_largest() -> None:
    pruned = prune(GRADIENTS, 0.9)
    kept = pruned != 0
    assert kept.sum(dim=1).tolist() == [100, 100, 100]
    assert torch.equal(pruned[kept], GRADIENTS[kept])
    assert all(row[keep].min() >= row[~keep].max() for row, keep in zip(GRADIENTS.abs(), kept, strict=True))


def test_noise_is_gaussian_of_that_deviation_and_a_mechanism_sees_a_clipped_gradient() -> None:
    """DP-SGD's step: noise of the analytic Gaussian for the ball that gradients are clipped to. False alarms: 2e-6."""
    ball = Ball(0.5, (1000,))
    mechanism = make("gaussian-analytic", epsilon=1.0, domain=ball)
    sigma = (exact_error(mechanism) / 1000) ** 0.5
    for noise in (
        (protect(Defence("noise", 0.3)) - GRADIENTS) / 0.3,
        (protect(Defence("mechanism", 0.5, mechanism)) - ball.project(GRADIENTS)) / sigma,
    ):
        assert stats.kstest(noise.flatten().numpy(), "norm").pvalue > 1e-6


def test_dropout_keeps_each_neuron_with_its_probability_and_never_none() -> None:
    kept = [
        Defence("dropout", probability).keep_mask(neurons, torch.Generator().manual_seed(2))
        for probability, neurons in ((0.25, 20000), (1e-9, 5))
    ]
    many, few = (int(mask.sum()) for mask in kept if mask is not None)
    assert stats.binomtest(many, 20000, 0.25).pvalue > 1e-6
    assert few == 1


@pytest.mark.parametrize(
    ("name", "strength", "words"),
    [
        ("nose", 1.0, "unknown defence 'nose': did you mean 'noise'"),
        ("clip", 0.0, "strength of the defence clip must be a finite number above 0, got 0"),
        ("prune", 1.0, r"strength of the defence prune must be a number in \[0, 1\), got 1"),
        ("dropout", 0.0, r"in \(0, 1\], got 0"),
        ("local", 0, "at least 1, got 0"),
        ("noise", -1.0, "at least 0, got -1"),
        ("mechanism", 1.0, "needs a mechanism"),
    ],
)
def test_a_wrong_strength_is_one_sentence(name: str, strength: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Defence(name, strength)
