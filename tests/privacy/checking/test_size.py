"""Records and releases of any size are looked at in batches that fit, or are refused before anything is made."""

import math
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorldp import memory
from tensorldp.check import check, noise, observers, pairs, search
from tensorldp.check.pairs import Pair
from tensorldp.check.side_channels import dependence
from tensorldp.check.target import Target
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.privacy import audit


class Counting:
    """Zeros of a given width, and the most elements that were ever given or released at once."""

    def __init__(self, width: int) -> None:
        self.width, self.most, self.calls = width, 0, 0

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        self.most, self.calls = max(self.most, x.numel(), len(x) * self.width), self.calls + 1
        return torch.zeros(len(x), self.width)


@pytest.mark.parametrize(
    ("size", "width"), [(1, 1), (1000, 1000), (3_000_000, 3_000_000), (1, 300_000), (2_000_000, 1)]
)
def test_a_batch_has_a_million_elements_at_most_or_one_record(size: int, width: int) -> None:
    count = 5 if size > 10**6 else 3000
    function = Counting(width)
    target = Target.of(function, Box(0.0, 1.0, (size,)))
    record = torch.zeros(size, dtype=torch.float64)
    target.release(record.expand(2, size), torch.Generator())
    function.most = 0
    pair = Pair("ends", record, record + 1.0)
    seen = 0
    for block in observers.OneRelease().observe(target, pair, False, count, 0):
        assert block.shape[1] <= observers.MOST + 1
        seen += len(block)
        if seen > 40:
            break
    assert seen >= min(40, count)
    assert function.most <= max(observers.ELEMENTS, size, width)
    function.most = 0
    dependence(target, record, 4, 0)
    assert function.most <= max(observers.ELEMENTS, 2 * size, 2 * width)
    block = next(observers.BesideOthers("beside").observe(target, pair, False, 1, 0))
    assert block.shape[1] <= 7 * observers.ODD


def test_few_pairs_of_huge_records_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.of(Counting(1), Box(0.0, 1.0, (64,)))
    assert len(pairs.pairs(target, 0)) > 10
    monkeypatch.setattr(pairs, "ELEMENTS", 64 * 2 * 5)
    assert len(pairs.pairs(target, 0)) == 5
    monkeypatch.setattr(pairs, "ELEMENTS", 1)
    assert len(pairs.pairs(target, 0)) == pairs.LEAST


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The constants of a check made so small that a record of 64 elements is a huge one."""
    for module, name, value in (
        (observers, "ELEMENTS", 1024),
        (observers, "MOST", 16),
        (sys.modules["tensorldp.check.check"], "MOST", 16),
        (search, "MOST", 16),
        (search, "RELEASED", 64 * 64),
        (search, "VALUES", 1 << 13),
        (pairs, "ELEMENTS", 64 * 2 * 4),
        (noise, "KEPT", 64),
    ):
        monkeypatch.setattr(module, name, value)
    return {"samples": 256, "rounds": 1, "starts": 1, "minutes": 10.0, "confidence": 1 - 1e-6}


@pytest.mark.parametrize("name", ["laplace", "duchi"])
def test_an_honest_mechanism_on_huge_records_is_not_refuted(name: str, small: dict[str, Any]) -> None:
    found = check(make(name, epsilon=1.0, domain=Box(-1.0, 1.0, (64,))), **small)
    assert not found.refuted
    assert {finding.kind for finding in found.findings} <= {"floating point"}
    assert "16 of 64 elements of each pair" in found.attempts[0].outcome


def test_a_lie_about_huge_records_is_refuted(small: dict[str, Any]) -> None:
    def quiet_first_element(x: Tensor, g: torch.Generator) -> Tensor:
        scale = torch.full((x.shape[1],), 128.0, dtype=x.dtype)
        scale[0] = 0.5
        return x + scale * torch.randn(x.shape, generator=g, dtype=x.dtype)

    found = check(
        quiet_first_element, domain=Box(-1.0, 1.0, (64,)), claim_epsilon=1.0, **{**small, "starts": None, "rounds": 3}
    )
    assert found.refuted


def test_the_sum_along_the_difference_is_seen_where_single_elements_are_not() -> None:
    size = 4 * observers.MOST
    target = Target.of(lambda x, g: torch.cat((x[:, :1] * 0.0, x[:, 1:]), dim=1), Box(0.0, 1.0, (size,)))
    record = torch.zeros(size, dtype=torch.float64)
    pair = Pair("ends", record, record + 1.0)
    target.release(record.expand(2, size), torch.Generator())
    blocks = [next(observers.OneRelease().observe(target, pair, second, 1, 0)) for second in (False, True)]
    assert blocks[1][0, -1] - blocks[0][0, -1] == 1 - size  # the signs of x - x' are negative
    expected = observers.OneRelease().expected(target, pair, True)
    assert expected is not None
    assert expected.shape == blocks[1][0].shape
    assert expected[-1] == -size


def test_whole_numbers_stay_exact_where_columns_are_left_out() -> None:
    size = 2 * observers.MOST
    target = Target.of(lambda x, g: x.long() + (1 << 60) + 1, Box(0.0, 1.0, (size,)))
    record = torch.zeros(size, dtype=torch.float64)
    target.release(record.expand(2, size), torch.Generator())
    block = next(observers.OneRelease().observe(target, Pair("ends", record, record + 1.0), False, 1, 0))
    assert block.dtype == np.int64
    assert (block[0, :-1] == (1 << 60) + 1).all()


def test_absurd_shapes_are_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(x: Tensor, g: torch.Generator) -> Tensor:
        raise AssertionError

    with pytest.raises(InputError, match=r"records of 1000000000000000 elements needs about 2\.98e\+08 GB of memory"):
        check(never, domain=Box(0.0, 1.0, (10**15,)), claim_epsilon=1.0)
    with pytest.raises(InputError, match="an audit of laplace on records of 1000000000000000 elements"):
        audit(make("laplace", epsilon=1.0, domain=Box(0.0, 1.0, (10**15,))), samples=20)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000.0)
    with pytest.raises(InputError, match=r"and 9\.31e-07 GB are free"):
        check(never, domain=Box(0.0, 1.0, (4,)), claim_epsilon=1.0)


def test_releases_wider_than_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 1e7)
    with pytest.raises(InputError, match="a check of <lambda> with releases of 100000 elements needs"):
        check(lambda x, g: torch.zeros(len(x), 100_000), domain=Box(0.0, 1.0, (4,)), claim_epsilon=1.0)


def test_free_memory_is_what_the_machine_or_a_limit_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    free = memory.free_memory()
    assert 0.0 < free < math.inf
    monkeypatch.setattr(memory, "_of_process", lambda: 12345.0)
    assert memory.free_memory() == 12345.0
    monkeypatch.setattr(memory, "_number", lambda path: {"memory.max": 200.0, "memory.current": 50.0}.get(path.name))
    assert memory.free_memory() == 150.0


def test_a_check_that_is_over_before_it_looks_at_anything_is_no_verdict() -> None:
    with pytest.raises(InputError, match="a check of 1e-09 minutes is over before it looks at anything"):
        check(lambda x, g: x, domain=Box(0.0, 1.0, (2,)), claim_epsilon=1.0, minutes=1e-9)


def test_a_domain_of_one_record_cannot_be_checked() -> None:
    with pytest.raises(InputError, match="two records that float64 tells apart"):
        pairs.pairs(Target("nothing", lambda x, g: x, Box(1.0, math.nextafter(1.0, 2.0), (2,)), integer=True), 0)


def test_the_ends_of_the_domain_are_exact_in_every_pair() -> None:
    box = Box(0.1, 0.7, (5,))
    ends = {pair.name: pair for pair in pairs.pairs(Target.of(Counting(1), box), 0)}["constant and alternating"]
    assert ends.x_prime.tolist() == [0.1, 0.7, 0.1, 0.7, 0.1]
