"""Defences of a gradient."""

import pytest
import torch
from scipy import stats
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball
from tensorldp.mechanisms.gaussian import GaussianAnalytic
from tensorldp_papers.attacks.defences import Defence, prune

STREAM = torch.Generator().manual_seed(0)
GRADIENTS = torch.randn(3, 1000, generator=STREAM, dtype=torch.float64)


@pytest.mark.parametrize(
    "defence",
    [
        Defence(),
        Defence("noise", 0.0),
        Defence("prune", 0.0),
        Defence("clip", 1e9),
        Defence("local", 1),
        Defence("dropout", 1.0),
    ],
)
def test_a_defence_of_no_strength_is_none(defence: Defence) -> None:
    assert torch.equal(defence.protect(GRADIENTS, STREAM), GRADIENTS)
    assert defence.steps == 1
    mask = defence.keep_mask(100, STREAM)
    assert mask is None or bool(mask.all())


def test_clipping_keeps_directions_and_bounds_norms() -> None:
    clipped = Defence("clip", 2.0).protect(GRADIENTS, torch.Generator())
    torch.testing.assert_close(clipped.norm(dim=1), torch.full((3,), 2.0, dtype=torch.float64))
    torch.testing.assert_close(torch.cosine_similarity(clipped, GRADIENTS), torch.ones(3, dtype=torch.float64))
    short = GRADIENTS / 1e6
    assert torch.equal(Defence("clip", 2.0).protect(short, torch.Generator()), short)
    many = torch.full((2, 300_000), 7.0)
    assert Ball(2.0, (300_000,)).excess(Defence("clip", 2.0).protect(many, torch.Generator())) <= 0.0


def test_pruning_keeps_the_largest() -> None:
    pruned = prune(GRADIENTS, 0.9)
    kept = pruned != 0
    assert kept.sum(dim=1).tolist() == [100, 100, 100]
    assert torch.equal(pruned[kept], GRADIENTS[kept])
    for row, keep in zip(GRADIENTS.abs(), kept, strict=True):
        assert row[keep].min() >= row[~keep].max()


def test_noise_is_gaussian_of_that_deviation() -> None:
    noise = (Defence("noise", 0.3).protect(GRADIENTS, torch.Generator().manual_seed(1)) - GRADIENTS).flatten() / 0.3
    assert stats.kstest(noise.numpy(), "norm").pvalue > 1e-6


def test_dropout_keeps_each_neuron_with_its_probability() -> None:
    kept = Defence("dropout", 0.25).keep_mask(20000, torch.Generator().manual_seed(2))
    assert kept is not None
    assert stats.binomtest(int(kept.sum()), 20000, 0.25).pvalue > 1e-6
    one = Defence("dropout", 1e-9).keep_mask(5, torch.Generator().manual_seed(2))
    assert one is not None
    assert int(one.sum()) == 1


def test_a_mechanism_sees_a_clipped_gradient() -> None:
    """DP-SGD's step: noise of the analytic Gaussian for the ball that gradients are clipped to."""
    mechanism = make_as(GaussianAnalytic, epsilon=1.0, domain=Ball(0.5, (1000,)))
    defence = Defence("mechanism", 0.5, mechanism)
    noise = defence.protect(GRADIENTS, torch.Generator().manual_seed(3)) - Ball(0.5, (1000,)).project(GRADIENTS)
    sigma = (mechanism.squared_error() / 1000) ** 0.5
    assert stats.kstest((noise / sigma).flatten().numpy(), "norm").pvalue > 1e-6


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
