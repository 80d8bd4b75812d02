"""Scores over seeds of the loops as a tutorial writes them and as they are, on the same data, streams and settings.

    python benchmarks/scores.py [--data resources/datasets/mnist] [--records 2000] [--seeds 5]

Without --data the records are scikit-learn's digits. For each loop: the mean accuracy of either over the seeds with its
95 % interval, and the interval of the difference seed by seed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import torch
from loop_cases import textbook
from opacus import GradSampleModule
from scipy.stats import t as student
from torch import Tensor, nn

from tensorldp.mechanisms import make
from tensorldp.mechanisms.bits import bytes_to_bits, encode_bits
from tensorldp_papers.nets import build
from tensorldp_papers.nets.classify import fit, predict
from tensorldp_papers.nets.private_sgd import GradientNoise, PrivateStep
from tensorldp_papers.nets.reference_loops import plain_fit, plain_predict
from tensorldp_papers.papers.latent.bit_strings import standardise_records
from tensorldp_papers.papers.latent.networks import BitANN, conv_module, feature_count
from tensorldp_papers.papers.latent.training import fit_stream, make_optimizer
from tensorldp_papers.run.records import Records, Scaling, model_inputs, read_records

Arm = Callable[[Records, Records, int, bool], float]
CPU = torch.device("cpu")


def gen(seed: int) -> torch.Generator:
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def share(found: Tensor, y: Tensor) -> float:
    """Of right answers."""
    return float((found == y).float().mean())


def network(name: str, epochs: int, precision: str, mechanism_name: str = "tldp-l") -> Arm:
    """A classifier of releases at a nominal epsilon of 10."""

    def run(train: Records, test: Records, seed: int, quick: bool) -> float:
        box = train.box()
        mechanism = make(mechanism_name, epsilon=math.inf if mechanism_name == "none" else 10.0, domain=box)
        released = mechanism.privatize(train.x.float().reshape(-1, *box.shape), gen(seed)).reshape(train.x.shape)
        scaling = Scaling.of(released)
        x, clean = (scaling(model_inputs(part, "image")) for part in (released, test.x))
        model, order = build(name, train.task, gen(seed)), gen(seed)
        if quick:
            fit(
                model,
                x,
                train.y,
                epochs=epochs,
                batch_size=64,
                learning_rate=1e-3,
                generator=order,
                precision=precision,
            )
            return share(predict(model, clean, precision=precision), test.y)
        plain_fit(textbook(model), x, train.y, epochs=epochs, batch_size=64, learning_rate=1e-3, generator=order)
        return share(plain_predict(model, clean), test.y)

    return run


@torch.no_grad()
def strings(records: Records, seed: int) -> Tensor:
    """LATENT's bits of untrained features, packed and unperturbed."""
    module = conv_module(records.shape, gen(seed))
    images = model_inputs(records.x, "image") / records.high
    return torch.cat([encode_bits(standardise_records(module(block))) for block in images.split(250)])


def latent(train: Records, test: Records, seed: int, quick: bool) -> float:
    """LATENT's ANN on them."""
    packed, clean = strings(train, seed), strings(test, seed)
    model = BitANN(feature_count(train.shape) * 10, train.classes, generator=gen(seed))
    model.centre(packed)
    if quick:
        fit_stream(
            model,
            packed,
            train.y,
            optimizer=make_optimizer("adam", model),
            epochs=5,
            batch_size=128,
            generator=gen(seed),
            device=CPU,
            precision="bfloat16",
        )
        return share(predict(model, clean, precision="bfloat16"), test.y)

    def classes(part: Tensor) -> Tensor:
        found: Tensor = model.body(bytes_to_bits(part, model.bits) - model.shares)
        return found

    optimizer, order = torch.optim.Adam(model.parameters(), foreach=False), gen(seed)
    for _ in range(5):
        model.train()
        for batch in torch.randperm(len(packed), generator=order).split(128):
            optimizer.zero_grad()
            nn.functional.cross_entropy(classes(packed[batch]), train.y[batch]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        return share(torch.cat([classes(part).argmax(dim=1) for part in clean.split(500)]), test.y)


def private_sgd(train: Records, test: Records, seed: int, quick: bool) -> float:
    """DP-SGD of LeNet with a noise multiplier of 0.6; the plain one has its gradients from opacus."""
    scaling = Scaling.public(train.low, train.high)
    x, clean = (scaling(model_inputs(records.x, "image")) for records in (train, test))
    model = build("lenet", train.task, gen(seed)).train()
    sizes = tuple(p.numel() for p in model.parameters())
    release = GradientNoise("l2", 1.0, (0.6,) * len(sizes), sizes)
    step = PrivateStep(model, torch.optim.SGD(model.parameters(), lr=0.5), release, lot=128, noise=gen(seed))
    if not quick:
        step.own, step.private = None, GradSampleModule(model, loss_reduction="sum")
    order = gen(seed + 1)
    for _ in range(80):
        batch = (torch.rand(len(x), generator=order) < 128 / len(x)).nonzero().squeeze(1)
        step(x[batch], train.y[batch])
    step.close()
    return share(predict(model, clean), test.y)


ARMS: dict[str, Arm] = {
    "small_cnn on releases, bfloat16": network("small_cnn", 5, "bfloat16"),
    "small_cnn on releases, compiled": network("small_cnn", 5, "compiled"),
    "mobilenet_v2 on clean records": network("mobilenet_v2", 3, "float32", "none"),
    "lenet_tanh on releases": network("lenet_tanh", 5, "float32"),
    "LATENT's ANN, bfloat16": latent,
    "private SGD, LeNet": private_sgd,
}


def digits() -> tuple[Records, Records]:
    """scikit-learn's digits, split in two."""
    from sklearn.datasets import load_digits

    raw = load_digits()
    x, y = torch.from_numpy(raw.images).float(), torch.from_numpy(raw.target).long()
    places = torch.randperm(len(x), generator=gen(0))
    parts = (places[:1200], places[1200:])
    train, test = (Records(x[part], y[part], "digits", 10, 0.0, 16.0, "image") for part in parts)
    return train, test


def interval(values: list[float]) -> tuple[float, float]:
    """The mean and the half-width of its 95 % interval."""
    tensor = torch.tensor(values, dtype=torch.float64)
    half = float(student.ppf(0.975, len(values) - 1)) * float(tensor.std()) / math.sqrt(len(values))
    return float(tensor.mean()), half


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arg.add_argument("--data", type=Path, default=None, help="folder of a prepared data set of images")
    arg.add_argument("--records", type=int, default=2000, help="how many of the first records of either split")
    arg.add_argument("--seeds", type=int, default=5)
    arg.add_argument("--only", nargs="+", default=list(ARMS), choices=list(ARMS))
    args = arg.parse_args()
    torch.set_num_threads(1)
    train, test = (
        (read_records(args.data / f"{split}.safetensors").first(args.records) for split in ("train", "test"))
        if args.data
        else digits()
    )
    print("| loop | data | plain | ours | ours less plain |\n|---|---|---:|---:|---:|")
    for name in args.only:
        pairs = [[ARMS[name](train, test, seed, quick) for quick in (False, True)] for seed in range(args.seeds)]
        plain, ours = ([pair[quick] for pair in pairs] for quick in (0, 1))
        found = [interval(values) for values in (plain, ours, [b - a for a, b in pairs])]
        cells = " | ".join(f"{mean:.4f} ± {half:.4f}" for mean, half in found)
        print(f"| {name} | {train.name}, {len(train.x):,} records | {cells} |", flush=True)


if __name__ == "__main__":
    main()
