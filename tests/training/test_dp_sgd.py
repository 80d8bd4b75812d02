"""DP-SGD through opacus."""

import math

import torch
from torch import nn

from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.private_sgd import GradientNoise, fit_private


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def data() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(40, 5, generator=gen(3)), torch.arange(40) % 3


def model() -> nn.Module:
    return build("linear", Task((5,), 3), gen())


def weights(trained: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in trained.parameters()])


def train(noise_multiplier: float, clip: float, lot: int = 40, steps: int = 1, seed: int = 0) -> torch.Tensor:
    release = GradientNoise("l2", clip, (noise_multiplier * clip,) * 2, (15, 3))
    return weights(
        fit_private(
            model(),
            *data(),
            release,
            lot=lot,
            steps=steps,
            learning_rate=0.5,
            generator=gen(seed),
            noise=gen(seed + 1),
        )
    )


def test_without_noise_and_with_a_loose_clip_one_full_lot_is_one_gradient_step() -> None:
    plain = model()
    nn.functional.cross_entropy(plain(data()[0]), data()[1]).backward()
    expected = torch.cat([(p - 0.5 * p.grad).detach().reshape(-1) for p in plain.parameters()])  # type: ignore[operator]
    assert torch.allclose(train(0.0, 1e6), expected, atol=1e-6)


def test_each_example_is_clipped_by_itself() -> None:
    clip, total = 0.1, torch.zeros(18)
    for x, y in zip(*data(), strict=True):
        plain = model()
        nn.functional.cross_entropy(plain(x[None]), y[None]).backward()
        gradient = torch.cat([p.grad.reshape(-1) for p in plain.parameters()])  # type: ignore[union-attr]
        total += gradient * min(1.0, clip / float(gradient.norm()))
    assert torch.allclose(train(0.0, clip), weights(model()) - 0.5 * total / 40, atol=1e-5)


def test_the_noise_has_the_stated_deviation() -> None:
    quiet = train(0.0, 0.1)
    noise = torch.cat([train(5.0, 0.1, seed=10 * k) - quiet for k in range(60)])
    sigma = 0.5 * 5.0 * 0.1 / 40  # learning rate x z x clip / lot
    n = noise.numel()
    chi_square = float((noise / sigma).square().sum())
    assert abs(chi_square - n) < 5.0 * math.sqrt(2 * n)


def test_the_same_seeds_give_the_same_weights() -> None:
    assert torch.equal(train(1.0, 1.0, lot=8, steps=5), train(1.0, 1.0, lot=8, steps=5))
    assert not torch.equal(train(1.0, 1.0, lot=8, steps=5), train(1.0, 1.0, lot=8, steps=5, seed=1))


def test_a_lot_that_happens_to_be_empty_is_a_step_of_noise() -> None:
    found = train(1.0, 1.0, lot=1, steps=20)
    assert bool(torch.isfinite(found).all())
