"""PLDP-FL's statements about its Figures 2 to 6, decided from our runs of the same grid.

Thresholds, set before the runs: a printed accuracy is met from 0.01 below, three standard errors of an accuracy of 0.9
on 10,000 test images, and above by anything. "Relatively minor" is 0.01 of accuracy: what the paper prints of one.
"Similar" is within 0.03 (its own 95.7 % and 97.9 % are called so).

The paper lets a client place its safe range. Ranges around zero clip every larger weight; ranges around the weights
that the server has just sent give the same guarantee. A claim on accuracy is decided on the better of the two; while
only ranges around zero were run, what does not hold for them decides nothing.

Every claim on accuracies rests on networks that have learned something: the paper prints 95.7 % where a claim says
which of two is higher. This premise is part of each claim. Most of our runs have fewer training records than the
paper's, so that they refute nothing (`fairness`). But the claim fails with its premise if that fails on all of the
paper's records and in all of its rounds, with the smallest safe ranges, whose noise is least. The same training without
privacy has to learn there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Any

import numpy as np
import pandas as pd
import torch

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.randomness import generator
from tensorldp_papers.claims.base import Finding, NotRun, cannot_be_checked, claim, named
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import about, at_chance, planned, printed_of, settle, shortfall, weakly
from tensorldp_papers.claims.laws import pdpm
from tensorldp_papers.claims.statements import (
    SCORE,
    AllOf,
    AnyOf,
    Between,
    Estimate,
    Limit,
    Statement,
    estimate,
    minus,
    per_seed,
    words,
)
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.papers.pldp_fl.claims.theorems import WEIGHTS
from tensorldp_papers.papers.pldp_fl.clients import EPSILON_MODES, participant_count, preferences
from tensorldp_papers.papers.pldp_fl.settings import PldpTraining
from tensorldp_papers.run.cell import variant_factors

FEDERATED, SYNTHETIC = "pldp_fl", "pldp_synthetic"
IMAGES = ("mnist", "fashion_mnist")
EPS_MODES = ("e1", "e2", "e3")
RANGE_MODES = ("t1", "t2", "t3")
LEARNED = 0.5  # that a network without privacy exceeds if the records suffice for learning at all
PRINTED_ROUNDS = 50
LEAST_NOISE = "t1"  # the smallest safe ranges
ZERO_ALONE = "safe ranges around zero alone, none around the weights that the server has sent"
LOSS = SCORE  # what privacy costs is more with fewer records: a weaker run lowers the difference
NEARLY = 0.01  # three standard errors, as above
LATE = 0.7  # of the rounds: 35 of 50
MINOR, SIMILAR = Limit(0.01, "relatively minor"), Limit(0.03, "similar")


@dataclass(frozen=True)
class Runs:
    """PDPM's runs on a data set with one centre of the safe ranges, and a budget per weight.

    Attributes:
        evidence: our results.
        dataset: its name.
        centre: where safe ranges are centred; None where cells have no such factor.
        limit: the training records; None for the study's number.
    """

    evidence: Evidence
    dataset: str
    centre: Any
    limit: int | None = None

    def rows(self, eps: str, tau: str | float, metric: str | None = "accuracy") -> pd.DataFrame:
        """Returns the rows of a mode of epsilon and a safe range, at the study's share of clients."""
        factors = {"eps": eps, "tau": tau, "budget": None, "participation": None}
        return self._rows(metric, **factors, centre=self.centre, limit=self.limit)

    def _rows(self, metric: str | None, **factors: Any) -> pd.DataFrame:
        return self.evidence.rows(FEDERATED, metric, dataset=self.dataset, mechanism="pdpm", **factors)

    def last(self, eps: str, *taus: str | float) -> Estimate:
        """Returns the accuracy after the last round, on average over safe ranges."""
        return per_seed(pd.concat([self.rows(eps, tau) for tau in taus]))

    def learned(self, eps: str, taus: Iterable[str | float]) -> Statement:
        """Returns that a mode of epsilon leaves chance with one of some safe ranges."""
        on, chance = "" if self.limit is None else f" on {self.limit:,} records", at_chance(FEDERATED, self.dataset)
        text = f"accuracy of {eps} with {{}}{on}, to be above chance"
        return AnyOf([Between(text.format(tau), self.last(eps, tau), low=chance) for tau in taus])

    def shares(self, metric: str | None) -> dict[float, pd.DataFrame]:
        """Returns rows of Figure 3's arm (eps_3, tau_1) by the share of clients in a round, rising; none if unplanned.

        The arm's cell at the study's own share is one of the nine combinations, which has no such factor.
        """
        arm = {"eps": "e3", "tau": "t1", "budget": None, "centre": self.centre, "limit": self.limit}
        shares = {
            cell.training.participation: variant_factors(cell.variant).get("participation")
            for cell in self.evidence.cells(FEDERATED, dataset=self.dataset, mechanism="pdpm", **arm)
            if isinstance(cell.training, PldpTraining)
        }
        return {share: self._rows(metric, **arm, participation=shares[share]) for share in sorted(shares)}


def rounds(evidence: Evidence, dataset: str, mechanism: str | None = None, **factors: Any) -> int:
    """Returns the rounds of the shortest cell on a data set, with this mechanism and these factors."""
    planned(evidence, FEDERATED, [dataset], f"{FEDERATED} on {dataset}", mechanism=mechanism, **factors)
    cells = evidence.cells(FEDERATED, dataset=dataset, mechanism=mechanism, **factors)
    return min(cell.training.rounds for cell in cells if isinstance(cell.training, PldpTraining))


def centres(evidence: Evidence, dataset: str, **factors: Any) -> list[Any]:
    """Returns where the safe ranges of these cells are centred, None where that factor is missing."""
    cells = evidence.cells(FEDERATED, dataset=dataset, mechanism="pdpm", **factors)
    return sorted({variant_factors(cell.variant).get("centre") for cell in cells}, key=str)


def each_centre(evidence: Evidence, dataset: str) -> list[Runs]:
    """Returns the runs with each centre at the study's share of clients."""
    return [Runs(evidence, dataset, centre) for centre in centres(evidence, dataset, participation=None, budget=None)]


def records(dataset: str) -> int:
    """Returns the training records that the paper has."""
    printed = printed_of(FEDERATED, dataset)
    assert printed
    return printed.records


def higher(text: str, better: Estimate, worse: Estimate, low: float = 0.0, high: float = math.inf) -> Between:
    """Returns that one mean is above another by something between two limits, undecidable where both are at chance."""
    nothing = max(better.mean, worse.mean) < at_chance(FEDERATED, "mnist")
    return Between(text, minus(better, worse), low, high, "both at chance" if nothing else "")


def around(*where: Any) -> str:
    """Returns in words where safe ranges were centred."""
    return "safe ranges around " + " or ".join(
        "the server's weights" if centre == "global" else "zero" for centre in where
    )


def best_centre(
    evidence: Evidence,
    datasets: Sequence[str],
    test: Callable[[Runs], Statement],
    taus: Iterable[str | float],
    eps: str = "e2",
    *,
    on_all: Callable[[Runs], Any] = lambda _: False,
    length: int = PRINTED_ROUNDS,
    condition: str = "",
    of: Iterable[str] = (),
) -> Finding:
    """Returns the finding of a statement about PDPM in the better of its centres.

    Args:
        evidence: our results.
        datasets: those that the statement is about; where ranges are centred is looked up on the first.
        test: the statement about the runs on one of them.
        taus: safe ranges; with one of them something has to be learned on each data set. Part of what is found.
        eps: the mode of epsilon of that premise.
        on_all: whether what the statement needs was run on all of the paper's records, which then count.
        length: the rounds that the statement is about, without which learning nothing says nothing.
        condition: what else the statement needs, if it holds.
        of: the data sets of the paper.
    """
    where = [runs.centre for runs in each_centre(evidence, datasets[0])]
    alone = "" if "global" in where else ZERO_ALONE
    options: dict[str, Statement] = {}
    for centre in where:
        parts = []
        for name in datasets:
            whole = Runs(evidence, name, centre, records(name))
            runs = whole if on_all(whole) else Runs(evidence, name, centre)
            part = about(AllOf([runs.learned(eps, taus), test(runs)]), name)
            cells = evidence.cells(FEDERATED, dataset=name, mechanism="pdpm", centre=centre, limit=runs.limit)
            parts.append(weakly(part, shortfall(cells), alone))
        nothing = _learns_nothing(evidence, datasets, centre, eps, length)
        options[around(centre)] = nothing or AllOf(parts)
    observed = around(*where)
    if len(where) > 1:
        observed = "; ".join(f"{name}: {words(part)}" for name, part in options.items())
    readings = {f"with {name}" if len(where) > 1 else "": part for name, part in options.items()}
    return settle(evidence, readings, observed, datasets=of, condition=condition)


def _learns_nothing(
    evidence: Evidence, datasets: Iterable[str], centre: Any, eps: str, length: int
) -> Statement | None:
    """That one of the data sets is learned on all records, where that fails while training without privacy learns."""
    for dataset in datasets:
        limit = records(dataset)
        if centre not in centres(evidence, dataset, eps=eps, limit=limit):
            continue
        control = Between(f"accuracy without privacy on {dataset}", per_seed(_free(evidence, dataset)), low=LEARNED)
        whole = Runs(evidence, dataset, centre, limit).learned(eps, [LEAST_NOISE])
        cells = evidence.cells(FEDERATED, dataset=dataset, eps=eps, limit=limit, centre=centre)
        short = shortfall(cells) or any(getattr(cell.training, "rounds", 0) < length for cell in cells)
        if control.decide() and not short and whole.decide() is False:
            return whole
    return None


def _free(evidence: Evidence, dataset: str, metric: str | None = "accuracy") -> pd.DataFrame:
    """The accuracies without privacy, on the study's records and share of clients."""
    return evidence.rows(FEDERATED, metric, dataset=dataset, mechanism=NO_PRIVACY, participation=None, limit=None)


Arm = tuple[str, str | float]  # mode of epsilon, mode or width of the safe ranges


def average_noise(eps: str, tau: str | float, clients: int, share: float) -> float:
    """Returns the standard deviation of PDPM's noise in one weight of the unweighted average of a round's uploads.

    It is for a weight in the middle of every safe range. The participants are a random share of the clients, who have
    as many records each and take the levels of both modes in turn, as in our runs.

    Raises:
        InputError: if a mode is unknown.
    """
    wanted = preferences(eps, tau, clients=clients, largest=max(EPSILON_MODES[eps]))
    variances = [pdpm(one.epsilon, one.high - one.low).variance(0.0) for one in wanted]
    return math.sqrt(math.fsum(variances) / clients / participant_count(clients, share))


@cache
def _first_spread() -> float:
    return float(get_vector(build("pldp_cnn", Task((28, 28), 10), torch.Generator().manual_seed(0))).std())


def _noise(evidence: Evidence, dataset: str, arms: tuple[Arm, ...]) -> Finding:
    cells = evidence.cells(FEDERATED, dataset=dataset, mechanism="pdpm", participation=None)
    settings = next((cell.training for cell in cells if isinstance(cell.training, PldpTraining)), PldpTraining())
    clients, share = settings.clients, settings.participation
    deviations = {
        f"{eps} {f'on a width of {tau:g}' if isinstance(tau, float) else tau}": average_noise(eps, tau, clients, share)
        for eps, tau in arms
    }
    return Finding.of(
        None,
        f"; computed reason: in one weight of the average of {participant_count(clients, share)} uploads the noise of "
        f"pdpm has a standard deviation of {', '.join(f'{{noise with {arm}:.2g}} ({arm})' for arm in deviations)}, the "
        "CNN's first weights one of {first weights of the CNN:.2g}",
        named(
            {f"noise with {arm}": size for arm, size in deviations.items()}
            | {"first weights of the CNN": _first_spread()},
            "standard deviation",
        ),
    )


def with_noise(*arms: Arm) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Adds PDPM's noise in these arms to what a check observes or to what it lacks, on MNIST or its `dataset`."""

    def explain(check: Callable[..., Finding]) -> Callable[..., Finding]:
        @wraps(check)
        def explained(evidence: Evidence, **options: Any) -> Finding:
            noise = _noise(evidence, options.get("dataset", "mnist"), arms)
            try:
                finding = check(evidence, **options)
            except NotRun as missing:
                raise NotRun(missing.lacking, missing.beside + noise.observed) from None
            observed, numbers = finding.observed + noise.observed, (*finding.numbers, *noise.numbers)
            return replace(finding, observed=observed, numbers=numbers)

        return explained

    return explain


def _with_width(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of cells with one width for all safe ranges, which is their column `tau`."""
    widths = rows["variant"].map(lambda variant: variant_factors(variant)["tau"])
    return rows.assign(tau=pd.to_numeric(widths, errors="coerce")).dropna(subset=["tau"])


def _slope(rows: pd.DataFrame, at: str) -> Estimate:
    """Of log value against log `at`, from each seed's least-squares slope."""
    if rows[at].nunique() < 2:
        raise NotRun(f"needs {SYNTHETIC} with two values of {at}")
    lines = [np.polyfit(np.log(of_seed[at]), np.log(of_seed["value"]), 1) for _, of_seed in rows.groupby("seed")]
    return estimate([float(line[0]) for line in lines])


@claim("P09", expected="log-log slopes below 0 in eps and above 0 in the range; t1 below t2 below t3, e3 below e1")
def relative_error(evidence: Evidence) -> Finding:
    arm = {"study": SYNTHETIC, "metric": "relative_error", "mechanism": "pdpm"}
    measured = {mode: evidence.rows(**arm, eps="same", tau=mode) for mode in RANGE_MODES}
    by_range = {mode: _with_width(evidence.rows(**arm, eps=mode)) for mode in EPS_MODES}
    falls = [Between(f"slope in eps ({mode})", _slope(rows, "epsilon"), high=0) for mode, rows in measured.items()]
    rises = [Between(f"slope in the range ({mode})", _slope(rows, "tau"), low=0) for mode, rows in by_range.items()]
    errors = {mode: per_seed(rows) for mode, rows in (measured | by_range).items()}
    order = [
        Between(f"error of {more} minus {less}", minus(errors[more], errors[less]), low=0)
        for less, more in (("t1", "t2"), ("t2", "t3"), ("e3", "e1"))
    ]
    return settle(
        evidence,
        [*falls, *rises, *order],
        f"slopes in eps {', '.join(f'{leaf.value.mean:.2f}' for leaf in falls)}, in the range "
        f"{', '.join(f'{leaf.value.mean:.2f}' for leaf in rises)}; mean error "
        f"{', '.join(f'{errors[mode].mean:.3g}' for mode in measured)} for t1, t2, t3 about a centre of 1",
        numbers=[errors[mode].number(f"error of {mode}") for mode in measured],
    )


@claim("P10", expected="bytes per participant the same for any number of participants: by construction")
def linear_communication(evidence: Evidence) -> Finding:
    made, stream = pdpm(1.0, 2.0, WEIGHTS), generator("uploads")
    sizes = []
    for clients in (10, 40, 100):
        uploads = made.privatize(torch.zeros(clients, WEIGHTS), stream)
        sizes.append(uploads.numel() * uploads.element_size() / clients)
    linear, text = len(set(sizes)) == 1, ""
    megabytes: dict[str, float] = {}
    for dataset in sorted({cell.dataset for cell in evidence.cells(FEDERATED, mechanism="pdpm")}):
        where = centres(evidence, dataset, eps="e3", tau="t1", budget=None)
        sent = {
            share: float(rows["value"].mean())
            for centre in where[:1]
            for share, rows in Runs(evidence, dataset, centre).shares("uploaded_megabytes").items()
        }
        if len(sent) > 1:
            each = [total / share for share, total in sent.items()]
            linear &= max(each) < 1.001 * min(each)
            names = {f"sent on {dataset} at a share of {share:g}": total for share, total in sent.items()}
            megabytes |= names
            totals, shares = (f"{{{name}:.1f}}" for name in names), (f"{share:g}" for share in sent)
            text += f"; our runs on {dataset} sent {', '.join(totals)} MB at shares of {', '.join(shares)}"
    packed = math.ceil(WEIGHTS * math.log2(3) / 8)
    return Finding.of(
        linear,
        "by construction, as each participant sends one number a weight: {a participant and round:,.0f} bytes a "
        f"participant and round for 10, 40 and 100 participants{text}; the three possible values of a weight would fit "
        "into {a participant and round in three values:,.0f} bytes",
        (
            *named({"a participant and round": sizes[0], "a participant and round in three values": packed}, "bytes"),
            *named(megabytes, "MB"),
        ),
        condition="by construction: every participant sends one number a weight",
    )


@claim("P11", expected=f"on each data set a rise up to 0.7, and less than {MINOR} after it, in rounds 35 to 50")
def participation(evidence: Evidence) -> Finding:
    """On all records where that was run with such shares of the clients; of another length the last 30 %.

    Accuracy after a single round varies by 0.034 from seed to seed, the mean of these rounds by 0.019.
    """

    def has_shares(runs: Runs) -> bool:
        shares = runs.shares("accuracy")
        return 0.7 in shares and min(shares) < 0.7 < max(shares)

    names = [
        name
        for name in IMAGES
        for centre in centres(evidence, name, eps="e3", tau="t1", budget=None)[:1]
        if has_shares(Runs(evidence, name, centre))
    ]
    if not names:
        raise evidence.lacks(f"{FEDERATED} on mnist with shares of clients below, at and above 0.7")

    def test(runs: Runs) -> Statement:
        points = {share: _at_the_end(evidence, rows) for share, rows in runs.shares(None).items()}
        low, most = min(points), max(points)
        rise = higher(f"accuracy on {runs.dataset} at a share of 0.7 minus at {low:g}", points[0.7], points[low])
        return AllOf([rise, Between(f"at {most:g} minus at 0.7", minus(points[most], points[0.7]), -MINOR, MINOR)])

    return best_centre(evidence, names, test, [LEAST_NOISE], "e3", on_all=has_shares)


def _at_the_end(evidence: Evidence, rows: pd.DataFrame) -> Estimate:
    """The mean accuracy over the last rounds of each seed."""
    marks = evidence.by_mark(rows, "accuracy")
    last = max(map(int, marks.columns))
    return estimate(marks[[mark for mark in marks.columns if int(mark) >= LATE * last]].mean(axis=1).tolist())


def _after(evidence: Evidence, count: int, rows: pd.DataFrame) -> Estimate:
    """The accuracy after a number of rounds."""
    marks = evidence.by_mark(rows, "accuracy")
    if count not in marks:
        raise NotRun(f"needs accuracy after {count} rounds")
    return estimate(marks[count])


def _need_rounds(
    evidence: Evidence, dataset: str, needed: int, count: int, made: Mapping[str, Iterable[pd.DataFrame]]
) -> None:
    """NotRun, with the best accuracy that fewer rounds reached in each arm, where runs have fewer than the paper's."""
    reached = {name: max(float(rows["value"].mean()) for rows in arms) for name, arms in made.items()}
    if count < needed:
        values = ", ".join(f"{value:.3f} ({name})" for name, value in reached.items())
        raise NotRun(
            f"needs {needed} rounds of {FEDERATED} on {dataset}, the {evidence.scale} runs have {count}",
            f", after which the accuracy is {values}",
        )


@claim("P12", expected=f"all nine combinations rise; eps_2 within {SIMILAR} of eps_3 or above, over the safe ranges")
def rounds_and_modes(evidence: Evidence) -> Finding:
    count = rounds(evidence, "mnist")

    def test(runs: Runs) -> Statement:
        parts: list[Statement] = []
        final = {}
        for eps in EPS_MODES:
            ends = []
            for tau in RANGE_MODES:
                marks = evidence.by_mark(runs.rows(eps, tau, None), "accuracy")
                rise = minus(estimate(marks.iloc[:, -1]), estimate(marks.iloc[:, 0]))
                parts.append(Between(f"rise of {eps} with {tau} in {count} rounds", rise, low=0))
                ends.append(marks.iloc[:, -1])
            final[eps] = estimate(pd.concat(ends, axis=1).mean(axis=1))
        gap = higher("accuracy of eps_3 minus eps_2", final["e3"], final["e2"], -math.inf, SIMILAR)
        return AllOf([*parts, gap])

    return best_centre(evidence, ["mnist"], test, RANGE_MODES)


@claim(
    "P13",
    expected=f"at least {0.957 - NEARLY:g} (eps_2) and {0.979 - NEARLY:g} (eps_3) with one of the ranges",
    dataset="mnist",
    printed={"e2": 0.957, "e3": 0.979},
)
@claim(
    "P14",
    expected=f"at least {0.792 - NEARLY:g} (eps_2) and {0.856 - NEARLY:g} (eps_3) with one of the ranges",
    dataset="fashion_mnist",
    printed={"e2": 0.792, "e3": 0.856},
)
@with_noise(("e2", "t1"), ("e3", "t1"))
def best_range(evidence: Evidence, dataset: str, printed: dict[str, float]) -> Finding:
    where = each_centre(evidence, dataset)
    text = around(*(runs.centre for runs in where))
    made = {f"{eps}, {text}": [runs.rows(eps, tau) for tau in RANGE_MODES for runs in where] for eps in printed}
    _need_rounds(evidence, dataset, PRINTED_ROUNDS, rounds(evidence, dataset), made)

    def met(runs: Runs, eps: str, tau: str, value: float) -> Statement:
        name = f"accuracy of {eps} with {tau} after {PRINTED_ROUNDS} rounds (printed {value})"
        return Between(name, _after(evidence, PRINTED_ROUNDS, runs.rows(eps, tau, None)), low=value - NEARLY)

    def test(runs: Runs) -> Statement:
        return AllOf([AnyOf([met(runs, eps, tau, value) for tau in RANGE_MODES]) for eps, value in printed.items()])

    return best_centre(evidence, [dataset], test, RANGE_MODES)


def _run_with(evidence: Evidence, key: str, values: Iterable[str], **factors: Any) -> list[str]:
    """The data sets of the figures that were run with each of some values of a factor."""
    values = list(values)
    return [
        name
        for name in IMAGES
        if all(evidence.cells(FEDERATED, dataset=name, mechanism="pdpm", **factors, **{key: one}) for one in values)
    ]


@claim(
    "P15",
    expected="with eps_3, the least noise, accuracy falls from tau_1 to tau_3 on each data set; tau_2 is not outside "
    "the two",
)
@with_noise(*(("e3", tau) for tau in RANGE_MODES))
def wider_ranges(evidence: Evidence) -> Finding:
    count = rounds(evidence, "mnist")
    names = _run_with(evidence, "tau", RANGE_MODES, eps="e3") or ["mnist"]

    def test(runs: Runs) -> Statement:
        parts = []
        for wide, narrow, least in (("t3", "t1", 0.0), ("t2", "t1", -SIMILAR), ("t3", "t2", -SIMILAR)):
            text = f"accuracy of e3 on {runs.dataset} after {count} rounds, {narrow} minus {wide}"
            gap = higher(text, runs.last("e3", narrow), runs.last("e3", wide), least)
            if not gap.undecidable or least == 0:
                parts.append(gap)
        return AllOf(parts)

    return best_centre(evidence, names, test, RANGE_MODES, "e3", condition="in the mode e3", of=IMAGES)


@claim("P22", expected="on each data set eps_2 above eps_1 and below eps_3, on average over the safe ranges")
def personal_budgets(evidence: Evidence) -> Finding:
    names = _run_with(evidence, "eps", EPS_MODES)
    if not names:
        raise evidence.lacks(f"{FEDERATED} on mnist or fashion_mnist in all three modes of epsilon")

    def test(runs: Runs) -> Statement:
        means = {eps: runs.last(eps, *RANGE_MODES) for eps in EPS_MODES}
        text = "accuracy of {} minus {} on " + runs.dataset
        pairs = (("e2", "e1"), ("e3", "e2"))
        return AllOf([higher(text.format(better, worse), means[better], means[worse]) for better, worse in pairs])

    return best_centre(evidence, names, test, RANGE_MODES)


@claim("P16", expected=f"at least {0.975 - NEARLY:g}, and no more than {NEARLY} below the accuracy without privacy")
@with_noise(("e2", 2.0))
def comparison(evidence: Evidence) -> Finding:
    """PDPM on all records where it was run, beside no privacy on the study's, which is kind to PDPM."""
    counts = [rounds(evidence, "mnist", "pdpm", participation=None, tau=2.0)]
    counts.append(rounds(evidence, "mnist", NO_PRIVACY, participation=None))
    made = {"PDPM": [runs.rows("e2", 2.0) for runs in each_centre(evidence, "mnist")]}
    made["no privacy"] = [_free(evidence, "mnist")]
    _need_rounds(evidence, "mnist", 100, min(counts), made)

    def on_all(runs: Runs) -> bool:
        return runs.centre in centres(evidence, runs.dataset, eps="e2", tau=2.0, limit=runs.limit)

    def test(runs: Runs) -> Statement:
        ours = _after(evidence, 100, runs.rows("e2", 2.0, None))
        lost = minus(ours, _after(evidence, 100, _free(evidence, "mnist", None)))
        return AllOf(
            [
                Between("accuracy of PDPM after 100 rounds", ours, low=0.975 - NEARLY),
                Between("minus that without privacy", lost, low=-NEARLY, pulled=LOSS),
            ]
        )

    return best_centre(evidence, ["mnist"], test, [2.0], on_all=on_all, length=100)


@claim("P24", expected=f"with e3 and t1 an accuracy at most {SIMILAR} below that without privacy, on each data set")
@with_noise(("e3", "t1"))
def almost_the_same(evidence: Evidence) -> Finding:
    """The mode with the least noise, on all records where it was run, beside no privacy on any number of them.

    Both after as many rounds: training without privacy goes on for longer.
    """
    what = f"{FEDERATED} on mnist or fashion_mnist"
    names = planned(evidence, FEDERATED, IMAGES, what, mechanism="pdpm", eps="e3")

    def gap(name: str, centre: Any) -> Statement:
        arm = {"dataset": name, "mechanism": "pdpm", "eps": "e3", "tau": "t1", "centre": centre, "participation": None}
        limit = records(name) if evidence.cells(FEDERATED, **arm, limit=records(name)) else None
        free = _after(evidence, rounds(evidence, name), _free(evidence, name, None))
        ours = Runs(evidence, name, centre, limit).last("e3", "t1")
        weak = shortfall(evidence.cells(FEDERATED, **arm, limit=limit, budget=None))
        text = f"accuracy of e3 with t1 and {around(centre)} on {name}, minus that without privacy"
        return Between(text, minus(ours, free), low=-SIMILAR, weak=weak, dataset=name, pulled=LOSS)

    where = {name: centres(evidence, name, eps="e3", participation=None, budget=None) for name in names}
    return settle(evidence, [AnyOf([gap(name, centre) for centre in where[name]]) for name in names])


@claim("P23", expected="with e1 and t1 an accuracy above chance on each data set: chance is not relatively high")
def relatively_high(evidence: Evidence) -> Finding:
    """Above chance no number says what is relatively high."""
    what = f"{FEDERATED} on mnist or fashion_mnist"
    names = planned(evidence, FEDERATED, IMAGES, what, mechanism="pdpm", eps="e1", tau=LEAST_NOISE)

    def test(runs: Runs) -> Statement:
        return runs.learned("e1", [LEAST_NOISE])

    decided = best_centre(evidence, names, test, [LEAST_NOISE], "e1")
    if decided.holds is False:
        return decided
    return cannot_be_checked(f"no number says what is relatively high; {decided.observed}")
