"""Clipped sums in C++ against automatic differentiation of each example, and what one example may change of them."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.compiled.clipped import BATCH, CompiledGradients
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.nets.private_sgd import GradientNoise, Norm, fit_private
from tensorldp_papers.run.native import LOOPS, available
from tensorldp_papers.run.precision import Precision

pytestmark = pytest.mark.skipif(not available(LOOPS), reason="no C++ compiler here")
COUNT = 2 * BATCH + 5
MODELS: dict[str, tuple[str, tuple[int, ...]]] = {
    "lenet": ("lenet", (28, 28)),
    "lenet on digits": ("lenet", (8, 8)),
    "lenet in colour": ("lenet", (32, 32, 3)),
    "small_cnn": ("small_cnn", (28, 28)),
    "mlp_12": ("mlp_12", (30,)),
    "mlp_10": ("mlp_10", (30,)),
    "mlp_10 in colour": ("mlp_10", (5, 6, 3)),
}
each_model = pytest.mark.parametrize("name", MODELS)
each_norm = pytest.mark.parametrize("norm", ["l2", "linf"])


def setting(name: str, scale: float = 1.0) -> tuple[nn.Module, Tensor, Tensor]:
    """Its records are none whose gradient jumps within rounding: a ReLU of 1e-8, or a maximum of equal pixels."""
    kind, shape = MODELS[name]
    model = build(kind, Task(shape, 4), generator("model")).train()
    inputs = shape if len(shape) == 1 else ((*shape, 1)[2], *shape[:2])
    return model, scale * torch.randn(COUNT, *inputs, generator=generator("records")), torch.arange(COUNT) % 4


def own_gradients(model: nn.Module, x: Tensor, y: Tensor) -> list[Tensor]:
    """The gradient of each example, flat, in float64."""
    exact = copy.deepcopy(model).double()
    losses = [nn.functional.cross_entropy(exact(x[i : i + 1].double()), y[i : i + 1]) for i in range(len(x))]
    parts = [torch.autograd.grad(loss, list(exact.parameters())) for loss in losses]
    return [torch.cat([g.flatten() for g in part]) for part in parts]


def sums_of(model: nn.Module, x: Tensor, y: Tensor, norm: str, clip: float) -> Tensor:
    found = CompiledGradients(model, x.shape[1:]).clipped_sums(x, y, norm, clip)
    assert [g.shape for g in found] == [p.shape for p in model.parameters()]
    assert all(g.dtype == torch.float64 for g in found)
    return torch.cat([g.flatten() for g in found])


@each_model
@each_norm
def test_clipped_sums_are_those_of_a_loop_over_examples(name: str, norm: Norm) -> None:
    model, x, y = setting(name)
    each = own_gradients(model, x, y)
    middle = sorted(float(g.norm()) for g in each)[COUNT // 2]  # half of the examples are clipped
    clip = middle if norm == "l2" else middle / math.sqrt(each[0].numel())
    if norm == "l2":
        expected = torch.stack([g * min(1.0, clip / float(g.norm())) for g in each]).sum(dim=0)
    else:
        expected = torch.stack([g.clamp(-clip, clip) for g in each]).sum(dim=0)
    torch.testing.assert_close(sums_of(model, x, y, norm, clip), expected, rtol=0, atol=2e-6 * COUNT * clip)


@each_model
@each_norm
def test_what_an_example_changes_of_the_sum_is_its_own_clipped_gradient(name: str, norm: Norm) -> None:
    """As computed, that is: beside any other examples, and at most as long as the clip."""
    clip = 1e-3
    model, x, y = setting(name, scale=40.0)
    whole, alone = sums_of(model, x, y, norm, clip), sums_of(model, x[:1], y[:1], norm, clip)
    change = whole - sums_of(model, x[1:], y[1:], norm, clip)
    assert float((change - alone).abs().max()) <= 1e-12 * COUNT * clip
    assert 0.0 < float(alone.norm(p=2 if norm == "l2" else math.inf)) <= clip * (1.0 + 1e-14)


@each_norm
@pytest.mark.parametrize("name", ["lenet on digits", "mlp_12"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_example_whose_gradient_is_not_finite_changes_no_more_than_another(
    name: str, norm: Norm, bad: float
) -> None:
    model, x, y = setting(name)
    x = x.clone()
    x[3].view(-1)[2] = bad
    found = sums_of(model, x, y, norm, 0.3)
    change = found - sums_of(model, torch.cat((x[:3], x[4:])), torch.cat((y[:3], y[4:])), norm, 0.3)
    assert bool(found.isfinite().all())
    assert float(change.norm(p=2 if norm == "l2" else math.inf)) <= 0.3 * (1.0 + 1e-11)


@each_norm
def test_a_run_in_cpp_is_the_run_in_pytorch_to_rounding_with_the_same_lots_and_noise(norm: Norm) -> None:
    """A lot of one of 133 records is often empty."""
    precisions: tuple[Precision, ...] = ("compiled", "float32")
    for lot in (60, 1):
        ends = []
        for precision in precisions:
            model, x, y = setting("lenet on digits")
            sizes = tuple(p.numel() for p in model.parameters())
            release = GradientNoise(norm, 0.05, (0.01,) * len(sizes), sizes)
            before = get_vector(model)
            fit_private(
                model,
                x,
                y,
                release,
                lot=lot,
                steps=12,
                learning_rate=0.5,
                generator=generator("lots"),
                noise=generator("noise"),
                precision=precision,
            )
            ends.append(get_vector(model))
            assert float((ends[-1] - before).abs().max()) > 1e-3
        torch.testing.assert_close(ends[0], ends[1], rtol=0, atol=1e-5)


@each_norm
def test_nothing_is_left_behind_by_a_lot_with_other_examples(norm: Norm) -> None:
    model, x, y = setting("lenet on digits")
    gradients, bad = CompiledGradients(model, x.shape[1:]), x.clone()
    bad[::3], bad[1::3] = math.nan, math.inf
    before = gradients.clipped_sums(x[:70], y[:70], norm, 0.3)
    gradients.clipped_sums(bad, y, norm, 0.3)
    for own, found in zip(before, gradients.clipped_sums(x[:70], y[:70], norm, 0.3), strict=True):
        assert torch.equal(own, found)
    assert not any(bool(g.any()) for g in gradients.clipped_sums(x[:0], y[:0], norm, 0.3))


def test_l2_norms_are_clipped_to_any_length() -> None:
    model, x, y = setting("mlp_12")
    each = sums_of(model, x, y, "l2", 1e35)
    torch.testing.assert_close(each, torch.stack(own_gradients(model, x, y)).sum(dim=0), rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("records", "labels", "message"),
    [
        (torch.zeros(2, 29), [0, 3], "the model takes 30 inputs, a record has 29"),
        (torch.zeros(2, 30), [0, 4], "labels must be 0 to 3, got 0 to 4"),
        (torch.zeros(2, 30), [0], "as many labels as records"),
        (torch.zeros(2, 30, device="meta"), [0, 3], "works on the CPU"),
    ],
)
def test_records_of_another_network_are_refused(records: Tensor, labels: list[int], message: str) -> None:
    gradients = CompiledGradients(setting("mlp_12")[0], (30,))
    with pytest.raises(InputError, match=message):
        gradients.clipped_sums(records, torch.tensor(labels), "l2", 1.0)


def test_sums_follow_the_weights_and_other_layers_are_named() -> None:
    model, x, y = setting("mlp_10")
    gradients = CompiledGradients(model, x.shape[1:])
    before = gradients.clipped_sums(x, y, "l2", 1.0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
    after = gradients.clipped_sums(x, y, "l2", 1.0)
    assert not torch.equal(before[0], after[0])
    assert torch.equal(after[0], CompiledGradients(model, x.shape[1:]).clipped_sums(x, y, "l2", 1.0)[0])
    with pytest.raises(InputError, match="the compiled loop cannot train a layer"):
        CompiledGradients(build("lenet_tanh", Task((28, 28), 2), generator()), (1, 28, 28))
    next(model.parameters()).requires_grad_(False)
    with pytest.raises(InputError, match="whose parameters are all trained"):
        CompiledGradients(model, x.shape[1:])
