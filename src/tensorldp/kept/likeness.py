"""Which measured cells another cell is like, and how much more work it is: what an estimate of its seconds rests on."""

from __future__ import annotations

import math
from typing import Any

from tensorldp.config.cell import AnyCell
from tensorldp.config.methods.base import SYNTHETIC
from tensorldp.data.catalogue import get as dataset_entry
from tensorldp.data.catalogue import names as dataset_names

# what decides how long a step takes, among the factors of all methods
COMPUTING = ("model", "backbone", "attack", "features", "width", "m", "d", "B")
# training settings that the seconds of a cell grow with in proportion, where its method has them
COUNTS = ("epochs", "rounds")
ATTACKING = {
    "tensor": ("draws",),
    "sensitivity": ("pairs",),
    "likelihood": ("victims",),
    "membership": ("members", "member_epochs"),
}
INVERTING = ("victims", "steps")  # every other attack
LEVELS = ("measured", "same mechanism", "same network", "same network, other data")


def computing(cell: AnyCell) -> str:
    """The factors that decide how long a step of the cell takes, as one text."""
    factors: dict[str, Any] = cell.factors.named()
    return ",".join(f"{key}={factors[key]}" for key in COMPUTING if key in factors)


def work(cell: AnyCell) -> float:
    """A number that seconds of cells of one study with the same `computing` are taken to be proportional to.

    Records times the counts of training settings, such as epochs and rounds. Settings that a method has and does not
    use are the same in all of its cells and cancel out. Private SGD's steps take lots, and attacks have their own
    counts, whatever the number of records.
    """
    settings = cell.training.model_dump()
    if cell.method == "private_sgd":
        return float(settings["steps"] * settings["lot"])
    if cell.method == "attacks":
        return float(math.prod(settings[key] for key in ATTACKING.get(cell.factors.named()["attack"], INVERTING)))
    product = math.prod(settings[key] for key in COUNTS if settings.get(key))
    return float(product * records(cell) * settings.get("participation", 1))


def sized(dataset: str) -> bool:
    """Whether it is known how many records of how many elements there are: of a user's own data it is not."""
    return dataset == SYNTHETIC or dataset in dataset_names()


def records(cell: AnyCell) -> int:
    """How many training records the cell reads; 1 where it reads none or they are the user's own."""
    if not cell.plan.data or cell.dataset == SYNTHETIC or cell.dataset not in dataset_names():
        return 1
    size = dataset_entry(cell.dataset).sizes[0]
    return min(size, cell.training.limit or size)


def elements(dataset: str) -> int:
    """The number of elements of a record; 1 where that is not known."""
    return math.prod(dataset_entry(dataset).shape) if dataset in dataset_names() else 1


def levels(cell: AnyCell) -> tuple[tuple[str, ...], ...]:
    """The keys under which measured seconds of cells like this one are found, from the most to the least alike.

    As many as `LEVELS`: the cell itself with as much work, its mechanism at other epsilons or with other work,
    its network on the same data under any mechanism, and the network on other data.
    """
    like = computing(cell)
    return (
        (cell.study, cell.dataset, cell.variant, cell.mechanism, cell.epsilon, repr(work(cell))),
        (cell.study, cell.dataset, cell.variant, cell.mechanism),
        (cell.study, cell.dataset, like),
        (cell.study, like),
    )
