"""Worlds in which a claim of LATENT is true, and others in which it is false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from invented import cell
from worlds import SEEDS, Means, Truth, factors_of, grid_of

from tensorldp_papers.run.cell import AnyCell


def _latent() -> list[AnyCell]:
    found = []
    for name in ("mnist", "cifar10"):
        found += [cell("latent", name, "none", "inf", seeds=SEEDS, model=model) for model in ("cnn", "ann")]
        for reading in "AB":
            found += grid_of("latent", name, ["latent"], (0.5, 2, 8), model="ann", reading=reading)
    found += [cell("latent", "cifar10", "none", "inf", seeds=SEEDS, model="ann", augment=1)]
    return [replace(c, training=c.training.model_copy(update={"width": 256, "epochs": 100})) for c in found]


def _networks(
    *,
    cnn: float = 0.985,
    bits: float = 0.95,
    train: float = 0.99,
    readings: Callable[[AnyCell], float] = lambda c: 0.97,
) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        records = 60_000 if c.dataset == "mnist" else 50_000 * (1 + int(factors_of(c).get("augment", 0)))
        value = readings(c) if c.mechanism == "latent" else cnn if factors_of(c)["model"] == "cnn" else bits
        return {"accuracy": value, "train_accuracy": train, "train_records": records}

    return means


LATENT_TRUTHS = {
    "A11": Truth(_latent(), _networks(), _networks(cnn=0.7)),
    "A12": Truth(_latent(), _networks(), _networks(readings=lambda c: 0.8)),
    "A13": Truth(_latent(), _networks(), _networks(readings=lambda c: 0.8)),
    "A14": Truth(_latent(), _networks(train=0.999), _networks(train=0.8)),
    "A16": Truth(_latent(), _networks(), _networks(readings=lambda c: 0.5 + 0.05 * float(c.epsilon))),
    "A17": Truth(_latent(), _networks(bits=0.97, train=0.995), _networks(bits=0.8)),
    "A22": Truth(_latent(), _networks(cnn=0.7, bits=0.8), _networks(cnn=0.8, bits=0.7)),
    "A23": Truth(_latent(), _networks(bits=0.775), _networks(bits=0.9)),
    "A24": Truth(_latent(), _networks(cnn=0.7), _networks(cnn=0.999, readings=lambda c: 0.6)),
}
