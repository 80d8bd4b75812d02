"""Federated training on defended gradients."""

from typing import Any

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from tensorldp.randomness import generator
from tensorldp_papers.attacks.defences import Defence, fit_defended
from tensorldp_papers.nets.classify import predict
from tensorldp_papers.nets.registry import seed_model

X = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
Y = torch.from_numpy(load_digits().target)


def trained(layers: list[nn.Module], defence: Defence, records: int, **training: Any) -> nn.Module:
    model = nn.Sequential(nn.Flatten(), *layers)
    seed_model(model, generator("model"))
    streams = {"generator": generator("users"), "noise": generator("noise")}
    fit_defended(model, X[:records], Y[:records], defence, learning_rate=0.02, **training, **streams)
    return model


@pytest.mark.parametrize(
    ("defence", "low", "high"),
    [
        (Defence(), 0.75, 1.0),
        (Defence("clip", 1.0), 0.7, 1.0),
        (Defence("dropout", 0.5), 0.6, 1.0),
        (Defence("noise", 3.0), 0.0, 0.45),
    ],
)
def test_it_learns_without_a_defence_and_noise_costs_accuracy(defence: Defence, low: float, high: float) -> None:
    model = trained([nn.Linear(64, 32), nn.Sigmoid(), nn.Linear(32, 10)], defence, 1400, users=32, rounds=60)
    assert low < float((predict(model, X[1400:]) == Y[1400:]).double().mean()) < high


def test_one_user_and_one_round_is_an_adam_step_on_that_gradient() -> None:
    model = seed_model(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), generator("model"))
    gradients = torch.autograd.grad(nn.functional.cross_entropy(model(X[:1]), Y[:1]), list(model.parameters()))
    after = trained([nn.Linear(64, 10)], Defence(), 1, users=1, rounds=1)
    for old, gradient, new in zip(model.parameters(), gradients, after.parameters(), strict=True):
        torch.testing.assert_close(new, old - 0.02 * gradient / (gradient.abs() + 1e-8), atol=1e-6, rtol=1e-4)
