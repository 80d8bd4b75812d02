"""Running times that depend on the record are told from those that do not, on a clock that the tested code moves."""

import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from tensorldp.check.check import check
from tensorldp.check.pairs import Pair
from tensorldp.check.side_channels import timing_difference
from tensorldp.check.target import Target
from tensorldp.mechanisms import Box

BIT = Box(-1.0, 1.0, (1,))
PAIR = Pair("ends", BIT.constant(-1.0), BIT.constant(1.0))
Release = Callable[[Tensor, torch.Generator], Tensor]


class Clock:
    """A clock that stands still but for what releases take: some noise, a drift, and `more` for a record above 0."""

    def __init__(self, more: int, seed: int = 0) -> None:
        self.now, self.more, self.calls, self.random = 0, more, 0, np.random.default_rng(seed)

    def perf_counter_ns(self) -> int:
        return self.now

    def release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        self.calls += 1
        self.now += int(1000 + self.random.exponential(200.0)) + self.calls // 4 + self.more * int((x > 0).sum())
        return torch.zeros_like(x)


def p_value(clock: Clock, monkeypatch: pytest.MonkeyPatch, calls: int, seed: int = 0) -> float:
    monkeypatch.setattr(time, "perf_counter_ns", clock.perf_counter_ns)
    return timing_difference(Target("release", clock.release, BIT), PAIR, seed, calls)[0]


def test_a_tenth_more_time_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert p_value(Clock(100), monkeypatch, 400) < 1e-6


def test_equal_times_err_as_often_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [p_value(Clock(0, seed), monkeypatch, 40, seed) for seed in range(100)]
    assert stats.kstest(found, "uniform").pvalue > 1e-6
    assert p_value(Clock(0), monkeypatch, 400) > 1e-6


def test_times_are_compared_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in (False, True):
        clock = Clock(1000)
        monkeypatch.setattr(time, "perf_counter_ns", clock.perf_counter_ns)
        small = {"minutes": 10.0, "samples": 256, "rounds": 1, "starts": 1}
        verdict = check(clock.release, domain=BIT, claim_epsilon=1.0, timing=asked, **small)  # type: ignore[arg-type]
        assert ("running time" in {finding.kind for finding in verdict.findings}) == asked
        assert not verdict.refuted
