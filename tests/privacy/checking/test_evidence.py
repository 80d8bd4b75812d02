"""Bets, the kernel discriminant and side channels: they see what is there, and false alarms come once in 10^6."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from torch import Tensor

from tensorldp.audit.thresholds import Reals
from tensorldp.check.betting import make_bet
from tensorldp.check.check import check
from tensorldp.check.claim import Claim
from tensorldp.check.distinguishers import IDEAL, Coordinates, Kernel, Scene
from tensorldp.check.events import Event, best_lead, lead_of, strongest
from tensorldp.check.gambling import reach
from tensorldp.check.observers import OneRelease
from tensorldp.check.pairs import Pair
from tensorldp.check.response import farthest_corners
from tensorldp.check.search import Budget, Search
from tensorldp.check.side_channels import WAYS, WITHIN, dependence, timing_difference
from tensorldp.check.target import Target
from tensorldp.mechanisms import Box, Mechanism
from tensorldp.mechanisms.laplace import Laplace

Release = Callable[[Tensor, torch.Generator], Tensor]
BIT, SIX = Box(-1.0, 1.0, (1,)), Box(-1.0, 1.0, (6,))
SCENE = Scene(np.ones(2), -np.ones(2), -1.0, 1.0)


@settings(max_examples=50, deadline=None)
@given(
    epsilon=st.floats(0.0, 4.0),
    delta=st.sampled_from([0.0, 1e-3, 0.2]),
    hits=st.one_of(st.integers(0, 1000), st.integers(900, 1000)),
    others=st.one_of(st.integers(0, 1000), st.integers(0, 20)),
)
def test_no_bet_gains_on_average_where_the_claim_holds(epsilon: float, delta: float, hits: int, others: int) -> None:
    found = make_bet(hits, others, 1000, epsilon, delta)
    if found is None:
        return
    bet, growth = found
    assert growth > 0.0
    for q, share in itertools.product(np.linspace(0.0, 1.0, 9), (0.0, 1.0)):  # the mean is linear in p
        p = share * min(1.0, math.exp(epsilon) * q + delta)
        values = {(a, b): math.exp(bet.log_value(a, b, 1)) for a in (0, 1) for b in (0, 1)}
        assert sum((p if a else 1 - p) * (q if b else 1 - q) * value for (a, b), value in values.items()) <= 1.0 + 1e-9


def test_a_bet_needs_counts_that_the_claim_does_not_allow_and_grows_as_it_says() -> None:
    assert make_bet(270, 100, 1000, 1.0, 0.0) is None
    assert make_bet(290, 100, 1000, 1.0, 0.05) is None
    found = make_bet(800, 100, 1000, 1.0, 0.0)
    assert found is not None
    blocks = 1_000_000
    value = found[0].log_value(round(blocks * 800.5 / 1001), round(blocks * 100.5 / 1001), blocks)
    assert value / blocks == pytest.approx(found[1], rel=1e-3)


def test_the_best_event_is_the_one_that_tells_the_records_apart() -> None:
    noise = np.random.default_rng(0).standard_normal((4, 4000))
    columns = {"nothing": (noise[0], noise[1]), "shifted": (noise[2] + 3, noise[3])}
    lead = best_lead(columns, ((1.0, 0.0), (0.0, 0.5)))
    assert lead is not None
    assert lead.bet is not None
    event, bound = strongest(columns, 0.0, 0.05)
    assert lead.event.statistic == event.statistic == "shifted"
    assert bound > 3.0


def test_an_event_counts_either_way_and_a_lead_adds_up() -> None:
    above, below = (Event("s", 2.0, up, False, 0.0, 0.0) for up in (True, False))
    assert [event.hits(np.arange(4.0)) for event in (above, below)] == [2, 3]
    lead = lead_of(above, 90, 10, 100).after(90, 10, 100)
    assert (lead.hits, lead.other_hits, lead.trials) == (180, 20, 200)


def tied(count: int, sign: float, seed: int) -> Reals:
    """Two Laplace elements of independent sizes, whose signs are tied to the first's size: dependence alone differs."""
    source = np.random.default_rng(seed)
    sizes, signs = source.exponential(size=(count, 2)), source.choice([-1.0, 1.0], size=count)
    return np.stack((sizes[:, 0] * signs, sizes[:, 1] * signs * sign * np.sign(np.cos(2.0 * sizes[:, 0]))), axis=1)


def test_a_difference_in_dependence_is_seen_by_the_kernel_sooner_than_by_all_others() -> None:
    mine, other = tied(1600, 1.0, 1), tied(1600, -1.0, 2)
    for one, two in zip(
        (*mine.T, np.linalg.norm(mine, axis=1)), (*other.T, np.linalg.norm(other, axis=1)), strict=True
    ):
        assert stats.ks_2samp(one, two).pvalue > 1e-6
    growth = {}
    for distinguisher in IDEAL:
        columns = distinguisher.statistics(SCENE, mine[:800], other[:800])
        lead = best_lead({name: (seen(mine[800:]), seen(other[800:])) for name, seen in columns.items()}, ((1.0, 0.0),))
        growth[type(distinguisher)] = 0.0 if lead is None else lead.growth
    assert growth.pop(Kernel) > max(0.05, 20.0 * max(growth.values()))


def test_the_kernel_learns_from_so_many_releases_at_most_and_from_any_numbers() -> None:
    mine, other, kernel = tied(2000, 1.0, 3), tied(2000, -1.0, 4), Kernel(most=500)
    (of_all,), (of_some,) = (kernel.statistics(SCENE, mine[:n], other[:n]).values() for n in (2000, 500))
    np.testing.assert_array_equal(of_all(mine), of_some(mine))
    mine, other = (np.column_stack((np.zeros(64), np.full(64, end), np.arange(64.0))) for end in (1e30, -1e30))
    (statistic,) = Kernel().statistics(SCENE, mine, other).values()
    assert statistic(mine).min() > statistic(other).max()
    assert np.isfinite(statistic(np.array([[1e30, -1e30, 0.0]]))).all()


LOW, HIGH = BIT.constant(-1.0), BIT.constant(1.0)


def searched(release: Release, seed: int) -> Search:
    """A search of four rounds, over all pairs, by single elements."""
    claim, budget = Claim.point(1.0), Budget(math.inf, 30_000, rounds=4)
    seen = Target.of(release, BIT)
    seen.release(LOW.expand(2, 1), torch.Generator())
    kinds = ((OneRelease(),), (Coordinates(),))
    return Search(seen, claim, *kinds, error=0.02, seed=seed, budget=budget, given=(LOW, HIGH))


def coin(x: Tensor, g: torch.Generator, right: float) -> Tensor:
    told = torch.rand(x.shape, generator=g) < right
    return torch.where(told == (x > 0), 1.0, -1.0)


def rarely(x: Tensor, g: torch.Generator, probability: float) -> Tensor:
    return (x > 0) & (torch.rand(x.shape, generator=g) < probability)


@pytest.mark.slow
def test_lies_of_the_size_that_a_search_states_are_found_by_searches_like_it() -> None:
    """Of 40 each, 36 are expected at 90 %, and fewer than 25 have a chance of 1e-6."""
    idle = searched(partial(coin, right=float(expit(1.0))), 0)
    assert idle.run() is None
    stated = reach("ends", idle.stages, idle.claim.countable, idle.goal)
    assert stated.epsilon is not None
    assert stated.probability is not None
    assert 1.0 < stated.epsilon < 1.5
    assert stated.probability < 0.02
    for lie in (partial(coin, right=float(expit(stated.epsilon))), partial(rarely, probability=stated.probability)):
        assert sum(searched(lie, seed).run() is not None for seed in range(40)) >= 25
    honest = (partial(coin, right=float(expit(1.0))), partial(rarely, probability=0.0))
    assert not any(searched(claimed, seed).run() for claimed in honest for seed in range(1, 3))  # at most 2 % each


def test_more_releases_find_less_and_none_find_nothing() -> None:
    looks = ((200, 10**6), (800, 10**6), (3200, 10**6))
    found = [reach("ends", (looks[:count],), ((1.0, 0.0),), 6.0) for count in range(4)]
    sizes = [(one.epsilon or math.inf, one.probability or math.inf) for one in found]
    assert sizes[0] == (math.inf, math.inf)
    assert all(more < less for both in itertools.pairwise(sizes) for less, more in zip(*both, strict=True))
    assert reach("ends", (((200, 0),),), ((1.0, 0.0),), 6.0) == reach("ends", (), ((1.0, 0.0),), 6.0)
    assert reach("ends", (looks[:1], looks), ((1.0, 0.0),), 6.0) == found[3]


def test_a_fit_finds_the_corners_that_move_releases_farthest() -> None:
    basis = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(2)).double())[0]
    box = Box(0.0, 4.0, (2, 4))

    def release(x: Tensor, g: torch.Generator) -> Tensor:
        moved: Tensor = x.reshape(-1, 8) @ basis
        return moved + torch.randn(len(x), 8, generator=g).double()

    target = Target.of(release, box)
    first, second = farthest_corners(target, 6400, 0)
    corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0]).double()] * 8)
    farthest = float((4.0 * corners @ basis).abs().sum(dim=1).max())
    moved = ((first.x - first.x_prime).reshape(8) @ basis).abs().sum()
    assert float(moved) > 0.99 * farthest
    assert torch.equal(second.x + second.x_prime, box.constant(4.0))
    assert farthest_corners(target.of(release, Box(0.0, 1.0, (257,))), 100, 0) == []


class Clock:
    """A clock that stands still but for what releases take: some noise, a drift, and `more` for a record above 0."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, more: int, seed: int = 0) -> None:
        self.now, self.more, self.calls, self.random = 0, more, 0, np.random.default_rng(seed)
        monkeypatch.setattr(time, "perf_counter_ns", lambda: self.now)

    def release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        self.calls += 1
        self.now += int(1000 + self.random.exponential(200.0)) + self.calls // 4 + self.more * int((x > 0).sum())
        return torch.zeros_like(x)

    def p_value(self, calls: int, seed: int = 0) -> float:
        pair = Pair("ends", BIT.constant(-1.0), BIT.constant(1.0))
        return timing_difference(Target("release", self.release, BIT), pair, seed, calls)[0]


def test_a_tenth_more_time_shows_and_equal_times_err_as_often_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Clock(monkeypatch, 100).p_value(400) < 1e-6 < Clock(monkeypatch, 0).p_value(400)
    found = [Clock(monkeypatch, 0, seed).p_value(40, seed) for seed in range(100)]
    assert stats.kstest(found, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("asked", [False, True])
def test_times_are_compared_only_where_it_is_asked_for(asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Clock(monkeypatch, 1000).release
    verdict = check(release, domain=BIT, claim_epsilon=1.0, timing=asked, minutes=10.0, samples=256, rounds=1, starts=1)
    assert ("running time" in {finding.kind for finding in verdict.findings}) == asked
    assert not verdict.refuted


def honest(x: Tensor, g: torch.Generator) -> Tensor:
    return x + torch.randn(x.shape, generator=g, dtype=x.dtype)


def rare(x: Tensor, g: torch.Generator) -> Tensor:
    return (torch.rand(x.shape, generator=g) < 0.002).to(x.dtype)


def in_pairs(x: Tensor, g: torch.Generator, release: Release = honest) -> Tensor:
    return release(x[: (len(x) + 1) // 2], g).repeat_interleave(2, 0)[: len(x)]


def signs(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.randint(0, 2, x.shape, generator=g) * 2.0 - 1.0


class TwinElements(Laplace):
    name = "twin-elements"  # neighbouring elements have noise of one size

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        sizes = (super()._randomize(x, generator) - x).abs().repeat_interleave(2, 1)[:, : self.size]
        return x + sizes * signs(x, generator)


def own_seed(x: Tensor, g: torch.Generator) -> Tensor:
    return honest(x, torch.Generator().manual_seed(g.initial_seed()))


CALLS: Counter[int] = Counter()


def seed_without_its_last_bits(x: Tensor, g: torch.Generator) -> Tensor:
    CALLS[g.initial_seed()] += 1
    return honest(x, torch.Generator().manual_seed(g.initial_seed() // 4 + CALLS[g.initial_seed()]))


@pytest.mark.parametrize(
    ("release", "samples", "expected"),
    [
        (honest, 1000, ""),
        (in_pairs, 1000, WAYS[0]),
        (lambda x, g: in_pairs(x, g).abs() * signs(x, g), 1000, WAYS[0]),  # which no correlation of values shows
        (own_seed, 1000, WAYS[1]),
        (seed_without_its_last_bits, 1000, WAYS[2]),
        (Laplace(epsilon=1.0, domain=SIX), 1000, ""),
        (TwinElements(epsilon=1.0, domain=SIX), 1000, WITHIN),  # as it says that it acts on elements
        (rare, 1000, ""),  # two rare values may coincide
        (lambda x, g: in_pairs(x, g, rare), 20_000, WAYS[0]),
    ],
)
def test_what_depends_on_what(release: Release | Mechanism, samples: int, expected: str) -> None:
    for seed in range(20 if release is rare else 1):
        way, p_value = dependence(Target.of(release, SIX), SIX.constant(0.0), samples, seed)
        assert (way if p_value < 1e-6 else "") == expected
