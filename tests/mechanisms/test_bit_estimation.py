"""LATENT's section 3.3 by enumeration."""

import math

import pytest

from tensorldp.mechanisms.bits import estimated_ones, estimation_error, mean_errors, nth_with_ones


def with_ones(length: int, ones: int) -> list[int]:
    return [number for number in range(1 << length) if number.bit_count() == ones]


def test_the_printed_base_case_is_wrong() -> None:
    def printed(length: int, ones: int, index: int) -> int:
        if ones == 0 or length == ones:
            return 0 if ones == 0 else 1 << (ones - 1)
        below = math.comb(length - 1, ones)
        if index < below:
            return printed(length - 1, ones, index)
        return (1 << (length - 1)) + printed(length - 1, ones - 1, index - below)

    kinds = [(length, ones) for length in range(1, 8) for ones in range(length + 1)]
    right = [printed(*kind, i) == number for kind in kinds for i, number in enumerate(with_ones(*kind))]
    assert (len(right), right.count(False)) == (254, 63)  # docs/mathematics/papers.md#latent
    assert all(nth_with_ones(*kind, i) == number for kind in kinds for i, number in enumerate(with_ones(*kind)))


@pytest.mark.parametrize("reading", ["A", "B"])
def test_the_error_is_the_smallest_over_all_candidates(reading: str) -> None:
    for released in range(64):
        ones = estimated_ones(released, 6, 0.7, reading)  # type: ignore[arg-type]
        gaps = [released - x for x in with_ones(6, ones)]
        least = min(map(abs, gaps))
        found = estimation_error(released, 6, 0.7, reading)  # type: ignore[arg-type]
        assert sorted(found) == sorted(gap for gap in gaps if abs(gap) == least)


def test_the_estimated_count_inverts_each_readings_own_law() -> None:
    # 10 bits, 8 ones, p = 0.8: reading A keeps 0.8 and flips 0.2, reading B keeps 0.9 and flips 0.1
    assert estimated_ones(0b1111111100, 10, 0.8, "A") == 10  # (0.8 - 0.2) / 0.6 = 1
    assert estimated_ones(0b1111111100, 10, 0.8, "B") == 9  # (1.6 - 0.2) / 1.6 = 0.875
    assert estimated_ones(0, 10, 0.8, "B") == 0  # -0.125, cut
    assert estimated_ones(0b1011, 4, 1.0, "B") == 3


def test_mean_errors_by_enumeration() -> None:
    keep = 0.85  # reading B, p = 0.7
    flips = {(x, released): (x ^ released).bit_count() for x in range(16) for released in range(16)}
    total = sum(keep ** (4 - k) * (1 - keep) ** k * abs(x - y) / 16 for (x, y), k in flips.items())
    claimed = sum(abs(estimation_error(released, 4, 0.7)[0]) for released in range(16)) / 16
    assert mean_errors(4, 0.7) == pytest.approx((claimed, total), rel=1e-12)
    assert mean_errors(4, 1.0) == (0.0, 0.0)
