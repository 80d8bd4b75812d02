"""TLDP's three-user loop, how its parameters are released, and federated training on defended gradients."""

import math
from typing import Any

import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from tensorldp.curves.gaussian import GaussianCurve, mu_of
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.attacks.defences import Defence, fit_defended
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit, predict
from tensorldp_papers.nets.federated import ParameterRelease, get_vector, set_vector, trainable
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.papers.tldp.rounds import clipped, federated_average, split_users

SHAPES = [(3, 5), (3,)]
X, Y = torch.randn(60, 5, generator=generator("x")), torch.arange(60) % 3
TRAINING: dict[str, Any] = {"epochs": 1, "batch_size": 16, "learning_rate": 0.01}
STEP = 0.01  # Adam moves a weight by about this much at each step


def linear() -> nn.Module:
    return build("linear", Task((5,), 3), generator("model"))


def release(name: str, where: str, rounds: int = 1, users: int = 3, **options: Any) -> ParameterRelease:
    epsilon = math.inf if name == "none" else 2.0

    def maker(domain: Box, **extra: Any) -> Mechanism:
        return make(name, domain=domain, **{"epsilon": epsilon, "delta": 1e-5, **options, **extra})

    settings: dict[str, Any] = {"shapes": SHAPES, "layers": [18], "clip": 1.0, "users": users, "rounds": rounds}
    return ParameterRelease(maker, name, epsilon=epsilon, delta=1e-5, where=where, **settings)


def both(name: str, **options: Any) -> tuple[ParameterRelease, ParameterRelease]:
    """The releases of users, and of a server that they trust."""
    return release(name, "user", **options), release(name, "server", **options)


def run(where: str, users: int = 3, name: str = "none", rounds: int = 2) -> Tensor:
    model, shards = linear(), split_users(60, users, generator("users"))
    how = release(name, where, rounds=rounds, users=users)
    streams: dict[str, Any] = {"order": lambda user: generator("order", user), "noise": generator("noise")}
    federated_average(model, X, Y, shards, how, **TRAINING, **streams, what="test")
    return get_vector(model)


def test_vector_and_parameters_are_inverse() -> None:
    model, vector = linear(), torch.arange(18.0)
    set_vector(model, vector)
    assert torch.equal(get_vector(model), vector)
    assert [tuple(p.shape) for p in trainable(model)] == SHAPES


def test_one_user_without_noise_is_plain_training_with_clipping() -> None:
    model, order = linear(), generator("order", 0)
    shard = split_users(60, 1, generator("users"))[0]
    for _ in range(2):
        fit(model, X[shard], Y[shard], generator=order, **TRAINING)
        set_vector(model, clipped(get_vector(model), 1.0))
    torch.testing.assert_close(run("user", users=1), get_vector(model), rtol=0.0, atol=STEP / 1000)


def test_without_noise_user_and_server_agree_and_with_it_three_users_have_a_third_of_its_variance() -> None:
    torch.testing.assert_close(run("user"), run("server"), rtol=0.0, atol=STEP / 1000)
    quiet = run("user", rounds=1)
    user, server = (run(where, name="tldp-g", rounds=1) - quiet for where in ("user", "server"))
    assert 0.2 < float(user.std()) * math.sqrt(3) < 2.5  # TLDP-G: sigma = Delta / sqrt(2 epsilon) = 1
    assert float(server.std()) > 0.0


def test_diverged_parameters_are_clipped() -> None:
    vector = torch.tensor([math.nan, math.inf, -math.inf, 0.5, 7.0])
    assert clipped(vector, 1.0).tolist() == [0.0, 1.0, -1.0, 0.5, 1.0]
    assert Box(-0.1, 0.1, (5,)).excess(clipped(vector, 0.1).unsqueeze(0)) <= 0.0  # float32's 0.1 is outside


def test_users_share_all_records_and_none_twice() -> None:
    shards = split_users(10, 3, generator())
    assert sorted(torch.cat(shards).tolist()) == list(range(10))
    assert [len(s) for s in shards] == [4, 3, 3]


def test_rounds_compose_and_a_trusted_server_divides_by_the_users() -> None:
    user, server = both("laplace", rounds=4)
    assert user.run_curve().pure_epsilon == pytest.approx(4 * 2.0)
    assert server.run_curve().pure_epsilon == pytest.approx(4 * 2.0 / 3)
    assert "not local" in "; ".join(server.notes)


@pytest.mark.parametrize(
    "name", ["gaussian", "gaussian-analytic", "gaussian-classical", "gaussian-per-element", "idn", "mvg", "llagp"]
)
def test_behind_a_server_a_users_share_of_gaussian_noise_is_a_third_of_mu(name: str) -> None:
    """The same noise on an average, that one of three users moves by a third of the range."""
    user, server = both(name)
    assert torch.equal(*(one.privatize(torch.zeros(18), 0, generator()) for one in (user, server)))
    for delta in (1e-3, 1e-8):
        whole, part = (one.run_curve().epsilon(delta) for one in (user, server))
        assert GaussianCurve(mu_of(whole, delta) / 3).epsilon(delta) == pytest.approx(part, rel=1e-6)
    assert not any("upper bound" in note for note in server.notes)


@pytest.mark.parametrize("name", ["laplace", "tldp-l", "dphsgd", "plu-fedoa"])
def test_behind_a_server_a_users_share_of_laplace_noise_is_a_third_of_its_pure_epsilon(name: str) -> None:
    user, server = (one.run_curve() for one in both(name))
    assert server.pure_epsilon == pytest.approx(user.pure_epsilon / 3)
    assert server.atom == user.atom  # an element that is kept gives any change away


def test_behind_a_server_an_average_that_is_clipped_keeps_the_whole_guarantee() -> None:
    user, server = both("dphsgd", threshold=0.5)
    assert server.run_curve().pure_epsilon == user.run_curve().pure_epsilon
    assert any("upper bound" in note for note in server.notes)


def test_tensor_mechanisms_split_the_budget_over_tensors() -> None:
    found = release("idn", "user", rounds=4)
    assert [(m.epsilon, m.delta) for m in found._mechanisms(0)] == [(1.0, 5e-6)] * 2
    assert found.run_curve().epsilon(1e-5) < 4 * 2.0  # the source's own accounting holds
    assert found.privatize(torch.zeros(18), 0, generator()).shape == (18,)


# training on defended gradients

DIGITS = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
LABELS = torch.from_numpy(load_digits().target)


def defended(layers: list[nn.Module], defence: Defence, records: int, **training: Any) -> nn.Module:
    model = nn.Sequential(nn.Flatten(), *layers)
    seed_model(model, generator("model"))
    streams: dict[str, Any] = {"generator": generator("users"), "noise": generator("noise")}
    fit_defended(model, DIGITS[:records], LABELS[:records], defence, learning_rate=0.02, **training, **streams)
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
    model = defended([nn.Linear(64, 32), nn.Sigmoid(), nn.Linear(32, 10)], defence, 1400, users=32, rounds=60)
    assert low < float((predict(model, DIGITS[1400:]) == LABELS[1400:]).double().mean()) < high


def test_one_user_and_one_round_is_an_adam_step_on_that_gradient() -> None:
    model = seed_model(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), generator("model"))
    gradients = torch.autograd.grad(
        nn.functional.cross_entropy(model(DIGITS[:1]), LABELS[:1]), list(model.parameters())
    )
    after = defended([nn.Linear(64, 10)], Defence(), 1, users=1, rounds=1)
    for old, gradient, new in zip(model.parameters(), gradients, after.parameters(), strict=True):
        torch.testing.assert_close(new, old - 0.02 * gradient / (gradient.abs() + 1e-8), atol=1e-6, rtol=1e-4)
