"""Clients simulated together against a plain loop of nn.Module and torch.optim.SGD."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.federated import get_vector, set_vector
from tensorldp_papers.nets.simulation import ClientSimulation

SIZES = (7, 20, 33, 41, 1)  # below, at and above a batch of 20, so that clients take 1, 1, 2, 3 and 1 steps an epoch
EPOCHS, BATCH, RATE = 2, 20, 0.05


def gen(*parts: int) -> torch.Generator:
    return torch.Generator().manual_seed(sum(part * 1000**i for i, part in enumerate(parts)))


def setting(name: str) -> tuple[nn.Module, Tensor, Tensor, list[Tensor]]:
    side = 28 if name == "pldp_cnn" else 8
    x = torch.randn(sum(SIZES), 1, side, side, generator=gen(1))
    y = torch.randint(0, 10, (len(x),), generator=gen(2))
    shards = list(torch.randperm(len(x), generator=gen(3)).split(SIZES))
    return build(name, Task((side, side), 10), gen(4)), x, y, shards


def simulation(name: str, **options: object) -> ClientSimulation:
    model, x, y, shards = setting(name)
    return ClientSimulation(model, x, y, shards, epochs=EPOCHS, batch_size=BATCH, learning_rate=RATE, **options)  # type: ignore[arg-type]


def plain_loop(name: str, clients: list[int]) -> Tensor:
    model, x, y, shards = setting(name)
    start = get_vector(model)
    out = []
    for client in clients:
        set_vector(model, start)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        order = gen(5, client)
        for _ in range(EPOCHS):
            shuffled = shards[client][torch.randperm(len(shards[client]), generator=order)]
            for batch in shuffled.split(BATCH):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
                optimizer.step()
        out.append(get_vector(model))
    return torch.stack(out)


def round_of(sim: ClientSimulation, name: str, clients: list[int]) -> Tensor:
    start = get_vector(setting(name)[0])
    kept = start.clone()
    out = sim.train(start, clients, lambda client: gen(5, client))
    assert torch.equal(start, kept)
    return out


@pytest.mark.parametrize("name", ["pldp_cnn", "mlp", "small_cnn"])
@pytest.mark.parametrize("strategy", ["loop", "batched"])
def test_one_round_equals_the_plain_loop(name: str, strategy: str) -> None:
    clients = [0, 1, 2, 3, 4]
    expected = plain_loop(name, clients)
    found = round_of(simulation(name, strategy=strategy), name, clients)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    moved = (expected - get_vector(setting(name)[0])).abs().max()
    assert moved > 1e-3  # far more than the tolerance


@pytest.mark.parametrize("name", ["mlp", "pldp_cnn"])
@pytest.mark.parametrize("strategy", ["loop", "batched"])
def test_a_client_does_not_depend_on_its_company_or_on_chunks(name: str, strategy: str) -> None:
    together = round_of(simulation(name, strategy=strategy), name, [0, 1, 2, 3, 4])
    assert simulation(name, strategy=strategy).chunk >= 5
    tight = simulation(name, strategy=strategy, memory_mb=0.1)
    assert tight.chunk == 1
    torch.testing.assert_close(round_of(tight, name, [0, 1, 2, 3, 4]), together, atol=1e-6, rtol=0)
    torch.testing.assert_close(round_of(tight, name, [3, 1]), together[[3, 1]], atol=1e-6, rtol=0)


def test_threads_change_no_bit() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)  # as every stage does; PyTorch's own threads may change how it sums
        one, two = (round_of(simulation("pldp_cnn", strategy="loop", threads=n), "pldp_cnn", [2, 0, 3]) for n in (1, 2))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(one, two)


def test_the_way_is_chosen_by_device_and_model() -> None:
    assert simulation("pldp_cnn").strategy == "loop"
    assert simulation("mlp").strategy == "batched"
    assert simulation("pldp_cnn", strategy="batched").strategy == "batched"
    assert simulation("pldp_cnn").size == 21_840  # PLDP-FL, 260 + 5,020 + 16,050 + 510


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_agrees_with_the_plain_loop() -> None:
    model, x, y, shards = setting("pldp_cnn")
    sim = ClientSimulation(
        model.cuda(), x.cuda(), y.cuda(), shards, epochs=EPOCHS, batch_size=BATCH, learning_rate=RATE
    )
    assert sim.strategy == "batched"
    found = sim.train(get_vector(setting("pldp_cnn")[0]).cuda(), [0, 1, 2, 3, 4], lambda client: gen(5, client))
    torch.testing.assert_close(found.cpu(), plain_loop("pldp_cnn", [0, 1, 2, 3, 4]), atol=1e-4, rtol=0)


def test_mistakes_are_named() -> None:
    _, x, y, shards = setting("mlp")
    settings: dict[str, Any] = {"epochs": 1, "batch_size": 20, "learning_rate": 0.1}
    with pytest.raises(InputError, match="a layer SeededDropout"):
        ClientSimulation(build("fcn", Task((8, 8), 10), gen(0)), x, y, shards, **settings)
    with pytest.raises(InputError, match="at least 16 x 16, got 8 x 8"):
        build("pldp_cnn", Task((8, 8), 10), gen(0))
