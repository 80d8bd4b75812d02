"""Statements about means over seeds, and when seeds decide them.

A claim about runs is a tree: comparisons of a mean with the limits that the source sets, joined by `AllOf` and `AnyOf`.
Three rules hold for every claim.

*The chance of a wrong verdict*, either way, is at most `ALPHA` for normal values. Where several comparisons could each
decide alone, they share it (Bonferroni); where all must agree, each has the whole.

*Looks.* Whoever adds seeds until something is decided looks several times, and each look may err. So a comparison is
looked at with the first 3, 5, 10, 20 and 40 seeds and with no other numbers, and each look has its own part of `ALPHA`
(`LOOKS`): whenever a run stops, the chance of a wrong verdict over all looks so far is at most the sum of these parts.
Seeds beyond the last look that is complete wait for the next one.

*Weak runs.* A run that is weaker than the source's (`Between.weak`, from `fairness`) supports what its weakness makes
harder, and nothing that it makes easier: fewer epochs do not show that a score stays low. It never refutes a claim by
itself. Where some comparisons use runs like the source's, those of weak runs that show nothing are left out, and told.
Where all are weak, those between networks at chance are left out, as if these had not been run, if others can be
decided.

*Mixed.* A weak run that disagrees in spite of what its weakness pulls towards is never left out: the claim is
undecided, at best. Where one data set that was run has what the claim says, and another one has the opposite, the claim
is mixed, with the numbers of both.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from tensorldp.errors import InputError, check_real
from tensorldp_papers.claims.base import Finding, Need, Number


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with its confidence interval."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if self.count == 1:
            return f"{self.mean:.4g} (one seed, no interval)"
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}] over {self.count} values"

    def number(self, name: str) -> Number:
        """Returns it with its interval, under a name."""
        return Number(name, self.mean, low=self.low, high=self.high)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Computes Student's t interval of a mean; unbounded for one value.

    Raises:
        InputError: if there is no value, one is not finite, or the confidence is not in (0, 1).
    """
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    data = np.asarray(values, dtype=np.float64)
    if not data.size or not np.isfinite(data).all():
        raise InputError(f"an interval needs finite values, got {list(values)[:5]}")
    mean = float(data.mean())
    if data.size == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    half = float(stats.t.ppf((1 + confidence) / 2, data.size - 1) * data.std(ddof=1) / math.sqrt(data.size))
    return Interval(mean, mean - half, mean + half, data.size)


ALPHA = 0.05  # the usual level
# of ALPHA what each look spends, by its number of seeds: most at the first, where an interval of Student's is widest
LOOKS = {3: 0.6, 5: 0.2, 10: 0.1, 20: 0.05, 40: 0.05}
LEAST_SEEDS = min(LOOKS)  # two have one degree of freedom: an interval of thirteen standard errors to each side
DECIDED = ("reproduced", "holds with a condition", "mixed", "not reproduced", "refuted")
SHOWN = 4  # comparisons that a text lists
SETS = 4  # data sets up to which "mixed" is wrong in fewer than 5 of 100 tables at the limit (tests/claims)
# what fewer records and epochs pull such a number towards; a setting that only differs pulls nowhere
SCORE, DIFFERENCE, SPREAD, NOWHERE = -math.inf, 0.0, math.inf, math.nan


class Limit(float):
    """A limit that is ours, since the source has a word where a check needs a number.

    Attributes:
        word: the source's word.
        ours: the number that stands for it.
        base, sign: the limit is base + sign times that number.
    """

    word: str
    ours: float
    base: float
    sign: int

    def __new__(cls, ours: float, word: str, base: float = 0.0, sign: int = 1) -> Limit:
        made = super().__new__(cls, base + sign * ours)
        made.word, made.ours, made.base, made.sign = word, ours, base, sign
        return made

    def __getnewargs__(self) -> tuple[float, str, float, int]:  # type: ignore[override]
        return self.ours, self.word, self.base, self.sign

    def of(self, ours: float) -> Limit:
        """Returns the limit with another number for the word."""
        return Limit(ours, self.word, self.base, self.sign)

    def __neg__(self) -> Limit:
        return Limit(self.ours, self.word, -self.base, -self.sign)

    def __add__(self, other: float) -> Limit:
        return Limit(self.ours, self.word, self.base + other, self.sign)

    __radd__ = __add__

    def __sub__(self, other: float) -> Limit:
        return self + -other

    def __rsub__(self, other: float) -> Limit:
        return -self + other


def wrong_by_chance(claims: pd.DataFrame) -> float:
    """Computes how many verdicts that seeds decided are wrong by chance, at most and on average over such tables.

    These are verdicts on statements of any kind whose evidence has means over seeds.

    Args:
        claims: a table of claims, with columns verdict and numbers.
    """
    decided = claims[claims["verdict"].isin(DECIDED)]
    found = [json.loads(numbers) for numbers in decided["numbers"]]
    return ALPHA * len([1 for numbers in found if any(one.get("seeds", 0) >= LEAST_SEEDS for one in numbers)])


class Shortfall(str):
    """How runs fall short of the source's, in words, "data set: what they lack".

    Attributes:
        parts: the data sets with what their runs lack; without a name where it is about none, or about all.
    """

    parts: tuple[tuple[str, str], ...]

    def __new__(cls, *parts: tuple[str, str]) -> Shortfall:
        made = super().__new__(cls, "; ".join(": ".join(filter(None, part)) for part in parts))
        made.parts = parts
        return made

    def __getnewargs__(self) -> tuple[tuple[str, str], ...]:  # type: ignore[override]
        return self.parts

    @classmethod
    def of(cls, texts: Iterable[str]) -> Shortfall:
        """Returns all of some shortfalls; a text that is none is about no data set."""
        return cls(
            *(part for text in texts if text for part in (text.parts if isinstance(text, cls) else [("", text)]))
        )


def look(seeds: int) -> int:
    """Returns the number of seeds of the last look that these complete; all of them if they are too few for a look."""
    return max((count for count in LOOKS if count <= seeds), default=seeds)


@dataclass(frozen=True)
class Estimate:
    """A mean over the seeds of a look, its standard error with its degrees of freedom, and the number of these seeds.

    Attributes:
        mean, error, freedom, seeds: those of the look.
        samples: the independent samples that it combines, one value a seed, with their factors.
    """

    mean: float
    error: float
    freedom: float
    seeds: int
    samples: tuple[tuple[float, tuple[float, ...]], ...] = ()

    def half(self, alpha: float) -> float:
        """Returns half the width of Student's interval at this look, `alpha` being for all looks; else infinity."""
        if self.seeds < LEAST_SEEDS:
            return math.inf
        return _quantile(self.freedom, alpha, self.seeds) * self.error

    def seeds_for(self, distance: float, alpha: float) -> int | None:
        """Returns the first later look whose half width is below `distance` at this spread; None if there is none."""
        if self.seeds < 2 or distance <= 0:
            return None
        groups = max(self.freedom / (self.seeds - 1), 1.0)
        for count in LOOKS:
            half = _quantile((count - 1) * groups, alpha, count) * self.error * math.sqrt(self.seeds / count)
            if count > self.seeds and half < distance:
                return count
        return None

    def number(self, name: str) -> Number:
        """Returns the mean under a name, with its interval where seeds have a look."""
        half = self.half(ALPHA)
        number = Number(name, self.mean, seeds=self.seeds)
        return replace(number, low=self.mean - half, high=self.mean + half) if math.isfinite(half) else number

    def __str__(self) -> str:
        if self.seeds < LEAST_SEEDS:
            return f"{self.mean:.4g} ({'one seed' if self.seeds == 1 else f'{self.seeds} seeds'}, no interval)"
        half = self.half(ALPHA)
        return f"{self.mean:.4g} [{self.mean - half:.4g}, {self.mean + half:.4g}] over {self.seeds} seeds"


def _quantile(freedom: float, alpha: float, seeds: int) -> float:
    return float(special.stdtrit(freedom, 1 - alpha * LOOKS[look(seeds)] / 2))


def _combined(samples: tuple[tuple[float, tuple[float, ...]], ...]) -> Estimate:
    """The sum of factor times mean of independent samples (Welch), all at the last look that each of them completes."""
    seeds = look(min(len(values) for _, values in samples))
    parts = [(factor, np.asarray(values[:seeds])) for factor, values in samples]
    mean = float(sum(factor * values.mean() for factor, values in parts))
    if seeds < 2:
        return Estimate(mean, math.inf, 1.0, seeds, samples)
    variances = [float(factor**2 * values.var(ddof=1)) / seeds for factor, values in parts]
    squares = sum(variance**2 for variance in variances) / (seeds - 1)
    total = sum(variances)
    freedom = total**2 / squares if squares > 0 else float(len(parts) * (seeds - 1))
    return Estimate(mean, math.sqrt(total), freedom, seeds, samples)


def estimate(values: Sequence[float] | pd.Series) -> Estimate:
    """Returns the estimate of a mean from one value a seed, in the order of the seeds.

    Raises:
        InputError: if there is no value or one is not finite.
    """
    data = np.asarray(values, dtype=np.float64)
    if not data.size or not np.isfinite(data).all():
        raise InputError(f"an estimate needs finite values, got {list(values)[:5]}")
    return _combined(((1.0, tuple(data.tolist())),))


def minus(first: Estimate, second: Estimate, share: float = 1.0) -> Estimate:
    """Computes first - share * second, seed by seed, as runs of one seed share first weights, orders and streams.

    Both are taken at the last look that both complete. What combines several samples is taken as independent (Welch).
    """
    if len(first.samples) == len(second.samples) == 1:
        (factor, ours), (other, theirs) = first.samples[0], second.samples[0]
        pairs = zip(ours, theirs, strict=False)  # the longer one waits for the seeds of the other
        return estimate([factor * one - share * other * another for one, another in pairs])
    if first.samples and second.samples:
        return _combined((*first.samples, *((-share * factor, values) for factor, values in second.samples)))
    variances = first.error**2, (share * second.error) ** 2
    seeds = min(first.seeds, second.seeds)
    mean, total = first.mean - share * second.mean, sum(variances)
    if seeds < 2:
        return Estimate(mean, math.inf, 1.0, seeds)
    parts = sum(v**2 / d for v, d in zip(variances, (first.freedom, second.freedom), strict=True))
    freedom = total**2 / parts if parts > 0 else first.freedom + second.freedom
    return Estimate(mean, math.sqrt(total), freedom, seeds)


class Statement(Protocol):
    """Something that seeds decide, or do not."""

    def decide(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool | None:
        """Returns whether it holds; None if undecided at these chances of a wrong yes and a wrong no, or mixed."""

    def fails(self, against_it: float = ALPHA) -> bool:
        """Returns whether the runs contradict it; those of weak runs only where weakness does not explain it."""

    def mixed(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool:
        """Returns whether one data set has what it says and another one the opposite."""

    def leaves(self) -> list[Between]:
        """Returns the comparisons in it."""

    def telling(self, for_it: float = ALPHA, against_it: float = ALPHA) -> list[Told]:
        """Returns the comparisons that decide it; among alternatives, those of the best one."""

    def mapped(self, change: Callable[[Between], Between]) -> Statement:
        """Returns the statement with each of its comparisons changed."""


@dataclass(frozen=True)
class Between:
    """That a mean lies above `low` and below `high`.

    Attributes:
        name: what is averaged, in words.
        value: its estimate.
        low, high: the limits that the source sets, or ours (`Limit`).
        undecidable: why it decides nothing, whatever the seeds (both at chance); empty as a rule.
        weak: how the runs behind it are weaker than the source's, see `fairness`; empty if they are not.
        dataset: the data set that it is about; empty if it is about none or several.
        pulled: what a weaker run pulls the mean towards: a `SCORE` down, a `DIFFERENCE` to 0, a `SPREAD` over seeds up,
            and a setting that only differs `NOWHERE`.
    """

    name: str
    value: Estimate
    low: float = -math.inf
    high: float = math.inf
    undecidable: str = ""
    weak: str = ""
    dataset: str = ""
    pulled: float = DIFFERENCE

    def decide(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool | None:
        if self.holds(for_it):
            return True if not self.weak or self._is_harder(for_it) else None
        return False if self.fails(against_it) and not self.weak else None

    def holds(self, for_it: float = ALPHA) -> bool:
        """Returns whether the mean lies inside, however weak the runs are."""
        if self._is_silent():
            return False
        mean, yes = self.value.mean, self.value.half(for_it)
        return self.low < mean - yes and mean + yes < self.high

    def fails(self, against_it: float = ALPHA) -> bool:
        if self._is_silent():
            return False
        mean, no = self.value.mean, self.value.half(against_it)
        return (mean + no < self.low or mean - no > self.high) and not (self.weak and self.explains())

    def explains(self) -> bool:
        """Returns whether its weakness alone may have taken the mean outside its limits, so that this shows nothing."""
        mean = self.value.mean
        return not (self.pulled > mean if mean < self.low else self.pulled < mean)

    def _is_harder(self, for_it: float) -> bool:
        """Whether a run like the source's, which lies further from what weakness pulls towards, would hold as well."""
        mean, half = self.value.mean, self.value.half(for_it)
        if math.isnan(self.pulled):
            return True
        if mean - half > self.pulled:
            return self.high == math.inf
        return mean + half < self.pulled and self.low == -math.inf

    def mixed(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool:
        return False

    def _is_silent(self) -> bool:
        return bool(self.undecidable) or self.value.seeds < LEAST_SEEDS

    def leaves(self) -> list[Between]:
        return [self]

    def telling(self, for_it: float = ALPHA, against_it: float = ALPHA) -> list[Told]:
        return [Told(self, for_it, against_it)]

    def mapped(self, change: Callable[[Between], Between]) -> Between:
        return change(self)

    def slack(self) -> float:
        """Returns how far inside the limits the mean lies, in standard errors; negative outside."""
        distance = min(self.value.mean - self.low, self.high - self.value.mean)
        if math.isinf(self.value.error):
            return distance
        return distance / self.value.error if self.value.error > 0 else math.copysign(math.inf, distance)

    def need(self, for_it: float = ALPHA, against_it: float = ALPHA) -> Need:
        """Returns what would decide it at these chances of a wrong yes and a wrong no."""
        if self.undecidable:
            short = Shortfall.of([self.weak]).parts
            name = short[0][0] if short and short[0][0] else self.dataset or self.name
            return Need(f"{self.name}: {self.undecidable}", (f"{self.undecidable} on {name}",))
        if self.value.seeds < LEAST_SEEDS:
            made = "one seed was run" if self.value.seeds == 1 else f"{self.value.seeds} seeds were run"
            text = f"{self.name}: {made}, at least {LEAST_SEEDS} are needed"
            return Need(text, (text,))
        against = f"{self.name}: {self.value}, the limit being {self._limits()}"
        inside = self.slack() >= 0
        if self.weak and not (inside and self._is_harder(for_it)):
            missing = tuple(str(Shortfall(part)) for part in Shortfall.of([self.weak]).parts)
            return Need(f"{against}, which {'shows' if inside else 'refutes'} nothing: {self.weak}", missing)
        mean = self.value.mean
        distance = min(abs(mean - limit) for limit in (self.low, self.high) if math.isfinite(limit))
        enough = self.value.seeds_for(distance, for_it if inside else against_it)
        if enough:
            return Need(f"{against}; {enough} seeds would do", seeds=enough)
        return Need(f"{against}; {max(LOOKS)} seeds would not do", seeds=math.inf)

    def number(self) -> Number:
        """Returns its mean, under its name."""
        return self.value.number(self.name)

    def _limits(self) -> str:
        ends = [f"{end:.4g}" for end in (self.low, self.high) if math.isfinite(end)]
        return " or ".join(ends)

    def __str__(self) -> str:
        return f"{self.name} {self.value}"


@dataclass(frozen=True)
class Told:
    """A comparison that decides a statement, and its chances of a wrong yes and a wrong no there."""

    leaf: Between
    for_it: float
    against_it: float

    def is_open(self) -> bool:
        return self.leaf.decide(self.for_it, self.against_it) is None


@dataclass(frozen=True)
class _Parts:
    """A statement about several others."""

    parts: Sequence[Statement]

    def leaves(self) -> list[Between]:
        return [leaf for part in self.parts for leaf in part.leaves()]

    def mapped(self, change: Callable[[Between], Between]) -> Self:
        return replace(self, parts=[part.mapped(change) for part in self.parts])


@dataclass(frozen=True)
class AllOf(_Parts):
    """That all parts hold; parts of weak runs that show nothing are left out if there are others, then those at chance.

    It is mixed if all parts about one data set hold and one about another fails.
    """

    def decide(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool | None:
        if self.mixed(for_it, against_it):
            return None
        counted = self._counted()
        verdicts = [part.decide(for_it, against_it / len(counted)) for part in counted]
        if False in verdicts:
            return False
        contrary = any(_disagrees(part) for part in self.parts if _is_weak(part))
        return None if None in verdicts or not verdicts or contrary else True

    def _counted(self) -> Sequence[Statement]:
        strong = [part for part in self.parts if not _is_weak(part)]
        return strong or [part for part in self.parts if not _is_mute(part)] or self.parts

    def fails(self, against_it: float = ALPHA) -> bool:
        return any(part.fails(against_it / len(self.parts)) for part in self.parts)

    def mixed(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool:
        sides = self.sides(for_it, against_it)
        return True in sides.values() and False in sides.values()

    def sides(self, for_it: float = ALPHA, against_it: float = ALPHA) -> dict[str, bool | None]:
        """Returns whether the runs on each data set have what the statement says, the opposite, or show neither."""
        parts = self.by_dataset()
        if len(parts) < 2:
            return {}
        share = against_it / len(self.parts)
        for_it *= min(1.0, SETS / len(parts))
        return {
            name: False if part.fails(len(part.parts) * share) else True if part.decide(for_it, share) else None
            for name, part in parts.items()
        }

    def by_dataset(self) -> dict[str, AllOf]:
        """Returns the parts about each data set; those about several belong to none."""
        groups: dict[str, list[Statement]] = {}
        for part in self.parts:
            names = {leaf.dataset for leaf in part.leaves()}
            if len(names) == 1 and "" not in names:
                groups.setdefault(names.pop(), []).append(part)
        return {name: AllOf(parts) for name, parts in groups.items()}

    def telling(self, for_it: float = ALPHA, against_it: float = ALPHA) -> list[Told]:
        share = against_it / max(len(self._counted()), 1)
        return [told for part in self.parts for told in part.telling(for_it, share)]


@dataclass(frozen=True)
class Both(AllOf):
    """That different statements hold, none of which is left out for being about weak runs."""

    def _counted(self) -> Sequence[Statement]:
        return self.parts


@dataclass(frozen=True)
class AnyOf(_Parts):
    """That at least one part holds."""

    def decide(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool | None:
        verdicts = [part.decide(for_it / len(self.parts), against_it) for part in self.parts]
        return True if True in verdicts else None if None in verdicts or not verdicts else False

    def fails(self, against_it: float = ALPHA) -> bool:
        return bool(self.parts) and all(part.fails(against_it) for part in self.parts)

    def mixed(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool:
        share = for_it / len(self.parts)
        mixed = [part.mixed(share, against_it) for part in self.parts]
        others = [part for part, is_mixed in zip(self.parts, mixed, strict=True) if not is_mixed]
        return any(mixed) and all(part.decide(share, against_it) is False for part in others)

    def telling(self, for_it: float = ALPHA, against_it: float = ALPHA) -> list[Told]:
        options = (part.telling(for_it / len(self.parts), against_it) for part in self.parts)
        return max(options, key=lambda told: min((one.leaf.slack() for one in told), default=0))


@dataclass(frozen=True)
class Alternative:
    """One of several alternatives that are decided separately.

    Attributes:
        part: the statement.
        ways: how many there are; each has this share of the chance of a wrong yes.
    """

    part: Statement
    ways: int

    def decide(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool | None:
        return self.part.decide(for_it / self.ways, against_it)

    def fails(self, against_it: float = ALPHA) -> bool:
        return self.part.fails(against_it)

    def mixed(self, for_it: float = ALPHA, against_it: float = ALPHA) -> bool:
        return self.part.mixed(for_it / self.ways, against_it)

    def leaves(self) -> list[Between]:
        return self.part.leaves()

    def telling(self, for_it: float = ALPHA, against_it: float = ALPHA) -> list[Told]:
        return self.part.telling(for_it / self.ways, against_it)

    def mapped(self, change: Callable[[Between], Between]) -> Alternative:
        return Alternative(self.part.mapped(change), self.ways)


def _disagrees(statement: Statement) -> bool:
    """Whether a mean lies outside its limits by more than its error, and not for its weakness, decided or not."""
    leaves = [one.leaf for one in statement.telling()]
    return any(leaf.slack() < -1 and not leaf.undecidable and not leaf.explains() for leaf in leaves)


def _is_weak(statement: Statement) -> bool:
    return all(leaf.weak for leaf in statement.leaves())


def _is_mute(statement: Statement) -> bool:
    return all(leaf.undecidable for leaf in statement.leaves())


def weaknesses(statement: Statement) -> str:
    """Returns how the runs of a statement that holds are weaker than the source's, and which show nothing."""
    told = statement.telling()
    silent = [one.leaf for one in told if one.leaf.weak and one.is_open()]
    agree = [text for text in _weak_texts(one.leaf for one in told) if text not in {leaf.weak for leaf in silent}]
    names = ", ".join(dict.fromkeys(leaf.dataset or leaf.name for leaf in silent))
    shown = "; ".join(f"{leaf} ({leaf.undecidable or leaf.weak})" for leaf in _closest(silent))
    return joined([*_grouped(agree), f"not shown on {names}: {shown}" if silent else ""])


def _grouped(texts: Iterable[str]) -> list[str]:
    """Shortfalls in words, one for each that several data sets share."""
    names: dict[str, list[str]] = {}
    for name, shortfall in dict.fromkeys(Shortfall.of(texts).parts):
        names.setdefault(shortfall, []).append(name)
    return [str(Shortfall((" and ".join(alike), shortfall))) for shortfall, alike in names.items()]


def _weak_texts(leaves: Iterable[Between]) -> list[str]:
    return list(dict.fromkeys(leaf.weak for leaf in leaves if leaf.weak))


def _closest(leaves: Sequence[Between]) -> list[Between]:
    """Some comparisons, or of many those closest to failing."""
    return list(leaves) if len(leaves) <= SHOWN else sorted(leaves, key=Between.slack)[: SHOWN - 1]


def words(statement: Statement) -> str:
    """Returns the comparisons that decide a statement; of many, those closest to failing, and how many more."""
    shown = _closest([one.leaf for one in statement.telling()])
    more = len(statement.leaves()) - len(shown)
    return "; ".join(map(str, shown)) + (f"; and {more} more" if more else "")


def _mixed_parts(statement: Statement, for_it: float = ALPHA) -> Iterator[tuple[AllOf, float]]:
    """The mixed parts about data sets, and the chance of a wrong yes that each has."""
    if isinstance(statement, Alternative):
        yield from _mixed_parts(statement.part, for_it / statement.ways)
    elif isinstance(statement, AllOf) and statement.mixed(for_it):
        yield statement, for_it
    elif isinstance(statement, (AllOf, AnyOf)):
        share = for_it / len(statement.parts) if isinstance(statement, AnyOf) else for_it
        for part in statement.parts:
            yield from _mixed_parts(part, share)


def both_sides(statement: Statement) -> str:
    """Returns which data sets are for a mixed statement and which against it, each with its closest comparison."""
    part, for_it = next(_mixed_parts(statement))
    groups, sides = part.by_dataset(), part.sides(for_it)
    texts = []
    for side, head in ((True, "for it"), (False, "against it"), (None, "neither")):
        told = (groups[name].telling(for_it) for name, found in sides.items() if found is side)
        closest = [
            min(([o for o in all_ if not o.is_open()] or all_) if side else all_, key=_slack).leaf for all_ in told
        ]
        if closest:
            texts.append(f"{head}: {'; '.join(f'{leaf}{_aside(leaf)}' for leaf in closest)}")
    return "; ".join(texts)


def _slack(told: Told) -> float:
    return told.leaf.slack()


def _aside(leaf: Between) -> str:
    return f" ({leaf.weak})" if leaf.weak else ""


def needs(statement: Statement) -> list[Need]:
    """Returns what would decide a statement: some of its open comparisons, and how many more there are."""
    telling = statement.telling()
    open_ = [one for one in telling if one.is_open()] or telling
    shown = sorted(open_, key=lambda one: (one.leaf.value.seeds, one.leaf.slack()))[: SHOWN - 1]
    more = len(open_) - len(shown)
    return [one.leaf.need(one.for_it, one.against_it) for one in shown] + ([Need(f"and {more} more")] if more else [])


def _decision(statement: Statement) -> str:
    if statement.mixed():
        return "mixed"
    return {True: "holds", False: "fails", None: "undecided"}[statement.decide()]


def flips(statement: Statement) -> str:
    """Returns in words at which values of each limit that is ours the verdict would be another one."""
    limits = [end for leaf in statement.leaves() for end in (leaf.low, leaf.high) if isinstance(end, Limit)]
    texts = []
    for word, ours in {limit.word: limit.ours for limit in limits}.items():

        def at(value: float, word: str = word) -> str:
            def moved(leaf: Between) -> Between:
                ends = [
                    end.of(value) if isinstance(end, Limit) and end.word == word else end
                    for end in (leaf.low, leaf.high)
                ]
                return replace(leaf, low=ends[0], high=ends[1])

            return _decision(statement.mapped(moved))

        present, marks = at(ours), _marks(statement, word)
        ends = []
        for side, order in (("below", [m for m in marks[::-1] if m < ours]), ("above", [m for m in marks if m > ours])):
            beyond = ((mark, at(mark * (1 - 1e-6) if side == "below" else mark * (1 + 1e-6))) for mark in order)
            if flip := next(((mark, found) for mark, found in beyond if found != present), None):
                ends.append(f"{flip[1]} {side} {flip[0]:.3g}")
        texts.append(f'"{word}" is {ours:g}, a limit of ours: {" and ".join(ends) or f"{present} with any"}')
    return "; ".join(texts)


def _marks(statement: Statement, word: str) -> list[float]:
    """The values of a limit of ours at which a comparison changes, rising."""
    marks = set()
    for one in statement.telling():
        value = one.leaf.value
        halves = [value.half(alpha) for alpha in (one.for_it, one.against_it)] if value.seeds >= LEAST_SEEDS else []
        for end in (one.leaf.low, one.leaf.high):
            if isinstance(end, Limit) and end.word == word:
                marks |= {(value.mean + half * sign - end.base) * end.sign for half in halves for sign in (-1, 1)}
    return sorted(mark for mark in marks if mark > 0)


def finding(
    statement: Statement,
    observed: str = "",
    evidence: str = "",
    *,
    condition: str = "",
    wanted: str = "",
    numbers: Sequence[Number] = (),
    absent: Sequence[str] = (),
) -> Finding:
    """Returns the finding of a statement: its comparisons, then `observed`.

    Args:
        statement: what the claim says.
        observed: further observations; they decide nothing.
        evidence: as in `Finding`.
        condition: the condition under which the statement was found to hold, besides the weakness of its runs.
        wanted: what would decide it, besides seeds, if it is undecided.
        numbers: those of `observed`, beside those of the comparisons.
        absent: as in `Finding`.
    """
    found = (*(leaf.number() for leaf in statement.leaves()), *numbers)
    if statement.mixed():
        text = joined([both_sides(statement), observed, flips(statement)])
        return Finding(None, text, evidence, mixed=True, numbers=found)
    text = joined([words(statement), observed, flips(statement)])
    holds = statement.decide()
    if holds is None:
        parts = [*needs(statement), *([Need(wanted, (wanted,))] if wanted else [])]
        text_of_needs = joined(part.words for part in parts)
        return Finding(None, text, evidence, wanted=text_of_needs, numbers=found, needs=tuple(parts))
    if not holds:
        weak = joined(_grouped(_weak_texts(statement.leaves())))
        text = joined([text, f"weaker runs, which refute nothing: {weak}" if weak else ""])
        return Finding(False, text, evidence, numbers=found)
    condition = joined([condition, weaknesses(statement)])
    return Finding(True, text, evidence, condition=condition, numbers=found, absent=tuple(absent))


def per_seed(rows: pd.DataFrame, statistic: str = "mean") -> Estimate:
    """Returns the estimate from one number of each seed's rows, which are not independent: a mean, or what is asked.

    Means use the seeds with the most rows: for a seed that some cells lack, the mean would cover other cells.

    Raises:
        InputError: if there are no rows.
    """
    if statistic == "mean":
        return _mean(rows["seed"].to_numpy(), rows["value"].to_numpy(np.float64))
    return estimate(rows.groupby("seed")["value"].agg(statistic).tolist())


def per_epsilon(rows: pd.DataFrame) -> dict[float, Estimate]:
    """Returns the estimate of the mean at each epsilon, rising."""
    epsilons, seeds = rows["epsilon"].to_numpy(np.float64), rows["seed"].to_numpy()
    values = rows["value"].to_numpy(np.float64)
    return {float(at): _mean(seeds[epsilons == at], values[epsilons == at]) for at in np.unique(epsilons)}


def log_slopes(table: pd.DataFrame) -> list[float]:
    """Returns the least-squares slope of each row, a seed's, in log10 of the columns, which are epsilons."""
    logs = np.log10(table.columns.to_numpy(dtype=float))
    return [float(np.polyfit(logs, values, 1)[0]) for values in table.to_numpy()]


def _mean(seeds: NDArray[Any], values: NDArray[np.float64]) -> Estimate:
    """The estimate from each seed's mean; of short arrays, for which pandas' groups take a hundred times longer."""
    _, index = np.unique(seeds, return_inverse=True)
    counts = np.bincount(index)
    return estimate((np.bincount(index, values) / counts)[counts == counts.max()].tolist() if len(counts) else [])


def joined(parts: Iterable[str]) -> str:
    """Returns parts of a text that are not empty, with semicolons."""
    return "; ".join(filter(None, parts))
