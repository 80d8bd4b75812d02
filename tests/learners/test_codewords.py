"""Releases of the number of a public codeword: what they stand for, and how many codewords a public task chooses."""

import math
from functools import partial

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse
from tensorldp.randomness import generator
from tensorldp_papers.public.codewords import COUNTS, choose_codewords, decoded, release_codes
from tensorldp_papers.public.dimension import PublicTask
from tensorldp_papers.public.means import LinearScores
from tensorldp_papers.public.projection import principal


def k_rr(values: int, epsilon: float = 1.0) -> KaryRandomizedResponse:
    found = make("k-rr", epsilon=epsilon, domain=Box(0, values - 1, (1,)))
    assert isinstance(found, KaryRandomizedResponse)
    return found


def book(words: torch.Tensor) -> LinearScores:
    return LinearScores(words, -words.square().sum(dim=1) / 2)


WORDS = torch.randn(12, 5, generator=generator("words"))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
def test_a_number_stands_for_its_codeword_on_average(epsilon: float) -> None:
    mechanism = k_rr(12, epsilon)
    vectors = decoded(WORDS.double(), mechanism)
    other = math.exp(mechanism.log_other)
    for word in range(12):  # exactly: over all numbers that may be released in its place
        chances = torch.full((12,), other, dtype=torch.float64)
        chances[word] = mechanism.keep
        assert torch.allclose(chances @ vectors, WORDS[word].double(), atol=1e-12)


def test_releases_are_of_the_nearest_codeword() -> None:
    rows = WORDS[[3, 7]].repeat(20_000, 1) + 0.01
    found = release_codes(rows, book(WORDS), k_rr(12, 4.0), generator("releases"))
    sd = found.std(dim=0) / math.sqrt(20_000)
    for first, word in ((0, 3), (1, 7)):  # ten means of five standard deviations: a false alarm in 170,000
        assert ((found[first::2].mean(dim=0) - WORDS[word]).abs() < 5 * sd).all()


def public_task() -> PublicTask:
    """Four classes of ten groups each."""
    y = torch.arange(2000) % 40
    centres = torch.nn.functional.normalize(torch.randn(40, 16, generator=generator("centres")), dim=1)
    centres += 0.6 * torch.eye(4, 16).repeat(10, 1)
    x = centres[y] + 0.05 * torch.randn(2000, 16, generator=generator("rows"))
    return PublicTask(x[:1000], y[:1000] % 4, x[1000:], y[1000:] % 4, principal(x, 16))


def test_a_larger_epsilon_affords_more_codewords() -> None:
    low, high = (choose_codewords([public_task()], partial(k_rr, epsilon=e), 2_000) for e in (1.0, 8.0))
    assert low.codewords < high.codewords
    assert low.accuracy < high.accuracy > 0.9
    assert low.dimension == high.dimension == 16  # the projection has no more


def test_a_task_too_small_for_codewords_is_refused() -> None:
    whole = public_task()
    small = PublicTask(whole.x[:7], whole.y[:7], whole.x_test, whole.y_test, whole.projection)
    with pytest.raises(InputError, match=f"at least {COUNTS[0]} records"):
        choose_codewords([small], k_rr, 100)
