"""TVG's Table IV, costs and figures, decided from the table of the pipeline and from our runs.

A printed order is met if the fitted exponent is within 0.1 of it. The figures have no numbers in the text: "usable" is
an accuracy of twice the largest class, and an order of mechanisms is that of their mean scores over epsilons and seeds.
"""

from __future__ import annotations

import time

import torch

from tensorldp.claims.base import Finding, NotRun, claim
from tensorldp.claims.evidence import Evidence
from tensorldp.mechanisms import Box, make
from tensorldp.randomness import generator

EXPONENT, USABLE = 0.1, 2.0
REAL = ("mnist", "cifar10", "svhn", "imdb", "adult", "credit")
TABLE4 = "tests/studies/test_growth_table.py"


def _grows(found: Evidence, entries: dict[str, float], kind: str) -> Finding:
    """Whether the exact error of each mechanism grows with its printed exponent."""
    table = found.table("tvg_table4")
    own = table[table["kind"] == kind].groupby("mechanism")["exact_exponent"].first()
    missing = [name for name in entries if name not in own]
    if missing:
        raise NotRun(f"needs Table IV with {', '.join(missing)}")
    return Finding(all(abs(own[name] - power) < EXPONENT for name, power in entries.items()),
                   ", ".join(f"{name} I^{own[name]:.2f} (printed {power:g})" for name, power in entries.items())
                   + "; a Gaussian mechanism for the whole tensor has I^2", TABLE4)


@claim("V14", expected="an exponent of 3")
def gaussian_order(found: Evidence) -> Finding:
    return _grows(found, {"gaussian-per-element": 3.0}, "Types II and III")


@claim("V15", expected="an exponent of 3 at a fixed I_1")
def mvg_order(found: Evidence) -> Finding:
    return _grows(found, {"mvg": 3.0}, "Types II and III")


@claim("V16", expected="exponents of 3 at a fixed I_1")
def directional_order(found: Evidence) -> Finding:
    return _grows(found, {"udn": 3.0, "idn": 3.0}, "Types II and III")


@claim("V17", expected="an exponent of 2")
def optimized_order(found: Evidence) -> Finding:
    return _grows(found, {"optimized": 2.0}, "Type I")


def _means(found: Evidence, study: str, metric: str, mechanisms: tuple[str, ...]) -> dict[str, float]:
    datasets = [name for name in REAL if found.cells(study, dataset=name)]
    if not datasets:
        raise NotRun(f"needs {study} on {' or '.join(REAL)}, which the {found.scale} grid does not have")
    rows = found.rows(study, metric, dataset=datasets, mechanism=mechanisms)
    return {name: float(rows[rows["mechanism"] == name]["value"].mean()) for name in mechanisms}


@claim("V21", expected="mean accuracy: IDN within 0.05 of Optimized, UDN above MVG")
def figure3(found: Evidence) -> Finding:
    means = _means(found, "tvg_sgd", "accuracy", ("optimized", "mvg", "udn", "idn"))
    return Finding(abs(means["idn"] - means["optimized"]) <= 0.05 and means["udn"] > means["mvg"],
                   ", ".join(f"{name} {value:.3f}" for name, value in means.items()))


@claim("V22", expected="mean accuracy: IDN, then Gaussian, then UDN and MVG")
def figure4(found: Evidence) -> Finding:
    means = _means(found, "tvg_features", "accuracy", ("gaussian-per-element", "mvg", "udn", "idn"))
    return Finding(means["idn"] > means["gaussian-per-element"] > max(means["udn"], means["mvg"]),
                   ", ".join(f"{name} {value:.3f}" for name, value in means.items()))


@claim("V23", expected=f"IDN's best accuracy up to epsilon 100 is {USABLE:g} times the largest class")
def figure5(found: Evidence) -> Finding:
    datasets = [name for name in REAL if found.cells("tvg_testing", dataset=name)]
    if not datasets:
        raise NotRun(f"needs tvg_testing on real data, which the {found.scale} grid does not have")
    rows = found.rows("tvg_testing", "accuracy_perturbed_test", dataset=datasets, mechanism="idn", unit="batch")
    best = rows[rows["epsilon"] <= 100].groupby("dataset")["value"].max()
    chance = {"imdb": 0.5}
    return Finding(all(value >= min(0.9, USABLE * chance.get(str(name), 0.1)) for name, value in best.items()),
                   ", ".join(f"{name} {value:.3f}" for name, value in best.items()) + " at the sensitivity of a batch, "
                   "where theory allows 0.105 for MNIST at epsilon 100")


@claim("V25", expected="closed-form noise many times cheaper than optimising a strategy")
def cost(_: Evidence) -> Finding:
    """Processor seconds to set a mechanism up and to release a record of 200 x 2; the best of three."""
    box = Box(-1, 1, (200, 2))
    x = torch.zeros(1, *box.shape)
    seconds = {}
    for name in ("idn", "matrix"):
        taken = []
        for _i in range(3):
            start = time.process_time()
            make(name, epsilon=1.0, domain=box).privatize(x, generator("V25"))
            taken.append(time.process_time() - start)
        seconds[name] = min(taken)
    ratio = seconds["matrix"] / seconds["idn"]
    return Finding(ratio > 1, f"the matrix mechanism takes {'more' if ratio > 1 else 'less'} time than IDN on 200 x 2; "
                   "its m^4 (m+n)^4 is the cost of a generic solver, ours factorises", "benchmarks/mechanisms.py")


@claim("V26", expected="no guarantee of the baselines for a flattened tensor")
def flattening(_: Evidence) -> Finding:
    tensor, vector = (make("gaussian-analytic", epsilon=1.0, domain=Box(-1, 1, shape)).guarantee(1e-5)
                      for shape in ((4, 14, 14), (784,)))
    return Finding(abs(tensor.epsilon - vector.epsilon) > 1e-9, f"a tensor is a vector: the Gaussian mechanism has "
                   f"epsilon {tensor.epsilon:.6f} on 4 x 14 x 14 and {vector.epsilon:.6f} on 784",
                   "tests/mechanisms/test_additive.py::test_analytic_gaussian_on_mnist")
