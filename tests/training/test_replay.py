"""Steps that a GPU replays: they compute what the step computes, and their noise is new each time."""

import math

import pytest
import torch
from scipy.stats import kstest
from torch import Tensor, nn

from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build, classify, private_sgd
from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.example_gradients import ExampleGradients
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.nets.private_sgd import GradientNoise, Norm, fit_private
from tensorldp_papers.nets.registry import SeededDropout
from tensorldp_papers.nets.replay import Replay, can_replay

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
CPU, GPU = torch.device("cpu"), torch.device("cuda")
IMAGES = Task((28, 28), 10)
X, Y = torch.randn(150, 1, 28, 28, generator=generator("x")), torch.arange(150) % 10


class Never:
    """A step that is never recorded, in the place of `Replay`."""

    def __new__(cls, step: object, *_: object) -> object:  # type: ignore[misc]
        return step


def trained(name: str, device: torch.device, epochs: int = 3) -> Tensor:
    model = build(name, IMAGES, generator("model")).to(device)
    order = generator("order")
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        fit(model, X.to(device), Y.to(device), epochs=epochs, batch_size=40, learning_rate=1e-3, generator=order)
    return get_vector(model).cpu()


def privately(device: torch.device, norm: Norm, clip: float, sigma: float, steps: int, rate: float = 1.0) -> Tensor:
    model = build("lenet", IMAGES, generator("model")).to(device)
    sizes = tuple(p.numel() for p in model.parameters())
    release = GradientNoise(norm, clip, (sigma,) * len(sizes), sizes)
    noise = generator("noise", device=device)
    start = get_vector(model)
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        fit_private(
            model, X.to(device), Y.to(device), release,
            lot=20, steps=steps, learning_rate=rate, generator=generator("lots"), noise=noise,
        )  # fmt: skip
    return (get_vector(model) - start).cpu()


def test_on_a_cpu_the_step_is_called_each_time() -> None:
    seen: list[Tensor] = []
    replay = Replay(seen.append, CPU, nn.Identity())
    for number in range(3):
        replay(torch.tensor([number]))
    assert [int(x) for x in seen] == [0, 1, 2]


class Chooses(nn.Module):
    """A user's layer, whose work depends on what it is given."""

    def forward(self, x: Tensor) -> Tensor:
        return x.abs() if bool(x.sum() > 0) else x


def test_networks_whose_steps_may_differ_are_not_recorded() -> None:
    text = Task((6,), 2, vocabulary=9)
    assert can_replay(build("small_cnn", IMAGES, generator()))
    assert can_replay(build("lenet", IMAGES, generator()))
    assert not can_replay(nn.Sequential(nn.Linear(3, 3), Chooses()))
    assert can_replay(build("fcn", Task((8,), 2), generator()))
    assert not can_replay(build("bilstm_tanh", text, generator()))


def test_the_masks_of_a_recorded_step_are_those_that_it_would_draw_itself() -> None:
    plain, recorded = (SeededDropout(0.3).train() for _ in range(2))
    x = torch.ones(50, 20)
    wanted = plain(x), plain(x)
    recorded.places = []
    recorded(x)
    (place,) = recorded.places
    assert (place.shape, place.dtype) == (x.shape, torch.bool)
    for found in wanted:
        torch.testing.assert_close(x * recorded.mask(place.shape) / 0.7, found, rtol=0, atol=0)


@on_a_gpu
@pytest.mark.parametrize("name", ["small_cnn", "lenet", "mobilenet_v2"])
def test_a_replayed_training_is_the_plain_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = trained(name, GPU)
    monkeypatch.setattr(classify, "Replay", Never)
    torch.testing.assert_close(found, trained(name, GPU), atol=2e-3, rtol=0)


@on_a_gpu
def test_a_replayed_training_is_that_of_a_cpu() -> None:
    torch.testing.assert_close(trained("small_cnn", GPU), trained("small_cnn", CPU), atol=2e-3, rtol=0)


@on_a_gpu
@pytest.mark.parametrize(("norm", "clip"), [("linf", 1e-3), ("l2", 0.1)])
def test_replayed_private_steps_are_those_of_a_cpu(norm: Norm, clip: float) -> None:
    found, wanted = (privately(device, norm, clip, 0.0, steps=30) for device in (GPU, CPU))
    torch.testing.assert_close(found, wanted, atol=2e-4 * float(wanted.abs().max()) + 1e-5, rtol=1e-2)


@on_a_gpu
def test_the_noise_of_replayed_steps_is_new_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60 steps with lots of few sizes, so that most are replayed; a false alarm has a chance of 1e-6."""
    steps, lot = 60, 20
    moved = privately(GPU, "linf", 1e-12, 1.0, steps) * lot / math.sqrt(steps)
    assert kstest(moved.double().numpy(), "norm").pvalue > 1e-6
    monkeypatch.setattr(private_sgd, "Replay", Never)
    torch.testing.assert_close(moved, privately(GPU, "linf", 1e-12, 1.0, steps) * lot / math.sqrt(steps))


@on_a_gpu
def test_an_example_without_a_finite_gradient_counts_as_zero_on_a_gpu_too() -> None:
    model = build("linear", Task((5,), 3), generator("model")).to(GPU)
    x = torch.randn(40, 5, generator=generator("rows"))
    x[3] = math.inf
    y = torch.arange(40) % 3
    for norm in ("linf", "l2"):
        sums = ExampleGradients(model).clipped_sums(x.to(GPU), y.to(GPU), norm, 0.5)
        assert all(bool(total.isfinite().all()) for total in sums)
