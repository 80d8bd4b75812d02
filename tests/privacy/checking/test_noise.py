"""Noise that follows its declared law is told from noise that does not; a false alarm once in 10^6."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import ndtr
from torch import Tensor

from tensorldp.audit.thresholds import Reals
from tensorldp.check.check import check
from tensorldp.check.noise import LEVELS, _tails, declared_tail, noise_misfit
from tensorldp.check.target import Target
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.randomness import add_laplace

Release = Callable[[Tensor, torch.Generator], Tensor]
BOX = Box(-1.0, 1.0, (4,))
RECORDS = (torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64))


def normal(x: Tensor, g: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(shape or tuple(x.shape), generator=g, dtype=x.dtype)


def honest(x: Tensor, g: torch.Generator) -> Tensor:
    return x + normal(x, g)


def two_percent_less(x: Tensor, g: torch.Generator) -> Tensor:
    return x + 0.98 * normal(x, g)


def cut_tails(x: Tensor, g: torch.Generator, end: float) -> Tensor:
    return x + normal(x, g).clamp(-end, end)


def heavy_tails(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    return x + torch.where(torch.rand(x.shape, generator=g) < 1e-4, 6.0 * noise.sign(), noise)


def one_sided_tails(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    return x + torch.where(noise.abs() > 3.0, noise.abs(), noise)


def shared_sizes(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    sizes = noise[:, [0, 0, 2, 2]].abs()
    return x + sizes.mul_(noise.sign())


def correlated(x: Tensor, g: torch.Generator) -> Tensor:
    return x + (normal(x, g) + 0.2 * normal(x, g, len(x), 1)).div_(math.sqrt(1.04))


def next_record(x: Tensor, g: torch.Generator) -> Tensor:
    noise = normal(x, g)
    return x + (noise + 0.2 * noise.roll(1, 0)).div_(math.sqrt(1.04))


def more_for_large(x: Tensor, g: torch.Generator) -> Tensor:
    return x + normal(x, g) * (1.0 + 0.05 * (x > 0.5))


def tail(size: Reals) -> Reals:
    return np.asarray(2.0 * ndtr(-size))


@pytest.mark.parametrize(
    ("release", "what"),
    [
        (honest, ""),
        (two_percent_less, "tail of probability 1e-01"),
        (partial(cut_tails, end=3.0), "tail of probability"),
        (heavy_tails, "tail of probability 1e-0"),
        (one_sided_tails, "positive"),
        (shared_sizes, "size of the noise"),
        (correlated, ""),
        (next_record, "one record and the next"),
        (more_for_large, ""),
    ],
)
def test_what_does_not_fit(release: Release, what: str) -> None:
    target = Target("release", release, BOX)
    found, p_value, elements = noise_misfit(target, tail, RECORDS, elements=100_000, seed=3)
    assert elements == 100_000
    assert (p_value < 1e-6) == (release is not honest)
    assert what in found or release is honest


def test_a_tail_that_ends_at_a_millionth_shows_among_20_million() -> None:
    def cut(x: Tensor, g: torch.Generator) -> Tensor:
        return x + (2.0 * torch.rand(x.shape, generator=g, dtype=x.dtype) - 1.0).clamp(-1.0 + 1.1e-6, 1.0 - 1.1e-6)

    target = Target("release", cut, Box(-1.0, 1.0, (1,)))
    record = torch.zeros(1, dtype=torch.float64)
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


@pytest.mark.parametrize("name", ["laplace", "gaussian-analytic", "plu-fedoa", "optimized"])
def test_the_declared_law_is_that_of_the_noise(name: str) -> None:
    mechanism = make(name, epsilon=1.0, domain=BOX)
    law = declared_tail(mechanism)
    assert law is not None
    assert noise_misfit(Target.of(mechanism, None), law, RECORDS, elements=40_000, seed=1)[1] > 1e-6


def test_no_law_is_declared_where_a_release_is_not_the_record_plus_noise() -> None:
    assert declared_tail(make("tldp-l", epsilon=1.0, domain=BOX)) is None
    assert declared_tail(make("piecewise", epsilon=1.0, domain=BOX)) is None


class LightTails(Laplace):
    """Cuts the noise where one in 10,000 elements lies."""

    name = "light-tails"

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        end = 9.2 * self.scale
        return x + (add_laplace(x, self.scale, generator) - x).clamp(-end, end)

    _randomize = _release


def test_a_check_reports_it_beside_the_claim() -> None:
    verdict = check(
        LightTails(epsilon=1.0, domain=Box(-1.0, 1.0, (1,))), minutes=10.0, samples=4000, rounds=1, starts=1
    )
    assert not verdict.refuted
    assert "noise" in {finding.kind for finding in verdict.findings}
    assert sum(attempt.error for attempt in verdict.attempts) <= 0.05 + 1e-12
