"""The loops of benchmarks/loops.py: for each the plain call and the quick one, on inputs of the studies' shapes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tensorldp.files import read_arrays, write_arrays
from tensorldp.mechanisms import Box, make
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.classify import fit, predict
from tensorldp_papers.nets.computing import Depthwise, Pointwise, arithmetic, channels_last, lay_out
from tensorldp_papers.nets.private_sgd import GradientNoise, PrivateStep
from tensorldp_papers.nets.reference_loops import plain_fit, plain_predict
from tensorldp_papers.nets.split import split_net
from tensorldp_papers.papers.latent.networks import BitANN
from tensorldp_papers.papers.latent.training import make_optimizer
from tensorldp_papers.papers.pldp_fl.simulation import ClientSimulation
from tensorldp_papers.run.native import LOOPS, available

Call = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A loop: what it is called, what a call is, and what makes the two calls."""

    name: str
    what: str
    plain: Callable[[], Call]
    quick: Callable[[], Call]


def gen(seed: int = 0) -> torch.Generator:
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def records(task: Task, count: int) -> tuple[Tensor, Tensor]:
    """Random records of a task as model inputs."""
    y = torch.randint(0, task.classes, (count,), generator=gen(1))
    if task.vocabulary:
        x = torch.randint(1, task.vocabulary, (count, *task.shape), generator=gen(2))
        x[:, task.shape[0] // 2 :] = 0  # half of a text is padding
        return x, y
    channels = 1 if len(task.shape) == 2 else 3
    return torch.rand(count, channels, *task.shape[:2], generator=gen(2)) * 2 - 1, y


def textbook(model: nn.Module) -> nn.Module:
    """The layers as in a textbook, pooling after the activation and plain convolutions, in place."""
    for module in model.modules():
        if isinstance(module, (Pointwise, Depthwise)):
            module.__class__ = nn.Conv2d  # type: ignore[assignment]
    for parent in model.modules():
        if isinstance(parent, nn.Sequential):
            layers = list(parent)
            for i in range(len(layers) - 1):
                if isinstance(layers[i], nn.MaxPool2d) and isinstance(layers[i + 1], (nn.ReLU, nn.Tanh)):
                    parent[i], parent[i + 1] = layers[i + 1], layers[i]
    return model


def training(name: str, what: str, task: Task, *, batch: int, steps: int, precision: str) -> Case:
    """Some steps of Adam."""

    def call(loop: Callable[..., Any], plain: bool, **extra: Any) -> Call:
        x, y = records(task, batch * steps)
        model = build(name.split(",")[0], task, gen())
        model = textbook(model) if plain else model
        return lambda: loop(model, x, y, epochs=1, batch_size=batch, learning_rate=1e-3, generator=gen(), **extra)

    return Case(name, what, lambda: call(plain_fit, True), lambda: call(fit, False, precision=precision))


def prediction(name: str, what: str, task: Task, *, count: int, precision: str) -> Case:
    """Predictions of many records."""

    def call(loop: Callable[..., Any], plain: bool, **extra: Any) -> Call:
        x, _ = records(task, count)
        model = build(name.split(",")[0], task, gen())
        model = textbook(model) if plain else model
        return lambda: loop(model, x, **extra)

    return Case(name, what, lambda: call(plain_predict, True), lambda: call(predict, False, precision=precision))


BITS = 92_160


def latent(steps: int) -> Case:
    """LATENT's ANN on strings of 92,160 bits."""
    packed = torch.randint(0, 256, (128 * steps, BITS // 8), dtype=torch.uint8, generator=gen(1))
    y = torch.randint(0, 10, (128 * steps,), generator=gen(2))

    def call(quick: bool) -> Call:
        model = BitANN(BITS, 10, generator=gen()).train()
        plain = torch.optim.Adam(model.parameters(), foreach=False)
        optimizer = make_optimizer("adam", model) if quick else plain

        def scores(part: Tensor) -> Tensor:
            if quick:
                with arithmetic("bfloat16", part.device):
                    found: Tensor = model(part)
                return found.float()
            bits = torch.from_numpy(np.unpackbits(part.numpy(), axis=1, count=BITS)).float()
            found = model.body(bits - model.shares)
            return found

        def run() -> None:
            for part, truth in zip(packed.split(128), y.split(128), strict=True):
                optimizer.zero_grad(set_to_none=True)
                nn.functional.cross_entropy(scores(part), truth).backward()
                optimizer.step()

        return run

    return Case("latent", f"{BITS:,} bits, {steps} steps of 128", lambda: call(False), lambda: call(True))


CLIENTS, RECORDS, EPOCHS, BATCH, RATE = 100, 60, 5, 20, 0.01  # PLDP-FL's; MNIST's share is 600 records of each client


def client() -> Case:
    """A client of PLDP-FL among a hundred with random images."""
    source = gen()
    x = torch.randn(CLIENTS * RECORDS, 1, 28, 28, generator=source)
    y = torch.randint(0, 10, (CLIENTS * RECORDS,), generator=source)
    shards = list(torch.arange(len(y)).split(RECORDS))

    def new_model() -> nn.Module:
        return build("pldp_cnn", GREY, gen(2))

    def order(number: int) -> torch.Generator:
        return gen(1000 + number)

    def plain() -> Call:
        def run() -> None:
            model, batches = new_model(), order(0)
            optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
            for _ in range(EPOCHS):
                for batch in shards[0][torch.randperm(RECORDS, generator=batches)].split(BATCH):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
                    optimizer.step()

        return run

    def quick() -> Call:
        model = new_model()
        simulation = ClientSimulation(
            model, x, y, shards, epochs=EPOCHS, batch_size=BATCH, learning_rate=RATE, compiled=True
        )
        start = torch.cat([p.detach().flatten() for p in model.parameters()])
        return lambda: simulation.train(start, [0], order)

    return Case("federated client", "PLDP-FL's CNN, 15 steps of 20", plain, quick)


def extraction(count: int) -> Case:
    """Features of VGG-16 with tanh."""
    x, _ = records(COLOUR, count)

    @torch.no_grad()
    def features(body: nn.Module, images: Tensor) -> Tensor:
        found: Tensor = body(images)
        return found

    def plain() -> Call:
        body = textbook(split_net("vgg16_tanh", COLOUR).eval().body)
        return lambda: features(body, x)

    def quick() -> Call:
        body = lay_out(split_net("vgg16_tanh", COLOUR).eval().body)
        return lambda: features(body, channels_last(x))

    return Case("extraction", f"VGG-16 with tanh, {count} images of 32 x 32 x 3, float32", plain, quick)


def private_step() -> Case:
    """DP-SGD's step of LeNet; the plain call is the step without privacy."""
    x, y = records(GREY, 128)

    def plain() -> Call:
        model = build("lenet", GREY, gen()).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

        def run() -> None:
            optimizer.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

        return run

    def quick() -> Call:
        model = build("lenet", GREY, gen()).train()
        sizes = tuple(p.numel() for p in model.parameters())
        release = GradientNoise("l2", 1.0, (1.0,) * len(sizes), sizes)
        shape = x.shape[1:] if available(LOOPS) else None
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        step = PrivateStep(model, optimizer, release, lot=128, noise=gen(1), compiled=shape)
        return lambda: step(x, y)

    return Case("DP-SGD", "LeNet, a step of 128, beside the step without privacy", plain, quick)


def round_trip(count: int) -> Case:
    """A release of images written to a file and read again; both calls are alike except for memory."""

    def call() -> Call:
        x = torch.rand(count, 28, 28, generator=gen(1))
        mechanism = make("tldp-l", epsilon=1.0, domain=Box(0.0, 1.0, (28, 28)))
        folder = Path(tempfile.mkdtemp())

        def run() -> None:
            released = mechanism.privatize(x, gen(2)).numpy()
            write_arrays(folder / "release.safetensors", {"train": released})
            read_arrays(folder / "release.safetensors")

        return run

    return Case("perturb, write, read", f"TLDP-L, {count:,} images of 28 x 28", call, call)


GREY, COLOUR, DIGITS = Task((28, 28), 10), Task((32, 32, 3), 10), Task((8, 8), 10)
TEXT = Task((500,), 2, vocabulary=5000)
CASES = [
    training("small_cnn", "28 x 28, 20 steps of 64", GREY, batch=64, steps=20, precision="compiled"),
    training("small_cnn, colour", "32 x 32 x 3, 20 steps of 64", COLOUR, batch=64, steps=20, precision="compiled"),
    training("small_cnn, digits", "8 x 8, 100 steps of 64", DIGITS, batch=64, steps=100, precision="compiled"),
    training("small_cnn, bfloat16", "28 x 28, 20 steps of 64", GREY, batch=64, steps=20, precision="bfloat16"),
    training("small_cnn, float32", "28 x 28, 20 steps of 64", GREY, batch=64, steps=20, precision="float32"),
    prediction("small_cnn, predicting", "28 x 28, 2,000 images", GREY, count=2000, precision="bfloat16"),
    training("mobilenet_v2", "28 x 28, 2 steps of 64", GREY, batch=64, steps=2, precision="float32"),
    training("lenet_tanh", "28 x 28, 5 steps of 256", GREY, batch=256, steps=5, precision="float32"),
    training("vgg16_tanh", "32 x 32 x 3, 1 step of 32", COLOUR, batch=32, steps=1, precision="float32"),
    training("bilstm", "500 tokens, 1 step of 8", TEXT, batch=8, steps=1, precision="float32"),
    latent(2),
    client(),
    extraction(50),
    round_trip(2000),
    private_step(),
]
