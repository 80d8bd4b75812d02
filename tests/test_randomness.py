"""Draws have their laws, far out too, and depend on nothing but their seed."""

import math
import os
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
import torch
from scipy import stats

from tensorldp import randomness
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.privacy import audit
from tensorldp.randomness import (
    SEGMENT,
    WORDS,
    add_gaussian,
    add_laplace,
    check_generator,
    complement,
    complement_each,
    derive_seed,
    generator,
    numpy_generator,
    sparse_positions,
    standard_normal,
    uniform,
    uniform_each,
    unpredictable_generator,
)

RARE = 5e-7  # the chance that a right sampler fails on either side of a bound
each_noise = pytest.mark.parametrize(("add", "law"), [(add_laplace, stats.laplace), (add_gaussian, stats.norm)])


@pytest.mark.parametrize("draws", [10**7, pytest.param(10**8, marks=pytest.mark.weekly)])
@each_noise
def test_tails_are_there_as_far_out_as_so_many_draws_go(add: Any, law: Any, draws: int) -> None:
    source, zero, largest = generator("tails", law.name), torch.zeros(10**6), 0.0
    bounds = {law.isf(expected / draws / 2): expected for expected in (5000, 500, 50)}
    found = dict.fromkeys(bounds, 0)
    for _ in range(draws // len(zero)):
        size = add(zero, 2.0, source).abs() / 2.0
        assert bool(torch.isfinite(size).all())
        largest = max(largest, float(size.max()))
        for bound in bounds:
            found[bound] += int((size > bound).sum())
    for bound, expected in bounds.items():
        assert stats.poisson.ppf(RARE, expected) <= found[bound] <= stats.poisson.isf(RARE, expected)
    assert law.isf(-math.log(RARE) / draws / 2) < largest < law.isf(RARE / draws / 2)


@each_noise
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_laws_are_those_of_fine_draws(add: Any, law: Any, dtype: torch.dtype) -> None:
    zero = torch.zeros(200_000, dtype=dtype)
    found = add(zero, 1.5, generator("ks"))
    assert stats.kstest(found.numpy(), law(scale=1.5).cdf).pvalue > 1e-6
    # of uniforms with 24 bits 1,200 would be there twice, and a Laplace law would end at 16.6
    assert dtype == torch.float32 or len(found.unique()) == len(zero)
    assert stats.kstest(standard_normal(zero, generator("ks")).numpy(), stats.norm.cdf).pvalue > 1e-6


def test_uniform_is_open_and_uniform() -> None:
    u = uniform((300_000,), generator("uniform")).numpy()
    assert 0.0 < u.min() <= u.max() < 1.0
    assert stats.kstest(u, stats.uniform.cdf).pvalue > 1e-6


@pytest.mark.parametrize("probability", [0.0, 1e-30, 1e-6, 0.01, 0.3, 1.0])
def test_sparse_positions(probability: float) -> None:
    count, source, trials = 1000, generator("sparse", probability), 500
    hits = np.zeros(count)
    for _ in range(trials):
        found = sparse_positions(count, probability, source)
        assert len(np.unique(found)) == len(found)
        hits[found] += 1
    assert stats.binomtest(int(hits.sum()), trials * count, probability).pvalue > 1e-6
    if 0.001 < probability < 1.0:
        expected = trials * probability
        assert stats.chi2.sf(((hits - expected) ** 2 / (expected * (1 - probability))).sum(), count) > 1e-6


def test_the_last_of_all_draws_is_below_one_and_its_complement_has_all_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    class Last(np.random.Generator):
        def integers(self, low: Any, high: Any = None, size: Any = None, **options: Any) -> Any:  # type: ignore[override]
            return np.full(size, high - 1, dtype=np.uint64)

    monkeypatch.setattr(randomness, "numpy_generator", lambda _: Last(np.random.SFC64(1)))
    last = uniform((10_000,), generator("last")).numpy()
    assert last.max() < 1.0
    rest = complement(last, np.random.default_rng(1).random)
    assert stats.kstest(rest, stats.uniform(scale=2.0**-40).cdf).pvalue > 1e-6
    assert len(np.unique(rest)) == len(rest)


@pytest.mark.parametrize("probability", [2.0**-41, 2.0**-81])
def test_hits_too_rare_for_a_draw_of_53_bits_are_drawn(probability: float, monkeypatch: pytest.MonkeyPatch) -> None:
    class Rare(np.random.Generator):
        def integers(self, low: Any, high: Any = None, size: Any = None, **options: Any) -> Any:  # type: ignore[override]
            return 0

    rng = Rare(np.random.SFC64(1))
    monkeypatch.setattr(randomness, "numpy_generator", lambda _: rng)
    hits = sum(len(sparse_positions(1, probability, generator("rare"))) for _ in range(4000))
    assert stats.binomtest(hits, 4000, -math.expm1(-0.5)).pvalue > 1e-6


def test_seeds() -> None:
    assert derive_seed("a", 1) == derive_seed("a", 1)
    assert len({derive_seed("a", 1), derive_seed("a", 2), derive_seed("ab", "c"), derive_seed("a", "bc")}) == 4
    assert 0 <= derive_seed("a") < 2**63
    source = generator("numpy")
    assert numpy_generator(source).random() != numpy_generator(source).random()
    with pytest.raises(InputError, match=r"a number or a text here, got a torch.Generator"):
        audit(make("laplace", epsilon=1.0, domain=Box(0, 1, (4,))), samples=2000, seed=cast(int, source))
    with pytest.raises(InputError, match=r"torch.Generator"):
        check_generator(np.random.default_rng(0), torch.zeros(1))


def test_a_seed_on_the_cpu_is_worth_32_bits_as_the_pages_say() -> None:
    same, another = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5 + (7 << 32))
    assert torch.equal(same.get_state()[8:], another.get_state()[8:])
    x = torch.zeros(50)
    assert torch.equal(add_laplace(x, 1.0, same), add_laplace(x, 1.0, another))


def test_every_word_of_an_unpredictable_generator_comes_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    entropy = [np.random.default_rng(0).bytes(n) for n in (8, 4 * 624)]
    given = iter(entropy)
    monkeypatch.setattr(os, "urandom", lambda n: next(given)[:n])
    source = unpredictable_generator()
    assert source.initial_seed() == int.from_bytes(entropy[0], "big")
    twister = np.random.MT19937(0)  # another program for the same generator
    twister.state = {"bit_generator": "MT19937", "state": {"key": np.frombuffer(entropy[1], np.uint32), "pos": 624}}
    pairs = twister.random_raw(3 * 624).reshape(-1, 2)
    found = torch.empty(len(pairs), dtype=torch.int64).random_(generator=source).numpy()
    assert np.array_equal(found.astype(np.uint64), (pairs[:, 0] << np.uint64(32) | pairs[:, 1]) % np.uint64(2**63))


def test_unpredictable_generators_differ_in_every_word_and_draw_like_others() -> None:
    first, second = (unpredictable_generator().get_state().view(torch.int64)[WORDS] for _ in range(2))
    assert int((first == second).sum()) <= 2  # three are equal by chance once in 10^21 times
    assert int(first.min()) >= 0
    assert int(first.max()) < 2**32
    for name in ("laplace", "laplace-secure", "privunit", "k-rr"):
        m = make(name, epsilon=1.0, domain=Box(0, 1, (64,)))
        x = torch.zeros(20, 64)
        released, again = (m.privatize(x, unpredictable_generator()) for _ in range(2))
        assert not torch.equal(released, again)
    z = add_gaussian(torch.zeros(200_000), 1.0, unpredictable_generator()).numpy()
    assert stats.kstest(z, stats.norm.cdf).pvalue > 1e-9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_an_unpredictable_generator_on_a_device_has_a_seed_of_64_bits() -> None:
    seeds = {unpredictable_generator("cuda").initial_seed() for _ in range(8)}
    assert len(seeds) == 8
    assert max(seeds) > 2**53


@each_noise
def test_draws_do_not_depend_on_threads_and_segments_differ(add: Any, law: Any) -> None:
    zero = torch.zeros(3 * SEGMENT + 5, dtype=torch.float64)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(add(zero, 1.0, generator("threads")))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*found)
    correlation = np.corrcoef(found[0][: 3 * SEGMENT].reshape(3, SEGMENT).numpy())[np.triu_indices(3, 1)]
    assert np.abs(correlation).max() < 5.1 / math.sqrt(SEGMENT)  # 1e-6 over three pairs


def test_laplace_signs_are_fair_and_independent() -> None:
    z = add_laplace(torch.zeros(8 * 250_000, dtype=torch.float64), 1.0, generator("signs")).sign().reshape(-1, 8)
    correlation = (z.T @ z) / len(z) - torch.eye(8, dtype=torch.float64)
    assert float(correlation.abs().max()) < 5.5 / math.sqrt(len(z))  # 1e-6 over 28 pairs
    assert float(z.mean(dim=0).abs().max()) < 5.3 / math.sqrt(len(z))


@pytest.mark.parametrize("fine", [randomness.FINE, 0.1])  # with the larger, hundreds of draws are made anew
def test_draws_for_many_sources_are_those_of_each_alone(fine: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "FINE", fine)
    sources, again = ([generator("many", i) for i in range(5)] for _ in range(2))
    u = uniform_each(1_000, sources)
    rest = complement_each(u, sources)
    for i, source in enumerate(again):
        alone = uniform((1_000,), source)
        assert torch.equal(u[i], alone)
        assert torch.equal(rest[i], complement(alone, partial(uniform, source=source)))
        assert torch.equal(sources[i].get_state(), source.get_state())
    assert uniform_each(3, []).shape == (0, 3)
