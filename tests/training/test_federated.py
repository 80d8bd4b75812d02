"""TLDP's three-user loop and how its parameters are released."""

import math
from typing import Any

import pytest
import torch

from tensorldp.curves.gaussian import GaussianCurve, mu_of
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.federated import (
    ParameterRelease,
    clipped,
    federated_average,
    get_vector,
    set_vector,
    split_users,
    trainable,
)

SHAPES = [(3, 5), (3,)]
STEP = 0.01  # Adam moves a weight by about this much at each step


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def release(
    name: str, epsilon: float = 2.0, where: str = "user", rounds: int = 4, users: int = 3, **options: Any
) -> ParameterRelease:
    def maker(domain: Box, **extra: Any) -> Mechanism:
        return make(name, domain=domain, **{"epsilon": epsilon, "delta": 1e-5, **options, **extra})

    return ParameterRelease(
        maker,
        name,
        epsilon=epsilon,
        delta=1e-5,
        shapes=SHAPES,
        layers=[18],
        clip=1.0,
        users=users,
        where=where,
        rounds=rounds,
    )


def run(where: str, users: int = 3, name: str = "none", rounds: int = 2) -> torch.Tensor:
    x, y = torch.randn(60, 5, generator=gen()), torch.arange(60) % 3
    model = build("linear", Task((5,), 3), gen())
    federated_average(
        model,
        x,
        y,
        split_users(60, users, gen()),
        release(name, epsilon=math.inf if name == "none" else 2.0, where=where, rounds=rounds, users=users),
        epochs=1,
        batch_size=16,
        learning_rate=STEP,
        order=lambda user: gen(user),
        noise=gen(5),
        what="test",
    )
    return get_vector(model)


def test_vector_and_parameters_are_inverse() -> None:
    model = build("linear", Task((5,), 3), gen())
    vector = torch.arange(18.0)
    set_vector(model, vector)
    assert torch.equal(get_vector(model), vector)
    assert [tuple(p.shape) for p in trainable(model)] == SHAPES


def test_one_user_without_noise_is_plain_training_with_clipping() -> None:
    x, y = torch.randn(60, 5, generator=gen()), torch.arange(60) % 3
    model = build("linear", Task((5,), 3), gen())
    shard = split_users(60, 1, gen())[0]
    order = gen(0)
    for _ in range(2):
        fit(model, x[shard], y[shard], epochs=1, batch_size=16, learning_rate=STEP, generator=order)
        set_vector(model, clipped(get_vector(model), 1.0))
    torch.testing.assert_close(run("user", users=1), get_vector(model), rtol=0.0, atol=STEP / 1000)


def test_without_noise_user_and_server_agree() -> None:
    torch.testing.assert_close(run("user"), run("server"), rtol=0.0, atol=STEP / 1000)


def test_noise_on_three_users_averages_to_a_third_of_the_variance() -> None:
    quiet = run("user", rounds=1)
    scale = 2.0 / 2.0  # TLDP-G: sigma = Delta / sqrt(2 epsilon)
    user = run("user", name="tldp-g", rounds=1) - quiet
    server = run("server", name="tldp-g", rounds=1) - quiet
    assert 0.2 < float(user.std()) / (scale / math.sqrt(3)) < 2.5
    assert float(server.std()) > 0.0


def test_diverged_parameters_are_clipped() -> None:
    vector = torch.tensor([math.nan, math.inf, -math.inf, 0.5, 7.0])
    assert clipped(vector, 1.0).tolist() == [0.0, 1.0, -1.0, 0.5, 1.0]
    assert Box(-0.1, 0.1, (5,)).excess(clipped(vector, 0.1).unsqueeze(0)) <= 0.0  # float32's 0.1 is outside


def test_users_share_all_records_and_none_twice() -> None:
    shards = split_users(10, 3, gen())
    assert sorted(torch.cat(shards).tolist()) == list(range(10))
    assert [len(s) for s in shards] == [4, 3, 3]


def test_rounds_compose_and_a_trusted_server_divides_by_the_users() -> None:
    user = release("laplace").run_curve()
    server = release("laplace", where="server").run_curve()
    assert user.pure_epsilon == pytest.approx(4 * 2.0)
    assert server.pure_epsilon == pytest.approx(4 * 2.0 / 3)
    note = "; ".join(release("laplace", where="server").notes)
    assert "not local" in note


@pytest.mark.parametrize(
    "name", ["gaussian", "gaussian-analytic", "gaussian-classical", "gaussian-per-element", "idn", "mvg", "llagp"]
)
def test_behind_a_server_a_users_share_of_gaussian_noise_is_a_third_of_mu(name: str) -> None:
    """The same noise on an average, that one of three users moves by a third of the range."""
    user, server = (release(name, where=where, rounds=1) for where in ("user", "server"))
    drawn = [one.privatize(torch.zeros(18), 0, gen()) for one in (user, server)]
    assert torch.equal(*drawn)
    for delta in (1e-3, 1e-5, 1e-8):
        whole, part = (one.run_curve().epsilon(delta) for one in (user, server))
        assert GaussianCurve(mu_of(whole, delta) / 3).epsilon(delta) == pytest.approx(part, rel=1e-6)
    assert not any("upper bound" in note for note in server.notes)


@pytest.mark.parametrize("name", ["laplace", "tldp-l", "dphsgd", "plu-fedoa"])
def test_behind_a_server_a_users_share_of_laplace_noise_is_a_third_of_its_pure_epsilon(name: str) -> None:
    user, server = (release(name, where=where, rounds=1).run_curve() for where in ("user", "server"))
    assert server.pure_epsilon == pytest.approx(user.pure_epsilon / 3)
    assert server.atom == user.atom  # an element that is kept gives any change away


def test_behind_a_server_an_average_that_is_clipped_keeps_the_whole_guarantee() -> None:
    user, server = (release("dphsgd", where=where, rounds=1, threshold=0.5) for where in ("user", "server"))
    assert server.run_curve().pure_epsilon == user.run_curve().pure_epsilon
    assert any("upper bound" in note for note in server.notes)


def test_tensor_mechanisms_split_the_budget_over_tensors() -> None:
    found = release("idn")
    assert len(found._mechanisms(0)) == 2
    assert all(m.epsilon == 1.0 and m.delta == 5e-6 for m in found._mechanisms(0))
    assert found.run_curve().epsilon(1e-5) < 4 * 2.0  # the source's own accounting holds
    vector = torch.zeros(18)
    assert found.privatize(vector, 0, gen()).shape == (18,)
