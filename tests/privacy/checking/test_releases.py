"""Copies are handed out, and releases of any form and size are looked at exactly, in batches that fit, or refused.

tests/commands/test_malformed.py has many more forms of releases.
"""

import math
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorldp import memory
from tensorldp.audit.observed import observed
from tensorldp.check import check, noise, observers, pairs, search
from tensorldp.check.distinguishers import Grid, grid_of
from tensorldp.check.pairs import Pair
from tensorldp.check.side_channels import dependence
from tensorldp.check.target import AT_ONCE, Target
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.privacy import audit, one_run_audit

CLAIM: dict[str, Any] = {"domain": Box(-1.0, 1.0, (2,)), "claim_epsilon": 1.0}


class WritesEverywhere(Laplace):
    name = "writes-everywhere"  # honest, but its methods write into whatever they are given

    def privatize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        x.copy_(super().privatize(x, generator))
        return x

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        found = super().log_likelihood_ratio(y.clone(), x.clone(), x_prime.clone())
        for given in (y, x, x_prime):
            given.fill_(7.0)
        return found


def test_a_mechanism_may_write_into_what_it_is_given_in_a_check_and_in_an_audit() -> None:
    mechanism = WritesEverywhere(epsilon=1.0, domain=Box(-1.0, 1.0, (2,)))
    found = check(mechanism, samples=400, rounds=1, starts=1, minutes=10.0, confidence=1 - 1e-6)
    assert not found.refuted
    assert {finding.kind for finding in found.findings} <= {"floating point"}
    assert audit(mechanism, samples=4000, confidence=1 - 1e-6).epsilon_lower <= 1.0


def test_a_training_may_write_into_the_coins_that_it_is_given() -> None:
    def cheating(coins: Tensor, source: torch.Generator) -> Tensor:
        scores = torch.rand(coins.shape, generator=source)
        coins.copy_(scores > 0.5)  # so that every guess would be right
        return scores

    assert not one_run_audit(cheating, LaplaceCurve(0.1, 1), canaries=100, delta=1e-5).refuted


def test_whole_numbers_have_no_section_on_floats() -> None:
    found = check(lambda x, g: torch.randint(0, 9, x.shape, generator=g), **CLAIM, samples=400, rounds=1, minutes=10.0)
    floats = [attempt.outcome for attempt in found.attempts if "numbers occur" in attempt.name]
    assert floats == ["not tried: releases are whole numbers by their type, and no floats"] * 2


def test_a_grid_is_told_from_the_last_bits_of_floats() -> None:
    source = np.random.default_rng(0)
    whole = source.integers(-(2**40), 2**40, size=400).astype(np.float64)
    assert grid_of(whole * 0.25, torch.float64) == Grid(0.0, 0.25)
    cents = grid_of(source.integers(0, 1000, size=400) / 100.0, torch.float64)
    assert cents is not None
    assert cents.step == pytest.approx(0.01)
    noise = source.laplace(size=400)
    single = noise.astype(np.float32).astype(np.float64)
    assert grid_of(single, torch.float32) is None
    for values in (noise, 1e12 + noise, single, np.append(whole, 1e30)):
        assert grid_of(values, torch.float64) is None


def test_views_strides_and_byte_orders_change_nothing() -> None:
    values = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    lazily_negated = torch.complex(torch.zeros_like(values), -values).conj().imag
    assert lazily_negated.is_neg()
    flipped = values.numpy()[:, ::-1].copy()[:, ::-1]
    grown = values.clone().requires_grad_()
    big_endian = values.numpy().astype(">f8")
    for out in (lazily_negated, values.t().contiguous().t(), flipped, big_endian, values.float(), grown):
        seen = observed("f", out, 2)[1]
        assert torch.equal(seen, values)
        assert not seen.requires_grad


class Counting:
    """Zeros of a given width, and the most elements that were ever given or released at once."""

    def __init__(self, width: int) -> None:
        self.width, self.most = width, 0

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.most = max(self.most, x.numel(), len(x) * self.width)
        return torch.zeros(len(x), self.width)


def ends(function: Any, size: int) -> tuple[Target, Pair]:
    """A target that has released two records, and the pair of the constants 0 and 1."""
    target, record = Target.of(function, Box(0.0, 1.0, (size,))), torch.zeros(size, dtype=torch.float64)
    target.release(record.expand(2, size), torch.Generator())
    return target, Pair("ends", record, record + 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "width"), [(1, 1), (1000, 1000), (3_000_000, 3_000_000), (1, 300_000), (2_000_000, 1)]
)
def test_a_batch_has_a_million_elements_at_most_or_one_record(size: int, width: int) -> None:
    count, seen = 5 if size > 10**6 else 3000, 0
    function = Counting(width)
    target, pair = ends(function, size)
    function.most = 0
    for block, _ in observers.OneRelease().observe(target, pair, count, 0):
        assert block.shape[1] <= observers.MOST_COLUMNS + 1
        seen += len(block)
        if seen > 40:
            break
    assert seen >= min(40, count)
    assert function.most <= max(AT_ONCE, size, width)
    function.most = 0
    dependence(target, pair.x, 4, 0)
    assert function.most <= max(AT_ONCE, 2 * size, 2 * width)
    block, _ = next(observers.BesideOthers("beside").observe(target, pair, 1, 0))
    assert block.shape[1] <= 7 * observers.ODD
    function.most = 0
    next(observers.InBatch("anywhere").observe(target, pair, 20, 0))
    assert function.most <= max(AT_ONCE, 2 * size, 2 * width)
    function.most = 0
    block, _ = next(observers.InBatch("alone", most=1).observe(target, pair, 20, 0))
    assert block.shape == (20, min(width, observers.ODD) if width != size else min(width, observers.AMONG_OTHERS))
    assert function.most <= max(AT_ONCE, size, width)


def test_few_pairs_of_huge_records_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.of(Counting(1), Box(0.0, 1.0, (64,)))
    assert len(pairs.pairs(target, 0)) > 10
    for elements, made in ((64 * 2 * 5, 5), (1, pairs.LEAST_PAIRS)):
        monkeypatch.setattr(pairs, "ELEMENTS", elements)
        assert len(pairs.pairs(target, 0)) == made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The constants of a check made so small that a record of 64 elements is a huge one."""
    for module, name, value in (
        (observers, "AT_ONCE", 1024),
        (observers, "MOST_COLUMNS", 16),
        (sys.modules["tensorldp.check.check"], "MOST_COLUMNS", 16),
        (search, "MOST_COLUMNS", 16),
        (search, "RELEASED", 64 * 64),
        (search, "VALUES", 1 << 13),
        (pairs, "ELEMENTS", 64 * 2 * 4),
        (noise, "KEPT", 64),
    ):
        monkeypatch.setattr(module, name, value)
    return {"samples": 256, "rounds": 1, "starts": 1, "minutes": 10.0, "confidence": 1 - 1e-6}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace", "duchi"])
def test_an_honest_mechanism_on_huge_records_is_not_refuted(name: str, small: dict[str, Any]) -> None:
    found = check(make(name, epsilon=1.0, domain=Box(-1.0, 1.0, (64,))), **small)
    assert not found.refuted
    assert {finding.kind for finding in found.findings} <= {"floating point"}
    outcomes = {attempt.name: attempt.outcome for attempt in found.attempts}
    assert "16 of 64 elements of each pair" in outcomes["sequential search for a breach"]


def test_a_lie_about_huge_records_is_refuted(small: dict[str, Any]) -> None:
    def quiet_first_element(x: Tensor, g: torch.Generator) -> Tensor:
        scale = torch.full((x.shape[1],), 128.0, dtype=x.dtype)
        scale[0] = 0.5
        return x + scale * torch.randn(x.shape, generator=g, dtype=x.dtype)

    options = small | {"starts": None, "rounds": 3}
    assert check(quiet_first_element, domain=Box(-1.0, 1.0, (64,)), claim_epsilon=1.0, **options).refuted


def test_the_sum_along_the_difference_is_seen_where_single_elements_are_not() -> None:
    size = 4 * observers.MOST_COLUMNS
    target, pair = ends(lambda x, g: torch.cat((x[:, :1] * 0.0, x[:, 1:]), dim=1), size)
    first, second = (side[0] for side in next(observers.OneRelease().observe(target, pair, 1, 0)))
    assert second[-1] - first[-1] == 1 - size  # the signs of x - x' are negative
    expected = observers.OneRelease().expected(target, pair, True)
    assert expected is not None
    assert (expected.shape, expected[-1]) == (second.shape, -size)


def test_whole_numbers_stay_exact_where_columns_are_left_out() -> None:
    target, pair = ends(lambda x, g: x.long() + (1 << 60) + 1, 2 * observers.MOST_COLUMNS)
    block, _ = next(observers.OneRelease().observe(target, pair, 1, 0))
    assert block.dtype == np.int64
    assert (block[0, :-1] == (1 << 60) + 1).all()


def test_absurd_shapes_are_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(x: Tensor, g: torch.Generator) -> Tensor:
        raise AssertionError

    huge, wide = Box(0.0, 1.0, (10**15,)), lambda x, g: torch.zeros(len(x), 100_000)
    with pytest.raises(InputError, match=r"records of 1000000000000000 elements needs about 2\.98e\+08 GB of memory"):
        check(never, domain=huge, claim_epsilon=1.0)
    with pytest.raises(InputError, match="an audit of laplace on records of 1000000000000000 elements"):
        audit(make("laplace", epsilon=1.0, domain=huge), samples=20)
    for free, function, message in (
        (1e7, wide, "a check of <lambda> with releases of 100000 elements needs"),
        (1000.0, never, r"and 9\.31e-07 GB are free"),
    ):
        monkeypatch.setattr(memory, "free_memory", lambda free=free: free)
        with pytest.raises(InputError, match=message):
            check(function, domain=Box(0.0, 1.0, (4,)), claim_epsilon=1.0)


def test_free_memory_is_what_the_machine_or_a_limit_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.0 < memory.free_memory() < math.inf
    monkeypatch.setattr(memory, "_of_process", lambda: 12345.0)
    assert memory.free_memory() == 12345.0
    monkeypatch.setattr(memory, "_number", lambda path: {"memory.max": 200.0, "memory.current": 50.0}.get(path.name))
    assert memory.free_memory() == 150.0


def test_a_domain_of_one_record_cannot_be_checked() -> None:
    with pytest.raises(InputError, match="two records that float64 tells apart"):
        pairs.pairs(Target("nothing", Counting(1), Box(1.0, math.nextafter(1.0, 2.0), (2,)), integer=True), 0)


def test_the_ends_of_the_domain_are_exact_in_every_pair() -> None:
    made = {pair.name: pair for pair in pairs.pairs(Target.of(Counting(1), Box(0.1, 0.7, (5,))), 0)}
    assert made["constant and alternating"].x_prime.tolist() == [0.1, 0.7, 0.1, 0.7, 0.1]
