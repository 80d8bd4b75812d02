"""The loop in C++ against automatic differentiation; whole trainings are in test_classify.py and test_simulation.py."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets.compiled.loop import CompiledLoop, planned
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.nets.networks import MLP, PldpCNN, SmallCNN
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
    "flattened twice": (
        lambda: nn.Sequential(nn.Conv2d(2, 3, 2), nn.ReLU(), nn.Flatten(), nn.Flatten(), MLP(3 * 3 * 4, 4)), (2, 4, 5)
    ),
    "no pooling, other activations": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 17, 3), nn.Tanh(), nn.Conv2d(17, 33, 1), nn.MaxPool2d(2), nn.Sigmoid(), nn.Conv2d(33, 5, 2),
            nn.Flatten(), nn.Linear(5 * 9, 40), nn.Tanh(), nn.Linear(40, 7),
        ),
        (1, 10, 10),
    ),
}  # fmt: skip


def setting(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    make, shape = NETWORKS[name]
    model = make()
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator(i)) / max(1, parameter[0].numel()) ** 0.5)
    layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
    y = torch.randint(0, layers[-1].out_features, (COUNT,), generator=generator("y"))
    return model, torch.randn(COUNT, *shape, generator=generator("x")), y


@pytest.mark.parametrize(
    ("name", "batches"),
    [*((name, [range(COUNT)]) for name in NETWORKS), ("small_cnn of odd sides", [(4, 1), (20, 7), (0,)])],
)
def test_steps_are_those_of_autograd_and_batches_average_over_their_own_records(
    name: str, batches: list[list[int]]
) -> None:
    model, x, y = setting(name)
    exact, kept = copy.deepcopy(model).double(), [x.clone(), get_vector(model)]
    optimizer = torch.optim.SGD(exact.parameters(), lr=0.5)
    for batch in map(list, batches):
        optimizer.zero_grad()
        nn.functional.cross_entropy(exact(x[batch].double()), y[batch]).backward()
        optimizer.step()
    plan = planned(torch.tensor([record for batch in batches for record in batch]), len(batches[0]))
    found = CompiledLoop(model, x, y, learning_rate=0.5).sgd(list(model.parameters()), [plan[:1], plan])
    assert all(torch.equal(a, b) for a, b in zip(kept, [x, get_vector(model)], strict=True))
    for (_, a), b, before in zip(found, exact.parameters(), model.parameters(), strict=True):
        assert a.shape == b.shape
        assert float((b - before).detach().abs().max()) > 1e-3  # the gradient, beside which the tolerance is small
        torch.testing.assert_close(a, b.detach().float(), rtol=0, atol=2e-6 * len(batches))


def test_a_plan_is_filled_up_and_a_last_batch_that_is_too_short_is_left_out() -> None:
    assert planned(torch.tensor([4, 1, 20, 7, 0]), 2).tolist() == [[4, 1], [20, 7], [0, -1]]
    assert planned(torch.arange(5), 2, least=2).tolist() == [[0, 1], [2, 3]]
    assert planned(torch.arange(4), 2, least=2).tolist() == [[0, 1], [2, 3]]
    assert planned(torch.arange(3), 8).tolist() == [[0, 1, 2, -1, -1, -1, -1, -1]]


def test_a_network_that_diverges_is_told_by_its_weights() -> None:
    model, x, y = setting("small_cnn")
    plan = torch.arange(COUNT).expand(4, -1)
    found = CompiledLoop(model, x, y, learning_rate=1e30).sgd(list(model.parameters()), [plan])
    assert not all(bool(part.isfinite().all()) for part in found)


@pytest.mark.parametrize(
    "layer",
    [nn.Dropout(0.1), nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2), nn.Linear(49, 2), nn.Conv2d(1, 2, (3, 1))],
    ids=str,
)
def test_other_layers_are_named(layer: nn.Module) -> None:
    model, x = nn.Sequential(layer, nn.Flatten(), nn.Linear(49, 2)), torch.zeros(2, 1, 7, 7)
    with pytest.raises(InputError, match="the compiled loop cannot train a layer"):
        CompiledLoop(model, x, torch.tensor([0, 1]), learning_rate=0.1)


@pytest.mark.parametrize(
    "layers",
    [
        [nn.Conv2d(1, 4, 3), nn.MaxPool2d(2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4, 2)],
        [nn.Conv2d(1, 4, 8), nn.Flatten(), nn.Linear(4, 2)],
        [nn.Conv2d(1, 4, 7), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4, 2)],
        [nn.Conv2d(2, 4, 7), nn.Flatten(), nn.Linear(4, 2)],
        [nn.Conv2d(1, 4, 7), nn.Flatten(), nn.Linear(5, 2)],
        [nn.Flatten(), nn.Linear(49, 30), nn.Linear(20, 2)],
    ],
)
def test_layers_that_do_not_fit_together_are_named(layers: list[nn.Module]) -> None:
    with pytest.raises(InputError, match="the compiled loop cannot train a layer"):
        CompiledLoop(nn.Sequential(*layers), torch.zeros(2, 1, 7, 7), torch.tensor([0, 1]), learning_rate=0.1)


SHARED = nn.Linear(7, 7)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([nn.Conv2d(1, 2, 6), nn.Flatten()], "one score for each class"),
        ([nn.Conv2d(1, 2, 7)], "one score for each class"),
        ([nn.Flatten()], "one score for each class"),
        ([nn.Flatten(), nn.Linear(49, 7), SHARED, SHARED], "each layer once"),
    ],
)
def test_networks_of_another_form_are_refused(layers: list[nn.Module], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CompiledLoop(nn.Sequential(*layers), torch.zeros(2, 1, 7, 7), torch.tensor([0, 1]), learning_rate=0.1)


@pytest.mark.parametrize(
    ("labels", "narrower", "rate", "message"),
    [
        ([3] * COUNT, 0, 0.1, "labels must be 0 to 2, got 3 to 3"),
        ([0] * 20, 0, 0.1, "as many labels as records"),
        ([0] * COUNT, 1, 0.1, "the model takes 17 inputs, a record has 16"),
        ([0] * COUNT, 0, 0.0, "learning_rate"),
    ],
)
def test_mistakes_are_one_sentence(labels: list[int], narrower: int, rate: float, message: str) -> None:
    model, x, _ = setting("mlp")
    with pytest.raises(InputError, match=message):
        CompiledLoop(model, x[:, narrower:], torch.tensor(labels), learning_rate=rate)


@pytest.mark.parametrize(
    ("record", "message"), [(21, "indices of 21 records, or -1"), (-1, "every step of a plan needs a record")]
)
def test_plans_without_a_record_of_theirs_are_refused(record: int, message: str) -> None:
    model, x, y = setting("mlp")
    with pytest.raises(InputError, match=message):
        CompiledLoop(model, x, y, learning_rate=0.1).sgd(list(model.parameters()), [torch.tensor([[record, record]])])
