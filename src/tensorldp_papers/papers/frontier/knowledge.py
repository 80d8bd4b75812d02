"""What a cell of the method `frontier` knows before it sees a private record, and its records."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor

from tensorldp.calibration import calibrate
from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Ball, Box, Mechanism, make
from tensorldp.mechanisms.latent import Latent
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse
from tensorldp_papers.data.text import PUBLIC_TEXTS
from tensorldp_papers.papers.frontier.settings import FrontierCell
from tensorldp_papers.public.codewords import choose_codewords
from tensorldp_papers.public.dimension import DIMENSIONS, Plan, PublicTask, choose_dimension
from tensorldp_papers.public.imagenet_classes import PUBLIC_IMAGES
from tensorldp_papers.public.projection import MOST_DIRECTIONS, Projection, principal
from tensorldp_papers.run.held_out import held_out_count
from tensorldp_papers.run.records import read_records
from tensorldp_papers.run.sealed import read_prepared

# among which public tasks choose; 0 changes no direction, and an infinite ridge is the plain distance
EXPONENTS = (0.0, 0.25, 0.5)
RIDGES = (0.3, 1.0, 3.0, math.inf)
WIDEST_BLOCK = 64  # directions of each class where labels are released: ten times as many numbers are drawn
UNFITTED = ("strokes", "columns")  # representations that no records of the private kind are needed for
FITTED = 10_000  # training records that fit the public model of private test records
SPHERICAL = ("privunit", "privunit-g", "projunit")  # take unit vectors as they are


@dataclass(frozen=True)
class Public:
    """The public records of a representation, see `represent.public_arrays`."""

    arrays: dict[str, Tensor]

    @property
    def projection(self) -> Projection | None:
        """Returns the projection that comes with the representation: fitted on letters, or of columns as they are."""
        if "directions" not in self.arrays:
            return None
        return Projection(self.arrays["centre"], self.arrays["directions"], self.arrays["scales"])

    def tasks(self, letters: Projection | None) -> list[PublicTask]:
        """Returns the public tasks that choose the dimension; without letters each has its own principal directions."""
        x, y = self.arrays["task_x"], self.arrays["task_y"]
        found = []
        for task in range(int(y.max()) // 10 + 1):
            own, labels = x[y // 10 == task], y[y // 10 == task] % 10
            half = torch.arange(len(own)) % 2 == 0
            found.append(
                PublicTask(
                    own[half], labels[half], own[~half], labels[~half], letters or principal(own, MOST_DIRECTIONS)
                )
            )
        return found


@lru_cache(maxsize=2)
def read_public(data: Path) -> Public:
    """Reads the public records beside a represented data set."""
    arrays, _ = read_prepared(data / "public.safetensors")
    return Public({name: torch.from_numpy(array) for name, array in arrays.items()})


def labels_of(data: Path, split: str) -> tuple[Tensor, int]:
    """Reads the labels of a split and the number of classes, without its features."""
    path = data / f"{split}.safetensors"
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_tensor("y"), int(file.metadata()["classes"])
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"the file {path} is not a represented split ({error}): delete it and run again") from None


class Shares(NamedTuple):
    """How many training records are private, how many of the same kind are held out, and how many are public."""

    private: int
    held_out: int
    public: int


def shares_of(cell: FrontierCell, records: int) -> Shares:
    """Counts the shares of a split's training records: first the private ones, last the public ones without labels."""
    public = 0 if cell.factors.backbone in UNFITTED else cell.training.public_records
    if cell.factors.backbone == "words" and public < PUBLIC_TEXTS:
        raise InputError(f"words is fitted on {PUBLIC_TEXTS} texts: public_records must be as many, got {public}")
    if cell.factors.backbone == "imagenet_160" and public != PUBLIC_IMAGES:
        raise InputError(
            f"imagenet_160 is fitted on {PUBLIC_IMAGES} images: public_records must be as many, got {public}"
        )
    if records - public < 10:
        raise InputError(f"{cell.dataset} has {records} training records, too few for public_records: {public}")
    left = min(records - public, cell.training.limit or records)
    held_out = held_out_count(cell.training.held_out, left)
    return Shares(left - held_out, held_out, public)


def mechanism_of(cell: FrontierCell, size: int) -> Mechanism:
    """Makes the cell's mechanism on the unit ball of R^size, with the cell's epsilon as its true one.

    Where clients upload more than once, an equal share of it: pure guarantees add up.
    """
    options = {"lift": False} if cell.mechanism in SPHERICAL else {}
    domain = Ball(1.0, (size,))

    def build(nominal: float) -> Mechanism:
        return make(cell.mechanism, epsilon=nominal, domain=domain, delta=cell.delta, **{**cell.options, **options})

    if cell.mechanism == NO_PRIVACY:
        return build(math.inf)
    return calibrate(build, cell.nominal_epsilon / cell.factors.rounds, cell.delta)


def as_released(mechanism: Mechanism, rows: Tensor) -> Tensor:
    """Returns what releases of the rows are on average: the rows themselves, except for LATENT, which is biased."""
    return mechanism.expected_release(rows) if isinstance(mechanism, Latent) else rows


def answer_mechanism(cell: FrontierCell, classes: int) -> Mechanism:
    """Makes the cell's mechanism on one of `classes` answers."""
    return make(cell.mechanism, epsilon=cell.nominal_epsilon, domain=Box(0, classes - 1, (1,)), delta=cell.delta)


def code_mechanism(cell: FrontierCell, codewords: int) -> KaryRandomizedResponse:
    """Makes k-RR on the numbers of so many codewords.

    Raises:
        InputError: if the cell's mechanism is another.
    """
    mechanism = answer_mechanism(cell, codewords)
    if not isinstance(mechanism, KaryRandomizedResponse):
        raise InputError(f"private: code takes the mechanism k-rr, got {cell.mechanism}")
    return mechanism


def squared_error(cell: FrontierCell, size: int) -> float:
    """Computes the expected squared error of one release; for a mechanism without a closed form, that of PrivUnitG.

    LATENT shrinks what it releases, so its error is that of a release scaled to the length of the record.
    """
    mechanism = mechanism_of(cell, size)
    if isinstance(mechanism, Latent):
        shrunk = mechanism.expected_release(torch.full((1, size), size**-0.5, dtype=torch.float64))
        return mechanism.squared_error() / float(shrunk.square().sum())
    found = mechanism.squared_error()
    if found is None:
        found = make(
            "privunit-g", epsilon=cell.nominal_epsilon / cell.factors.rounds, domain=Ball(1.0, (size,)), lift=False
        ).squared_error()
    assert found is not None
    return found


@lru_cache(maxsize=64)
def _plan(data: Path, key: str, cell: FrontierCell) -> Plan:
    labels, classes = labels_of(data, "train")
    shares = shares_of(cell, len(labels))
    public = read_public(data)
    letters = public.projection
    if letters is not None and cell.factors.backbone == "columns":
        return Plan(letters.dimension, 0.0, math.inf, math.nan)
    errors: dict[int, float] = {}

    def error(size: int) -> float:
        if size not in errors:
            errors[size] = squared_error(cell, size)
        return errors[size]

    whole, private = cell.factors.learner != "nearest", cell.factors.private in ("record", "client")
    exponents = EXPONENTS if letters is None else (0.0,)
    ridges = RIDGES if shares.public and whole else (math.inf,)
    if cell.factors.private == "code":
        tasks, of = public.tasks(letters), partial(code_mechanism, cell)
        return choose_codewords(tasks, of, shares.private, exponents=exponents, ridges=ridges)
    # a client's unit vector holds all classes at once: at least what as many records in one block each weigh
    releases = classes * cell.training.clients if cell.factors.private == "client" else shares.private
    return choose_dimension(
        public.tasks(letters),
        error,
        releases,
        dimensions=[d for d in DIMENSIONS if d <= WIDEST_BLOCK] if private else DIMENSIONS,
        exponents=exponents,
        ridges=ridges,
        labels_private=private,
    )


def plan_of(cell: FrontierCell, data: Path) -> Plan:
    """Chooses the cell's dimension, exponent and ridge: by only public records and the mechanism's error.

    Of the private records it reads their number, and of the data set the number of its classes.
    """
    learner: Literal["nearest", "chosen"] = "nearest" if cell.factors.learner == "nearest" else "chosen"
    factors = cell.factors.model_copy(update={"control": None, "learner": learner})
    alike = replace(cell, variant="", seeds=(), factors=factors)  # cells that differ in these have the same plan
    return _plan(data, str(alike.settings()), alike)


@dataclass(frozen=True)
class Material:
    """All records of a cell, as features and labels."""

    x: Tensor  # private training records
    y: Tensor
    x_test: Tensor  # what models are scored on
    y_test: Tensor
    unlabelled: Tensor  # public records of the same kind; none for `UNFITTED`
    projection: Projection  # the whole public projection, unweighted


@lru_cache(maxsize=1)
def material(data: Path, shares: Shares) -> Material:
    """Reads the records of a represented data set; models are scored on those held out, if any are."""
    train, test = (read_records(data / f"{split}.safetensors") for split in ("train", "test"))
    x, scored = train.x.float(), slice(shares.private, shares.private + shares.held_out)
    unlabelled = x[len(x) - shares.public :]
    projection = read_public(data).projection or principal(unlabelled, MOST_DIRECTIONS)
    x_test, y_test = (x[scored], train.y[scored]) if shares.held_out else (test.x.float(), test.y)
    return Material(x[: shares.private], train.y[: shares.private], x_test, y_test, unlabelled, projection)
