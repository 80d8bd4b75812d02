"""The kernel discriminant sees what single elements, norms and projections do not, and nothing where nothing is."""

import numpy as np
import pytest
from scipy import stats

from tensorldp.audit.thresholds import Reals
from tensorldp.check.distinguishers import IDEAL, Columns, Kernel, Scene
from tensorldp.check.events import Lead, best_lead

SCENE = Scene(np.ones(2), -np.ones(2), -1.0, 1.0)
CLAIM = ((1.0, 0.0),)


def tied(count: int, sign: float, seed: int) -> Reals:
    """Two Laplace elements of independent sizes, whose signs are tied to the first's size: dependence alone differs."""
    source = np.random.default_rng(seed)
    sizes, signs = source.exponential(size=(count, 2)), source.choice([-1.0, 1.0], size=count)
    return np.stack((sizes[:, 0] * signs, sizes[:, 1] * signs * sign * np.sign(np.cos(2.0 * sizes[:, 0]))), axis=1)


def lead(statistics: Columns, mine: Reals, other: Reals) -> Lead | None:
    return best_lead({name: (found(mine), found(other)) for name, found in statistics.items()}, CLAIM)


def test_a_difference_in_dependence_is_seen_by_the_kernel_sooner_than_by_all_others() -> None:
    mine, other = tied(1600, 1.0, 1), tied(1600, -1.0, 2)
    for place in range(2):
        assert stats.ks_2samp(mine[:, place], other[:, place]).pvalue > 1e-6
    assert stats.ks_2samp(np.linalg.norm(mine, axis=1), np.linalg.norm(other, axis=1)).pvalue > 1e-6
    leads = {}
    for distinguisher in IDEAL:
        found = lead(distinguisher.statistics(SCENE, mine[:800], other[:800]), mine[800:], other[800:])
        leads[type(distinguisher)] = 0.0 if found is None else found.growth
    growth = leads.pop(Kernel)
    assert growth > max(0.05, 20.0 * max(leads.values()))


@pytest.mark.parametrize("law", ["laplace", "standard_cauchy"])
@pytest.mark.parametrize("width", [1, 3, 40])
def test_records_that_give_the_same_releases_are_not_told_apart(law: str, width: int) -> None:
    draw = getattr(np.random.default_rng(width), law)
    mine, other, first, second = (draw(size=(1500, width)) for _ in range(4))
    (statistic,) = Kernel().statistics(SCENE, mine, other).values()
    assert stats.ks_2samp(statistic(first), statistic(second)).pvalue > 1e-6


def test_it_learns_from_so_many_releases_at_most() -> None:
    mine, other = tied(5000, 1.0, 3), tied(5000, -1.0, 4)
    small = Kernel(most=500)
    (all_given,), (some_given,) = (
        small.statistics(SCENE, mine[:count], other[:count]).values() for count in (5000, 500)
    )
    np.testing.assert_array_equal(all_given(mine), some_given(mine))


def test_constants_and_huge_numbers_are_no_hindrance() -> None:
    mine = np.column_stack((np.zeros(64), np.full(64, 1e30), np.arange(64.0)))
    other = np.column_stack((np.zeros(64), np.full(64, -1e30), np.arange(64.0)))
    (statistic,) = Kernel().statistics(SCENE, mine, other).values()
    assert statistic(mine).min() > statistic(other).max()
    assert np.isfinite(statistic(np.array([[1e30, -1e30, 0.0]]))).all()
