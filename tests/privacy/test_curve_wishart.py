"""The curve of normal rows whose covariance shows a replaced row."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.wishart import WishartCurve
from tensorldp.errors import InputError


def by_integration(share: float, rows: int, epsilon: float) -> float:
    """delta of two coordinates, of 1 + q and 1 / (1 + q) times the variance: the loss is q/2 (X - Y / (1 + q))."""

    def given(y: float) -> float:
        least = 2 * epsilon / share + y / (1 + share)  # of X
        factor = math.exp(share * least / 2 - rows / 2 * math.log1p(share))
        return float((chi2.sf(least, rows) - factor * chi2.sf((1 + share) * least, rows)) * chi2.pdf(y, rows))

    return float(quad(given, chi2.ppf(1e-18, rows), chi2.isf(1e-18, rows), epsabs=0, epsrel=1e-11, limit=500)[0])


@pytest.mark.parametrize(("share", "rows"), [(1.0, 6), (0.3, 119), (5.0, 20), (0.05, 119), (0.01, 1000)])
def test_delta_is_that_of_the_two_coordinates(share: float, rows: int) -> None:
    curve = WishartCurve(share, rows)
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        assert curve.delta(epsilon) == pytest.approx(by_integration(share, rows, epsilon), rel=1e-9)
        if curve.delta(epsilon) < 0.9:
            assert curve.epsilon(curve.delta(epsilon)) == pytest.approx(epsilon, rel=1e-6, abs=1e-9)


def test_many_rows_and_little_share_give_the_normal_law() -> None:
    curve, normal = WishartCurve(1e-9, 10**9), GaussianCurve(1e-9 * math.sqrt(1e9))
    for delta in (1e-6, 1e-8, 1e-10):
        assert curve.epsilon(delta) == pytest.approx(normal.epsilon(delta), rel=1e-3)


def test_uses_are_rows() -> None:
    assert WishartCurve(0.1, 20).compose(3).delta(0.7) == WishartCurve(0.1, 60).delta(0.7)


def test_a_smaller_share_never_has_a_larger_delta() -> None:
    shares = [1e-33, 1e-24, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 1e3, 1e15, 1e40]
    for epsilon in (0.0, 1e-6, 0.1, 10.0):
        found = [WishartCurve(share, 119).delta(epsilon) for share in shares]
        assert (np.diff(found) >= -1e-13).all()
    assert WishartCurve(1e-33, 119).delta(0.0) > 0.0


def test_mistakes_are_told() -> None:
    for share, rows, words in ((-1.0, 5, "share"), (math.nan, 5, "share"), (1.0, 0, "rows"), (1.0, 10**21, "rows")):
        with pytest.raises(InputError, match=words):
            WishartCurve(share, rows)
