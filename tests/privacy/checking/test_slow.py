"""A check of a slow function ends in time and says on how few releases it rests. Releases alone move the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorldp.check import Verdict, check
from tensorldp.check.search import Budget, Pace
from tensorldp.check.verdict import FEW, page
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.laplace import Laplace

FOUR = Box(0.0, 1.0, (4,))
Timed = Callable[[Tensor, torch.Generator], Tensor]


@dataclass
class Clock:
    """Processor time that stands still but for what releases take."""

    now: float = 1000.0
    longest: float = 0.0

    def slow(self, call: float, record: float, scale: float = 4.0) -> Timed:
        """A function with Laplace noise that takes so many seconds for a call and for each record of it."""

        def slow(x: Tensor, g: torch.Generator) -> Tensor:
            self.takes(call + record * len(x))
            sign = 2.0 * torch.randint(0, 2, x.shape, generator=g) - 1.0
            return x + scale * sign * torch.empty_like(x).exponential_(generator=g)

        return slow

    def takes(self, seconds: float) -> None:
        self.now += seconds
        self.longest = max(self.longest, seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "process_time", lambda: made.now)
    return made


class SlowLaplace(Laplace):
    """Each of its records takes two milliseconds."""

    name = "slow-laplace"
    clock = Clock()

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        self.clock.takes(0.002 * len(x))
        return super()._randomize(x, generator)


def untried(verdict: Verdict) -> set[str]:
    return {attempt.name for attempt in verdict.attempts if attempt.outcome == "not tried: the time was up"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "record", "seconds"),
    [(0.0, 0.01, 6.0), (0.0, 0.01, 60.0), (0.0, 0.002, 6.0), (0.1, 0.0, 6.0), (0.05, 0.005, 9.0), (0.0, 0.3, 6.0)],
)
def test_a_check_ends_in_its_time_and_a_quarter_and_one_call(
    clock: Clock, call: float, record: float, seconds: float
) -> None:
    begun = clock.now
    found = check(clock.slow(call, record), domain=FOUR, claim_epsilon=1.0, minutes=seconds / 60.0, timing=True)
    assert not found.refuted
    assert clock.now - begun <= 1.25 * seconds + max(clock.longest, call + 2.0 * record)
    assert found.rests_on is not None
    if record * 2 * FEW > seconds:
        assert 0 < found.rests_on < FEW
        assert str(found).startswith(f"slow: not refuted, on {found.rests_on} releases of each record\n")
        assert f"It rests on {found.rests_on} releases of each record" in page(found)
        assert untried(found)


def test_a_mechanism_is_held_to_the_time_too(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SlowLaplace, "clock", clock)
    begun = clock.now
    found = check(SlowLaplace(epsilon=1.0, domain=FOUR), minutes=0.1, samples=20_000)
    assert not found.refuted
    assert clock.now - begun <= 1.25 * 6.0 + clock.longest
    assert found.rests_on is not None
    assert 100 < found.rests_on < FEW


def test_a_slow_function_without_noise_is_refuted_all_the_same(clock: Clock) -> None:
    begun = clock.now
    found = check(clock.slow(0.0, 0.01, scale=0.01), domain=FOUR, claim_epsilon=1.0, minutes=0.15)
    assert found.refuted
    assert clock.now - begun <= 1.25 * 9.0
    assert str(found).startswith("slow: REFUTED\n")


def test_most_of_the_time_goes_to_the_pair_seen_most_where_there_is_little(clock: Clock) -> None:
    found = check(clock.slow(0.0, 0.01), domain=FOUR, claim_epsilon=1.0, minutes=0.15)
    assert found.rests_on is not None
    assert found.rests_on > 200  # of 450 that the time has room for
    assert "search through one place in a batch" in untried(found)


def test_a_first_call_that_prepares_something_does_not_make_all_look_slow(clock: Clock) -> None:
    calls: list[int] = []
    quick = clock.slow(1e-4, 0.0)

    def prepared(x: Tensor, g: torch.Generator) -> Tensor:
        clock.takes(0.0 if calls else 1.0)
        calls.append(len(x))
        return quick(x, g)

    found = check(prepared, domain=FOUR, claim_epsilon=1.0, minutes=0.5, samples=400, dtypes=())
    assert untried(found) == set()
    assert max(calls) >= 800


def test_rounds_draw_the_same_however_slow_a_function_is(clock: Clock) -> None:
    options: dict[str, Any] = {"samples": 256, "rounds": 1, "starts": 1, "minutes": 1e5}
    found = [check(clock.slow(*takes), domain=FOUR, claim_epsilon=1.0, **options) for takes in ((0.0, 0.0), (0.1, 0.2))]
    drawn = [[(a.name, a.samples, a.outcome) for a in verdict.attempts] for verdict in found]
    assert drawn[0] == drawn[1]
    assert found[0].epsilon_lower == found[1].epsilon_lower


@pytest.mark.slow
def test_a_verdict_on_many_releases_has_nothing_to_add(clock: Clock) -> None:
    options: dict[str, Any] = {"samples": FEW, "rounds": 3, "starts": 1, "dtypes": (), "minutes": 10.0}
    found = check(clock.slow(0.0, 0.0), domain=FOUR, claim_epsilon=1.0, **options)
    assert found.rests_on is not None
    assert found.rests_on >= FEW
    assert str(found).startswith("slow: not refuted\n")
    assert "It rests on" not in page(found)


def test_a_pace_is_learned_from_small_and_large_batches() -> None:
    pace = Pace()
    pace.note(1.0, 2, 3.0)  # a first call that prepares something
    assert pace(1.0, 2.0) >= 3.0
    pace.note(1.0, 2, 0.12)
    pace.note(1.0, 102, 1.12)
    assert (pace.call, pace.record) == (pytest.approx(0.1), pytest.approx(0.01))
    assert pace(3.0, 50.0) == pytest.approx(0.8)


def test_what_is_affordable_is_all_where_sizes_are_not_cut() -> None:
    budget = Budget(10.0, 100)
    assert budget.affordable(10**6, 1.0, 0.5) == 10**6
    assert 3 <= Budget(10.0, 100, paced=True).affordable(10**6, 1.0, 0.5) <= 5
