"""Checks of mechanisms and functions, and of what they declare; false alarms come once in 10^6 runs."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch
from schemas import VERDICT, misfits
from scipy import stats
from scipy.special import ndtr
from torch import Tensor

from tensorldp import privacy
from tensorldp.check.check import check
from tensorldp.check.claim import Claim
from tensorldp.check.declared import skewed_score
from tensorldp.check.noise import LEVELS, _tails, declared_tail, noise_misfit
from tensorldp.check.target import Target
from tensorldp.check.verdict import Verdict, page, write_verdict
from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make, mechanism_class, names
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.mechanisms.randomized_response import RandomizedResponse
from tensorldp.mechanisms.sampled_coordinates import Piecewise

BIT, BOX = Box(-1.0, 1.0, (1,)), Box(-1.0, 1.0, (2,))
QUICK: dict[str, Any] = {"minutes": 10.0, "rounds": 1, "starts": 1}  # a slow machine has the time for it


def no_noise(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.clone()


@pytest.fixture(scope="module")
def refuted() -> Verdict:
    return privacy.check(no_noise, domain=BOX, claim_epsilon=1.0, minutes=10.0)


def test_a_gross_lie_is_found_after_a_few_hundred_releases(refuted: Verdict) -> None:
    assert refuted.refuted
    assert refuted.attempts[0].samples < 1000
    assert refuted.epsilon_lower >= 1.0 or refuted.findings[0].kind == "locality"


def test_the_page_stands_alone_and_the_json_is_plain(refuted: Verdict, tmp_path: Path) -> None:
    text = write_verdict(tmp_path / "out", refuted).read_text()
    assert text == page(refuted)
    assert "http" not in text
    assert "The claim is refuted." in text
    assert "<rect" in text
    found = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert misfits(found, VERDICT) == []
    assert found["refuted"] is True
    assert found["findings"][0]["event"] == refuted.findings[0].event


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in names() if mechanism_class(name).same_shape])
def test_no_claim_of_ours_is_refuted(name: str) -> None:
    """`python -m tensorldp check KEY` takes more time; here a false alarm comes once in 10^6 runs."""
    low = 0.0 if mechanism_class(name).integer else -1.0
    mechanism = make(name, epsilon=1.0, domain=Box(low, 1.0, (2, 2)))
    found = check(mechanism, samples=256, confidence=1 - 1e-6, dtypes=(), **QUICK)
    assert not found.refuted, found
    assert found.epsilon_lower <= mechanism.guarantee(0.0).epsilon
    assert sum(attempt.error for attempt in found.attempts) <= 1e-6 + 1e-12
    declared = ("density", "squared error", "noise", "independence")
    assert [finding.text for finding in found.findings if finding.kind in declared] == []


@pytest.mark.slow
def test_rounds_end_a_check_at_the_same_releases_on_every_machine() -> None:
    mechanism = make("k-rr", epsilon=1.0, domain=Box(0, 3, (2,)))
    first, again = (check(mechanism, samples=256, **QUICK | {"minutes": minutes}) for minutes in (10.0, 20.0))
    assert (first.samples, first.epsilon_lower) == (again.samples, again.epsilon_lower)
    assert [(a.samples, a.outcome) for a in first.attempts] == [(a.samples, a.outcome) for a in again.attempts]


@pytest.mark.slow
def test_what_floats_give_away_refutes_only_a_claim_that_includes_them() -> None:
    mechanism = make("laplace", epsilon=1.0, domain=BIT)
    options: dict[str, Any] = {"minutes": 10.0, "samples": 1000, "rounds": 3, "dtypes": (torch.float32,)}
    beside, included = (check(mechanism, floating_point=claimed, **options) for claimed in (False, True))
    assert [finding.kind for finding in beside.findings] == ["floating point"]
    assert (beside.refuted, included.refuted) == (False, True)


class HalfCurve(Laplace):
    name = "half-curve"  # claims half its epsilon

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(0.5 * self.box.width / self.scale, self.size)


class WrongDensity(Piecewise):
    name = "wrong-density"  # declares the likelihood ratio with the wrong sign

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        return super().log_likelihood_ratio(y, x_prime, x)


class WrongError(Laplace):
    name = "wrong-error"  # states half its error

    def squared_error(self) -> float:
        return super().squared_error() / 2.0


def test_a_large_claim_is_still_held_against_its_own_density() -> None:
    verdict = check(HalfCurve(epsilon=100.0, domain=BIT), samples=1000, **QUICK)
    assert verdict.refuted
    assert verdict.findings[0].kind == "declaration"


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "kind"), [(WrongDensity, "density"), (WrongError, "squared error")])
def test_other_declarations_are_found_wrong_without_refuting_the_claim(cls: type, kind: str) -> None:
    verdict = check(cls(epsilon=1.0, domain=BOX), samples=2000, dtypes=(), **QUICK)
    assert kind in {finding.kind for finding in verdict.findings}
    assert not verdict.refuted


def test_means_of_squared_errors_are_not_called_wrong_too_often() -> None:
    """2,000 means of 256 squared Laplace draws, at a chance of 1e-3 each: 2 are expected, 12 have a chance of 1e-6."""
    draws = np.random.default_rng(0).laplace(size=(2000, 256, 4))
    scores = np.array([skewed_score(row, 8.0) for row in (draws**2).sum(axis=2)])
    assert np.count_nonzero(np.abs(scores) > stats.norm.isf(5e-4)) < 12


def test_a_mean_that_is_off_is_seen_and_a_constant_has_no_spread() -> None:
    values = np.random.default_rng(1).laplace(size=4000) ** 2
    assert skewed_score(values, 2.6) < -5.0 < 5.0 < skewed_score(values, 1.5)
    for unit in (1e-200, 1e62, 1e200):
        assert skewed_score(values * unit, 1.5 * unit) == pytest.approx(skewed_score(values, 1.5))
    assert 50.0 < skewed_score(values, 0.0) < math.inf
    assert [skewed_score(np.full(10, 2.0), mean) for mean in (2.0, 1.0)] == [0.0, math.inf]


def test_a_claim_of_a_curve_keeps_the_points_that_counting_can_reach() -> None:
    claim = Claim.of_curve(GaussianCurve(1.0), "record")
    assert (0.0, GaussianCurve(1.0).delta(0.0)) in claim.points
    assert all(math.isfinite(epsilon) for epsilon, _ in claim.points)
    assert Claim.point(50.0).countable == ()


FOUR = Box(-1.0, 1.0, (4,))
RECORDS = (FOUR.constant(0.0), FOUR.constant(1.0))


def normal(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.randn(x.shape, generator=g, dtype=x.dtype)


def heavy_tails(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    return torch.where(torch.rand(x.shape, generator=g) < 1e-4, 6.0 * noise.sign(), noise)


def one_sided_tails(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    return torch.where(noise.abs() > 3.0, noise.abs(), noise)


def shared_sizes(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    sizes: Tensor = noise[:, [0, 0, 2, 2]].abs()
    return sizes * noise.sign()


def next_record(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    return (noise + 0.2 * noise.roll(1, 0)) / math.sqrt(1.04)


@pytest.mark.parametrize(
    ("noise", "what"),
    [
        (normal, None),
        (lambda x, g: 0.98 * normal(x, g), "tail of probability 1e-01"),
        (lambda x, g: normal(x, g).clamp(-3.0, 3.0), "tail of probability"),
        (heavy_tails, "tail of probability 1e-0"),
        (one_sided_tails, "positive"),
        (shared_sizes, "size of the noise"),
        (lambda x, g: (normal(x, g) + 0.2 * normal(x[:, :1], g)) / math.sqrt(1.04), ""),
        (next_record, "one record and the next"),
        (lambda x, g: normal(x, g) * (1.0 + 0.05 * (x > 0.5)), ""),
    ],
)
def test_what_does_not_fit(noise: Callable[[Tensor, torch.Generator], Tensor], what: str | None) -> None:
    target = Target("release", lambda x, g: x + noise(x, g), FOUR)
    found, p_value, elements = noise_misfit(
        target, lambda size: np.asarray(2.0 * ndtr(-size)), RECORDS, elements=100_000, seed=3
    )
    assert elements == 100_000
    assert (p_value < 1e-6) == (what is not None)
    assert (what or "") in found


def test_a_tail_that_ends_at_a_millionth_shows_among_20_million() -> None:
    def cut(x: Tensor, g: torch.Generator) -> Tensor:
        return x + (2.0 * torch.rand(x.shape, generator=g, dtype=x.dtype) - 1.0).clamp(-1.0 + 1.1e-6, 1.0 - 1.1e-6)

    target, record = Target("release", cut, BIT), torch.zeros(1, dtype=torch.float64)
    found, p_value, elements = noise_misfit(
        target, lambda size: np.maximum(0.0, 1.0 - size), (record, record), elements=2 * 10**7, seed=0
    )
    assert elements == 2 * 10**7
    assert "tail of probability 1e-06" in found
    assert p_value < 0.05 * 0.2 / 7


def test_a_tail_ten_times_too_heavy_at_1e_7_shows_among_20_million_in_99_of_100_checks() -> None:
    total, tests, error = (
        2 * 10**7,
        24,
        0.05 * 0.2 / 7,
    )  # tests of a record of several elements, all by the error of one
    power = 0.0
    for beyond in range(100):
        counts = np.array([[total * level / 2.0] * 2 for level in LEVELS]).round().astype(np.int64)
        counts[-1] = beyond - beyond // 2, beyond // 2
        least, what = min(_tails(counts, total))
        if least * tests <= error:
            assert "1e-07" in what
            power += float(stats.poisson(10 * total * LEVELS[-1]).pmf(beyond))
    assert power > 0.99


@pytest.mark.parametrize("name", ["tldp-l", "piecewise"])
def test_no_law_is_declared_where_a_release_is_not_the_record_plus_noise(name: str) -> None:
    assert declared_tail(make(name, epsilon=1.0, domain=FOUR)) is None
    assert declared_tail(make("laplace", epsilon=1.0, domain=FOUR)) is not None


class LightTails(Laplace):
    name = "light-tails"  # cuts the noise where one in 10,000 elements lies

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        end = 9.2 * self.scale
        return x + (super()._randomize(x, generator) - x).clamp(-end, end)


def test_a_check_reports_it_beside_the_claim() -> None:
    mechanism = LightTails(epsilon=1.0, domain=BIT)
    verdict = check(mechanism, minutes=10.0, samples=4000, rounds=1, starts=1, dtypes=())
    assert not verdict.refuted
    assert "noise" in {finding.kind for finding in verdict.findings}


class OwnNumbers:
    """Honest, but it draws from a state of its own, which a copy would repeat."""

    def __init__(self) -> None:
        self.source = np.random.default_rng(0)

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return x + torch.from_numpy(self.source.laplace(0.0, 2.0 * x.shape[1], x.shape))


class OwnGenerator(OwnNumbers):
    """The same with a generator, in two layers of containers."""

    def __init__(self) -> None:
        self.inner = {"sources": [torch.Generator().manual_seed(0)]}

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        (own,) = self.inner["sources"]
        sign = 2.0 * torch.randint(0, 2, x.shape, generator=own) - 1.0
        return x + 2.0 * x.shape[1] * sign * torch.empty_like(x).exponential_(generator=own)


class NoCopy(OwnNumbers):
    """It holds what cannot be copied."""

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("a lock")


class Broken(OwnNumbers):
    """Its copies do not work."""

    def __deepcopy__(self, memo: object) -> Broken:
        copy = Broken()
        del copy.source
        return copy


class Constant(OwnNumbers):
    """It draws nothing."""

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        return 0.0 * x


@pytest.mark.parametrize(
    ("checked", "why"),
    [
        (OwnNumbers(), ""),
        (OwnGenerator(), ""),
        (NoCopy(), "it refuses to be copied (TypeError: a lock)"),
        (Broken(), "a copy of it does not work (Broken failed on a batch of shape (1, 2), whose first"),
        (Constant(), "its copies release the same whatever generator they are given"),
        (lambda x, g: OwnGenerator()(x, g), "give a class, or a function without parameters"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_first_calls_are_repeated_by_copies_that_share_a_random_state_or_it_is_said_why_not(
    checked: Any, why: str
) -> None:
    record = BOX.constant(0.0)
    said = Target.of(checked, BOX).no_new_start(record)
    assert said == "" if why == "" else why in said
    options: dict[str, Any] = {"samples": 256, "rounds": 2, "starts": 1, "dtypes": (), "confidence": 1 - 1e-6}
    found = check(checked, domain=BOX, claim_epsilon=1.0, **options) if callable(checked) and not why else None
    assert found is None or not found.refuted


def test_a_check_says_that_time_ended_before_there_was_a_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A clock that stands still but for the calls of what is checked."""
    clock = [time.process_time()]  # budgets start at the true one
    monkeypatch.setattr(time, "process_time", lambda: clock[0])

    def slow(x: Tensor, generator: torch.Generator) -> Tensor:
        clock[0] += 1.0
        return torch.zeros_like(x)

    found = check(slow, domain=BOX, claim_epsilon=1.0, minutes=0.2)
    assert (found.refuted, found.epsilon_lower) == (False, 0.0)
    assert re.search(r"  proved:  no bound: time ended after \d+ releases of each record of a pair", str(found))
    assert "would have found: no lie about two records (all low and all high), however large" in str(found)
    write_verdict(tmp_path, found)
    written = json.loads((tmp_path / "verdict.json").read_text())
    assert misfits(written, VERDICT) == []
    assert written["no_bound"] == found.no_bound
    assert written["reach"] == {"pair": "all low and all high", "epsilon": None, "probability": None}
    assert "no bound: time ended" in page(found)


def test_what_gives_nothing_away_has_no_bound_and_a_refuted_claim_no_reach(refuted: Verdict) -> None:
    found = check(lambda x, g: torch.zeros_like(x), domain=BOX, claim_epsilon=1.0, samples=400, **QUICK)
    assert found.no_bound == "no event told any two records apart in 400 releases of each record of a pair"
    assert (refuted.no_bound == "") == (refuted.epsilon_lower > 0.0)
    assert refuted.reach is None


NETWORK = torch.nn.Linear(2, 2)


def encoded(x: Tensor, generator: torch.Generator, scale: float = 1.0) -> Tensor:
    """Laplace noise on a float32 network's features in [-1, 1], enough for an epsilon of 1 / scale."""
    features = torch.tanh(NETWORK(x)).detach()
    sign = 2.0 * torch.randint(0, 2, x.shape, generator=generator) - 1.0
    return features + 4.0 * scale * sign * torch.empty_like(features).exponential_(generator=generator)


@pytest.mark.slow
def test_a_function_of_float32_records_is_told_how_to_get_them_and_checked_with_them() -> None:
    with pytest.raises(InputError, match="records are float64 here, and a check gives float32 ones by --dtype"):
        check(encoded, domain=BOX, claim_epsilon=1.0)
    options: dict[str, Any] = {"dtype": torch.float32, "dtypes": (), "minutes": 10.0, "samples": 1600, "rounds": 2}
    honest = check(encoded, domain=BOX, claim_epsilon=1.0, confidence=1 - 1e-6, **options | {"starts": 1})
    assert (honest.refuted, honest.dtype) == (False, "float32")
    assert "a record is 2 float32 numbers" in str(honest)
    with torch.no_grad():
        NETWORK.weight.mul_(0.0).add_(100.0 * torch.eye(2))
    lie = check(lambda x, g: encoded(x, g, 0.25), domain=BOX, claim_epsilon=1.0, **options)
    assert lie.refuted


def test_records_of_coarser_formats_and_domains_that_float32_does_not_have_are_refused() -> None:
    with pytest.raises(InputError, match=r"must be torch\.float64 or torch\.float32, got torch\.bfloat16"):
        check(no_noise, domain=BOX, claim_epsilon=1.0, dtype=torch.bfloat16)
    with pytest.raises(InputError, match="float32 is too coarse for the domain"):
        check(no_noise, domain=Box(1e6, 1e6 + 1.0, (2,)), claim_epsilon=1.0, dtype=torch.float32)


@dataclass(frozen=True)
class TwoTongues(PrivacyCurve):
    """Its epsilon is right, its delta a third of the truth above 0."""

    pure_epsilon = 1.0

    def _delta(self, epsilon: float) -> float:
        return PureCurve(1.0).delta(epsilon) / (3.0 if epsilon > 0.0 else 1.0)

    def _epsilon(self, delta: float) -> float:
        return PureCurve(1.0).epsilon(delta)

    def _compose(self, count: int) -> PrivacyCurve:
        return PureCurve(1.0).compose(count)


class TwiceStated(RandomizedResponse):
    name = "twice-stated"

    def curve(self) -> PrivacyCurve:
        return TwoTongues()


def test_a_curve_is_held_to_its_delta_as_to_its_epsilon() -> None:
    found = check(TwiceStated(epsilon=1.0, domain=Box(0.0, 1.0, (1,))), samples=4000, rounds=3, dtypes=(), minutes=10.0)
    assert found.refuted


class PerElement(Laplace):
    """It claims an epsilon for each element, with noise for one alone."""

    name, unit = "per-element", "element"

    @property
    def scale(self) -> float:
        return self.box.width / self.epsilon

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(self.epsilon)


@pytest.mark.slow
def test_a_claim_for_each_element_is_held_against_records_that_differ_in_one() -> None:
    honest = PerElement(epsilon=1.0, domain=BOX)
    x, x_prime = honest.worst_pair()
    assert int((x != x_prime).sum()) == 1
    options: dict[str, Any] = {"samples": 256, "rounds": 3, "dtypes": (), "confidence": 1 - 1e-6, "minutes": 10.0}
    assert not check(honest, **options).refuted
    assert check(honest, claim_epsilon=0.2, **(options | {"samples": 4000})).refuted


def test_a_claim_too_large_for_counting_is_said_not_to_be_tried() -> None:
    found = check(lambda x, g: x, domain=BOX, claim_epsilon=25.0, samples=256, rounds=1, starts=1)
    assert any("more than 20 nats cannot be contradicted by counting" in attempt.outcome for attempt in found.attempts)
