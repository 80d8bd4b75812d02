"""The loop in C++ against automatic differentiation in float64."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.compiled.loop import CompiledLoop, planned
from tensorldp_papers.nets.networks import MLP, PldpCNN, SmallCNN
from tensorldp_papers.nets.reference_loops import plain_fit
from tensorldp_papers.nets.simulation import ClientSimulation
from tensorldp_papers.run.native import LOOPS, available

pytestmark = pytest.mark.skipif(not available(LOOPS), reason="no C++ compiler here")
COUNT = 21

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "pldp_cnn": (lambda: PldpCNN(1, 28, 28, 10), (1, 28, 28)),
    "small_cnn": (lambda: SmallCNN(1, 28, 28, 10), (1, 28, 28)),
    "small_cnn in colour": (lambda: SmallCNN(3, 32, 32, 10), (3, 32, 32)),
    "small_cnn of odd sides": (lambda: SmallCNN(2, 9, 13, 3), (2, 9, 13)),
    "mlp": (lambda: MLP(17, 3), (17,)),
    "mlp on images": (lambda: nn.Sequential(nn.Flatten(), MLP(3 * 4 * 5, 4)), (3, 4, 5)),
    "no pooling, other activations": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 17, 3), nn.Tanh(), nn.Conv2d(17, 33, 1), nn.MaxPool2d(2), nn.Sigmoid(), nn.Conv2d(33, 5, 2),
            nn.Flatten(), nn.Linear(5 * 9, 40), nn.Tanh(), nn.Linear(40, 7),
        ),
        (1, 10, 10),
    ),
}  # fmt: skip


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def setting(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    make, shape = NETWORKS[name]
    model = make()
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=gen(i)) / max(1, parameter[0].numel()) ** 0.5)
    layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
    y = torch.randint(0, layers[-1].out_features, (COUNT,), generator=gen(91))
    return model, torch.randn(COUNT, *shape, generator=gen(90)), y


def stepped(model: nn.Module, x: Tensor, y: Tensor, rate: float) -> list[Tensor]:
    """One step of SGD on all records, by autograd in float64."""
    exact = copy.deepcopy(model).double()
    nn.functional.cross_entropy(exact(x.double()), y).backward()
    return [(p.detach() - rate * p.grad).float() for p in exact.parameters() if p.grad is not None]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_step_is_that_of_autograd(name: str) -> None:
    model, x, y = setting(name)
    kept = [x.clone(), *(p.detach().clone() for p in model.parameters())]
    found = CompiledLoop(model, x, y, learning_rate=1.0).sgd(list(model.parameters()), torch.arange(COUNT)[None])
    assert all(torch.equal(a, b) for a, b in zip(kept, [x, *model.parameters()], strict=True))
    expected = stepped(model, x, y, 1.0)
    for a, b, before in zip(found, expected, model.parameters(), strict=True):
        assert a.shape == b.shape
        assert float((b - before).detach().abs().max()) > 1e-3  # the gradient, beside which the tolerance is small
        torch.testing.assert_close(a, b, rtol=0, atol=2e-6)


def test_smaller_batches_average_over_their_own_records() -> None:
    model, x, y = setting("small_cnn of odd sides")
    plan = planned(torch.tensor([4, 1, 20, 7, 0]), 2)
    assert plan.tolist() == [[4, 1], [20, 7], [0, -1]]
    found = CompiledLoop(model, x, y, learning_rate=0.5).sgd(list(model.parameters()), plan)
    own = copy.deepcopy(model)
    for batch in ([4, 1], [20, 7], [0]):
        values = stepped(own, x[batch], y[batch], 0.5)
        with torch.no_grad():
            for p, value in zip(own.parameters(), values, strict=True):
                p.copy_(value)
    for a, b in zip(found, own.parameters(), strict=True):
        torch.testing.assert_close(a, b.detach(), rtol=0, atol=5e-6)


def test_a_short_last_batch_is_left_out_where_it_is_too_short() -> None:
    assert planned(torch.arange(5), 2, least=2).tolist() == [[0, 1], [2, 3]]
    assert planned(torch.arange(4), 2, least=2).tolist() == [[0, 1], [2, 3]]
    assert planned(torch.arange(3), 8).tolist() == [[0, 1, 2, -1, -1, -1, -1, -1]]


@pytest.mark.parametrize("name", ["small_cnn of odd sides", "mlp"])
def test_training_with_adam_is_that_of_the_plain_loop(name: str) -> None:
    model, x, y = setting(name)
    made: list[nn.Module] = []
    compiled: dict[str, Any] = {"precision": "compiled"}
    for loop, options in ((fit, compiled), (fit, compiled), (plain_fit, {})):
        own = copy.deepcopy(model)
        made.append(loop(own, x, y, epochs=3, batch_size=4, learning_rate=1e-3, generator=gen(), **options))
    for a, b, c in zip(*(own.parameters() for own in made), strict=True):
        assert torch.equal(a, b)
        torch.testing.assert_close(a, c, rtol=1e-3, atol=2e-5)  # 15 steps of Adam of 1e-3 each


@pytest.mark.parametrize("name", ["pldp_cnn", "mlp"])
def test_clients_are_those_of_the_other_loop(name: str) -> None:
    side = 28 if name == "pldp_cnn" else 8
    x, y = torch.randn(40, 1, side, side, generator=gen(1)), torch.randint(0, 10, (40,), generator=gen(2))
    model, shards = build(name, Task((side, side), 10), gen(4)), list(torch.arange(40).split([7, 20, 13]))
    start = torch.cat([p.detach().reshape(-1) for p in model.parameters()])

    def trained(**options: object) -> Tensor:
        sim = ClientSimulation(model, x, y, shards, epochs=2, batch_size=8, learning_rate=0.05, **options)  # type: ignore[arg-type]
        return sim.train(start, [2, 0], gen)

    found = trained(compiled=True)
    assert torch.equal(found, trained(compiled=True, threads=2))
    torch.testing.assert_close(found, trained(strategy="loop", compiled=True), rtol=0, atol=1e-5)
    assert not torch.equal(found, trained(strategy="loop", compiled=True))


def test_a_network_that_diverges_is_told_by_its_weights() -> None:
    model, x, y = setting("small_cnn")
    found = CompiledLoop(model, x, y, learning_rate=1e30).sgd(
        list(model.parameters()), torch.arange(COUNT).expand(4, -1)
    )
    assert not all(bool(part.isfinite().all()) for part in found)


@pytest.mark.parametrize(
    "layer",
    [nn.Dropout(0.1), nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2), nn.Linear(49, 2), nn.Conv2d(1, 2, (3, 1))],
    ids=str,
)
def test_other_layers_are_named(layer: nn.Module) -> None:
    x = torch.zeros(2, 1, 7, 7)
    with pytest.raises(InputError, match="the compiled loop cannot train a layer"):
        CompiledLoop(nn.Sequential(layer, nn.Flatten(), nn.Linear(49, 2)), x, torch.tensor([0, 1]), learning_rate=0.1)


def test_mistakes_are_one_sentence() -> None:
    model, x, y = setting("mlp")
    with pytest.raises(InputError, match="labels must be 0 to 2, got 0 to 3"):
        CompiledLoop(model, x, torch.where(y == 1, 3, 0), learning_rate=0.1)
    with pytest.raises(InputError, match="as many labels as records"):
        CompiledLoop(model, x, y[1:], learning_rate=0.1)
    with pytest.raises(InputError, match="the model takes 17 inputs, a record has 16"):
        CompiledLoop(model, x[:, 1:], y, learning_rate=0.1)
    with pytest.raises(InputError, match="learning_rate"):
        CompiledLoop(model, x, y, learning_rate=0.0)
    loop = CompiledLoop(model, x, y, learning_rate=0.1)
    with pytest.raises(InputError, match="indices of 21 records, or -1"):
        loop.sgd(list(model.parameters()), torch.tensor([[0, 21]]))
    with pytest.raises(InputError, match="every step of a plan needs a record"):
        loop.sgd(list(model.parameters()), torch.tensor([[-1, -1]]))
