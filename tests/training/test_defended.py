"""Federated training on defended gradients."""

import torch
from sklearn.datasets import load_digits
from torch import nn

from tensorldp_papers.attacks.defences import Defence, fit_defended
from tensorldp_papers.nets.classify import predict
from tensorldp_papers.nets.registry import seed_model

X = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
Y = torch.from_numpy(load_digits().target)


def accuracy(defence: Defence) -> float:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Sigmoid(), nn.Linear(32, 10))
    seed_model(model, torch.Generator().manual_seed(0))
    fit_defended(
        model,
        X[:1400],
        Y[:1400],
        defence,
        users=32,
        rounds=60,
        learning_rate=0.02,
        generator=torch.Generator().manual_seed(1),
        noise=torch.Generator().manual_seed(2),
    )
    return float((predict(model, X[1400:]) == Y[1400:]).double().mean())


def test_it_learns_without_a_defence_and_noise_costs_accuracy() -> None:
    plain = accuracy(Defence())
    assert plain > 0.75
    assert accuracy(Defence("clip", 1.0)) > 0.7
    assert accuracy(Defence("dropout", 0.5)) > 0.6
    assert accuracy(Defence("noise", 3.0)) < plain - 0.3


def test_one_user_and_one_round_is_an_adam_step_on_that_gradient() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    seed_model(model, torch.Generator().manual_seed(0))
    before = [p.detach().clone() for p in model.parameters()]
    gradients = torch.autograd.grad(nn.functional.cross_entropy(model(X[:1]), Y[:1]), list(model.parameters()))
    fit_defended(
        model,
        X[:1],
        Y[:1],
        Defence(),
        users=1,
        rounds=1,
        learning_rate=0.02,
        generator=torch.Generator(),
        noise=torch.Generator(),
    )
    for old, gradient, new in zip(before, gradients, model.parameters(), strict=True):
        torch.testing.assert_close(new, old - 0.02 * gradient / (gradient.abs() + 1e-8), atol=1e-6, rtol=1e-4)
