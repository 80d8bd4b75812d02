"""TVG's statements about its Figures 3 to 5, decided from our runs.

The figures have no numbers in the text. An order of two mechanisms is one of their scores on average over the epsilons
of a data set at which at least one of them is above chance, each data set by itself. Nothing is decided where both are
at chance at every epsilon. "Close" and "comparable" are within 0.05 of the score, half a tick of such an axis; "no
worse" is at most 0.02 below, and a "barely visible" error bar a standard deviation of at most 0.02, what a line of such
a figure hides. These numbers were set before the runs. That epsilons at which both are at chance do not count was set
later: noise alone gives networks on Adult that are up to 0.15 below the share of its largest class, which would order
them. The claims are on the paper's data sets, and in Types II and III on its unit, a batch of 256 records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tensorldp_papers.claims.base import Finding, NotRun, claim
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import shortfall
from tensorldp_papers.claims.statements import (
    AllOf,
    AnyOf,
    Between,
    Estimate,
    Statement,
    estimate,
    finding,
    joined,
    look,
    minus,
    per_epsilon,
    per_seed,
)
from tensorldp_papers.data.catalogue import get
from tensorldp_papers.nets.private_sgd import Schedule, printed_noise

IMAGES = ("mnist", "cifar10", "svhn")
SGD, FEATURES, TESTING = "tvg_sgd", "tvg_features", "tvg_testing"
METRIC = {SGD: "accuracy", FEATURES: "accuracy", TESTING: "accuracy_perturbed_test"}
LARGEST_CLASS = {"adult": 0.764, "svhn": 0.196, "credit": 0.5}  # of the test sets; Credit's score is an AUC
AT_CHANCE = 0.03  # above the largest class: two standard errors on 1,000 test records ...
AT_CHANCE_OF = {"adult": 0.01}  # ... and three on Adult's 16,281


@dataclass(frozen=True)
class Scores:
    """The scores of one data set in one of the figures.

    Attributes:
        dataset: its name.
        rows: of the metrics table.
        weak: how the runs fall short of the paper's, see `fairness`.
    """

    dataset: str
    rows: pd.DataFrame
    weak: str = ""

    def of(self, mechanism: str) -> pd.DataFrame:
        """The rows of one mechanism."""
        return self.rows[self.rows["mechanism"] == mechanism]

    def points(self, mechanism: str) -> dict[float, Estimate]:
        """The mean score at each epsilon, rising."""
        return per_epsilon(self.of(mechanism))

    def learned(self, mechanism: str, epsilons: Iterable[float]) -> bool:
        """Whether a mechanism is above chance at one of these epsilons."""
        chance = LARGEST_CLASS.get(self.dataset, 1 / get(self.dataset).classes)
        points = self.points(mechanism)
        best = max(points[epsilon].mean for epsilon in epsilons)
        return best > chance + AT_CHANCE_OF.get(self.dataset, AT_CHANCE)

    def gap(
        self,
        first: str,
        second: str,
        low: float = -np.inf,
        high: float = np.inf,
        epsilons: Iterable[float] | None = None,
    ) -> Between:
        """first - second on average over the epsilons of both, or over some, between two limits.

        Where both are at chance, their scores say nothing of an order: only epsilons at which one has learned count,
        and the comparison is undecidable if there is none.

        Raises:
            NotRun: if they have no epsilon in common.
        """
        rows = self.of(first), self.of(second)
        shared = set(rows[0]["epsilon"]) & set(rows[1]["epsilon"])
        shared = shared if epsilons is None else shared & set(epsilons)
        if not shared:
            raise NotRun(f"needs {first} and {second} on {self.dataset} at the same epsilon")
        telling = {e for e in shared if self.learned(first, [e]) or self.learned(second, [e])}
        means = [per_seed(own[own["epsilon"].isin(telling or shared)]) for own in rows]
        at = "" if epsilons is None else f" at epsilon {', '.join(f'{e:g}' for e in sorted(shared))}"
        undecidable = "" if telling else "both at chance at every epsilon"
        name = f"{first} - {second} on {self.dataset}{at}"
        return Between(name, minus(means[0], means[1]), low, high, undecidable, self.weak)


def read(evidence: Evidence, study: str, mechanisms: Iterable[str], datasets: Iterable[str]) -> list[Scores]:
    """The scores on those of some data sets that have the last of some mechanisms planned, in the paper's unit.

    Raises:
        NotRun: if none has, or a result is missing.
    """
    wanted, names = list(mechanisms), list(datasets)
    factors = {} if study == SGD else {"unit": "batch", "subspace": None}
    planned = [name for name in names if evidence.cells(study, dataset=name, mechanism=wanted[-1], **factors)]
    if not planned:
        raise NotRun(
            f"needs {study} with {wanted[-1]} on {' or '.join(names)}, which the {evidence.scale} grid does not have"
        )
    metric = {name: "auc" if study == SGD and name == "credit" else METRIC[study] for name in planned}
    return [
        Scores(
            name,
            evidence.rows(study, metric[name], dataset=name, mechanism=wanted, **factors),
            shortfall(evidence.cells(study, dataset=name, mechanism=wanted, **factors)),
        )
        for name in planned
    ]


def not_run(made: Iterable[Scores], names: Iterable[str]) -> str:
    """The data sets of a claim that were not run, as a condition."""
    missing = [name for name in names if name not in {own.dataset for own in made}]
    return f"{', '.join(missing)} not run" if missing else ""


CLOSE, LINE = 0.05, 0.02
CEILINGS = (10.0, 100.0)
CEILING_TEST = "tests/privacy/test_ceiling.py"
TYPE1 = ("mnist", "credit", "adult")
TYPE2 = (*IMAGES, "imdb")
PER_ELEMENT, TIGHT = "gaussian-per-element", "gaussian-analytic"


def _noise_of_adult() -> str:
    """The noise of a step on Adult's first layer at the paper's settings and epsilon 1, in units of IDN's."""
    schedule = Schedule(1.0, 1e-5, 256 / 32_561, 7631)
    sigmas = {
        name: printed_noise(name, [(105, 12)], 1.0, schedule).sigmas[0] for name in ("optimized", "idn", "udn", "mvg")
    }
    return ", ".join(f"{name} {sigma / sigmas['idn']:.3g}" for name, sigma in sigmas.items())


@claim(
    "V21",
    expected=f"on each data set IDN no more than {CLOSE} below Optimized, UDN above MVG, and above MM on Adult",
)
def figure3(evidence: Evidence) -> Finding:
    made = read(evidence, SGD, ("optimized", "mvg", "udn", "idn"), TYPE1)
    parts = [own.gap("idn", "optimized", low=-CLOSE) for own in made]
    parts += [own.gap("udn", "mvg", low=0) for own in made]
    if evidence.cells(SGD, dataset="adult", mechanism="matrix"):
        parts += [own.gap("udn", "matrix", low=0) for own in read(evidence, SGD, ("udn", "matrix"), ["adult"])]
    return finding(
        AllOf(parts),
        f"noise over IDN's on Adult's 105 x 12 gradient at epsilon 1: {_noise_of_adult()}",
        "tests/training/test_gradient_noise.py::test_the_order_of_noise_in_table_4",
        condition=not_run(made, TYPE1),
    )


@claim("V40", expected=f"on each data set UDN below IDN by less than {CLOSE}, and above MVG; above MM on Adult")
def udn_slightly_below_idn(evidence: Evidence) -> Finding:
    made = read(evidence, SGD, ("mvg", "idn", "udn"), TYPE1)
    parts = [own.gap("idn", "udn", 0, CLOSE) for own in made]
    parts += [own.gap("udn", "mvg", low=0) for own in made]
    if evidence.cells(SGD, dataset="adult", mechanism="matrix"):
        parts += [own.gap("udn", "matrix", low=0) for own in read(evidence, SGD, ("udn", "matrix"), ["adult"])]
    return finding(AllOf(parts), condition=not_run(made, TYPE1))


@claim("V33", expected="for each mechanism on each data set a slope of accuracy in log10 epsilon above 0")
def rises_with_epsilon(evidence: Evidence) -> Finding:
    mechanisms = ("optimized", "mvg", "udn", "idn")
    made = read(evidence, SGD, mechanisms, TYPE1)
    parts = []
    for own in made:
        for name in mechanisms:
            table = own.of(name).pivot_table(index="seed", columns="epsilon", values="value").dropna()
            if table.shape[1] < 2:
                raise NotRun(f"needs {SGD} on {own.dataset} at two epsilons")
            slopes = [float(np.polyfit(np.log10(table.columns.to_numpy(float)), v, 1)[0]) for v in table.to_numpy()]
            undecidable = "" if own.learned(name, own.points(name)) else "at chance at every epsilon"
            parts.append(
                Between(
                    f"slope of {name} on {own.dataset}", estimate(slopes), low=0, undecidable=undecidable, weak=own.weak
                )
            )
    return finding(AllOf(parts), condition=not_run(made, TYPE1))


@claim("V34", expected="on Adult the matrix mechanism above MVG and below UDN")
def adult_matrix(evidence: Evidence) -> Finding:
    (own,) = read(evidence, SGD, ("mvg", "udn", "matrix"), ["adult"])
    return finding(AllOf([own.gap("matrix", "mvg", low=0), own.gap("udn", "matrix", low=0)]))


@claim("V22", expected="on each data set IDN above Gaussian, and Gaussian above UDN and MVG")
def figure4(evidence: Evidence) -> Finding:
    made = read(evidence, FEATURES, (PER_ELEMENT, "mvg", "udn", "idn"), TYPE2)
    order = (("idn", PER_ELEMENT), (PER_ELEMENT, "udn"), (PER_ELEMENT, "mvg"))
    parts = [own.gap(first, second, low=0) for own in made for first, second in order]
    return finding(AllOf(parts), condition=not_run(made, TYPE2))


@claim("V31", expected=f"IDN within {CLOSE} of Gaussian at the largest epsilon, and above it at some smaller one")
def close_but_for_small_epsilon(evidence: Evidence) -> Finding:
    made = read(evidence, FEATURES, (PER_ELEMENT, "idn"), TYPE2)
    parts: list[Statement] = []
    for own in made:
        epsilons = sorted(own.points("idn"))
        parts.append(own.gap("idn", PER_ELEMENT, -CLOSE, CLOSE, epsilons[-1:]))
        parts.append(AnyOf([own.gap("idn", PER_ELEMENT, low=0, epsilons=[e]) for e in epsilons[:-1]]))
    return finding(AllOf(parts), condition=not_run(made, TYPE2))


def _change(own: Scores, first: str, second: str) -> Between:
    """How much more of a lead the first has at the largest epsilon than at the smallest."""
    epsilons = sorted(own.points(first))
    start, end = (own.gap(first, second, epsilons=[e]) for e in (epsilons[0], epsilons[-1]))
    text = f"{first} - {second} on {own.dataset}, from epsilon {epsilons[0]:g} to {epsilons[-1]:g}"
    return Between(text, minus(end.value, start.value), low=0, undecidable=end.undecidable, weak=own.weak)


@claim("V32", expected="on each data set UDN above MVG at the largest epsilon, by more than at the smallest")
def udn_gains_on_mvg(evidence: Evidence) -> Finding:
    made = read(evidence, FEATURES, ("udn", "mvg"), TYPE2)
    parts = [_change(own, "udn", "mvg") for own in made]
    parts += [own.gap("udn", "mvg", low=0, epsilons=[max(own.points("udn"))]) for own in made]
    return finding(AllOf(parts), condition=not_run(made, TYPE2))


@claim(
    "V35",
    expected=f"on IMDB the matrix mechanism below IDN and within {CLOSE} of UDN; beside Gaussian it is equal by "
    "construction",
)
def imdb_features(evidence: Evidence) -> Finding:
    (own,) = read(evidence, FEATURES, ("idn", PER_ELEMENT, "udn", "matrix"), ["imdb"])
    beside = own.gap(PER_ELEMENT, "matrix")
    return finding(
        AllOf([own.gap("idn", "matrix", low=0), own.gap("matrix", "udn", -CLOSE, CLOSE)]),
        f"{beside}, by construction 0: with W = E the two are one noise, so that seeds cannot order them",
        condition="but for its place below Gaussian: with W = E the two are one noise by construction",
    )


@claim("V23", expected=f"on images IDN above Gaussian, Gaussian above UDN, UDN no more than {LINE} below MVG")
def figure5(evidence: Evidence) -> Finding:
    made = read(evidence, TESTING, (PER_ELEMENT, "mvg", "udn", "idn"), IMAGES)

    parts = [own.gap("idn", PER_ELEMENT, low=0) for own in made]
    parts += [own.gap(PER_ELEMENT, "udn", low=0) for own in made]
    parts += [own.gap("udn", "mvg", low=-LINE) for own in made]
    names = [own.dataset for own in made]
    limits = _ceilings(evidence.rows(TESTING, "accuracy_ceiling", dataset=names, mechanism="idn", unit="batch"))
    return finding(AllOf(parts), limits, CEILING_TEST, condition=not_run(made, IMAGES))


def _ceilings(rows: pd.DataFrame) -> str:
    """What no classifier exceeds at the epsilons of `CEILINGS` that the grid has, the highest over the seeds."""
    highest = rows[rows["epsilon"].isin(CEILINGS)].groupby(["dataset", "epsilon"])["value"].max()
    keys = highest.index.to_frame(index=False).itertuples(index=False)
    parts = [f"{v:.4f} on {k.dataset} at epsilon {k.epsilon:g}" for k, v in zip(keys, highest, strict=True)]
    return f"no classifier exceeds {' and '.join(parts)}" if parts else ""


@claim("V36", expected=f"on IMDB MM below IDN on average, within {CLOSE} of it at the largest epsilon")
def imdb_testing(evidence: Evidence) -> Finding:
    (own,) = read(evidence, TESTING, ("idn", "matrix"), ["imdb"])
    end = own.gap("matrix", "idn", -CLOSE, CLOSE, [max(own.points("idn"))])
    return finding(AllOf([own.gap("idn", "matrix", low=0), end]))


@claim("V37", expected="on each data set UDN below Gaussian")
def udn_below_gaussian(evidence: Evidence) -> Finding:
    made = read(evidence, TESTING, (PER_ELEMENT, "udn"), TYPE2)
    return finding(AllOf([own.gap(PER_ELEMENT, "udn", low=0) for own in made]), condition=not_run(made, TYPE2))


def _spread(rows: pd.DataFrame) -> Estimate:
    """The variance over seeds, pooled over the points of a figure, with Satterthwaite's degrees of freedom."""
    seeds = look(int(rows.groupby(["mechanism", "epsilon"])["seed"].nunique().min()))
    groups = (
        rows.sort_values("seed")
        .groupby(["mechanism", "epsilon"])
        .head(seeds)
        .groupby(["mechanism", "epsilon"])["value"]
    )
    if seeds < 2:
        return Estimate(0.0, np.inf, 1.0, seeds)
    variances, freedom = groups.var(ddof=1), groups.count() - 1
    mean = float(variances.mean())
    total = float((variances**2 / freedom).sum())
    effective = float(variances.sum()) ** 2 / total if total > 0 else float(freedom.sum())
    return Estimate(mean, mean * float(np.sqrt(2 / effective)), effective, seeds)


@claim("V30", expected=f"a standard deviation over seeds of at most {LINE}, over the points of each data set")
def small_error_bars(evidence: Evidence) -> Finding:
    made = read(evidence, TESTING, (PER_ELEMENT, "mvg", "udn", "idn"), TYPE2)

    limit = LINE**2
    parts = [
        Between(f"variance over seeds on {own.dataset}, limit {limit:g}", _spread(own.rows), high=limit, weak=own.weak)
        for own in made
    ]
    spreads = (f"{np.sqrt(_spread(own.rows).mean):.4f} ({own.dataset})" for own in made)
    return finding(AllOf(parts), f"standard deviations {', '.join(spreads)}", condition=not_run(made, TYPE2))


@claim("V38", expected="on each data set a larger lead of IDN over Gaussian on test features than on training features")
def larger_gap_in_testing(evidence: Evidence) -> Finding:
    tests, trains = (
        {own.dataset: own for own in read(evidence, study, (PER_ELEMENT, "idn"), IMAGES)}
        for study in (TESTING, FEATURES)
    )
    both = [tests[name] for name in tests if name in trains]
    if not both:
        raise NotRun(f"needs {TESTING} and {FEATURES} on one data set of both")

    parts = []
    for own in both:
        name = own.dataset
        shared = set(own.points("idn")) & set(trains[name].points("idn"))
        gaps = [one[name].gap("idn", PER_ELEMENT, epsilons=shared) for one in (tests, trains)]
        text = f"lead of IDN over Gaussian on {name}, test minus training features"
        value, undecidable = minus(gaps[0].value, gaps[1].value), gaps[0].undecidable and gaps[1].undecidable
        weak = joined(dict.fromkeys(filter(None, (own.weak, trains[name].weak))))
        parts.append(Between(text, value, low=0, undecidable=undecidable, weak=weak))
    return finding(AllOf(parts), condition=not_run(both, IMAGES))


@claim("V41", expected="on each data set a smaller variance over seeds on test features than on training features")
def steadier_in_testing(evidence: Evidence) -> Finding:
    mechanisms = (PER_ELEMENT, "mvg", "udn", "idn")
    tests, trains = (
        {own.dataset: own for own in read(evidence, study, mechanisms, TYPE2)} for study in (TESTING, FEATURES)
    )
    both = [name for name in tests if name in trains]
    if not both:
        raise NotRun(f"needs {TESTING} and {FEATURES} on one data set of both")
    parts = []
    for name in both:
        value = minus(_spread(tests[name].rows), _spread(trains[name].rows))
        weak = joined(dict.fromkeys(filter(None, (tests[name].weak, trains[name].weak))))
        text = f"variance over seeds on {name}, test minus training features"
        parts.append(Between(text, value, high=0, weak=weak))
    return finding(AllOf(parts), condition=not_run([tests[name] for name in both], TYPE2))


@claim("V42", expected=f"on IMDB a standard deviation over seeds of the matrix mechanism above {LINE}")
def matrix_varies(evidence: Evidence) -> Finding:
    (own,) = read(evidence, FEATURES, ("matrix",), ["imdb"])
    limit = LINE**2
    spread = _spread(own.of("matrix"))
    return finding(Between(f"variance over seeds, limit {limit:g}", spread, low=limit, weak=own.weak))


@claim("V39", expected="on each data set of Figures 4 and 5 IDN above each of the baselines that the figure has")
def superior(evidence: Evidence) -> Finding:
    """In Figure 3 the paper itself has Optimized ahead; its baselines on CTG are in V27 and V28."""
    parts, beside, missing = [], [], []
    for study in (FEATURES, TESTING):
        made = read(evidence, study, (PER_ELEMENT, "mvg", "idn"), TYPE2)
        missing.append(f"{not_run(made, TYPE2)} in {study}" if not_run(made, TYPE2) else "")
        for own in made:
            parts += [own.gap("idn", other, low=0) for other in (PER_ELEMENT, "mvg")]
            if evidence.cells(study, dataset=own.dataset, mechanism="matrix"):
                parts += [
                    one.gap("idn", "matrix", low=0) for one in read(evidence, study, ("idn", "matrix"), [own.dataset])
                ]
            if evidence.cells(study, dataset=own.dataset, mechanism=TIGHT, unit="batch"):
                beside += [str(one.gap("idn", TIGHT)) for one in read(evidence, study, ("idn", TIGHT), [own.dataset])]
    condition = joined(["among the baselines of the paper", *missing])
    return finding(
        AllOf(parts), joined(["beside the analytic Gaussian", *beside]) if beside else "", condition=condition
    )
