"""A card: all of its parts, and the sentence that says them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tensorldp.check.verdict import Verdict
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.card.label import Line
from tensorldp_papers.card.leaks import VICTIMS, Leak
from tensorldp_papers.card.own import LADDER, LEARNERS, Accuracy, OwnData
from tensorldp_papers.card.price import Price
from tensorldp_papers.card.tasks import BASELINES, FEATURES, IMAGES, SEEDS, STUDY, Score
from tensorldp_papers.claims.fairness import at_chance
from tensorldp_papers.plots.comparing import SAME_SCORE, Outcome, Point, outcome
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import exact_number, listed

MEANS, LOGISTIC = LEARNERS["chosen"], LEARNERS["logistic"]
CLEAR = {MEANS: "the same learner reaches", LOGISTIC: "logistic regression"}
SCHEMA_VERSION = 1  # of a card's JSON, which `card.schema.json` describes
SAME_EPSILON = 0.02  # a share of a true epsilon that counts as the same guarantee


@dataclass(frozen=True)
class Card:
    """What is known of one mechanism.

    Attributes:
        subject: its name, as people write it.
        key: its key; empty for a function.
        nominal: the epsilon on its label; None for a function.
        unit: what that covers: a whole record, one of its elements, or a run of many uses.
        claimed: what a function is said to have, (epsilon, delta); None for a mechanism, whose curve says it.
        lines: the label.
        verdict: of `check`.
        prices: its own first.
        leaks: its own first, then Laplace's at the same label.
        scores: of the tasks.
        missing: parts that could not be made, each with why.
        seconds: that the card took.
        data: the user's own, in place of leaks and scores; None as a rule.
        bought: what releases of these are good for.
    """

    subject: str
    key: str
    nominal: float | None
    unit: str
    claimed: tuple[float, float] | None
    lines: tuple[Line, ...]
    verdict: Verdict
    prices: tuple[Price, ...]
    leaks: tuple[Leak, ...]
    scores: tuple[Score, ...]
    missing: tuple[str, ...]
    seconds: float
    data: OwnData | None = None
    bought: tuple[Accuracy, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON, without pictures, as `card.schema.json` describes them."""
        return {
            "schema_version": SCHEMA_VERSION,
            "sentence": self.sentence,
            "remark": self.remark,
            "word": self.word,
            "subject": self.subject,
            "nominal": self.nominal,
            "claimed": self.claimed,
            "label": [line.as_dict() for line in self.lines],
            "test": self.verdict.as_dict(),
            "price": [{key: _known(value) for key, value in asdict(price).items()} for price in self.prices],
            "leaks": [{"name": leak.name, "named": leak.named, "digits": VICTIMS} for leak in self.leaks],
            "tasks": [asdict(score) for score in self.scores],
            "data": self.data.as_dict() if self.data else None,
            "bought": [{key: _known(value) for key, value in asdict(one).items()} for one in self.bought],
            "missing": list(self.missing),
            "seconds": self.seconds,
        }

    @property
    def sentence(self) -> str:
        """Returns what a record gets, whether that stands, and what it buys; never more than was found."""
        parts = [self._promise(), *filter(None, [self._test(), self._purchase()])]
        return (
            f"{', '.join(parts[:-1])} and {parts[-1]}."
            if len(parts) < 3
            else f"{', '.join(parts[:-1])}, and {parts[-1]}."
        )

    def _promise(self) -> str:
        if self.nominal is None:
            epsilon, delta_of_claim = self.claimed or (math.inf, 0.0)
            return f"{self.subject} is said to have an ε of {epsilon:.4g} at δ = {delta_of_claim:g}"
        given = self.lines[0]
        at = f"{self.subject} at ε = {self.nominal:g}"
        if given.why:
            return f"{at} states no guarantee here"
        if math.isinf(given.true):
            return f"{at} guarantees {given.record} nothing"
        bound = "" if given.exact else "at most "
        delta = " (δ = 1e-5)" if math.isinf(given.pure) else ""
        per = "" if given.unit == "record" else f" (for each {given.unit})"
        return f"{at} guarantees {given.record} an ε of {bound}{exact_number(given.true)}{delta}{per}"

    @property
    def word(self) -> str:
        """Returns the verdict, with what an image or the given record has where that is more than the label's."""
        if self.verdict.refuted or self.nominal is None:
            return "refuted" if self.verdict.refuted else "not refuted"
        task = self._own_score()
        record, part = ("image", "a pixel") if task else ("record", "an element")
        true = task.true if task else self.lines[0].true
        if not self.is_more(true):
            return "not refuted"
        unit = f"its unit is {part}: " if self.unit == "element" else ""
        return f"not refuted, but {unit}the {record} has {exact_number(true)}"

    def is_more(self, epsilon: float) -> bool:
        """Returns whether an epsilon is more than the label's."""
        return self.nominal is not None and epsilon > (1 + SAME_EPSILON) * self.nominal

    def _test(self) -> str:
        if not self.verdict.refuted:
            return "is not refuted"
        worst = next(finding for finding in self.verdict.findings if finding.kind in finding.REFUTES)
        proved = self.verdict.epsilon_lower
        more = f": its ε is at least {exact_number(proved)} at δ = {self.verdict.delta_lower:.3g}" if proved > 0 else ""
        return f"is refuted{more or f' ({worst.kind})'}"

    @property
    def remark(self) -> str:
        """Returns what PrivUnit reaches at the same guarantee and at the label's epsilon; empty without tasks.

        Of a user's own data, what others reach, and from which epsilon on private records beat the largest class.
        """
        if self.data is not None:
            return " ".join(filter(None, [self._beside(), self._beats(self.data)]))
        own = self._own_score()
        if own is None:
            return ""
        same = _at_same_guarantee(self.scores, own, "privunit")
        at_label = [score for score in self.scores if (score.dataset, score.released) == (own.dataset, FEATURES)]
        shown = same is not None and same.mechanism != self.key
        parts = [(same, "with the same guarantee")] if shown and same else []
        parts += [(score, f"with an ε of {score.true:.3g} on public features") for score in at_label]
        if not parts:
            return ""
        if any(_is_at_chance(score) for score, _ in parts):
            said = [f"{_reaches(score, 'is at chance')} {how}" for score, how in parts]
            return f"There PrivUnit {' and '.join(said)}."
        return f"There PrivUnit reaches {' and '.join(f'{one.mean:.2f} {how}' for one, how in parts)}."

    def _own_score(self) -> Score | None:
        own = [
            score
            for score in self.scores
            if (score.mechanism, score.nominal, score.released) == (self.key, self.nominal, IMAGES)
        ]
        if not own or self.verdict.refuted:
            return None
        return next((score for score in own if score.dataset == "mnist"), own[0])  # 28 x 28, as in the promise

    def accuracy(self, mechanism: str, learner: str = MEANS, *, labels: bool = False) -> Accuracy | None:
        """Returns what a learner reaches on the user's own data, if that could be made."""
        asked = (mechanism, learner, labels)
        return next((one for one in self.bought if (one.mechanism, one.learner, one.labels) == asked), None)

    def _beside(self) -> str:
        clear = {name: self.accuracy(NO_PRIVACY, learner) for learner, name in CLEAR.items()}
        parts = [f"without privacy {listed([f'{name} {one.mean:.3f}' for name, one in clear.items() if one])}"]
        others = [one for one in map(self.accuracy, BASELINES) if one and one.mechanism != self.key]
        if known := [one for one in others if not math.isnan(one.mean)]:
            reached = listed([f"{label(one.mechanism)} reaches {one.mean:.3f}" for one in known])
            parts.append(f"at a true ε of {exact_number(known[0].true)} {reached}")
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}."

    def _beats(self, data: OwnData) -> str:
        """Returns from which epsilon on private records beat the largest class."""
        found = []
        for labels in (False, True):
            tried = {one: one.beats for one in self.bought if one.labels is labels and one.beats is not None}
            if not tried:
                continue
            best = min(tried, key=tried.__getitem__)
            how = label(best.mechanism) if best.learner == MEANS else f"{label(best.mechanism)}, {best.learner}"
            at = f"from ε = {best.beats:g} on ({how})" if best.beats != math.inf else f"at no ε up to {LADDER[-1]:g}"
            found.append(f"{'with private labels ' if labels else ''}{at}")
        said = " and ".join(found)
        if said.count("at no") == 2:
            said = f"{found[0]}, with labels in clear or private"
        return f"Private records beat the largest class, {data.largest}, {said}." if found else ""

    def _purchase(self) -> str:
        if self.data is not None:
            own = None if self.verdict.refuted else self.accuracy(self.key)
            if own is None or math.isnan(own.mean):
                return ""
            more = exact_number(own.true) != exact_number(self.lines[0].true)
            where = (
                f"{self.data.name} at an ε of {exact_number(own.true)} without its atoms" if more else self.data.name
            )
            return f"reaches an accuracy of {own.mean:.3f} on {where} (its largest class: {self.data.share:.3f})"
        score = self._own_score()
        if score is None:
            return ""
        text = f"{_reaches(score, 'leaves a network at chance')} on {dataset_name(score.dataset)}"
        if (there := exact_number(score.true)) != exact_number(self.lines[0].true):
            text += f" (an ε of {there})"
        beside = _at_same_guarantee(self.scores, score, "laplace")
        if beside is None or self.key == beside.mechanism:
            return text
        chance = at_chance(STUDY, score.dataset)
        both = max(beside.mean, score.mean) <= chance
        if both or outcome(_point(beside), _point(score), SAME_SCORE) is Outcome.ALIKE:
            return f"{text}, as Laplace does with the same guarantee"
        return f"{text}, where Laplace reaches {beside.mean:.2f} with the same guarantee"


def _point(score: Score) -> Point:
    return Point(score.true, score.mean, score.low, score.high, len(SEEDS))


def _reaches(score: Score, otherwise: str) -> str:
    return otherwise if _is_at_chance(score) else f"reaches {score.mean:.2f}"


def _is_at_chance(score: Score) -> bool:
    return score.mean <= at_chance(STUDY, score.dataset)


def _known(value: Any) -> Any:
    """Returns None for a number that could not be had."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _at_same_guarantee(scores: Sequence[Score], own: Score, mechanism: str) -> Score | None:
    """Returns a mechanism's score on the same images whose guarantee is that of `own`, within `SAME_EPSILON`."""
    for score in scores:
        same = (score.mechanism, score.dataset, score.released) == (mechanism, own.dataset, IMAGES)
        if same and abs(score.true - own.true) <= SAME_EPSILON * own.true:
            return score
    return None
