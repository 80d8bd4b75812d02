"""Noise of private steps: the printed budgets, what a run guarantees, and the steps themselves."""

import math
from typing import Any

import pytest
import torch
from opacus import GradSampleModule
from scipy.stats import kstest
from torch import Tensor, nn

from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.example_gradients import ExampleGradients
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.nets.private_sgd import GradientNoise, Norm, PrivateStep, clipped_sums, fit_private
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.papers.tvg.private_sgd import check_schedule, honest_noise, printed_noise

SHAPES = [(12, 30), (12,)]
SCHEDULE = check_schedule(1.0, 1e-5, 10_000, 100, 1000)
X, Y = torch.randn(40, 5, generator=generator("x")), torch.arange(40) % 3
NORMS: tuple[Norm, ...] = ("linf", "l2")
each_norm = pytest.mark.parametrize("norm", NORMS)


def linear(width: int = 5) -> nn.Module:
    return build("linear", Task((width,), 3), generator("model"))


def step_of(model: nn.Module, norm: Norm, clip: float, *sigmas: float, rate: float = 1.0, **more: Any) -> PrivateStep:
    sizes = tuple(p.numel() for p in model.parameters())
    release = GradientNoise(norm, clip, sigmas or (0.0,) * len(sizes), sizes)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    return PrivateStep(model, optimizer, release, noise=generator("noise"), **{"lot": 1, **more})


# the noise and its guarantee


def test_each_tensor_gets_the_whole_budget_at_its_own_sensitivity() -> None:
    optimized = printed_noise("optimized", SHAPES, 0.5, SCHEDULE)
    assert optimized.sigmas[0] / optimized.sigmas[1] == pytest.approx(math.sqrt(30))
    gaussian = printed_noise("gaussian", SHAPES, 0.5, SCHEDULE)
    one = 2.0 * 0.01 * math.sqrt(1000 * math.log(1e5))
    assert gaussian.sigmas == pytest.approx([one * math.sqrt(360), one * math.sqrt(12)])
    assert gaussian.multiplier == pytest.approx(2.0 * one / math.sqrt(2.0))  # two tensors, and C instead of 2 C


def test_the_order_of_noise_in_table_4() -> None:
    names = ("optimized", "idn", "udn", "mvg")
    sigma = {name: printed_noise(name, [(128, 512)], 1.0, SCHEDULE).sigmas[0] for name in names}
    assert sigma["optimized"] < sigma["idn"] / 50 < sigma["udn"] / 50 < sigma["mvg"] / 50


def test_an_honest_run_has_its_nominal_guarantee_and_one_without_noise_none() -> None:
    schedule = check_schedule(1.0, 1e-5, 10_000, 100, 10_000)
    release = honest_noise(SHAPES, 2.0, schedule)
    assert 0.999 <= release.curve(schedule).epsilon(1e-5) <= 1.0
    assert release.sigmas[0] == release.sigmas[1] == pytest.approx(2.0 * release.multiplier)
    assert printed_noise("none", SHAPES, 1.0, SCHEDULE).curve(SCHEDULE).epsilon(1e-5) == math.inf


def test_little_noise_has_the_bound_of_counted_uses() -> None:
    curve = DpSgdCurve(0.1, 0.05, 40)
    assert GaussianCurve(10.0).delta(60.0) * 0.5 < curve.delta(60.0) < GaussianCurve(math.sqrt(40) * 10).delta(60.0)
    assert curve.delta(curve.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-3)
    pld = DpSgdCurve(1.0, 0.05, 40)
    assert pld.delta(5.0) <= pld._counted(5.0)


@pytest.mark.parametrize(
    ("name", "lot", "delta", "message"),
    [
        ("optimized", 1, 1e-3, "lot must be more than 10 times as large for optimized at delta 0.001"),
        ("udn", 1, 0.5, "lot must be more than 2.5 times as large for udn at delta 0.5"),
        ("matrix", 1, 0.5, "lot must be more than 2.5 times as large for matrix at delta 0.5"),
        ("idn", 1, 0.5, "lot must be more than 6.93 times as large for idn at delta 0.5"),
        ("idn", 100, 1e-6, "delta of a run with idn must be above 1e-06, which its composition sets aside, got 1e-06"),
        ("laplace", 100, 1e-5, "not laplace"),
    ],
)
def test_lots_deltas_and_mechanisms_that_do_not_do_are_named(name: str, lot: int, delta: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        printed_noise(name, SHAPES, 0.5, check_schedule(1.0, delta, 10_000, lot, 1000))
    with pytest.raises(InputError, match="lot and steps must be larger for delta 1e-05: a record takes part"):
        honest_noise(SHAPES, 0.5, check_schedule(1.0, 1e-5, 200_000, 1, 1), "rdp")


# clipped sums


@pytest.mark.parametrize(
    ("name", "shape", "norm"),
    [
        ("lenet", (28, 28), "l2"),
        ("lenet_tanh", (8, 8), "linf"),
        ("small_cnn", (32, 32, 3), "l2"),
        ("mlp_12", (30,), "l2"),
        ("mlp_12", (30,), "linf"),
    ],
)
def test_clipped_sums_are_those_of_a_loop_over_examples(name: str, shape: tuple[int, ...], norm: Norm) -> None:
    model = build(name, Task(shape, 2), generator("model")).train()
    inputs = shape if len(shape) == 1 else ((*shape, 1)[2], *shape[:2])
    x, y = torch.randn(9, *inputs, generator=generator("x")), torch.arange(9) % 2
    parameters = list(model.parameters())
    losses = [nn.functional.cross_entropy(model(x[i : i + 1]), y[i : i + 1]) for i in range(9)]
    each = [torch.autograd.grad(loss, parameters) for loss in losses]
    norms = [float(torch.cat([g.flatten() for g in gradient]).norm()) for gradient in each]
    clip = 0.5 * sorted(norms)[4] / (1 if norm == "l2" else 100)
    gradients = [torch.stack(list(part)) for part in zip(*each, strict=True)]
    scales = torch.tensor([min(1.0, clip / length) for length in norms])
    expected = [torch.tensordot(scales, g, 1) if norm == "l2" else g.clamp(-clip, clip).sum(dim=0) for g in gradients]
    found = ExampleGradients(model).clipped_sums(x, y, norm, clip)
    wrapped = GradSampleModule(model, loss_reduction="sum")
    nn.functional.cross_entropy(wrapped(x), y, reduction="sum").backward()
    peers: list[Tensor] = [p.grad_sample for p in parameters]  # type: ignore[attr-defined]
    for sums in (found, clipped_sums(gradients, norm, clip), clipped_sums(peers, norm, clip)):
        torch.testing.assert_close([g.float() for g in sums], expected, rtol=1e-4, atol=1e-6)


def test_layers_that_are_used_twice_are_refused_and_other_layers_are_left_to_opacus() -> None:
    layer = nn.Linear(3, 3)
    with pytest.raises(InputError, match="private steps take a layer Linear once for a batch"):
        ExampleGradients(nn.Sequential(layer, layer)).clipped_sums(torch.ones(2, 3), torch.zeros(2).long(), "l2", 1.0)
    with pytest.raises(InputError, match="on one row for each example"):
        ExampleGradients(layer).clipped_sums(torch.ones(2, 3, 3), torch.zeros(2).long(), "l2", 1.0)
    assert ExampleGradients.fits(build("lenet", Task((28, 28), 10), generator()))
    others = build("bilstm", Task((5,), 2, vocabulary=9), generator()), nn.LayerNorm(3), nn.Linear(3, 3, bias=False)
    assert not any(ExampleGradients.fits(nn.Sequential(other)) for other in others)


@pytest.mark.parametrize("layer", [nn.Linear(50, 3), nn.Linear(50, 3, bias=False), nn.Conv2d(2, 3, 5)], ids=str)
@pytest.mark.parametrize(("norm", "clip"), [("l2", 0.1), ("linf", 1e-3)])
def test_what_an_example_changes_of_the_sum_stays_within_the_clip(layer: nn.Module, norm: Norm, clip: float) -> None:
    """As computed, that is: in float32 the rounding of a sum of 300 long gradients alone would be more."""
    model = seed_model(nn.Sequential(layer, nn.Flatten()), generator(4))
    shape = (2, 5, 5) if isinstance(layer, nn.Conv2d) else (50,)
    x, y = 40.0 * torch.randn(300, *shape, generator=generator(1)), torch.zeros(300).long()
    step = step_of(model, norm, clip)
    whole, less = (torch.cat([g.flatten() for g in step._clipped_sums(x[:n], y[:n])]) for n in (300, 299))
    step.close()
    assert whole.dtype == torch.float64
    assert 0.0 < float((whole - less).norm(p=2 if norm == "l2" else math.inf)) <= clip * (1.0 + 1e-11)


@each_norm
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_example_whose_gradient_is_not_finite_changes_no_more_than_another(norm: Norm, bad: float) -> None:
    x, step = X[:8].clone(), step_of(linear(), norm, 0.3)
    without = step._clipped_sums(x[1:], Y[1:8])
    gradients = [torch.randn(8, 15, generator=generator(4)), torch.randn(8, 3, generator=generator(5))]
    rest = clipped_sums([g[1:].clone() for g in gradients], norm, 0.3)
    x[0, 2] = gradients[0][0, 2] = bad
    found = [*step._clipped_sums(x, Y[:8]), *clipped_sums(gradients, norm, 0.3)]
    for a, b in zip(found, [*without, *rest], strict=True):
        assert bool(a.isfinite().all())
        assert float((a - b).abs().max()) <= 0.3 * (1.0 + 1e-11)


# steps and whole runs


def options(**changes: Any) -> dict[str, Any]:
    streams = {"generator": generator("lots"), "noise": generator("noise")}
    return {"lot": 40, "steps": 1, "learning_rate": 0.5, **streams, **changes}


def run(clip: float, sigma: float, **changes: Any) -> Tensor:
    release = GradientNoise("l2", clip, (sigma,) * 2, (15, 3))
    return get_vector(fit_private(linear(), X, Y, release, **options(**changes)))


@pytest.mark.parametrize("clip", [0.1, 1e6])
def test_without_noise_a_step_moves_against_the_mean_of_clipped_gradients(clip: float) -> None:
    total, model = torch.zeros(18), linear()
    for x, y in zip(X, Y, strict=True):
        loss = nn.functional.cross_entropy(model(x[None]), y[None])
        gradient = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
        total += gradient * min(1.0, clip / float(gradient.norm()))
    torch.testing.assert_close(run(clip, 0.0), get_vector(model) - 0.5 * total / 40, rtol=0.0, atol=1e-6)
    for physical in (7, 100):  # examples whose gradients are held at once
        step_of(own := linear(), "l2", clip, lot=40, rate=0.5, physical=physical)(X, Y)
        torch.testing.assert_close(get_vector(own), run(clip, 0.0), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("examples", [0, 40])
def test_the_noise_of_a_lot_which_may_be_empty_has_the_right_law_in_each_tensor(examples: int) -> None:
    x, y = torch.randn(examples, 2000, generator=generator("wide")), Y[:examples]
    noisy, quiet = linear(2000), linear(2000)
    step_of(noisy, "linf", 1e-3, 3.0, 0.5, lot=10)(x, y)
    step_of(quiet, "linf", 1e-3, lot=10)(x, y)
    weight, bias = (a.detach() - b.detach() for a, b in zip(noisy.parameters(), quiet.parameters(), strict=True))
    assert kstest((weight.flatten() * 10 / 3.0).numpy(), "norm").pvalue > 1e-6
    assert 0.0 < float(bias.abs().max()) * 10 / 0.5 < 5.5
    with pytest.raises(InputError, match="the model has"):
        fit_private(noisy, X, Y, GradientNoise("linf", 1.0, (1.0,), (5,)), **options())


def test_a_run_is_reproducible_and_survives_lots_that_happen_to_be_empty() -> None:
    first, again, other = (run(1.0, 1.0, lot=1, steps=20, noise=generator(seed)) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert bool(first.isfinite().all())


def test_a_run_learns() -> None:
    y = torch.arange(200) % 2
    x = torch.randn(200, 5, generator=generator("x")) + 2.0 * y[:, None]
    release = printed_noise("optimized", [(2, 5), (2,)], 1.0, check_schedule(10.0, 1e-5, 200, 50, 30))
    model = build("linear", Task((5,), 2), generator())
    fit_private(model, x, y, release, **options(lot=50, steps=30, momentum=0.5))
    assert float((model(x).argmax(dim=1) == y).float().mean()) > 0.9
