"""One call that tries to prove a claimed guarantee wrong, with every method there is, within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensorldp.check import declared
from tensorldp.check.calls import BATCH, RECORD
from tensorldp.check.claim import COUNTABLE_NATS, METRICS, Array, Claim
from tensorldp.check.distinguishers import FLOATING, IDEAL, PLAIN, TREES
from tensorldp.check.events import Event, strongest
from tensorldp.check.finding import Finding, breach_finding, event_finding
from tensorldp.check.gambling import Reach, reach
from tensorldp.check.noise import declared_tail, noise_misfit
from tensorldp.check.observers import AMONG_OTHERS, FRESH, MOST_COLUMNS, OBSERVERS, OneRelease
from tensorldp.check.pairs import Pair, pairs
from tensorldp.check.records import Numbers, Records
from tensorldp.check.repeat import call_of
from tensorldp.check.search import EASY, Breach, Budget, Search, Trail, histogram, histogram_of
from tensorldp.check.side_channels import CALLS, dependence, timing_difference
from tensorldp.check.target import Target
from tensorldp.check.verdict import Attempt, Verdict, epsilon_bound, of_distance
from tensorldp.curves.base import PrivacyCurve
from tensorldp.domain import DTYPES, Domain
from tensorldp.errors import InputError, check_flag, check_positive, check_real, check_whole, check_word, shown
from tensorldp.mechanisms.base import Mechanism
from tensorldp.memory import check_memory
from tensorldp.randomness import generator, seed_from

# of the error, by the union bound: most to the search, whose bar for a breach it sets
ERROR_SHARES = {"search": 0.45, "float32": 0.05, "floating point": 0.2, "declarations": 0.2, "bound": 0.1}
DECLARATION_PARTS = 7.0  # of that share: two for the curve, one each for density, error, noise, independence, times
PILOT = 64  # releases of each record by which the time of one is measured, and the fewest for a lower bound
NOISE_PER_SAMPLE = 100  # elements of noise that are examined, for each of `samples`
TIME_SHARES = {"search": 0.7, "float32": 0.1, "floating point": 0.5, "declarations": 0.5}  # of the rest at its start
FIRST_ROUNDS = 3  # of the search before it looks at float32 records, and with them: for what float64 does not have
RECORD_DTYPES = (torch.float64, torch.float32)  # formats of records; coarser ones cannot be told from the reals' noise
MOST_RELEASED = 1 << 29  # elements that a test releases of a record, or as few releases as there may be
ELEMENT_BYTES = 8 * 40  # of memory for each element of a record: a few pairs, a release, and what is computed from it
NO_TREES = "not tried: scikit-learn is not installed"
NO_TIME = "not tried: the time was up"
NEW_START = (6.0, 132.0)  # calls, and records, that it takes to see whether first calls can be repeated
DECLARED = 5.0  # releases that each of `samples` takes of a pair where declarations are tested
NOISE_PILOT, LEAST_NOISE = 200_000, 1000  # elements that tell how long an element takes, and that are worth a test
LEAST_CLAIM = 1e-12  # epsilon, for the share that a bound is of a claim
LEAST_CALLS = 40  # that are worth a comparison of times
EXAMPLES = 1024  # releases of each record among which one is looked for that shows an event
SAME = 64  # releases of a record that are compared
REPEATS = (
    "all releases of a record were the same: there is no noise, each call draws the same, or answers are remembered; "
    "to check the first answer of what remembers, give a function that makes it anew for each record"
)
TOO_LARGE = f"not tried: a claim of more than {COUNTABLE_NATS:g} nats cannot be contradicted by counting releases"


def check(
    checked: Mechanism | Callable[..., Any],
    *,
    domain: Domain | Records | None = None,
    claim_epsilon: float | None = None,
    claim_delta: float = 0.0,
    claim_epsilon_per_distance: float | None = None,
    claim_curve: PrivacyCurve | Callable[[float], PrivacyCurve] | None = None,
    metric: str | Callable[[Any, Any], float] | None = None,
    minutes: float = 2.0,
    samples: int = 200_000,
    rounds: int | None = None,
    starts: int | None = None,
    confidence: float = 0.95,
    seed: int | torch.Generator = 0,
    floating_point: bool = False,
    timing: bool = False,
    dtype: torch.dtype = torch.float64,
    dtypes: Sequence[torch.dtype] | None = None,
    pair: tuple[Tensor, Tensor] | None = None,
    call: str | None = None,
    decode: Callable[[Any], Any] | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Verdict:
    """Tries to prove a claimed guarantee wrong.

    The claim covers one release of one record, over the real numbers. What only the released floats give away is
    reported separately, and counts as a refutation if `floating_point` is True. A claim that is not refuted is not
    proved: the verdict says what was tried.

    Args:
        checked: a mechanism, a function of records, or a class or function without parameters that makes one.
            `tensorldp.check.calls` says how a function may be called, `tensorldp.check.columns` what it may return.
        domain: where records live, a Box, a Ball, `Categories`, `Numbers` or `Rows`; needed for a function.
        claim_epsilon: the epsilon of the claim; without one, the claim is the mechanism's own curve.
        claim_delta: the delta of the claim.
        claim_epsilon_per_distance: in place of `claim_epsilon`, E of the claim that any two records x and x' have
            (E d(x, x'), `claim_delta`), as of geo-indistinguishability and of metric privacy. Releases of other
            records still may not differ at all.
        claim_curve: in place of both, a privacy curve, or with `metric` a function from a distance above 0 to one, such
            as `lambda d: GaussianCurve(d / sigma)` or `curve_at` of a mechanism.
        metric: d of those claims: "l1", "l2", "linf", "hamming" (elements that differ), or a function of two float64
            arrays of a record's shape; of two categories or rows, if records are such. It is asked about any records.
        minutes: processor time for all of it, > 0; a gross lie takes seconds. A slow function is released less often,
            so that it ends in 1.25 times that and one call; the verdict says on how many releases it rests.
        samples: how many releases of each record of a pair are kept to learn from, >= 256.
        rounds: the most rounds of the searches, >= 1; with enough minutes for them the verdict does not depend on the
            machine.
        starts: the most pairs of records that the searches start from, chosen at random; None for all.
        confidence: the chance, before sampling, that nothing true is called refuted.
        seed: for pairs and releases; a generator draws one, which the verdict names.
        floating_point: whether the claim includes the floats.
        timing: also compare running times, which other programs disturb.
        dtype: the format of the records that are handed out, float64 or float32. Of float32 records a search looks at
            releases to a thousandth of the domain's width, as the claim is about the real numbers.
        dtypes: the formats whose floats are examined; None for float64 and float32, or for `dtype` alone if it is
            float32.
        pair: two records to try first.
        call: "batch" or "record", what a function is given; None finds out.
        decode: what everybody can compute from one release, such as which candidates a hash that it names supports.
        progress: called with a line from time to time.

    Raises:
        InputError: if an argument is out of range, a function has no domain or claim, or the code under test fails.
    """
    seed = seed_from(seed) if isinstance(seed, torch.Generator) else seed
    minutes = check_positive("minutes of a check", minutes)
    samples = check_whole("samples of a check", samples, low=256)
    rounds = None if rounds is None else check_whole("rounds of a check", rounds, low=1)
    starts = None if starts is None else check_whole("starts of a check", starts, low=1)
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    floating_point, timing = check_flag("floating_point", floating_point), check_flag("timing", timing)
    seed = check_whole("seed of a check", seed, high=2**63 - 1)
    if dtype not in RECORD_DTYPES:
        raise InputError(f"dtype of a check must be torch.float64 or torch.float32, got {shown(dtype)}")
    if call is not None:
        check_word("call of a check", call, BATCH, RECORD)
    target = Target.of(checked, domain, dtype, call=call, decode=decode)
    asked = _of_points(metric, target.records)
    claim = _claim_of(checked, claim_epsilon, claim_delta, claim_epsilon_per_distance, claim_curve, asked)
    dtypes = (RECORD_DTYPES if dtype == torch.float64 else (dtype,)) if dtypes is None else dtypes
    for examined in dtypes:
        if examined not in DTYPES:
            raise InputError(f"dtypes of a check must be out of float32, float64 and bfloat16, got {examined}")
    target = target.of_reals(dtype)
    budget = Budget(60.0 * minutes, samples, rounds, starts, paced=rounds is None)
    verdict = _Check(target, claim, budget, 1.0 - confidence, seed, pair, progress).run(floating_point, timing, dtypes)
    command = call_of(
        checked,
        domain=domain,
        claim_epsilon=claim_epsilon,
        claim_delta=claim_delta,
        claim_epsilon_per_distance=claim_epsilon_per_distance,
        claim_curve=claim_curve,
        metric=metric,
        minutes=minutes,
        samples=samples,
        rounds=rounds,
        starts=starts,
        confidence=confidence,
        seed=seed,
        floating_point=floating_point,
        timing=timing,
        dtype=dtype,
        dtypes=tuple(dtypes),
        pair=pair,
        call=call,
        decode=decode,
    )
    return replace(verdict, command=command)


def _of_points(
    metric: str | Callable[[Any, Any], float] | None, records: Records | None
) -> str | Callable[[Array, Array], float] | None:
    """Returns the metric of the points that stand for records; what compares numbers cannot compare rows."""
    if metric is None or records is None or isinstance(records, Numbers):
        return metric
    if isinstance(metric, str):
        if metric != "hamming" and metric in METRICS:
            raise InputError(f"metric {metric!r} compares numbers, and records are {records}: give a function of two")
        return metric
    function = metric  # as it is a function from here on

    def of_points(x: Array, x_prime: Array) -> float:
        first, second = records.given(torch.from_numpy(np.stack((x, x_prime))))
        return function(first, second)

    of_points.__name__ = str(getattr(function, "__name__", type(function).__name__))
    return of_points


def _claim_of(
    checked: Mechanism | Callable[..., Any],
    epsilon: float | None,
    delta: float,
    per_distance: float | None,
    curve: PrivacyCurve | Callable[[float], PrivacyCurve] | None,
    metric: str | Callable[[Array, Array], float] | None,
) -> Claim:
    """Builds the claim that the arguments of a check state, or else the mechanism's own."""
    unit = checked.unit if isinstance(checked, Mechanism) else "record"
    if epsilon is not None and per_distance is not None:
        raise InputError("a check takes claim_epsilon or claim_epsilon_per_distance, not both")
    if curve is not None:
        return _claim_of_curve(curve, delta, (epsilon, per_distance), metric, unit)
    if per_distance is None and metric is not None:
        raise InputError("metric of a check needs claim_epsilon_per_distance, the epsilon for each unit of it")
    if per_distance is not None:
        if metric is None:
            raise InputError(
                f"claim_epsilon_per_distance of a check needs metric, one of {', '.join(METRICS)} or a function of two "
                "records"
            )
        return Claim.per_distance(per_distance, metric, delta, unit)
    if epsilon is not None:
        return Claim.point(epsilon, delta, unit)
    if delta != 0.0:
        raise InputError(f"claim_delta {delta!r} of a check needs claim_epsilon, the epsilon of the same claim")
    if isinstance(checked, Mechanism):
        return Claim.of_curve(checked.curve(), checked.unit)
    raise InputError("a check of a function needs claim_epsilon, the epsilon that it is said to have")


def _claim_of_curve(
    curve: object,
    delta: float,
    others: tuple[object, ...],
    metric: str | Callable[[Array, Array], float] | None,
    unit: str,
) -> Claim:
    """Builds the claim of `claim_curve`: a curve, or with a metric a function of the distance."""
    if delta != 0.0 or any(other is not None for other in others):
        raise InputError("a check takes claim_curve, or an epsilon and claim_delta, not both")
    if metric is not None and callable(curve) and not isinstance(curve, PrivacyCurve):
        return Claim.curve_per_distance(curve, metric, unit)
    if metric is not None or not isinstance(curve, PrivacyCurve):
        wanted = "a PrivacyCurve, as there is no metric" if metric is None else "a function of the distance"
        raise InputError(f"claim_curve of a check must be {wanted}; got {shown(curve)}")
    return Claim.of_curve(curve, unit)


@dataclass
class _Check:
    target: Target
    claim: Claim
    budget: Budget
    error: float
    seed: int
    pair: tuple[Tensor, Tensor] | None
    progress: Callable[[str], None]
    findings: list[Finding] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    bound: tuple[float, float] = (0.0, 0.0)
    bound_at: float | None = None  # distance
    no_bound: str = "nothing was searched"
    reach: Reach | None = None
    closest: Finding | None = None
    drawn: int = 0
    rests_on: int | None = None
    notes: list[str] = field(default_factory=list)

    def run(self, floating_point: bool, timing: bool, dtypes: Sequence[torch.dtype]) -> Verdict:
        start = time.process_time()
        self._first_look()
        if not self.claim.points:
            self.no_bound = "nothing is claimed"
            self.attempts.append(Attempt("search", 0.0, 0, 0.0, "nothing is claimed"))
        else:
            if not self.claim.countable:
                self.no_bound = f"the claim has more than {COUNTABLE_NATS:g} nats, which counting cannot contradict"
                self.attempts.append(Attempt("search for a breach", 0.0, 0, 0.0, TOO_LARGE))
            if floating_point and self.claim.countable:
                self._floats(dtypes, until_found=True)
            if not self.findings:
                self._search(torch.float32 in dtypes and self.target.dtype == torch.float64)
            if not self.findings and self.target.mechanism is not None and self._time_left("declarations"):
                self._declarations(self.target.mechanism)
                self._noise(self.target.mechanism)
            if not self.findings and self._time_left("independence of releases"):
                self._independence()
            if self.claim.countable and not floating_point and not self.findings:
                self._floats(dtypes, until_found=False)
            if timing:
                self._timing()
            if self.drawn == 0:
                raise InputError(
                    f"a check of {self.budget.seconds / 60.0:g} minutes is over before it looks at anything"
                )
        self.findings.sort(key=lambda finding: finding.kind not in Finding.REFUTES)
        refuting = {*Finding.REFUTES, *(("floating point",) if floating_point else ())}
        refuted = any(finding.kind in refuting for finding in self.findings)
        return Verdict(
            self.target.name,
            self.claim.text,
            refuted,
            *self.bound,
            tuple(self.findings),
            tuple(self.attempts),
            1.0 - self.error,
            floating_point,
            self.seed,
            self.drawn,
            time.process_time() - start,
            "" if self.bound[0] > 0.0 else self.no_bound,
            None if refuted else self.reach,
            str(self.target.dtype).removeprefix("torch."),
            "" if self.claim.metric is None else self.claim.metric.name,
            self.rests_on,
            (*self.target.notes, *self.notes),
            by_clock=self.budget.paced or self.budget.over,
            closest=None if refuted else self.closest,
            record=self.target.record,
            distance=self.bound_at if self.bound[0] > 0.0 else None,
        )

    def _first_look(self) -> None:
        """Finds out what a release is made of, and checks that there is memory for what is examined."""
        check_memory(f"a check of {self.target.name} on records", self.target.size, ELEMENT_BYTES)
        record = self._pairs(self.target)[0].x
        self._timed(record)
        if self.target.width > self.target.size:
            check_memory(f"a check of {self.target.name} with releases", self.target.width, ELEMENT_BYTES)

    def _timed(self, record: Tensor) -> None:
        """Releases a record twice in one call, which shows how long that takes."""
        begun = time.process_time(), time.monotonic()
        self.target.release(record.expand(2, *record.shape), generator("check", "first look", self.seed))
        self.budget.pace.note(1.0, 2, self.budget.took(begun))

    def _pairs(self, target: Target) -> list[Pair]:
        return pairs(target, self.seed, self.pair, self.claim)

    def _distance(self, pair: Pair) -> float:
        return self.claim.distance(pair.x, pair.x_prime)

    def _proved(self, epsilon: float, delta: float, pair: Pair) -> None:
        """Keeps a lower bound on epsilon: for each unit of distance with a metric, but at its own with curves."""
        distance = self._distance(pair)
        if self.claim.curve_at is not None:
            self.bound, self.bound_at = (epsilon, delta), distance
        else:
            self.bound = (epsilon / distance if distance > 0.0 else 0.0, delta)

    def _claimed(self, pair: Pair, delta: float) -> float:
        """Returns the epsilon that is claimed of a pair at a delta of its points."""
        points = self.claim.at(pair.x, pair.x_prime)
        return min((epsilon for epsilon, tested in points if tested == delta), default=math.inf)

    def _finding(self, kind: str, breach: Breach, histogram: dict[str, list[float]] | None) -> Finding:
        return breach_finding(kind, breach, histogram, self.claim, self.target)

    def _time_left(self, name: str) -> bool:
        if self.budget.over:
            self._no_time(name)
        return not self.budget.over

    def _no_time(self, name: str) -> None:
        self.attempts.append(Attempt(name, 0.0, 0, 0.0, NO_TIME))

    def _note(self, name: str, share: float, samples: int, start: float, outcome: str) -> None:
        self.drawn += samples
        self.attempts.append(Attempt(name, self.error * share, samples, time.process_time() - start, outcome))

    def _search(self, float32: bool) -> None:
        """Searches, with float32 records too once the first rounds found nothing: what they give away is found soon."""
        start = time.process_time()
        record, no_start = self._pairs(self.target)[0].x, ""
        if not isinstance(self.target.unused, str) and self._slow_to_start():
            self._timed(record)  # once more: a first call may have prepared something
            no_start = "the time was up" if self._slow_to_start() else ""
        no_start = no_start or self.target.no_new_start(record)
        search = Search(
            self.target,
            self.claim,
            OBSERVERS if no_start else (*OBSERVERS, *FRESH),
            IDEAL,
            error=self.error * ERROR_SHARES["search"],
            seed=self.seed,
            budget=self.budget.part(TIME_SHARES["search"]),
            given=self.pair,
            fitted=True,
            progress=self.progress,
        )
        breach = search.run(FIRST_ROUNDS)
        if breach is None and float32 and self._time_left("releases of float32 records"):
            turned = time.process_time()
            self._float32()
            start += time.process_time() - turned
        if breach is None and not self.findings:
            breach = search.run()
        looked = sum(trail.samples > 0 for trail in search.trails)
        outcome = f"{looked} pairs and views, capital e^{search.capital:.2f} of e^{search.goal:.2f}"
        if self.target.width == self.target.size > AMONG_OTHERS:
            outcome += f", {AMONG_OTHERS} of {self.target.size} elements in batches with other records"
        if self.target.width > MOST_COLUMNS:
            outcome += f", {MOST_COLUMNS} of {self.target.width} elements of each pair"
        kind = "locality" if breach is not None and breach.trail.observer.local else "guarantee"
        if breach is not None:
            self.findings.append(self._finding(kind, breach, histogram(search, breach)))
        if not TREES:
            self.attempts.append(Attempt("decision trees", 0.0, 0, 0.0, NO_TREES))
        self._note("sequential search for a breach", ERROR_SHARES["search"], search.budget.drawn, start, outcome)
        self.rests_on = search.rests_on if self.claim.countable else None
        if breach is None and (search.short or search.budget.over):
            for observer in search.untried:
                self._no_time(f"search through {observer}")
        if no_start:
            self.attempts.append(Attempt("what only a first call does", 0.0, 0, 0.0, f"not tried: {no_start}"))
        if breach is None and search.first.points:
            goal = search.goal - min(0.0, search.capitals[search.first.observer.name])  # what was lost is to be won too
            self.reach = reach(search.first.pair.named(self.target), search.stages, search.first.points, goal)
        if breach is not None or not self.findings:
            self._bound(search, breach)
        if breach is not None and kind == "guarantee" and self.target.mechanism is None:
            self._illustrate(search, breach)

    def _illustrate(self, search: Search, breach: Breach) -> None:
        """Adds to the finding a release that its event holds, and notes if releases of a record are all the same."""
        most = self.budget.affordable(EXAMPLES, self.budget.pace(0.0, 2.0), 0.25)
        short = self.budget.affordable(1, self.budget.pace(4.0, 4.0 * SAME), 0.25) < 1
        pair = breach.trail.pair
        try:
            example = search.example(breach.trail, breach.event, most)
            same = not short and all(self.target.repeats(record, SAME) for record in (pair.x, pair.x_prime))
        except InputError:  # the claim is refuted, whatever fails now
            return
        self.findings[-1] = replace(self.findings[-1], example=example)
        self.notes += [REPEATS] if same else []

    def _closest(
        self, kind: str, trail: Trail, event: Event, counts: tuple[int, int, int], shown: dict[str, list[float]]
    ) -> Finding:
        """Builds the finding for the event of a lower bound, beside the epsilon that is claimed at its delta."""
        event = replace(event, epsilon=self._claimed(trail.pair, event.delta))
        evidence = 0.0 if kind == "lower bound" else -math.log(self.error * ERROR_SHARES["bound"])
        return event_finding(kind, trail, event, counts, evidence, shown, self.claim, self.target)

    def _slow_to_start(self) -> bool:
        return self.budget.affordable(1, self.budget.pace(*NEW_START), EASY) < 1

    def _bound(self, search: Search, breach: Breach | None) -> None:
        """Computes a lower bound on epsilon from one more sample, whose event is fixed before it is drawn."""
        start = time.process_time()
        error = self.error * ERROR_SHARES["bound"]
        if breach is not None:
            if breach.trail.observer.local:
                self.no_bound = "what is refuted is about the releases of other records"
                return
            if not self._distance(breach.trail.pair) > 0.0:
                self.no_bound = "what is refuted is about two records at distance 0"
                return
            trail, event = breach.trail, breach.event
        else:
            best = search.best()[:4]
            events = []
            for looked in best:
                columns = search.columns(looked)
                delta = min((delta for _, delta in self.claim.at(looked.pair.x, looked.pair.x_prime)), default=0.0)
                found, least = strongest(columns, delta, error)
                if least > 0.0 and self._distance(looked.pair) > 0.0:
                    shown = histogram_of(columns[found.statistic], found.threshold)
                    events.append((looked, found, least, shown))
            if not events:
                seen = max((trail.samples for trail in best), default=0)
                short = search.budget.over or (self.budget.rounds is None and seen < self.budget.samples)
                ended = "time ended after" if short else "no event told any two records apart in"
                self.no_bound = f"{ended} {seen} releases of each record of a pair"
                return
            trail, event, _, shown = max(
                events, key=lambda item: item[2] / max(self._claimed(item[0].pair, item[1].delta), LEAST_CLAIM)
            )
        trials = min(50_000 if trail.observer.fast else 1000, max(500, 2 * trail.samples))
        trials = min(trials, max(64, MOST_RELEASED // self.target.size))
        each, least = search.seconds(trail, PILOT) / PILOT, 1 if self.budget.paced else PILOT
        enough = self.budget.affordable(PILOT, each, 0.5) >= PILOT
        if enough:
            tried = self.budget.spent
            search.settle(trail, event, PILOT, fitting=False)
            pace = (self.budget.spent - tried) / PILOT  # seconds for a release of each record
            left = self.budget.left / 2.0  # half of the time, for what comes after too
            trials = min(trials, max(least, int(left / pace) if pace > 0.0 else trials))
            enough = trials >= PILOT or not self.budget.paced
        if not enough:
            self.no_bound = f"time ended after {trail.samples} releases of each record of a pair"
            if breach is not None:  # what it contradicts is a bound too
                self._proved(event.epsilon, event.delta, trail.pair)
            return
        hits, others, _ = search.settle(trail, event, trials, fitting=False)
        bound = epsilon_bound(hits, others, trials, error, event.delta)
        if breach is not None:
            bound = max(bound, event.epsilon)
        else:
            told = (trail, event, (hits, others, trials), shown)
            self.closest = self._closest("lower bound", *told)
            claimed = self.closest.epsilon
            if not trail.observer.local and claimed is not None and bound > claimed:  # where a search needs still more
                self.findings.append(self._closest("guarantee", *told))
        self._proved(bound, event.delta, trail.pair)
        self.no_bound = f'the best event, "{event}", gave none on {trials} fresh releases of each record'
        by = of_distance("" if self.claim.metric is None else self.claim.metric.name, self.bound_at)
        outcome = f"epsilon >= {self.bound[0]:.4g}{by} at delta {event.delta:.3g}"
        outcome += f': {hits} and {others} of {trials} in "{event}"'
        self._note("lower bound on epsilon", ERROR_SHARES["bound"], trials, start, outcome)

    def _float32(self) -> None:
        """Looks at releases of float32 records, but not at how they were rounded, which the claim leaves out."""
        start, share, name = time.process_time(), ERROR_SHARES["float32"], "releases of float32 records"
        try:
            target = self.target.of_reals(torch.float32)
        except InputError as error:
            self._note(name, share, 0, start, f"not tried: {error}")
            return
        budget = self.budget.part(TIME_SHARES["float32"])
        search = Search(
            target,
            self.claim,
            (OneRelease("one release of a float32 record"),),
            PLAIN,
            error=self.error * share / 2.0,
            seed=self.seed,
            budget=replace(budget, rounds=min(FIRST_ROUNDS, budget.rounds or FIRST_ROUNDS)),
            given=self.pair,
            progress=self.progress,
        )
        try:
            breach = search.run()
        except InputError as error:
            self._note(name, share, search.budget.drawn, start, f"not tried: {error}")
            return
        if breach is not None:
            self.findings.append(self._finding("guarantee", breach, histogram(search, breach)))
            proved = _proved(search, breach, self.error * share / 2.0, self.budget)
            self._proved(proved, breach.event.delta, breach.trail.pair)
        outcome = f"capital e^{search.capital:.2f} of e^{search.goal:.2f}"
        self._note(name, share, search.budget.drawn, start, outcome if search.budget.drawn else NO_TIME)

    def _declarations(self, mechanism: Mechanism) -> None:
        start = time.process_time()
        target = self.target.of_reals(torch.float64)  # which a declaration is about
        error = self.error * ERROR_SHARES["declarations"] / DECLARATION_PARTS
        least = 200 if mechanism.size <= MOST_COLUMNS else 32  # so wide records take their time
        count = int(max(least, min(4000, self.budget.samples, (1 << 21) // mechanism.size)))
        tried = self._pairs(target)[: max(1, min(8, MOST_RELEASED // (mechanism.size * count)))]
        for most in (len(tried), 2, 1):  # fewer pairs where there is no time for all
            tried = tried[:most]
            affordable = self.budget.affordable(count, self.budget.pace(0.0, DECLARED * (most + 1)), 0.5)
            if affordable >= least:
                break
        if affordable < min(count, PILOT // 2):
            self._no_time("what is declared")
            return
        count = affordable
        curve = declared.curve_against_density(
            target, self.claim, tried, samples=count, error=2.0 * error, seed=self.seed
        )
        self._declared("declared curve against declared density", (curve,), 2.0, count, start)
        start = time.process_time()
        density = declared.density_against_sampler(target, tried, samples=count, error=error, seed=self.seed)
        stated = declared.stated_error(mechanism, tried, samples=count, error=error, seed=self.seed)
        self._declared("releases against declared density and error", (density, stated), 2.0, 2 * count, start)

    def _declared(
        self, name: str, outcomes: Sequence[declared.Contradiction | None], parts: float, samples: int, start: float
    ) -> None:
        """Notes tests of declarations with their parts of the error, and what they found."""
        wrong = [one for one in outcomes if one is not None]
        for one in wrong:
            kind = "declaration" if one.about == "curve" else one.about
            self.findings.append(Finding(kind, one.text, one.log_evidence, pair=one.pair.name))
        outcome = ", ".join(one.about for one in wrong) or "nothing wrong"
        self._note(name, parts * ERROR_SHARES["declarations"] / DECLARATION_PARTS, samples, start, outcome)

    def _noise(self, mechanism: Mechanism) -> None:
        start = time.process_time()
        tail = declared_tail(mechanism)
        if tail is None:
            return
        tried, name = self._pairs(self.target), "law of the noise, tails to 1e-7"

        def misfit(elements: int) -> tuple[str, float, int]:
            records, target = (tried[0].x, tried[-1].x), self.target.of_reals(torch.float64)
            return noise_misfit(target, tail, records, elements=elements, seed=self.seed)

        elements = NOISE_PER_SAMPLE * self.budget.samples
        if self.budget.paced:
            few = min(elements, NOISE_PILOT)
            few = self.budget.affordable(few, self.budget.pace(0.0, 1.0 / self.target.size), EASY)
            if few < max(LEAST_NOISE, 4 * self.target.size):
                self._no_time(name)
                return
            begun = time.process_time(), time.monotonic()
            misfit(few)
            elements = max(few, self.budget.affordable(elements, self.budget.took(begun) / few, 0.5))
        what, p_value, elements = misfit(elements)
        text = f"the noise does not follow the law that is declared: {what}, {elements} elements"
        self._tested(name, "noise", p_value, text, elements // self.target.size, start)

    def _independence(self) -> None:
        start = time.process_time()
        width = max(self.target.size, self.target.width)
        samples = max(64, min(2000, self.budget.samples, (1 << 20) // width)) // 2 * 2
        samples = self.budget.affordable(samples, self.budget.pace(0.0, 3.0), 0.5) // 2 * 2
        if samples < 64:
            self._no_time("independence of releases")
            return
        way, p_value = dependence(self.target, self._pairs(self.target)[0].x, samples, self.seed)
        text = f"dependence between {way}, {samples} releases"
        self._tested("independence of releases", "independence", p_value, text, 3 * samples, start)

    def _tested(
        self, name: str, kind: str, p_value: float, text: str, samples: int, start: float, pair: str = ""
    ) -> None:
        """Notes a test that has one part of the declarations' error, and what it found."""
        share = ERROR_SHARES["declarations"] / DECLARATION_PARTS
        if p_value <= self.error * share:
            evidence = -math.log(max(p_value, 1e-300))
            self.findings.append(Finding(kind, f"{text} (p = {p_value:.2g})", evidence, pair=pair))
        self._note(name, share, samples, start, f"p = {p_value:.3g}")

    def _floats(self, dtypes: Sequence[torch.dtype], *, until_found: bool) -> None:
        for dtype in dtypes:
            start = time.process_time()
            share = ERROR_SHARES["floating point"] / len(dtypes)
            name = str(dtype).removeprefix("torch.")
            if until_found and self.findings:
                self._note(f"which {name} numbers occur", share, 0, start, "not tried: the claim is refuted already")
                continue
            if self.target.form is not None and self.target.form.whole:
                outcome = "not tried: releases are whole numbers by their type, and no floats"
                self._note(f"which {name} numbers occur", share, 0, start, outcome)
                continue
            target = replace(self.target, dtype=dtype, step=0.0)
            search = Search(
                target,
                self.claim,
                (OneRelease(),),
                FLOATING,
                error=self.error * share / 2.0,
                seed=self.seed,
                budget=self.budget.part(TIME_SHARES["floating point"]),
                given=self.pair,
                progress=self.progress,
            )
            try:
                breach = search.run()
            except InputError as error:
                self._note(f"which {name} numbers occur", share, search.budget.drawn, start, f"not tried: {error}")
                continue
            outcome = f"capital e^{search.capital:.2f} of e^{search.goal:.2f}"
            if breach is not None:
                bound = _proved(search, breach, self.error * share / 2.0, self.budget)
                finding = self._finding("floating point", breach, None)
                if until_found:
                    self._proved(bound, breach.event.delta, breach.trail.pair)
                text = (
                    f"as {name} numbers the epsilon at delta {finding.delta:.3g} is {bound:.3g} or more: {finding.text}"
                )
                self.findings.append(replace(finding, text=text))
            outcome = outcome if search.budget.drawn else NO_TIME
            self._note(f"which {name} numbers occur", share, search.budget.drawn, start, outcome)

    def _timing(self) -> None:
        start = time.process_time()
        pair = self._pairs(self.target)[0]
        calls = self.budget.affordable(CALLS, self.budget.pace(2.0, 2.0), 1.0)
        if calls < LEAST_CALLS:
            self._no_time("running time")
            return
        p_value, calls = timing_difference(self.target, pair, self.seed, calls)
        text = f"running times differ between the records, {calls} calls of each"
        self._tested("running time", "running time", p_value, text, calls, start, pair.name)


def _proved(search: Search, breach: Breach, error: float, budget: Budget) -> float:
    """Computes a lower bound on epsilon at the delta of a breach, from a fresh sample if there is time for one."""
    trials = max(2000, 2 * breach.lead.trials)
    trials = budget.affordable(trials, search.seconds(breach.trail, trials) / trials, 0.5)
    if trials < PILOT:
        return breach.event.epsilon
    hits, others, _ = search.settle(breach.trail, breach.event, trials, fitting=False)
    return max(epsilon_bound(hits, others, trials, error, breach.event.delta), breach.event.epsilon)
