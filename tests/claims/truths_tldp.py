"""Worlds in which a claim of TLDP is true, and others in which it is false."""

from __future__ import annotations

import math
from collections.abc import Iterable

from worlds import F1, Means, Truth, grid_of, means_by, score_by

from tensorldp_papers.run.cell import AnyCell

IMAGES = ("mnist", "cifar10", "svhn")
BASELINES = ("laplace", "gaussian", "mvg", "idn")
TLDP = ("tldp-l", "tldp-g")
WEIGHTED = ("tldp-l-w", "tldp-g-w")
ALL = ("none", *BASELINES, *TLDP)
GOOD = {"none": 0.95, "tldp-l": 0.9, "tldp-g": 0.92}


def type1(*datasets: str, epsilons: Iterable[float] = (0.25, 0.5, 2, 5), more: Iterable[str] = ()) -> list[AnyCell]:
    return grid_of("tldp_type1", datasets or IMAGES, (*ALL, *more), epsilons, model="mobilenet_v2")


def type2(*datasets: str) -> list[AnyCell]:
    shared = {"backbone": "mobilenet_v2_tanh", "model": "linear"}
    both = grid_of("tldp_type2", datasets or IMAGES, ALL, (0.5, 2, 5, 20), **shared)
    return [*both, *grid_of("tldp_type2", datasets or IMAGES, ["gaussian"], (0.5, 2, 5, 20), form="table5", **shared)]


def type3(*datasets: str, model: str = "mobilenet_v2") -> list[AnyCell]:
    return [
        planned
        for where in ("user", "server")
        for planned in grid_of("tldp_type3", datasets, ALL, (10, 100, 200, 500), model=model, where=where)
    ]


def _slopes(one: float, two: float, lead: float) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        slope = one if c.study == "tldp_type1" else two
        return (
            {F1: 0.4 + slope * math.log10(float(c.epsilon)) + lead * (c.mechanism == "tldp-g")}
            if c.mechanism in (*TLDP,)
            else {F1: 0.5}
        )

    return means


def _type3_lead(leads: dict[float, float]) -> Means:
    return score_by(F1, lambda name, e: 0.5 + leads.get(e, 0.0) * (name == "tldp-l"))


def _darknet(g: dict[float, float]) -> Means:
    return score_by(F1, lambda name, e: {10.0: g[10], 500.0: g[500]}.get(e, 0.6) if name == "tldp-g" else 0.6)


def _subspaces() -> list[AnyCell]:
    """IDN with the weights as its subspace, and with none, beside the calibrated Gaussian."""
    shared = {"model": "lenet_tanh", "unit": "record"}
    known = grid_of("tvg_testing", ("mnist", "imdb"), ("idn", "gaussian-analytic"), (1.0, 100.0, 1e4), **shared)
    return [
        *known,
        *grid_of("tvg_testing", ("mnist", "imdb"), ["idn"], (1.0, 100.0, 1e4), subspace="identity", **shared),
    ]


def _with_subspace(gain: float) -> Means:
    """What a utility subspace adds to IDN's score."""

    def means(c: AnyCell) -> dict[str, float]:
        known = c.mechanism == "idn" and "subspace=identity" not in c.variant
        return {"accuracy_perturbed_test": 0.6 + gain * known}

    return means


TLDP_TRUTHS = {
    "T34": Truth(type1(), means_by(F1, GOOD), means_by(F1, {**GOOD, "idn": 0.6})),
    "T35": Truth(type1("mnist"), means_by(F1, GOOD), means_by(F1, {"none": 0.95}, 0.7)),
    "T36": Truth(type1("svhn"), means_by(F1, GOOD), means_by(F1, {"none": 0.95}, 0.7)),
    "T37": Truth(type1("cifar10"), means_by(F1, {}, 0.72), means_by(F1, {}, 0.5)),
    "T38": Truth(type1("mnist", more=WEIGHTED), means_by(F1, {}, 0.8), means_by(F1, {"tldp-l-w": 0.7}, 0.8)),
    "T39": Truth(
        type1("mnist", more=WEIGHTED), means_by(F1, {"tldp-g-w": 0.75}, 0.8), means_by(F1, {"tldp-g-w": 0.85}, 0.8)
    ),
    "T40": Truth(type1(), means_by(F1, {"tldp-g": 0.85}, 0.8), means_by(F1, {"tldp-g": 0.75}, 0.8)),
    "T41": Truth(type1(), means_by(F1, GOOD), means_by(F1, GOOD, 0.85)),
    "T42": Truth(type2("mnist"), means_by(F1, {}, 0.8), means_by(F1, {}, 0.6), weak=True),
    "T43": Truth(type2("cifar10", "svhn"), means_by(F1, {}, 0.4), means_by(F1, {}, 0.6), weak=True),
    "T44": Truth(type2(), means_by(F1, GOOD), means_by(F1, {**GOOD, "gaussian": 0.6}), weak=True),
    "T45": Truth(
        [*type1(epsilons=(0.5, 2, 5)), *type2()], _slopes(0.3, 0.1, 0.05), _slopes(0.1, 0.3, -0.05), weak=True
    ),
    "T46": Truth(
        type3(*IMAGES),
        score_by(F1, lambda n, e: 0.95 if n == "none" or e > 100 else 0.3),
        means_by(F1, {"none": 0.95}, 0.94),
        weak=True,
    ),
    "T47": Truth(
        type3(*IMAGES), _type3_lead({100: 0.2}), _type3_lead({10: -0.2, 100: -0.2, 200: -0.2, 500: -0.3}), weak=True
    ),
    "T48": Truth(
        type3("imdb", model="bilstm"),
        means_by(F1, {"none": 0.85, "tldp-l": 0.82, "tldp-g": 0.82}, 0.4),
        means_by(F1, {}, 0.6),
        weak=True,
    ),
    "T49": Truth(
        type3("darknet", model="fcn"),
        means_by(F1, {"idn": 0.3, "laplace": 0.3}, 0.6),
        means_by(F1, {"gaussian": 0.3, "mvg": 0.3}, 0.6),
        weak=True,
    ),
    "T50": Truth(
        type3("darknet", model="fcn"),
        score_by(F1, lambda n, e: (0.2 if e == 10 else 0.8) if n == "tldp-g" else 0.8 if n == "tldp-l" else 0.6),
        _darknet({10: 0.8, 500: 0.4}),
        weak=True,
    ),
    "T60": Truth(type2(), means_by(F1, GOOD), means_by(F1, GOOD, 0.97), weak=True),
    "T61": Truth(type3(*IMAGES), means_by(F1, GOOD), means_by(F1, GOOD, 0.85), weak=True),
    "T52": Truth(_subspaces(), _with_subspace(0.3), _with_subspace(-0.1)),
    "T62": Truth([*type1(), *type2(), *type3(*IMAGES)], means_by(F1, GOOD), means_by(F1, GOOD, 0.97)),
    "T57": Truth(
        [
            planned
            for backbone in ("mobilenet_v2", "mobilenet_v2_tanh")
            for planned in grid_of("tldp_type2", IMAGES, ["none"], [], backbone=backbone, model="linear")
        ],
        lambda c: {F1: 0.8 if "tanh" in c.variant else 0.7},
        lambda c: {F1: 0.7 if "tanh" in c.variant else 0.8},
        weak=True,
    ),
}
