"""Worlds in which a claim of PLDP-FL is true, and others in which it is false."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from invented import cell
from worlds import SEEDS, Means, Truth, centred, factors_of, grid_of

from tensorldp_papers.run.cell import AnyCell

ROUNDS = {"training": {"participation": 0.7, "rounds": 100}}
MODES, RANGES = ("e1", "e2", "e3"), ("t1", "t2", "t3")


def _federated(datasets: Iterable[str] = ("mnist",)) -> list[AnyCell]:
    nine = [
        cell("pldp_fl", name, "pdpm", "1", seeds=SEEDS, eps=eps, tau=tau, **ROUNDS)
        for name in datasets
        for eps in MODES
        for tau in RANGES
    ]
    fixed = cell("pldp_fl", "mnist", "pdpm", "1", seeds=SEEDS, eps="e2", tau=2.0, **ROUNDS)
    shared = cell("pldp_fl", "mnist", "plu-fedoa", "1", seeds=SEEDS, eps="e2", tau=2.0, **ROUNDS)
    none = [cell("pldp_fl", name, "none", "inf", seeds=SEEDS, **ROUNDS) for name in datasets]
    return [*map(centred, [*nine, fixed, shared]), *none]


def _shares(datasets: Iterable[str] = ("mnist", "fashion_mnist")) -> list[AnyCell]:
    nine = [cell("pldp_fl", name, "pdpm", "1", seeds=SEEDS, eps="e3", tau="t1", **ROUNDS) for name in datasets]
    shares = [
        cell(
            "pldp_fl",
            name,
            "pdpm",
            "1",
            seeds=SEEDS,
            eps="e3",
            tau="t1",
            participation=share,
            training={"participation": share, "rounds": 100},
        )
        for name in datasets
        for share in (0.1, 1.0)
    ]
    return [centred(planned) for planned in (*nine, *shares)]


def _after(function: Callable[[AnyCell], float], start: float = 0.2) -> Means:
    def means(c: AnyCell) -> dict[Any, float]:
        end = function(c)
        rounds = {5: start, 50: end, 100: end}
        return {"accuracy": end, **{("accuracy_by_round", count): value for count, value in rounds.items()}}

    return means


def _mode(c: AnyCell, by: dict[str, float], key: str = "eps") -> float:
    return by.get(str(factors_of(c).get(key)), 0.97)


def _share(values: tuple[float, float, float]) -> Means:
    return lambda c: {
        "accuracy": {"0.1": values[0], "1.0": values[2]}.get(factors_of(c).get("participation", ""), values[1])
    }


SYNTHETIC = [
    *(
        planned
        for tau in RANGES
        for planned in grid_of("pldp_synthetic", "synthetic", ["pdpm"], (0.2, 0.5, 1), eps="same", tau=tau)
    ),
    *(
        planned
        for eps in MODES
        for tau in (0.2, 1.0, 2.0)
        for planned in grid_of("pldp_synthetic", "synthetic", ["pdpm"], [1], eps=eps, tau=tau)
    ),
]
SIZE = {"t1": 1.0, "t2": 3.0, "t3": 9.0, "same": 1.0, "e1": 9.0, "e2": 3.0, "e3": 1.0}


def _relative(c: AnyCell) -> float:
    tau = factors_of(c)["tau"]
    return SIZE[factors_of(c)["eps"]] * (SIZE[tau] if tau in SIZE else float(tau)) / float(c.epsilon)


PLDP_TRUTHS = {
    "P09": Truth(SYNTHETIC, lambda c: {"relative_error": _relative(c)}, lambda c: {"relative_error": 1 / _relative(c)}),
    "P11": Truth(_shares(), _share((0.5, 0.8, 0.801)), _share((0.8, 0.5, 0.9))),
    "P12": Truth(
        _federated(), _after(lambda c: _mode(c, {"e1": 0.5, "e2": 0.89, "e3": 0.9})), _after(lambda c: 0.3, start=0.8)
    ),
    "P13": Truth(_federated(), _after(lambda c: 0.99), _after(lambda c: 0.9)),
    "P14": Truth(_federated(("mnist", "fashion_mnist")), _after(lambda c: 0.9), _after(lambda c: 0.7)),
    "P15": Truth(
        _federated(),
        _after(lambda c: _mode(c, {"t1": 0.9, "t2": 0.8, "t3": 0.6}, "tau")),
        _after(lambda c: _mode(c, {"t1": 0.6, "t2": 0.8, "t3": 0.9}, "tau")),
    ),
    "P16": Truth(_federated(), _after(lambda c: 0.99), _after(lambda c: 0.99 if c.mechanism == "none" else 0.9)),
    "P24": Truth(_federated(), _after(lambda c: 0.9), _after(lambda c: 0.9 if c.mechanism == "none" else 0.5)),
    "P22": Truth(
        _federated(("mnist", "fashion_mnist")),
        _after(lambda c: _mode(c, {"e1": 0.5, "e2": 0.8, "e3": 0.9})),
        _after(lambda c: _mode(c, {"e1": 0.9, "e2": 0.8, "e3": 0.5})),
    ),
}
