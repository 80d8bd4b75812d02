"""Noise of private steps: the printed budgets, what a run guarantees, and the steps themselves."""

import math

import pytest
import torch
from scipy.stats import kstest
from torch import nn

from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms.tvg_budget import kov_budget, simple_budget
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.private_sgd import (
    GradientNoise,
    PrivateStep,
    check_schedule,
    clipped_sums,
    fit_private,
    honest_noise,
    printed_noise,
)
from tensorldp_papers.nets.registry import seed_model

SHAPES = [(12, 30), (12,)]
SCHEDULE = check_schedule(1.0, 1e-5, 10_000, 100, 1000)


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_printed_budgets_of_a_step() -> None:
    assert simple_budget(1.0, 1e-5, rate=0.01, steps=1000) == pytest.approx((0.46599005, 5e-7))
    assert kov_budget(1.0, 1e-5, rate=0.01, steps=1000) == pytest.approx((0.62761691, 9.00005e-7), rel=1e-5)


def test_each_tensor_gets_the_whole_budget_at_its_own_sensitivity() -> None:
    optimized = printed_noise("optimized", SHAPES, 0.5, SCHEDULE)
    assert optimized.sigmas[0] / optimized.sigmas[1] == pytest.approx(math.sqrt(30))
    gaussian = printed_noise("gaussian", SHAPES, 0.5, SCHEDULE)
    one = 2.0 * 0.01 * math.sqrt(1000 * math.log(1e5))
    assert gaussian.sigmas == pytest.approx([one * math.sqrt(360), one * math.sqrt(12)])
    assert gaussian.multiplier == pytest.approx(2.0 * one / math.sqrt(2.0))  # two tensors, and C instead of 2 C


def test_the_order_of_noise_in_table_4() -> None:
    sigma = {
        name: printed_noise(name, [(128, 512)], 1.0, SCHEDULE).sigmas[0] for name in ("optimized", "idn", "udn", "mvg")
    }
    assert sigma["optimized"] < sigma["idn"] / 50 < sigma["udn"] / 50 < sigma["mvg"] / 50


def test_mechanisms_of_another_kind_are_refused_and_none_guarantees_nothing() -> None:
    with pytest.raises(InputError, match="not laplace"):
        printed_noise("laplace", SHAPES, 1.0, SCHEDULE)
    none = printed_noise("none", SHAPES, 1.0, SCHEDULE)
    assert none.curve(SCHEDULE).epsilon(1e-5) == math.inf


def test_an_honest_run_has_its_nominal_guarantee() -> None:
    release = honest_noise(SHAPES, 2.0, SCHEDULE)
    assert 0.999 <= release.curve(SCHEDULE).epsilon(1e-5) <= 1.0
    assert release.sigmas[0] == release.sigmas[1] == pytest.approx(2.0 * release.multiplier)


def test_little_noise_has_the_bound_of_counted_uses() -> None:
    curve = DpSgdCurve(0.1, 0.05, 40)
    assert GaussianCurve(10.0).delta(60.0) * 0.5 < curve.delta(60.0) < GaussianCurve(math.sqrt(40) * 10).delta(60.0)
    assert curve.delta(curve.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-3)
    pld, counted = DpSgdCurve(0.5, 0.05, 40), DpSgdCurve(0.5, 0.05, 40)._counted(20.0)
    assert pld.delta(20.0) <= counted


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_clipped_sums_are_those_of_a_loop_over_examples(norm: str) -> None:
    gradients = [torch.randn(6, 3, 2, generator=gen(1)), torch.randn(6, 4, generator=gen(2))]
    expected = [torch.zeros(3, 2, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)]
    for k in range(6):
        whole = torch.cat([g[k].flatten() for g in gradients]).double()
        for total, g in zip(expected, gradients, strict=True):
            scaled = g[k].double() * min(1.0, 0.7 / float(whole.norm()))
            total += g[k].clamp(-0.7, 0.7) if norm == "linf" else scaled
    found = clipped_sums([g.clone() for g in gradients], norm, 0.7)
    atol = 1e-6 if norm == "linf" else 1e-14  # 0.7 is no number of float32
    assert all(torch.allclose(a, b, rtol=0.0, atol=atol) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("layer", [nn.Linear(50, 3), nn.Linear(50, 3, bias=False), nn.Conv2d(2, 3, 5)], ids=str)
@pytest.mark.parametrize(("norm", "clip"), [("l2", 0.1), ("l2", 1.0), ("linf", 0.1), ("linf", 1e-3)])
def test_what_an_example_changes_of_the_sum_stays_within_the_clip(layer: nn.Module, norm: str, clip: float) -> None:
    """As computed, that is: in float32 the rounding of a sum of 300 long gradients alone would be more."""
    model = seed_model(nn.Sequential(layer, nn.Flatten()), gen(4))
    x = 40.0 * torch.randn(300, *((2, 5, 5) if isinstance(layer, nn.Conv2d) else (50,)), generator=gen(1))
    y = torch.zeros(300).long()
    sizes = tuple(p.numel() for p in model.parameters())
    release = GradientNoise(norm, clip, (0.0,) * len(sizes), sizes)  # type: ignore[arg-type]
    step = PrivateStep(model, torch.optim.SGD(model.parameters(), lr=1.0), release, lot=1, noise=gen())
    whole, less = (step._clipped_sums(x[:count], y[:count]) for count in (300, 299))
    step.close()
    change = torch.cat([(a - b).flatten() for a, b in zip(whole, less, strict=True)])
    assert change.dtype == torch.float64
    assert change.abs().max() > 0.0
    size = float(change.norm()) if norm == "l2" else float(change.abs().max())
    assert size <= clip * (1.0 + 1e-11)


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_example_whose_gradient_is_not_finite_changes_no_more_than_another(norm: str, bad: float) -> None:
    x, y = torch.randn(8, 5, generator=gen(3)), torch.arange(8) % 3
    release = GradientNoise(norm, 0.3, (0.0, 0.0), (15, 3))  # type: ignore[arg-type]
    model = linear()
    step = PrivateStep(model, torch.optim.SGD(model.parameters(), lr=1.0), release, lot=1, noise=gen())
    without = step._clipped_sums(x[1:], y[1:])
    x[0, 2] = bad
    found = step._clipped_sums(x, y)
    gradients = [torch.randn(8, 15, generator=gen(4)), torch.randn(8, 3, generator=gen(5))]
    rest = clipped_sums([g[1:].clone() for g in gradients], norm, 0.3)
    gradients[0][0, 2] = bad
    for a, b in zip([*found, *clipped_sums(gradients, norm, 0.3)], [*without, *rest], strict=True):
        assert bool(a.isfinite().all())
        assert float((a - b).abs().max()) <= 0.3 * (1.0 + 1e-11)


def linear() -> nn.Module:
    return build("linear", Task((5,), 3), gen())


@pytest.mark.parametrize("physical", [4, 100])
def test_without_noise_and_with_a_loose_clip_a_step_is_a_gradient_step(physical: int) -> None:
    x, y = torch.randn(10, 5, generator=gen(3)), torch.arange(10) % 3
    plain, mine = linear(), linear()
    nn.functional.cross_entropy(plain(x), y).backward()
    release = GradientNoise("linf", 1e6, (0.0, 0.0), (15, 3))
    optimizer = torch.optim.SGD(mine.parameters(), lr=1.0)
    PrivateStep(mine, optimizer, release, lot=10, noise=gen(), physical=physical)(x, y)
    for before, after in zip(plain.parameters(), mine.parameters(), strict=True):
        assert before.grad is not None
        assert torch.allclose(before - before.grad, after, atol=1e-6)


def test_an_empty_lot_still_adds_noise_of_the_right_law() -> None:
    model = build("linear", Task((2000,), 3), gen())
    start = [p.detach().clone() for p in model.parameters()]
    release = GradientNoise("linf", 1.0, (3.0, 0.5), (6000, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    PrivateStep(model, optimizer, release, lot=10, noise=gen(5))(torch.zeros(0, 2000), torch.zeros(0).long())
    moved = (start[0] - next(iter(model.parameters()))).detach().flatten() * 10 / 3.0
    assert kstest(moved.numpy(), "norm").pvalue > 1e-6
    with pytest.raises(InputError, match="the model has"):
        PrivateStep(model, optimizer, GradientNoise("linf", 1.0, (1.0,), (5,)), lot=10, noise=gen())


def test_a_run_is_reproducible_and_learns() -> None:
    y = torch.arange(200) % 2
    x = torch.randn(200, 5, generator=gen(3)) + 2.0 * y[:, None]
    release = printed_noise("optimized", [(2, 5), (2,)], 1.0, check_schedule(10.0, 1e-5, 200, 50, 30))
    runs = [
        fit_private(
            build("linear", Task((5,), 2), gen()),
            x,
            y,
            release,
            lot=50,
            steps=30,
            learning_rate=0.5,
            momentum=0.5,
            generator=gen(1),
            noise=gen(2),
        )
        for _ in range(2)
    ]
    assert all(torch.equal(a, b) for a, b in zip(runs[0].parameters(), runs[1].parameters(), strict=True))
    assert float((runs[0](x).argmax(dim=1) == y).float().mean()) > 0.9


@pytest.mark.parametrize(
    ("name", "lot", "delta", "message"),
    [
        ("optimized", 1, 1e-3, "lot must be more than 10 times as large for optimized at delta 0.001"),
        ("udn", 1, 0.5, "lot must be more than 2.5 times as large for udn at delta 0.5"),
        ("matrix", 1, 0.5, "lot must be more than 2.5 times as large for matrix at delta 0.5"),
        ("idn", 1, 0.5, "lot must be more than 6.93 times as large for idn at delta 0.5"),
        ("idn", 100, 1e-6, "delta of a run with idn must be above 1e-06, which its composition sets aside, got 1e-06"),
        ("idn", 100, 1e-9, "delta of a run with idn must be above 1e-06, which its composition sets aside, got 1e-09"),
    ],
)
def test_lots_and_deltas_that_are_too_small_are_named_by_their_own_keys(
    name: str, lot: int, delta: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        printed_noise(name, SHAPES, 0.5, check_schedule(1.0, delta, 10_000, lot, 1000))


def test_a_run_that_hardly_sees_a_record_needs_no_noise_and_says_so() -> None:
    with pytest.raises(InputError, match="lot and steps must be larger for delta 1e-05: a record takes part"):
        honest_noise(SHAPES, 0.5, check_schedule(1.0, 1e-5, 200_000, 1, 1), "rdp")
