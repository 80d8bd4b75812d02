"""TVG's statements about its Figures 3 to 5, decided from our runs.

The figures have no numbers in the text. An order of two mechanisms compares their scores on average over the epsilons
of a data set at which at least one of them is above chance, each data set by itself. Nothing is decided where both are
at chance at every epsilon. "Close" and "comparable" are within 0.05 of the score, half a tick of such an axis; "no
worse" is at most 0.02 below, and a "barely visible" error bar a standard deviation of at most 0.02, what a line of such
a figure hides. These numbers were set before the runs. That epsilons at which both are at chance do not count was set
later: noise alone gives networks on Adult that are up to 0.15 below the share of its largest class, which would order
them. The claims are on the paper's data sets, and in Types II and III on its unit, a batch of 256 records. Whether the
networks behind private training features were trained, the paper does not say: the better of the two counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from tensorldp.mechanisms.tvg_budget import Schedule
from tensorldp_papers.claims.base import Finding, NotRun, claim, named
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import (
    Scores,
    Tried,
    View,
    either,
    is_trained,
    not_run,
    planned,
    pulls,
    settle,
    shortfall,
)
from tensorldp_papers.claims.statements import (
    SPREAD,
    AnyOf,
    Between,
    Estimate,
    Limit,
    Shortfall,
    Statement,
    joined,
    look,
    minus,
)
from tensorldp_papers.data.catalogue import whole_of
from tensorldp_papers.papers.tvg.private_sgd import printed_noise
from tensorldp_papers.run.cell import AnyCell

IMAGES = ("mnist", "cifar10", "svhn")
SGD, FEATURES, TESTING = "tvg_sgd", "tvg_features", "tvg_testing"
METRIC = {SGD: "accuracy", FEATURES: "accuracy", TESTING: "accuracy_perturbed_test"}
AS_LONG_AS_THE_AUTHORS = {"steps": 28_125}
AS_PRINTED = "lenet_wide"  # 5 x 5 x 6 weights first and a largest gradient of 3,136 x 512
CLOSE, NO_WORSE = Limit(0.05, "close"), Limit(0.02, "no worse")
SLIGHTLY, COMPARABLE, ALMOST = Limit(0.05, "slightly"), Limit(0.05, "comparable"), Limit(0.05, "almost equivalent")
SEEN_ABOVE_A_GUESS = 0.02  # above a guess, what a line of such a figure hides
BARELY_VISIBLE = 0.02  # a standard deviation that is "barely visible"
CEILINGS = (10.0, 100.0)
TYPE1 = ("mnist", "credit", "adult")
TYPE2 = (*IMAGES, "imdb")
PER_ELEMENT, ANALYTIC = "gaussian-per-element", "gaussian-analytic"
BOUNDS = ("optimized", "mvg", "udn", "idn")
SHIFTS = (PER_ELEMENT, "mvg", "udn", "idn")
BODIES = ("trained networks", "untrained ones")
ONE_BODY = "trained networks that give features were trained once, for all seeds"

# two mechanisms, and by at least and at most how much the first is above the second
Order = tuple[str, str] | tuple[str, str, float] | tuple[str, str, float, float]


def read(
    evidence: Evidence, study: str, mechanisms: Iterable[str], datasets: Iterable[str], *, every: bool = False
) -> list[Scores]:
    """Returns the scores on those of some data sets that have the last of some mechanisms planned, in the paper's unit.

    A part of a data set that lacks one of the mechanisms counts as not run. Of private SGD the network with both sizes
    that are printed speaks alone where all of the mechanisms were run with it, which was set on 2026-11-29, before any
    were. Private SGD was run with as many steps as the authors' code at few epsilons and with fewer at more: the length
    with the later look speaks, of equal ones the longer; with `every` both.

    Raises:
        NotRun: if none has, or a result is missing.
    """
    wanted, names = list(mechanisms), list(datasets)
    factors = {"steps": None} if study == SGD else {"unit": "batch", "subspace": None}
    what = f"{study} with {wanted[-1]} on {' or '.join(names)}"
    found = [
        name
        for name in planned(evidence, study, names, what, mechanism=wanted[-1], **factors)
        if not _is_lacking_part(evidence.cells(study, dataset=name, mechanism=wanted, **factors), name, wanted)
    ]
    if not found:
        raise evidence.lacks(f"{study} with {', '.join(wanted)} on one of {', '.join(names)}")
    made = []
    for name in found:
        runs: dict[str, Any] = {"dataset": name, "mechanism": wanted, **factors}
        if study == SGD and (own := evidence.cells(study, **runs, model=AS_PRINTED)):
            runs["model"] = AS_PRINTED if {cell.mechanism for cell in own} == set(wanted) else "lenet"
        metric = "auc" if (study, name) == (SGD, "credit") else METRIC[study]
        longer = study == SGD and _are_at_two_epsilons(evidence.cells(study, **(runs | AS_LONG_AS_THE_AUTHORS)), wanted)
        arms = [("", {}), *([(f"{AS_LONG_AS_THE_AUTHORS['steps']:,} steps", AS_LONG_AS_THE_AUTHORS)] if longer else [])]
        lengths = []
        for arm, more in arms:
            cells, rows = evidence.cells(study, **(runs | more)), evidence.rows(study, metric, **(runs | more))
            lengths.append(Scores(study, name, rows, shortfall(cells), arm, pulls=pulls(cells)))
        made += lengths if every else [max(lengths, key=lambda scores: (_looked_at(scores), bool(scores.arm)))]
    return made


def _looked_at(scores: Scores) -> int:
    """The look that all mechanisms' seeds complete."""
    return look(int(scores.rows.groupby(["mechanism", "epsilon"])["seed"].nunique().min()))


def _are_at_two_epsilons(cells: Sequence[AnyCell], wanted: Iterable[str]) -> bool:
    return all(len({cell.epsilon for cell in cells if cell.mechanism == name}) > 1 for name in wanted)


def _bodies(evidence: Evidence) -> list[View]:
    with_trained = {cell.dataset for cell in evidence.cells(FEATURES) if is_trained(cell)}
    return [
        lambda cell: cell.study != FEATURES or cell.dataset not in with_trained or is_trained(cell),
        lambda cell: cell.study != FEATURES or not is_trained(cell),
    ]


def _name_bodies(found: Finding, view: Evidence, tried: Iterator[Tried]) -> Finding:
    """The finding with the bodies for which alone it holds, and that they were trained once, as its conditions."""
    holding = [name for name, (one, _) in zip(BODIES, tried, strict=True) if isinstance(one, Finding) and one.holds]
    trained = FEATURES in view.studies and any(map(is_trained, view.cells(FEATURES)))
    only = f"with {holding[0]} alone" if len(holding) == 1 else ""
    return replace(found, condition=joined([only, ONE_BODY if trained else "", found.condition]))


# Decides a claim with bodies that were trained, where there are some, and with untrained ones: the paper does not say
# which it has. A claim that holds for either holds, and says if it does for one alone.
either_body = either(_bodies, _name_bodies)


def _is_lacking_part(cells: Iterable[AnyCell], name: str, wanted: Iterable[str]) -> bool:
    of_whole = any(cell.dataset == name for cell in cells)
    return not of_whole and not set(wanted) <= {cell.mechanism for cell in cells}


def _from_which(made: Iterable[Scores]) -> str:
    """Below which epsilon all mechanisms are at chance, so that none counts, as a condition; empty where none is."""
    parts = []
    for scores in made:
        mechanisms = scores.rows["mechanism"].unique()
        above, least = set().union(*map(scores.learned, mechanisms)), min(scores.rows["epsilon"])
        if above and min(above) > least:
            parts.append(f"{min(above):,.10g} on {scores.name}")
    return f"all at chance below epsilon {', '.join(parts)}" if parts else ""


def _noise_of_adult(*_: object) -> str:
    """The noise of a step on Adult's first layer at the paper's settings and epsilon 1, in units of IDN's."""
    schedule = Schedule(1.0, 1e-5, 256 / 32_561, 7631)
    sigmas = {
        name: printed_noise(name, [(105, 12)], 1.0, schedule).sigmas[0] for name in ("optimized", "idn", "udn", "mvg")
    }
    ratios = ", ".join(f"{name} {sigma / sigmas['idn']:.3g}" for name, sigma in sigmas.items())
    return f"noise over IDN's on Adult's 105 x 12 gradient at epsilon 1: {ratios}"


def _ceilings(evidence: Evidence, names: list[str]) -> str:
    """What no classifier exceeds at the epsilons of `CEILINGS` that the grid has, the highest over the seeds."""
    rows = evidence.rows(TESTING, "accuracy_ceiling", dataset=names, mechanism="idn", unit="batch")
    highest = rows[rows["epsilon"].isin(CEILINGS)].groupby(["dataset", "epsilon"])["value"].max()
    keys = highest.index.to_frame(index=False).itertuples(index=False)
    parts = [f"{v:.4f} on {k.dataset} at epsilon {k.epsilon:g}" for k, v in zip(keys, highest, strict=True)]
    return f"no classifier exceeds {' and '.join(parts)}" if parts else ""


def _ends_of_gap(evidence: Evidence, names: list[str]) -> str:
    """The epsilons at which IDN is least and most above UDN in private SGD, which a mean over all of them hides."""
    parts = []
    for scores in read(evidence, SGD, ("idn", "udn"), names, every=True):
        idn, udn = scores.points("idn"), scores.points("udn")
        gaps = sorted((idn[e].mean - udn[e].mean, e) for e in idn.keys() & udn.keys())
        if gaps:
            (least, at), (most, at_most) = gaps[0], gaps[-1]
            parts.append(f"{least:.3f} at epsilon {at:g} to {most:.3f} at {at_most:g} on {scores.name}")
    return f"IDN minus UDN by epsilon: {', '.join(parts)}" if parts else ""


@claim(
    "V21",
    expected=f"on each data set IDN no more than {CLOSE} below Optimized, UDN above MVG, and above MM on Adult",
    study=SGD,
    datasets=TYPE1,
    orders=[("idn", "optimized", -CLOSE), ("udn", "mvg")],
    on_adult=("udn", "matrix"),
    beside=_noise_of_adult,
)
@claim(
    "V40",
    expected=f"on each data set UDN below IDN by less than {SLIGHTLY}, and above MVG; above MM on Adult",
    study=SGD,
    datasets=TYPE1,
    orders=[("idn", "udn", 0.0, SLIGHTLY), ("udn", "mvg")],
    on_adult=("udn", "matrix"),
    beside=_ends_of_gap,
)
@claim(
    "V34",
    expected="on Adult the matrix mechanism above MVG and below UDN",
    study=SGD,
    datasets=("adult",),
    orders=[("matrix", "mvg"), ("udn", "matrix")],
)
@claim(
    "V22",
    expected="on each data set IDN above Gaussian, and Gaussian above UDN and MVG",
    study=FEATURES,
    datasets=TYPE2,
    orders=[("idn", PER_ELEMENT), (PER_ELEMENT, "udn"), (PER_ELEMENT, "mvg")],
)
@claim(
    "V23",
    expected=f"on images IDN above Gaussian, Gaussian above UDN, UDN no more than {NO_WORSE} below MVG",
    study=TESTING,
    datasets=IMAGES,
    orders=[("idn", PER_ELEMENT), (PER_ELEMENT, "udn"), ("udn", "mvg", -NO_WORSE)],
    beside=_ceilings,
)
@claim(
    "V37",
    expected="on IMDB UDN below Gaussian, as the caption says without exception: V23 has the images",
    study=TESTING,
    datasets=("imdb",),
    orders=[(PER_ELEMENT, "udn")],
)
@either_body
def ordered(
    evidence: Evidence,
    study: str,
    datasets: Sequence[str],
    orders: Sequence[Order],
    on_adult: Order | None = None,
    beside: Callable[[Evidence, list[str]], str] = lambda *_: "",
) -> Finding:
    """Orders of two mechanisms on each data set; one more on Adult, where the second of the two was run there.

    Each order has the runs of its own two mechanisms.
    """
    first, *others = dict.fromkeys(name for order in orders for name in order[:2])
    made = read(evidence, study, [*others, first], datasets)
    parts = [scores.above(*order) for order in orders for scores in read(evidence, study, order[:2], datasets)]
    both = [
        scores.above(*order) for order in orders for scores in read(evidence, study, order[:2], datasets, every=True)
    ]
    aside = [gap for gap in both if gap.name not in {part.name for part in parts}]
    if on_adult and evidence.cells(SGD, dataset="adult", mechanism=on_adult[1]):
        parts += [scores.above(*on_adult) for scores in read(evidence, SGD, on_adult[:2], ["adult"])]
    told = f"beside it {', '.join(map(str, aside))}" if aside else ""
    observed = joined([told, beside(evidence, [scores.dataset for scores in made])])
    of = datasets if len(datasets) > 1 else ()
    numbers = [gap.number() for gap in aside]
    return settle(evidence, parts, observed, datasets=of, then=_from_which(made), numbers=numbers)


@claim(
    "V43",
    expected=f"at a nominal epsilon from 1 to {CEILINGS[-1]:g} a classifier of releases of test features is possible "
    f"that exceeds a guess by more than {SEEN_ABOVE_A_GUESS}, on each data set",
)
def order_from_one_on(evidence: Evidence) -> Finding:
    """Whether any order can be seen where Figure 5 is said to have it: no network is needed to say no."""
    names = planned(evidence, TESTING, TYPE2, f"{TESTING} with udn", mechanism="udn", unit="batch")
    rows = evidence.rows(TESTING, "accuracy_ceiling", dataset=names, mechanism=SHIFTS, unit="batch", subspace=None)
    largest = rows[rows["epsilon"] == rows["epsilon"].min()].groupby("dataset")["value"].max()
    seen = rows[rows["epsilon"].between(1, CEILINGS[-1])]
    most = seen.groupby("dataset")["value"].max()
    possible = most - largest > SEEN_ABOVE_A_GUESS
    texts = (f"{{ceiling on {name}:.4f}} on {name} ({{guess on {name}:.4f}} for a guess)" for name in most.index)
    return Finding.of(
        bool(possible.all()),
        f"at nominal epsilons of 1 to {CEILINGS[-1]:g} for a batch no classifier of releases of UDN, MVG, IDN or "
        f"Gaussian exceeds {', '.join(texts)}, with the sensitivity that Eq. 36 prints; {SEEN_ABOVE_A_GUESS:g} above a "
        "guess is a limit of ours, the most is {most above a guess:.4f}",
        {f"ceiling on {name}": most[name] for name in most.index}
        | {f"guess on {name}": largest[name] for name in most.index}
        | {"most above a guess": (most - largest).max()},
        condition=not_run(TYPE2, [whole_of(name) for name in names]),
        mixed=bool(possible.any()) and not bool(possible.all()),
    )


@claim(
    "V44",
    expected="on each data set of each Type the order of Table IV: Optimized, IDN, UDN, MVG in private SGD; Gaussian "
    "and IDN each above UDN, and UDN above MVG, on features",
)
@either_body
def in_accord_with_table4(evidence: Evidence) -> Finding:
    """Table IV has one power of I for Gaussian and IDN, so that it orders neither above the other."""
    of_sgd = pairwise(("optimized", "idn", "udn", "mvg"))
    parts = [scores.above(*pair) for pair in of_sgd for scores in read(evidence, SGD, pair, TYPE1)]
    for study in (FEATURES, TESTING):
        for pair in (("idn", "udn"), ("udn", "mvg"), (PER_ELEMENT, "udn")):
            parts += [scores.above(*pair) for scores in read(evidence, study, pair, TYPE2)]
    return settle(evidence, parts)


@claim("V33", expected="for each mechanism on each data set a slope of accuracy in log10 epsilon above 0")
def rises_with_epsilon(evidence: Evidence) -> Finding:
    made = read(evidence, SGD, BOUNDS, TYPE1, every=True)
    return settle(evidence, [scores.rises(name) for scores in made for name in BOUNDS], datasets=TYPE1)


@claim("V31", expected=f"IDN within {CLOSE} of Gaussian at the largest epsilon, and above it at some smaller one")
@either_body
def close_but_for_small_epsilon(evidence: Evidence) -> Finding:
    made = [scores for scores in read(evidence, FEATURES, (PER_ELEMENT, "idn"), TYPE2) if len(scores.points("idn")) > 1]
    if not made:
        raise NotRun(f"needs {FEATURES} at two epsilons")
    parts: list[Statement] = []
    for scores in made:
        *smaller, largest = scores.points("idn")
        parts.append(scores.within("idn", PER_ELEMENT, CLOSE, [largest]))
        parts.append(AnyOf([scores.above("idn", PER_ELEMENT, epsilons=[e]) for e in smaller]))
    return settle(evidence, parts, datasets=TYPE2, then=_from_which(made))


@claim("V32", expected="on each data set UDN above MVG at the largest epsilon, by more than at the smallest")
@either_body
def udn_gains_on_mvg(evidence: Evidence) -> Finding:
    made = read(evidence, FEATURES, ("udn", "mvg"), TYPE2)
    gains, ends = [], []
    for scores in made:
        first, *_, last = scores.points("udn")
        start, end = (scores.above("udn", "mvg", epsilons=[epsilon]) for epsilon in (first, last))
        text = f"udn - mvg on {scores.dataset}, from epsilon {first:g} to {last:g}"
        gains.append(scores.statement(text, minus(end.value, start.value), 0.0, undecidable=end.undecidable))
        ends.append(end)
    return settle(evidence, [*gains, *ends], datasets=TYPE2, then=_from_which(made))


@claim(
    "V35",
    expected=f"on IMDB the matrix mechanism below IDN and within {COMPARABLE} of UDN; beside Gaussian it is equal by "
    "construction",
)
@either_body
def imdb_features(evidence: Evidence) -> Finding:
    (scores,) = read(evidence, FEATURES, ("idn", PER_ELEMENT, "udn", "matrix"), ["imdb"])
    return settle(
        evidence,
        [scores.above("idn", "matrix"), scores.within("matrix", "udn", COMPARABLE)],
        f"{scores.gap(PER_ELEMENT, 'matrix')}, by construction 0: with W = E the two are one noise, so that seeds "
        "cannot order them",
        condition="but for its place below Gaussian: with W = E the two are one noise by construction",
    )


@claim("V36", expected=f"on IMDB MM below IDN on average, within {ALMOST} of it at the largest epsilon")
def imdb_testing(evidence: Evidence) -> Finding:
    (scores,) = read(evidence, TESTING, ("idn", "matrix"), ["imdb"])
    at_largest = scores.within("matrix", "idn", ALMOST, [max(scores.points("idn"))])
    return settle(evidence, [scores.above("idn", "matrix"), at_largest])


def _spread(rows: pd.DataFrame) -> Estimate:
    """The variance over seeds, pooled over the points of a figure, with Satterthwaite's degrees of freedom."""
    points = ["mechanism", "epsilon"]
    seeds = look(int(rows.groupby(points)["seed"].nunique().min()))
    if seeds < 2:
        return Estimate(0.0, np.inf, 1.0, seeds)
    groups = rows.sort_values("seed").groupby(points).head(seeds).groupby(points)["value"]
    variances, freedom = groups.var(ddof=1), groups.count() - 1
    mean = float(variances.mean())
    total = float((variances**2 / freedom).sum())
    effective = float(variances.sum()) ** 2 / total if total > 0 else float(freedom.sum())
    return Estimate(mean, mean * float(np.sqrt(2 / effective)), effective, seeds)


@claim("V30", expected=f"a standard deviation over seeds of at most {BARELY_VISIBLE}, over the points of each data set")
def small_error_bars(evidence: Evidence) -> Finding:
    parts = [
        scores.statement(
            f"variance over seeds on {scores.dataset}, limit {BARELY_VISIBLE**2:g}",
            _spread(scores.rows),
            high=BARELY_VISIBLE**2,
            pulled=SPREAD,
        )
        for scores in read(evidence, TESTING, SHIFTS, TYPE2)
    ]
    spreads = (f"{np.sqrt(part.value.mean):.4f} ({part.dataset})" for part in parts)
    return settle(evidence, parts, f"standard deviations {', '.join(spreads)}", datasets=TYPE2)


@claim("V42", expected=f"on IMDB a standard deviation over seeds of the matrix mechanism above {BARELY_VISIBLE}")
@either_body
def matrix_varies(evidence: Evidence) -> Finding:
    (scores,) = read(evidence, FEATURES, ("matrix",), ["imdb"])
    rows = scores.of("matrix")
    varies = scores.statement(
        f"variance over seeds, limit {BARELY_VISIBLE**2:g}", _spread(rows), low=BARELY_VISIBLE**2, pulled=SPREAD
    )
    by_epsilon = rows.groupby("epsilon")["value"].std(ddof=1)
    above = [f"{epsilon:,.10g}" for epsilon, deviation in by_epsilon.items() if deviation > BARELY_VISIBLE]
    only = f"at epsilon {', '.join(above)} alone" if len(above) < len(by_epsilon) else ""
    return settle(
        evidence,
        [varies],
        f"standard deviations {', '.join(f'{value:.4f} at {epsilon:,.10g}' for epsilon, value in by_epsilon.items())}",
        condition=joined([only, "as much as Gaussian, with which it is one noise by construction"]),
        numbers=named({f"standard deviation at epsilon {epsilon:g}": value for epsilon, value in by_epsilon.items()}),
    )


def _test_minus_training(
    evidence: Evidence, mechanisms: Iterable[str], of: Callable[[Scores, Scores], Between]
) -> Finding:
    """That on each data set something of the scores on test and training features lies in its limits.

    The runs are as weak as both.
    """
    tests, trains = (
        {scores.dataset: scores for scores in read(evidence, study, mechanisms, TYPE2)} for study in (TESTING, FEATURES)
    )
    both = [(tests[name], trains[name]) for name in tests if name in trains]
    if not both:
        raise NotRun(f"needs {TESTING} and {FEATURES} on one data set of both")
    parts = [
        replace(of(*pair), dataset=pair[0].dataset, weak=Shortfall.of(dict.fromkeys(scores.weak for scores in pair)))
        for pair in both
    ]
    return settle(evidence, parts, datasets=TYPE2)


@claim("V38", expected="on each data set a larger lead of IDN over Gaussian on test features than on training features")
@either_body
def larger_gap_in_testing(evidence: Evidence) -> Finding:
    def lead(test: Scores, train: Scores) -> Between:
        shared = set(test.points("idn")) & set(train.points("idn"))
        first, second = (scores.gap("idn", PER_ELEMENT, epsilons=shared) for scores in (test, train))
        text = f"lead of IDN over Gaussian on {test.dataset}, test minus training features"
        undecidable = first.undecidable and second.undecidable
        return Between(text, minus(first.value, second.value), 0.0, undecidable=undecidable)

    return _test_minus_training(evidence, (PER_ELEMENT, "idn"), lead)


@claim("V41", expected="on each data set a smaller variance over seeds on test features than on training features")
@either_body
def steadier_in_testing(evidence: Evidence) -> Finding:
    def spread(test: Scores, train: Scores) -> Between:
        text = f"variance over seeds on {test.dataset}, test minus training features"
        return Between(text, minus(_spread(test.rows), _spread(train.rows)), high=0.0)

    return _test_minus_training(evidence, SHIFTS, spread)


@claim(
    "V39", expected="on each data set of Figures 4 and 5 IDN above the analytic Gaussian mechanism, its reference [1]"
)
@either_body
def superior(evidence: Evidence) -> Finding:
    """The baselines of the figures, of which one alone is above IDN somewhere, are told beside it."""
    parts, beside = [], []
    for study in (FEATURES, TESTING):
        parts += [scores.above("idn", ANALYTIC) for scores in read(evidence, study, ("idn", ANALYTIC), TYPE2)]
        for scores in read(evidence, study, (PER_ELEMENT, "mvg", "idn"), TYPE2):
            beside += [scores.above("idn", other) for other in (PER_ELEMENT, "mvg")]
            if evidence.cells(study, dataset=scores.dataset, mechanism="matrix"):
                (further,) = read(evidence, study, ("idn", "matrix"), [scores.dataset])
                beside.append(further.above("idn", "matrix"))
    contrary = [part for part in beside if part.value.mean <= 0]
    held = f"above the paper's own baselines in {len(beside) - len(contrary)} of {len(beside)} comparisons"
    told = joined([held, f"not in {', '.join(map(str, contrary))}" if contrary else ""])
    return settle(evidence, parts, told, numbers=[part.number() for part in contrary])
