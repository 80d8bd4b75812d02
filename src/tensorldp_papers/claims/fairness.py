"""What counts as a source's run, and what makes a run of ours too weak to decide: one rule for all sources.

*Which runs.* A run counts as the source's if it has its network, its training records, its length and its settings
(`runs` in its room.yaml). One that falls short in any of these is weak (`shortfall`): what holds for it supports a
claim that the shortfall makes harder, with the shortfall as a condition, and what does not hold for it refutes nothing
by itself (`statements.Between.weak`, `weakly`). Fewer epsilons than a figure has are no shortfall: each is like the
source's. A shorter run still counts as the source's where its score had stopped rising (`settled`). What a source does
not say is no shortfall, but where it may change a result the claim says so itself.

*Chance.* Networks that learned nothing say nothing about an order: where both of two are at chance (`at_chance`), their
comparison is undecidable (`Scores.gap`).

*Each data set by itself.* A statement is about every data set that its source names; those that were not run become a
condition (`not_run`).

*The best case.* A source that leaves open a reading, form or arm gets the one in which its statement holds; all of them
share the chance of a wrong yes: `settle` has readings of the words, `either` choices of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from tensorldp_papers import extractors
from tensorldp_papers.claims.base import Finding, NotRun, Number
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.statements import (
    ALPHA,
    DIFFERENCE,
    NOWHERE,
    SCORE,
    AllOf,
    Alternative,
    AnyOf,
    Between,
    Estimate,
    Shortfall,
    Statement,
    estimate,
    finding,
    joined,
    log_slopes,
    minus,
    per_epsilon,
    per_seed,
)
from tensorldp_papers.data.catalogue import get, whole_of
from tensorldp_papers.rooms import Instead, Runs, rooms
from tensorldp_papers.run.cell import AnyCell, variant_factors

Check = Callable[[Evidence], Finding]
Name = TypeVar("Name", bound=Hashable)

FLAT = 0.01  # a gain of accuracy in the second half of a training below which more training does not help


ERRORS = 0.03  # what chance may add to one over the number of classes, where a room says nothing of a data set
LENGTHS = ("epochs", "rounds", "steps")
SIMPLER = {  # parts that are another task, or that have less of each record
    "darknet_5k": "9 of 79 features, and eight applications in the place of four kinds of traffic",
    "imdb_glove": "100,000 of GloVe's 400,000 words",
    "imdb_glove_short": "the last 50 tokens of a review in the place of 500, and 100,000 of GloVe's 400,000 words",
}


def printed_of(study: str, dataset: str, network: str = "") -> Runs | None:
    """Returns what a study's source says about a data set or, if that is a part, about the whole; None if nothing."""
    said = [runs for room in rooms() for runs in room.runs if study in runs.studies]
    keys = [(name, one) for name in (dataset, whole_of(dataset)) for one in (network, "")]
    return next((runs for key in keys for runs in said if (runs.dataset, runs.network) == key), None)


def is_papers(study: str, dataset: str, variant: str) -> bool:
    """Returns whether a variant's network is the source's; if the source does not use that data set, none is."""
    printed = printed_of(study, dataset)
    return printed is not None and _network(variant).startswith(tuple(printed.networks))


def is_trained(cell: AnyCell) -> bool:
    """Returns whether a cell's features are of a network that was trained on the records."""
    return extractors.is_trained(_network(cell.variant))


def at_chance(study: str, dataset: str, network: str = "") -> float:
    """Returns the score that a network that learned nothing does not exceed."""
    printed = printed_of(study, dataset, network)
    return printed.chance if printed else 1 / get(dataset).classes + ERRORS


def _network(variant: str) -> str:
    factors = variant_factors(variant)
    return factors.get("backbone", factors.get("model", ""))


def shortfall(cells: Iterable[AnyCell], *, settled: bool = False) -> Shortfall:
    """Returns how cells of one study and data set fall short of the source's run, in words; empty if they do not.

    Where several cells fall short to different degrees, the largest shortfall is named.

    Args:
        cells: the cells.
        settled: whether their scores had stopped rising, so that a shorter training is not a shortfall.
    """
    least: dict[str, tuple[float, str]] = {}
    name = ""
    for cell in cells:
        name = cell.dataset
        for kind, degree, text in _shortfalls(cell):
            if settled and kind in LENGTHS:
                continue
            if kind not in least or degree < least[kind][0]:
                least[kind] = (degree, text)
    return Shortfall((name, ", ".join(text for _, text in least.values()))) if least else Shortfall()


def pulls(cells: Iterable[AnyCell]) -> bool:
    """Returns whether cells fall short in something that makes them weaker, and not only in a setting that differs."""
    differs = {one.kind for room in rooms() for one in room.instead if not one.weaker}
    return any(kind not in differs for cell in cells for kind, _, _ in _shortfalls(cell))


def _shortfalls(cell: AnyCell) -> Iterable[tuple[str, float, str]]:
    """What a cell lacks: the kind, which share of the source's it has, and in words."""
    instead: dict[str, str] = {}
    for one in (one for room in rooms() for one in room.instead if _applies(one, cell)):
        instead.setdefault(one.kind, one.words)
    yield from ((kind, 0.0, words) for kind, words in instead.items())
    network = _network(cell.variant)
    printed = printed_of(cell.study, cell.dataset, network)
    if printed is None:
        return
    if network and printed.networks and not network.startswith(tuple(printed.networks)):
        yield "network", 0.0, f"{network} in the place of {printed.networks[0]}"
    at_hand = get(cell.dataset).sizes[0] if whole_of(cell.dataset) != cell.dataset else printed.records
    used = min(getattr(cell.training, "limit", None) or at_hand, at_hand)
    if cell.dataset in SIMPLER:
        yield "task", 0.0, SIMPLER[cell.dataset]
    if used < printed.records:
        yield "records", used / printed.records, f"{used:,} of {printed.records:,} training records"
    for setting, least in printed.least.items():
        if (made := getattr(cell.training, setting)) < least:
            text = f"{made:,} of {least:,} {setting}"
            yield setting, made / least, text if setting in LENGTHS else f"a {setting} of {made:,}, not {least:,}"


def _applies(one: Instead, cell: AnyCell) -> bool:
    """Whether what a room says stands for the source's is in a cell."""
    return (
        cell.study in one.studies
        and (not one.datasets or not {cell.dataset, whole_of(cell.dataset)}.isdisjoint(one.datasets))
        and not (one.private and not cell.private)
        and not (one.unless and one.unless in variant_factors(cell.variant))
        and not (one.untrained and is_trained(cell))
    )


def late_gain(evidence: Evidence, study: str, metric: str, epsilon: float | None = None, **arm: Any) -> Between | None:
    """Returns that a score rose by less than `FLAT` in the second half of a training, at one epsilon or on average.

    None where the score was not recorded after several epochs.
    """
    try:
        rows = evidence.rows(study, **arm)
        marks = evidence.by_mark(rows if epsilon is None else rows[rows["epsilon"] == epsilon], metric, "epoch")
    except NotRun:
        return None
    if len(marks.columns) < 2:
        return None
    middle, last = marks.columns[(len(marks.columns) - 1) // 2], marks.columns[-1]
    gain = minus(estimate(marks[last]), estimate(marks[middle]))
    return Between(f"rise of {metric} from epoch {middle} to {last}", gain, high=FLAT)


def settled(evidence: Evidence, study: str, metric: str, **arm: Any) -> bool:
    """Returns whether a score had stopped rising; one that was not recorded during training is taken not to have."""
    late = late_gain(evidence, study, metric, **arm)
    return late is not None and late.decide() is True


def weakly(statement: Statement, *weak: str) -> Statement:
    """Returns the statement with these weaknesses added to each of its comparisons."""
    return statement.mapped(lambda leaf: replace(leaf, weak=Shortfall.of([leaf.weak, *weak])))


def about(statement: Statement, dataset: str) -> Statement:
    """Returns the statement with this data set as that of each of its comparisons."""
    return statement.mapped(lambda leaf: replace(leaf, dataset=dataset))


def absent(names: Iterable[str], present: Iterable[str]) -> list[str]:
    """Returns the data sets of a statement that are not among those present."""
    run = set(present)
    return [name for name in names if name not in run]


def not_run(names: Iterable[str], present: Iterable[str]) -> str:
    """Returns the data sets of a statement that are not among those present, as a condition."""
    missing = ", ".join(absent(names, present))
    return f"{missing} not run" if missing else ""


def settle(
    evidence: Evidence,
    parts: Sequence[Statement] | Mapping[str, Statement],
    observed: str = "",
    *,
    datasets: Iterable[str] = (),
    condition: str = "",
    then: str = "",
    numbers: Sequence[Number] = (),
) -> Finding:
    """Returns the finding that all parts of a statement hold in this view of the results, or one of its readings.

    Args:
        evidence: the view, one of those that share the chance of a wrong yes.
        parts: the parts, or the readings by the condition that each would be if it alone holds.
        observed: further observations; they decide nothing.
        datasets: all data sets of the claim; those that no comparison is about become a condition.
        condition: what else the statement needs, if it holds.
        then: the same, named after the data sets.
        numbers: those of `observed`.
    """
    said, holding = best_of(parts) if isinstance(parts, Mapping) else (AllOf(parts), [])
    names, present = list(datasets), {leaf.dataset for leaf in said.leaves()}
    only = holding[0] if len(holding) == 1 else ""
    conditions = joined([condition, only, not_run(names, present), then])
    return finding(
        Alternative(said, evidence.ways),
        observed,
        condition=conditions,
        numbers=numbers,
        absent=absent(names, present),
    )


def best_of(options: Mapping[Name, Statement]) -> tuple[Statement, list[Name]]:
    """Returns that a statement holds in one of some readings, forms or arms, and the names of those where it does."""
    holding = [name for name, statement in options.items() if statement.decide(ALPHA / len(options), ALPHA)]
    statements = list(options.values())
    return AnyOf(statements) if len(statements) > 1 else statements[0], holding


View = Callable[[AnyCell], bool]  # which cells of the results count
Tried = tuple[Finding | NotRun, Evidence]  # what a check finds in a view


def either(
    views: Callable[[Evidence], Sequence[View]], tell: Callable[[Finding, Evidence, Iterator[Tried]], Finding]
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Decorates a check, which then finds what it finds in the best view of the results.

    Args:
        views: those of some results.
        tell: what becomes of a finding that holds, given its view and what the check finds in each of them in turn,
            with an equal part of the chance of a wrong yes.
    """

    def decorated(check: Callable[..., Finding]) -> Callable[..., Finding]:
        @wraps(check)
        def decided(evidence: Evidence, **options: Any) -> Finding:
            all_views, with_options = views(evidence), partial(check, **options)
            found, view = in_best_view(evidence, all_views, with_options)
            tried = (_attempt(with_options, evidence.only(keep, len(all_views))) for keep in all_views)
            return tell(found, view, tried) if found.holds else found

        return decided

    return decorated


def in_best_view(evidence: Evidence, views: Iterable[View], check: Check) -> tuple[Finding, Evidence]:
    """Returns what a check finds in the first view of the results in which it holds, is mixed or can be decided.

    With it comes this view. Those in which the check examines something else share the chance of a wrong yes. Of
    several in which it holds, the first with the fewest data sets that were not run counts.

    Raises:
        NotRun: if no view has what the check needs.
    """
    keeps = list(views)
    tried = [_attempt(check, evidence.only(keep, 1)) for keep in keeps]
    ways = len({one.observed if isinstance(one, Finding) else str(one) for one, _ in tried})
    if ways > 1:
        tried = [_attempt(check, evidence.only(keep, ways)) for keep in keeps]
    findings = [(one, view) for one, view in tried if isinstance(one, Finding)]
    holding = [(one, view) for one, view in findings if one.holds]
    holding = holding or [(one, view) for one, view in findings if one.mixed]
    best, view = min(holding, key=lambda pair: len(pair[0].absent), default=(findings or tried)[0])
    evidence.used += [name for name in view.used if name not in evidence.used]
    if isinstance(best, NotRun):
        raise best
    return best, view


def _attempt(check: Check, view: Evidence) -> Tried:
    try:
        return check(view), view
    except NotRun as error:
        return error, view


def planned(evidence: Evidence, study: str, names: Iterable[str], what: str, **factors: Any) -> list[str]:
    """Returns those of some data sets for which cells with these factors are planned.

    Raises:
        NotRun: if there is none, saying that `what` is needed.
    """
    run = [name for name in names if evidence.cells(study, dataset=name, **factors)]
    if not run:
        raise evidence.lacks(what)
    return run


@dataclass(frozen=True)
class Scores:
    """The scores of a study on one data set and in one arm.

    Attributes:
        study: its name.
        dataset: its name.
        rows: rows of the metrics table for one network; baselines in another form have `form` in their variant.
        weak: how the runs fall short of the source's, see `shortfall`.
        arm: its name, where there are several.
        ways: how many choices of runs a claim is tried on, including this one.
        sign: the word or sign between the two mechanisms of a difference.
        all_epsilons: whether differences cover all epsilons, not only those at which one is above chance.
        pulls: whether the runs are weaker, and do not only differ in a setting.
    """

    study: str
    dataset: str
    rows: pd.DataFrame
    weak: str = ""
    arm: str = ""
    ways: int = 1
    sign: str = "-"
    all_epsilons: bool = False
    pulls: bool = True

    @cached_property
    def _datasets(self) -> list[str]:
        return list(self.rows["dataset"].unique())

    @cached_property
    def _parts(self) -> dict[tuple[str, bool], pd.DataFrame]:
        """The rows by mechanism, and whether it is a baseline in its other form."""
        parts: Any = self.rows.groupby(["mechanism", self.rows["variant"].str.contains("form=")])
        return dict(iter(parts))

    @cached_property
    def _points(self) -> dict[tuple[str, bool], dict[float, Estimate]]:
        return {key: per_epsilon(rows) for key, rows in self._parts.items()}

    @property
    def name(self) -> str:
        """The data set, or the part that stands for it, and the arm."""
        name = self._datasets[0] if len(self._datasets) == 1 else self.dataset
        return f"{name} ({self.arm})" if self.arm else name

    def of(self, mechanism: str, form: str = "") -> pd.DataFrame:
        """Returns the rows of one mechanism; of a baseline in its other form with `form`."""
        return self._parts.get((mechanism, bool(form)), self.rows.iloc[:0])

    def points(self, mechanism: str, form: str = "") -> dict[float, Estimate]:
        """Returns the mean score at each epsilon, rising."""
        return self._points.get((mechanism, bool(form)), {})

    def learned(self, mechanism: str, form: str = "") -> set[float]:
        """Returns the epsilons at which a mechanism is above chance."""
        limit = max(at_chance(self.study, name) for name in self._datasets)
        return {epsilon for epsilon, value in self.points(mechanism, form).items() if value.mean > limit}

    def statement(
        self,
        name: str,
        value: Estimate,
        low: float = -np.inf,
        high: float = np.inf,
        undecidable: str = "",
        pulled: float = DIFFERENCE,
    ) -> Between:
        """Returns a comparison of these runs, as weak as they are; `pulled` is as in `Between`."""
        return Between(name, value, low, high, undecidable, self.weak, self.dataset, pulled if self.pulls else NOWHERE)

    def gap(
        self,
        first: str,
        second: str,
        low: float = -np.inf,
        high: float = np.inf,
        epsilons: Iterable[float] | None = None,
        *,
        form: str = "",
        note: str | None = None,
    ) -> Between:
        """Returns that first - second lies between two limits, on average over the epsilons of both or over some.

        The second may be a baseline in its other `form`. `note` follows the names in words; without it the epsilons do
        where some are given.

        Raises:
            NotRun: if the two have no epsilon in common.
        """
        rows = self.of(first), self.of(second, form)
        shared = set(rows[0]["epsilon"]) & set(rows[1]["epsilon"])
        shared = shared if epsilons is None else shared & set(epsilons)
        if not shared:
            raise NotRun(f"needs {first} and {second} on {self.name} at the same epsilon")
        above_chance = shared & (self.learned(first) | self.learned(second, form))
        counted = shared if self.all_epsilons else above_chance or shared
        means = [per_seed(part[part["epsilon"].isin(counted)]) for part in rows]
        if note is None:
            note = "" if epsilons is None else f" at epsilon {', '.join(f'{e:g}' for e in sorted(shared))}"
        undecidable = "" if above_chance else "both at chance at every epsilon"
        name = f"{first} {self.sign} {second} on {self.name}{note}"
        return self.statement(name, minus(means[0], means[1]), low, high, undecidable)

    def above(
        self,
        first: str,
        second: str,
        by: float = 0.0,
        most: float = np.inf,
        epsilons: Iterable[float] | None = None,
        *,
        note: str | None = None,
    ) -> Between:
        """Returns that the first is above the second by between `by` and `most`; with `by` below 0 hardly below it."""
        return self.gap(first, second, by, most, epsilons, note=note)

    def within(
        self,
        first: str,
        second: str,
        limit: float,
        epsilons: Iterable[float] | None = None,
        *,
        note: str | None = None,
    ) -> Between:
        """Returns that two mechanisms are at most `limit` apart."""
        return self.gap(first, second, -limit, limit, epsilons, note=note)

    def at_each(
        self, mechanism: str, low: float = -np.inf, high: float = np.inf, form: str = "", name: str = ""
    ) -> dict[float, Between]:
        """Returns by epsilon that a mechanism's score lies between two limits."""
        name = name or f"{mechanism} on {self.name}"
        return {
            e: self.statement(f"{name} at epsilon {e:g}", value, low, high, pulled=SCORE)
            for e, value in self.points(mechanism, form).items()
        }

    def at_largest(self, mechanism: str, low: float, high: float = np.inf) -> Between:
        """Returns that a mechanism's score at the largest epsilon lies between two limits."""
        return list(self.at_each(mechanism, low, high).values())[-1]

    def change(
        self, name: str, mechanism: str, low: float = -np.inf, high: float = np.inf, start: int = 0, end: int = -1
    ) -> Between:
        """Returns that a score changes by something between two limits from one of its epsilons to another.

        Raises:
            NotRun: if there is one epsilon.
        """
        points = list(self.points(mechanism).values())
        if len(points) < 2:
            raise NotRun(f"needs {self.study} on {self.name} at two epsilons")
        return self.statement(name, minus(points[end], points[start]), low, high)

    def rises(self, mechanism: str) -> Between:
        """Returns that a mechanism's score has a slope above 0 in log10 epsilon.

        Raises:
            NotRun: if there is one epsilon.
        """
        table = self.of(mechanism).pivot_table(index="seed", columns="epsilon", values="value").dropna()
        if table.shape[1] < 2:
            raise NotRun(f"needs {self.study} on {self.name} at two epsilons")
        undecidable = "" if self.learned(mechanism) else "at chance at every epsilon"
        name = f"slope of {mechanism} on {self.name} over {table.shape[1]} epsilons"
        return self.statement(name, estimate(log_slopes(table)), 0.0, undecidable=undecidable)


def on_each_dataset(
    evidence: Evidence, study: str, metric: str, arms: Iterable[str] | Mapping[str, Mapping[str, Any]]
) -> list[Scores]:
    """Returns the scores of a study's arms on each data set that is planned, as weak as their runs are.

    Args:
        evidence: our results.
        study: its name.
        metric: the score.
        arms: mechanisms, or by a name of your own what `Evidence.rows` takes to choose an arm.

    Raises:
        NotRun: if an arm is not planned at this scale, or has no results.
    """
    chosen = dict(arms) if isinstance(arms, Mapping) else {name: {"mechanism": name} for name in arms}
    found = [evidence.rows(study, metric, **options).assign(mechanism=name) for name, options in chosen.items()]
    rows = pd.concat(found, ignore_index=True)
    made = []
    for dataset in sorted(map(str, rows["dataset"].unique())):
        cells = [cell for options in chosen.values() for cell in evidence.cells(study, dataset=dataset, **options)]
        of_it = rows[rows["dataset"] == dataset]
        made.append(Scores(study, dataset, of_it, shortfall(cells), pulls=pulls(cells)))
    return made
