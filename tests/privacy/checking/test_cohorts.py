"""Columns of a few whole numbers split the statistics: a lie that shows in each cohort and not over all is found."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorldp.check import check
from tensorldp.check.distinguishers import Groups, Scene
from tensorldp.mechanisms import Box

COHORTS, HASHES, BITS, FLIP = 8, 2, 16, 0.5
EIGHT = Box(0.0, 7.0, (1,))
CLAIM = 2.0 * HASHES * math.log((1.0 - FLIP / 2.0) / (FLIP / 2.0))
PLACES = torch.from_numpy(np.random.default_rng(7).integers(0, BITS, size=(COHORTS, 8, HASHES)))
SCENE = Scene(None, None, 0.0, 7.0)


def rappor(x: Tensor, g: torch.Generator, cleared: float) -> Tensor:
    """(cohort, bits): other bits are set with probability f / 2, those of the record cleared with `cleared`."""
    cohort = torch.randint(0, COHORTS, (len(x),), generator=g)
    true = torch.zeros(len(x), BITS).scatter_(1, PLACES[cohort, x.reshape(-1).round().long()], 1.0).bool()
    coins = torch.rand(len(x), BITS, generator=g)
    bits = torch.where(true, coins >= cleared, coins < FLIP / 2.0)
    return torch.cat((cohort[:, None], bits.long()), dim=1)


@pytest.mark.slow
def test_bits_that_are_never_cleared_are_found_in_eight_cohorts() -> None:
    release = partial(rappor, cleared=0.0)
    found = check(release, domain=EIGHT, claim_epsilon=math.log(9.0) * 2.0, minutes=10.0, rounds=4)
    assert found.refuted
    assert "within each value of element 0" in found.findings[0].event
    assert found.findings[0].other_hits == 0


@pytest.mark.slow
def test_bits_that_are_cleared_as_often_as_others_are_set_pass() -> None:
    """Each bit has an epsilon of ln 3, and two records differ in four bits at most."""
    release = partial(rappor, cleared=FLIP / 2.0)
    options: dict[str, Any] = {"samples": 2000, "rounds": 2, "starts": 2, "minutes": 10.0, "confidence": 1 - 1e-6}
    assert not check(release, domain=EIGHT, claim_epsilon=CLAIM, **options).refuted


def grouped(count: int, sign: float, seed: int, *, real: bool, whole: bool = True) -> np.ndarray[Any, Any]:
    """A column of four groups, and two that move with `sign` up in half of the groups and down in the others."""
    source = np.random.default_rng(seed)
    group = source.integers(0, 4, size=count)
    way = np.where(group % 2 == 0, sign, -sign)
    noise = source.normal(size=(count, 2)) * 0.5 if real else source.choice([-1.0, 1.0, 1.0], size=(count, 2))
    moved = noise + way[:, None] if real else noise * way[:, None]
    found = np.concatenate((group[:, None], moved), axis=1)
    return found.astype(np.int64) if whole and not real else found


@pytest.mark.parametrize(("real", "whole"), [(True, False), (False, True), (False, False)])
def test_what_differs_in_opposite_ways_between_groups_is_told_apart(real: bool, whole: bool) -> None:
    sides = [grouped(2000, sign, seed, real=real, whole=whole) for seed, sign in enumerate((1.0, -1.0))]
    fresh = [grouped(2000, sign, 2 + seed, real=real, whole=whole) for seed, sign in enumerate((1.0, -1.0))]
    statistics = {name: one for name, one in Groups().statistics(SCENE, *sides).items() if name.endswith("element 0")}
    assert len(statistics) == 2
    for statistic in statistics.values():
        first, second = (statistic(side) for side in fresh)
        assert first.mean() - second.mean() > 0.6 * (first.std() + second.std()) / 2.0
    overall = [side[:, 1:].mean(axis=0) for side in fresh]
    assert np.abs(overall[0] - overall[1]).max() < 0.2


def test_a_release_without_such_a_column_has_no_groups() -> None:
    source = np.random.default_rng(0)
    for values in (source.normal(size=(400, 5)), source.integers(0, 10**6, size=(400, 5)), np.zeros((400, 5))):
        assert Groups().statistics(SCENE, values[:200], values[200:]) == {}
    assert Groups().statistics(SCENE, np.zeros((9, 1)), np.ones((9, 1))) == {}


def test_a_group_that_was_not_learned_counts_nothing() -> None:
    sides = [grouped(2000, sign, seed, real=False) for seed, sign in enumerate((1.0, -1.0))]
    unknown = np.array([[9, 1, 1], [-3, -1, 1]])
    for name, statistic in Groups().statistics(SCENE, *sides).items():
        if name.endswith("element 0"):
            assert not statistic(unknown).any()
