"""Made-up tables of results with a known truth, one in which a claim is true by a margin and one in which it is false.

A world gives the mean of every cell's metrics; a draw adds noise to it, seed by seed. Draws stay in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from invented import cell, paper_cells

from tensorldp.claims.base import NotRun, catalogue, load_checks, verdict
from tensorldp.claims.evidence import Evidence
from tensorldp.config.cell import AnyCell, variant_factors, variant_text
from tensorldp.config.grid import Plan
from tensorldp.config.settings import parse_settings

Means = Callable[[AnyCell], dict[Any, float]]  # by metric, or by metric and round
SEEDS = 3
NOISE = 0.002  # of a score from seed to seed; of log10 of an error eight times as much
ERRORS = ("error", "relative_error", "rss_noisy", "rss_true")  # noise multiplies them
SHARED = ("error",)  # one attack on the same records: the noise is the seed's, whatever the defence
EXACT = ("train_records", "noise", "accuracy_ceiling", "uploaded_megabytes")
GUARANTEE = {"guarantee_unit": "record", "guarantee_epsilon": 1.0, "guarantee_delta": 1e-5}


class Draw(Evidence):
    """The results of a world's cells, in memory."""

    def __init__(self, cells: tuple[AnyCell, ...], table: pd.DataFrame, rows: dict[str, np.ndarray[Any, Any]]) -> None:
        super().__init__(Plan(parse_settings({"scale": "paper", "studies": ["x"]}), {}, cells), Path())
        self._table, self._rows = table, rows

    def measured(self, cells: list[AnyCell]) -> pd.DataFrame:
        return self._table.take(np.concatenate([self._rows[cell.path] for cell in cells]))


class World:
    """Cells with the means of their metrics, from which draws are made."""

    def __init__(self, cells: Iterable[AnyCell], means: Means, *, seeds: int = SEEDS) -> None:
        self.cells = tuple(cells)
        records, paths = [], []
        for planned in self.cells:
            for metric, value in means(planned).items():
                name, count = metric if isinstance(metric, tuple) else (metric, np.nan)
                for seed in range(seeds):
                    key = (planned.study, planned.dataset, planned.variant, planned.mechanism, float(planned.epsilon))
                    records.append((*key, seed, name, count, value))
                    paths.append(planned.path)
        names = ["study", "dataset", "variant", "mechanism", "epsilon", "seed", "metric", "round", "value"]
        self.table = pd.DataFrame(records, columns=names).assign(guarantee_pure_epsilon=2.0, **GUARANTEE)
        self.rows = pd.Series(paths).groupby(paths).indices
        own = self.table["metric"]
        self.exact = (own.isin(EXACT)).to_numpy()
        self.errors = own.isin(ERRORS).to_numpy()
        self.shared = own.isin(SHARED).to_numpy()

    def draw(self, stream: np.random.Generator, noise: float = NOISE) -> Draw:
        """The world's results with fresh noise."""
        values, seeds = self.table["value"].to_numpy(), self.table["seed"].to_numpy()
        own = stream.standard_normal(len(values))
        own = np.where(self.shared, stream.standard_normal(seeds.max() + 1)[seeds], own)
        unit = np.where(self.table["metric"] == "psnr", 100.0, 1.0)
        noisy = np.where(self.errors, values * 10 ** (8 * noise * own), values + noise * unit * own)
        return Draw(self.cells, self.table.assign(value=np.where(self.exact, values, noisy)), self.rows)


def decided(id: str, evidence: Evidence) -> str:
    """The verdict on a claim, or `not run`."""
    try:
        return verdict(catalogue()[id], load_checks()[id].check(evidence))
    except NotRun:
        return "not run"


def factors_of(c: AnyCell) -> dict[str, str]:
    """A cell's further factors as texts."""
    return variant_factors(c.variant)


def centred(c: AnyCell) -> AnyCell:
    """A cell of PDPM with its safe ranges around the weights that the server has sent."""
    return replace(c, variant=variant_text({**factors_of(c), "centre": "global"}))


@dataclass(frozen=True)
class Truth:
    """The cells that a claim looks at, with means that make it true and means that make it false."""

    cells: Iterable[AnyCell]
    true: Means
    false: Means


def _grid(
    study: str, datasets: str | Iterable[str], mechanisms: Iterable[str], epsilons: Iterable[float], **factors: Any
) -> list[AnyCell]:
    names = [datasets] if isinstance(datasets, str) else datasets
    return [
        cell(study, dataset, name, epsilon, seeds=SEEDS, **factors)
        for dataset in names
        for name in mechanisms
        for epsilon in (["inf"] if name == "none" else [f"{e:g}" for e in epsilons])
    ]


def _by(metric: str, scores: dict[str, float], default: float = 0.1) -> Means:
    return lambda c: {metric: scores.get(c.mechanism, default)}


def _score(metric: str, function: Callable[[str, float], float]) -> Means:
    return lambda c: {metric: function(c.mechanism, float(c.epsilon))}


F1 = "weighted_f1"
IMAGES = ("mnist", "cifar10", "svhn")
BASELINES = ("laplace", "gaussian", "mvg", "idn")
TLDP = ("tldp-l", "tldp-g")
WEIGHTED = ("tldp-l-w", "tldp-g-w")
ALL = ("none", *BASELINES, *TLDP)
GOOD = {"none": 0.95, "tldp-l": 0.9, "tldp-g": 0.92}


def type1(*datasets: str, epsilons: Iterable[float] = (0.25, 0.5, 2, 5), more: Iterable[str] = ()) -> list[AnyCell]:
    return _grid("tldp_type1", datasets or IMAGES, (*ALL, *more), epsilons, model="mobilenet_v2")


def type2(*datasets: str) -> list[AnyCell]:
    shared = {"backbone": "mobilenet_v2_tanh", "model": "linear"}
    both = _grid("tldp_type2", datasets or IMAGES, ALL, (0.5, 2, 5, 20), **shared)
    return [*both, *_grid("tldp_type2", datasets or IMAGES, ["gaussian"], (0.5, 2, 5, 20), form="table5", **shared)]


def type3(*datasets: str, model: str = "mobilenet_v2") -> list[AnyCell]:
    return [
        planned
        for where in ("user", "server")
        for planned in _grid("tldp_type3", datasets, ALL, (10, 100, 200, 500), model=model, where=where)
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
    return _score(F1, lambda name, e: 0.5 + leads.get(e, 0.0) * (name == "tldp-l"))


def _darknet(g: dict[float, float]) -> Means:
    return _score(F1, lambda name, e: {10: g[10], 500: g[500]}.get(e, 0.6) if name == "tldp-g" else 0.6)


TLDP_TRUTHS = {
    "T34": Truth(type1(), _by(F1, GOOD), _by(F1, {**GOOD, "idn": 0.6})),
    "T35": Truth(type1("mnist"), _by(F1, GOOD), _by(F1, {"none": 0.95}, 0.7)),
    "T36": Truth(type1("svhn"), _by(F1, GOOD), _by(F1, {"none": 0.95}, 0.7)),
    "T37": Truth(type1("cifar10"), _by(F1, {}, 0.72), _by(F1, {}, 0.5)),
    "T38": Truth(type1("mnist", more=WEIGHTED), _by(F1, {}, 0.8), _by(F1, {"tldp-l-w": 0.7}, 0.8)),
    "T39": Truth(type1("mnist", more=WEIGHTED), _by(F1, {"tldp-g-w": 0.75}, 0.8), _by(F1, {"tldp-g-w": 0.85}, 0.8)),
    "T40": Truth(type1(), _by(F1, {"tldp-g": 0.85}, 0.8), _by(F1, {"tldp-g": 0.75}, 0.8)),
    "T41": Truth(type1(), _by(F1, GOOD), _by(F1, GOOD, 0.85)),
    "T42": Truth(type2("mnist"), _by(F1, {}, 0.8), _by(F1, {}, 0.6)),
    "T43": Truth(type2("cifar10", "svhn"), _by(F1, {}, 0.4), _by(F1, {}, 0.6)),
    "T44": Truth(type2(), _by(F1, GOOD), _by(F1, {**GOOD, "gaussian": 0.6})),
    "T45": Truth([*type1(epsilons=(0.5, 2, 5)), *type2()], _slopes(0.3, 0.1, 0.05), _slopes(0.1, 0.3, -0.05)),
    "T46": Truth(
        type3(*IMAGES), _score(F1, lambda n, e: 0.95 if n == "none" or e > 100 else 0.3), _by(F1, {"none": 0.95}, 0.94)
    ),
    "T47": Truth(type3(*IMAGES), _type3_lead({100: 0.2}), _type3_lead({10: -0.2, 100: -0.2, 200: -0.2, 500: -0.3})),
    "T48": Truth(
        type3("imdb", model="bilstm"), _by(F1, {"none": 0.85, "tldp-l": 0.82, "tldp-g": 0.82}, 0.4), _by(F1, {}, 0.6)
    ),
    "T49": Truth(
        type3("darknet", model="fcn"),
        _by(F1, {"idn": 0.3, "laplace": 0.3}, 0.6),
        _by(F1, {"gaussian": 0.3, "mvg": 0.3}, 0.6),
    ),
    "T50": Truth(
        type3("darknet", model="fcn"),
        _score(F1, lambda n, e: (0.2 if e == 10 else 0.8) if n == "tldp-g" else 0.8 if n == "tldp-l" else 0.6),
        _darknet({10: 0.8, 500: 0.4}),
    ),
    "T57": Truth(
        [
            planned
            for backbone in ("mobilenet_v2", "mobilenet_v2_tanh")
            for planned in _grid("tldp_type2", IMAGES, ["none"], [], backbone=backbone, model="linear")
        ],
        lambda c: {F1: 0.8 if "tanh" in c.variant else 0.7},
        lambda c: {F1: 0.7 if "tanh" in c.variant else 0.8},
    ),
}

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
    return [*map(centred, [*nine, fixed]), shared, *none]


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
        for planned in _grid("pldp_synthetic", "synthetic", ["pdpm"], (0.2, 0.5, 1), eps="same", tau=tau)
    ),
    *(
        planned
        for eps in MODES
        for tau in (0.2, 1.0, 2.0)
        for planned in _grid("pldp_synthetic", "synthetic", ["pdpm"], [1], eps=eps, tau=tau)
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
    "P17": Truth(_federated(), _after(lambda c: 0.903), _after(lambda c: 0.97)),
    "P22": Truth(
        _federated(("mnist", "fashion_mnist")),
        _after(lambda c: _mode(c, {"e1": 0.5, "e2": 0.8, "e3": 0.9})),
        _after(lambda c: _mode(c, {"e1": 0.9, "e2": 0.8, "e3": 0.5})),
    ),
}

RECONSTRUCTION = tuple(
    planned
    for planned in paper_cells("reconstruction", seeds=SEEDS)
    if factors_of(planned)["attack"] == "tensor"
    or (
        planned.dataset == "mnist"
        and factors_of(planned)["attack"] in ("dlg", "cosine")
        and planned.mechanism == "none"
    )
)


def _bound(c: AnyCell) -> float:
    """The printed bound of a cell's defence."""
    size = {key: float(factors_of(c)[key]) for key in ("m", "d", "B")}
    strength = float(factors_of(c).get("strength", 0))
    factor = {
        "local": strength * size["B"],
        "noise": size["B"] + strength,
        "mechanism": size["B"] + _noise(c),
        "dropout": size["B"] / math.sqrt(strength or 1),
    }.get(str(factors_of(c)["defence"]), size["B"])
    return factor * math.sqrt(size["d"] / size["m"])


def _noise(c: AnyCell) -> float:
    return 10.0 / float(c.epsilon) * 100


def _attack(share: float, decibels: float = 40.0, growth: float = 1.0) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        if factors_of(c).get("attack") != "tensor":
            return {"psnr": decibels}
        found = {"error": share * _bound(c) ** growth}
        return {**found, "noise": _noise(c)} if factors_of(c)["defence"] == "mechanism" else found

    return means


LECTURE_TRUTHS = {
    "L11": Truth(RECONSTRUCTION, _attack(0.6), _attack(0.6, decibels=10)),
    "L13": Truth(RECONSTRUCTION, _attack(0.6), _attack(0.6, growth=2.0)),
    **{id: Truth(RECONSTRUCTION, _attack(0.6), _attack(6.0)) for id in ("L14", "L15", "L16", "L17", "L18", "L19")},
}

SGD = ("optimized", "mvg", "udn", "idn")
FEATURES = ("gaussian-per-element", "mvg", "udn", "idn")
LARGE = (1.0, 1e4, 1e6)
MODELS = {"mnist": "lenet", "credit": "mlp_10", "adult": "mlp_12"}


def sgd() -> list[AnyCell]:
    found = [
        planned
        for name, model in MODELS.items()
        for planned in _grid("tvg_sgd", name, ("none", *SGD), (0.1, 1, 10), model=model)
    ]
    return [*found, *_grid("tvg_sgd", "adult", ["matrix"], (0.1, 1, 10), model="mlp_12")]


def features(study: str) -> list[AnyCell]:
    found = _grid(study, (*IMAGES, "imdb"), FEATURES, LARGE, model="m", unit="batch")
    return [*found, *_grid(study, "imdb", ["matrix"], LARGE, model="m", unit="batch")]


def _private(scores: dict[str, float], slope: float = 0.0) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        value = scores.get(c.mechanism, 0.95) + (0 if c.mechanism == "none" else slope * math.log10(float(c.epsilon)))
        return {
            "accuracy": value,
            "auc": value,
            "accuracy_perturbed_test": value,
            "accuracy_ceiling": 1.0,
        }

    return means


def _by_epsilon(function: Callable[[str, float], float]) -> Means:
    return lambda c: {
        metric: function(c.mechanism, float(c.epsilon))
        for metric in ("accuracy", "accuracy_perturbed_test", "accuracy_ceiling")
    }


def _rss(scores: dict[str, float]) -> Means:
    return lambda c: dict.fromkeys(("rss_noisy", "rss_true"), scores[c.mechanism])


def _two_studies(test: float, train: float) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        lead = test if c.study == "tvg_testing" else train
        value = 0.7 + lead * (c.mechanism == "idn")
        return {"accuracy": value, "accuracy_perturbed_test": value, "accuracy_ceiling": 1.0}

    return means


ORDER = {"idn": 0.95, "gaussian-per-element": 0.85, "udn": 0.75, "mvg": 0.65, "matrix": 0.9}
REVERSED = {"idn": 0.65, "gaussian-per-element": 0.75, "udn": 0.85, "mvg": 0.95, "matrix": 0.6}
CTG = _grid("tvg_covariance", "ctg", ("gaussian-per-element", "idn", "jl", "matrix", "mvg", "udn"), (0.1, 1, 10))
CTG_ORDER = {"idn": 1.0, "udn": 30.0, "matrix": 100.0, "gaussian-per-element": 100.0, "mvg": 1e5, "jl": 1e8}
CTG_REVERSED = {"jl": 1.0, "mvg": 30.0, "matrix": 100.0, "gaussian-per-element": 1e4, "udn": 1e5, "idn": 1e8}
FAR = {"optimized": 0.9, "idn": 0.89, "udn": 0.86, "mvg": 0.8, "matrix": 0.83}

TVG_TRUTHS = {
    "V21": Truth(sgd(), _private(FAR), _private({**FAR, "idn": 0.8, "udn": 0.79, "mvg": 0.88, "matrix": 0.88})),
    "V33": Truth(sgd(), _private(FAR, 0.02), _private(FAR, -0.02)),
    "V34": Truth(sgd(), _private(FAR), _private({**FAR, "matrix": 0.95})),
    "V22": Truth(features("tvg_features"), _private(ORDER), _private(REVERSED)),
    "V31": Truth(
        features("tvg_features"),
        _by_epsilon(lambda name, e: 0.9 - (0.2 if name != "idn" and e < 1e6 else 0)),
        _private(REVERSED),
    ),
    "V32": Truth(
        features("tvg_features"),
        _by_epsilon(lambda name, e: 0.5 + (0.3 if name == "udn" and e == 1e6 else 0)),
        _by_epsilon(lambda name, e: 0.5 + (0.3 if name == "mvg" and e == 1e6 else 0)),
    ),
    "V35": Truth(features("tvg_features"), _private({**ORDER, "matrix": 0.75}), _private({**ORDER, "matrix": 0.99})),
    "V23": Truth(features("tvg_testing"), _private(ORDER), _private(REVERSED)),
    "V36": Truth(
        features("tvg_testing"),
        _by_epsilon(lambda name, e: 0.9 - (0.2 if name == "matrix" and e < 1e6 else 0)),
        _by_epsilon(lambda name, e: 0.9 - (0.2 if name == "idn" else 0)),
    ),
    "V37": Truth(features("tvg_testing"), _private(ORDER), _private(REVERSED)),
    "V38": Truth(
        [*features("tvg_testing"), *features("tvg_features")], _two_studies(0.2, 0.05), _two_studies(0.05, 0.2)
    ),
    "V27": Truth(CTG, _rss(CTG_ORDER), _rss(CTG_REVERSED)),
    "V28": Truth(CTG, _rss(CTG_ORDER), _rss(CTG_REVERSED)),
    "V29": Truth(CTG, _rss(CTG_ORDER), _rss(CTG_REVERSED)),
}


def _latent() -> list[AnyCell]:
    found = []
    for name in ("mnist", "cifar10"):
        found += [cell("latent", name, "none", "inf", seeds=SEEDS, model=model) for model in ("cnn", "ann")]
        for reading in "AB":
            found += _grid("latent", name, ["latent"], (0.5, 2, 8), model="ann", reading=reading)
    return [*found, cell("latent", "cifar10", "none", "inf", seeds=SEEDS, model="ann", augment=1)]


def _networks(
    *,
    cnn: float = 0.985,
    bits: float = 0.95,
    train: float = 0.99,
    readings: Callable[[AnyCell], float] = lambda c: 0.97,
) -> Means:
    def means(c: AnyCell) -> dict[str, float]:
        records = 60_000 if c.dataset == "mnist" else 50_000
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

TRUTHS = {**TLDP_TRUTHS, **PLDP_TRUTHS, **LECTURE_TRUTHS, **TVG_TRUTHS, **LATENT_TRUTHS}
