"""Clients simulated together against a plain loop of torch.optim.SGD, and how records are dealt to them."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.federated import get_vector, set_vector
from tensorldp_papers.papers.pldp_fl.simulation import ClientSimulation, deal
from tensorldp_papers.run.native import LOOPS, available

SIZES = (7, 20, 33, 41, 1)  # below, at and above a batch of 20, so that clients take 1, 1, 2, 3 and 1 steps an epoch
EVERYONE = [0, 1, 2, 3, 4]
TRAINING: dict[str, Any] = {"epochs": 2, "batch_size": 20, "learning_rate": 0.05}
COMPILER = pytest.mark.skipif(not available(LOOPS), reason="no C++ compiler here")
WAYS = [{"strategy": "loop"}, {"strategy": "batched"}, pytest.param({"compiled": True}, marks=COMPILER)]
each_way = pytest.mark.parametrize("way", WAYS, ids=str)


def setting(name: str) -> tuple[nn.Module, Tensor, Tensor, list[Tensor]]:
    side = 28 if name == "pldp_cnn" else 8
    x = torch.randn(sum(SIZES), 1, side, side, generator=generator("x"))
    y = torch.randint(0, 10, (len(x),), generator=generator("y"))
    shards = list(torch.randperm(len(x), generator=generator("shards")).split(SIZES))
    return build(name, Task((side, side), 10), generator("model")), x, y, shards


def simulation(name: str, **options: Any) -> ClientSimulation:
    model, x, y, shards = setting(name)
    return ClientSimulation(model, x, y, shards, **TRAINING, **options)


@cache
def plain_loop(name: str) -> Tensor:
    model, x, y, shards = setting(name)
    start = get_vector(model)
    out = []
    for client in EVERYONE:
        set_vector(model, start)
        optimizer = torch.optim.SGD(model.parameters(), lr=TRAINING["learning_rate"])
        order = generator("order", client)
        for _ in range(TRAINING["epochs"]):
            shuffled = shards[client][torch.randperm(len(shards[client]), generator=order)]
            for batch in shuffled.split(TRAINING["batch_size"]):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
                optimizer.step()
        out.append(get_vector(model))
    assert (torch.stack(out) - start).abs().max() > 1e-3  # far more than the tolerances
    return torch.stack(out)


def round_of(sim: ClientSimulation, name: str, clients: list[int] = EVERYONE) -> Tensor:
    start = get_vector(setting(name)[0])
    kept = start.clone()
    out = sim.train(start, clients, lambda client: generator("order", client))
    assert torch.equal(start, kept)
    return out


@each_way
@pytest.mark.parametrize("name", ["pldp_cnn", "mlp", "small_cnn"])
def test_one_round_equals_the_plain_loop_and_a_client_does_not_depend_on_its_company_or_on_chunks(
    name: str, way: dict[str, Any]
) -> None:
    sim, tight = simulation(name, **way), simulation(name, memory_mb=0.1, **way)
    assert (sim.chunk >= 5, tight.chunk) == (True, 1)
    together = round_of(sim, name)
    torch.testing.assert_close(together, plain_loop(name), atol=1e-5, rtol=0)
    torch.testing.assert_close(round_of(tight, name, [3, 1]), together[[3, 1]], atol=1e-6, rtol=0)
    assert round_of(sim, name, []).shape == (0, together.shape[1])


@each_way
def test_threads_change_no_bit(way: dict[str, Any]) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as every stage does; PyTorch's own threads may change how it sums
    try:
        one, two = (round_of(simulation("pldp_cnn", threads=n, **way), "pldp_cnn", [2, 0, 3]) for n in (1, 2))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(one, two)


@COMPILER
def test_the_compiled_loop_is_another_one() -> None:
    ways: list[dict[str, Any]] = [{"compiled": True}, {"strategy": "loop", "compiled": True}]
    assert not torch.equal(*(round_of(simulation("pldp_cnn", **way), "pldp_cnn", [2, 3]) for way in ways))


def test_the_way_is_chosen_by_device_and_model() -> None:
    assert simulation("pldp_cnn").strategy == "loop"
    assert simulation("mlp").strategy == "batched"
    assert simulation("mlp", strategy="batched", compiled=True).compiled is None
    assert simulation("pldp_cnn", strategy="batched").strategy == "batched"
    assert simulation("pldp_cnn").size == 21_840  # PLDP-FL, 260 + 5,020 + 16,050 + 510


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_agrees_with_the_plain_loop() -> None:
    model, x, y, shards = setting("pldp_cnn")
    sim = ClientSimulation(model.cuda(), x.cuda(), y.cuda(), shards, **TRAINING)
    assert sim.strategy == "batched"
    found = sim.train(get_vector(setting("pldp_cnn")[0]).cuda(), EVERYONE, lambda client: generator("order", client))
    torch.testing.assert_close(found.cpu(), plain_loop("pldp_cnn"), atol=1e-4, rtol=0)


def test_models_that_clients_cannot_share_are_named() -> None:
    _, x, y, shards = setting("mlp")
    with pytest.raises(InputError, match="a layer SeededDropout"):
        ClientSimulation(build("fcn", Task((8, 8), 10), generator()), x, y, shards, **TRAINING)
    with pytest.raises(InputError, match="at least 16 x 16, got 8 x 8"):
        build("pldp_cnn", Task((8, 8), 10), generator())


# how records are dealt


def shares(y: Tensor, shards: list[Tensor]) -> Tensor:
    """(clients, classes) how many records of a class each client has; every record has gone to one client."""
    assert sorted(torch.cat(shards).tolist()) == list(range(len(y)))
    assert min(len(shard) for shard in shards) > 0
    return torch.stack([y[shard].bincount(minlength=int(y.max()) + 1) for shard in shards])


def test_iid_clients_are_equal_in_size() -> None:
    y = torch.arange(103) % 10
    assert shares(y, deal(y, 10, generator(), split="iid")).sum(dim=1).tolist() == [11] * 3 + [10] * 7


def test_dirichlet_shares_have_the_variance_of_their_law() -> None:
    """A share of Dir(alpha) among n is Beta(alpha, (n-1) alpha): variance (1/n)(1 - 1/n) / (n alpha + 1)."""
    n, alpha, classes = 10, 0.5, 400
    y = torch.arange(classes * 200) % classes
    found = shares(y, deal(y, n, generator(), split="dirichlet", alpha=alpha)).double() / 200
    # 4000 shares of kurtosis below 12: the estimate's relative deviation is below 6 %
    assert float(found.var()) == pytest.approx((1 / n) * (1 - 1 / n) / (n * alpha + 1), rel=0.3)
    assert torch.allclose(found.sum(0), torch.ones(classes, dtype=torch.float64))


@pytest.mark.parametrize("alpha", [1e-6, 0.001])
def test_a_small_alpha_gives_each_class_to_one_client(alpha: float) -> None:
    """Two clients share a class with a probability of about 2 alpha ln(100), below 0.01 for one class."""
    y = torch.arange(2000) % 20
    held = shares(y, deal(y, 2, generator(), split="dirichlet", alpha=alpha)) > 0
    assert int((held.sum(dim=0) > 1).sum()) <= 1


def test_a_client_without_data_is_named() -> None:
    with pytest.raises(InputError, match="client 3 of 5 has no data"):
        deal(torch.zeros(3).long(), 5, generator())
    with pytest.raises(InputError, match=r"client \d+ of 50 has no data"):
        deal(torch.arange(60) % 2, 50, generator(), split="dirichlet", alpha=0.01)
