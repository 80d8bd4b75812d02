"""Clipped sums of per-example gradients, against a loop over examples and against opacus."""

import pytest
import torch
from opacus import GradSampleModule
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.example_gradients import ExampleGradients
from tensorldp_papers.nets.private_sgd import clipped_sums

TASKS = {
    "lenet": Task((28, 28), 10),
    "lenet_tanh": Task((8, 8), 10),
    "small_cnn": Task((32, 32, 3), 10),
    "mlp_12": Task((30,), 2),
}


def problem(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    task, source = TASKS[name], torch.Generator().manual_seed(1)
    shape = task.shape if len(task.shape) == 1 else (3 if len(task.shape) == 3 else 1, *task.shape[:2])
    x = torch.randn(9, *shape, generator=source)
    return build(name, task, torch.Generator().manual_seed(0)).train(), x, torch.arange(9) % task.classes


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("name", sorted(TASKS))
def test_they_are_those_of_one_backward_pass_for_each_example_and_of_opacus(name: str, norm: str) -> None:
    model, x, y = problem(name)
    parameters = list(model.parameters())
    each = []
    for i in range(len(x)):
        loss = nn.functional.cross_entropy(model(x[i : i + 1]), y[i : i + 1])
        each.append(torch.autograd.grad(loss, parameters))
    gradients = [torch.stack(list(part)) for part in zip(*each, strict=True)]
    clip = 0.5 * float(torch.cat([g.flatten(1) for g in gradients], dim=1).norm(dim=1).median())
    clip = clip if norm == "l2" else clip / 100
    expected = clipped_sums([g.clone() for g in gradients], norm, clip)
    found = ExampleGradients(model).clipped_sums(x, y, norm, clip)
    wrapped = GradSampleModule(model, loss_reduction="sum")
    nn.functional.cross_entropy(wrapped(x), y, reduction="sum").backward()
    peers = clipped_sums([p.grad_sample for p in parameters], norm, clip)  # type: ignore[attr-defined]
    for a, b, c in zip(found, expected, peers, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(a, c, rtol=1e-4, atol=1e-6)


def test_a_layer_that_is_used_twice_is_refused() -> None:
    layer = nn.Linear(3, 3)
    with pytest.raises(InputError, match="private steps take a layer Linear once for a batch"):
        ExampleGradients(nn.Sequential(layer, layer)).clipped_sums(torch.ones(2, 3), torch.zeros(2).long(), "l2", 1.0)
    with pytest.raises(InputError, match="on one row for each example"):
        ExampleGradients(layer).clipped_sums(torch.ones(2, 3, 3), torch.zeros(2).long(), "l2", 1.0)


def test_other_layers_are_left_to_opacus() -> None:
    assert ExampleGradients.fits(build("lenet", TASKS["lenet"], torch.Generator()))
    assert not ExampleGradients.fits(build("bilstm", Task((5,), 2, vocabulary=9), torch.Generator()))
    assert not ExampleGradients.fits(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3)))
    assert not ExampleGradients.fits(nn.Linear(3, 3, bias=False))
