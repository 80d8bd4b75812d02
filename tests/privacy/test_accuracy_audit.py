"""Accuracy ceilings and what an accuracy certifies (docs/mathematics/audits.md#ceiling-on-released-inputs)."""

import math
from typing import Any

import pytest

from tensorldp import privacy
from tensorldp.audit.accuracy import accuracy_audit, accuracy_ceiling, class_ceiling
from tensorldp.audit.thresholds import lower_bound
from tensorldp.errors import InputError


@pytest.mark.parametrize(
    ("epsilon", "ceiling"), [(0, 0.1), (0.5, 0.1548), (1, 0.2320), (2, 0.4509), (4, 0.8585), (5, 0.9428), (6, 0.9782)]
)
def test_ceilings(epsilon: int, ceiling: float) -> None:
    assert accuracy_ceiling(epsilon, 10) == pytest.approx(ceiling, abs=5e-5)


def test_ceiling_limits() -> None:
    assert accuracy_ceiling(math.inf, 10) == accuracy_ceiling(1e6, 10) == 1.0
    assert accuracy_ceiling(0.0, 10, delta=1.0) == 1.0
    assert accuracy_ceiling(1.0, 2, delta=0.1) == pytest.approx((math.e + 0.1) / (math.e + 1))


@pytest.mark.parametrize(("accuracy", "epsilon"), [(0.9, 4.39), (0.9626, 5.45), (0.9147, 4.57)])
def test_accuracy_certifies(accuracy: float, epsilon: float) -> None:
    total = 10**8
    assert accuracy_audit(round(accuracy * total), total, 10) == pytest.approx(epsilon, abs=0.01)


def test_bound_is_below_the_plain_estimate_and_inverts_the_ceiling() -> None:
    found = accuracy_audit(900, 1000, 10, 0.999)
    assert found < math.log(9 * 0.9 / 0.1)
    assert accuracy_ceiling(found, 10) < 0.9
    assert accuracy_audit(50, 1000, 10) == 0.0
    assert accuracy_audit(0, 10, 10) == 0.0
    assert privacy.accuracy_audit is accuracy_audit


@pytest.mark.parametrize("arguments", [(11, 10, 10), (5, 0, 10), (5, 10, 1), (5, 10, 10, 1.0)])
def test_bad_arguments(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError):
        accuracy_audit(*arguments)


def test_unbalanced_classes_use_the_share_of_the_largest() -> None:
    from tensorldp.privacy import accuracy_audit

    assert accuracy_audit(900, 1000, 10) == pytest.approx(accuracy_audit(900, 1000, 2, largest_class=0.1))
    assert accuracy_audit(630, 1000, 2, largest_class=0.63) == 0.0  # always guessing the largest class proves nothing
    a = 0.9
    assert accuracy_audit(10**9 * 9 // 10, 10**9, 2, largest_class=0.63) == pytest.approx(
        math.log(a * 0.37 / ((1 - a) * 0.63)), abs=1e-3
    )


@pytest.mark.parametrize("shares", [[0.1] * 10, [0.5, 0.5]])
def test_equal_shares_give_the_closed_form(shares: list[float]) -> None:
    found = accuracy_audit(900, 1000, len(shares), shares=shares)
    assert found == pytest.approx(accuracy_audit(900, 1000, len(shares), largest_class=max(shares)), abs=1e-6)


def test_unequal_shares_prove_more_than_the_largest_alone() -> None:
    shares = [0.5, 0.3, 0.1, 0.1]
    loose, tight = (accuracy_audit(900, 1000, 4, **given) for given in ({"largest_class": 0.5}, {"shares": shares}))
    assert tight > loose + 0.1
    assert class_ceiling(tight, 0.0, shares) == pytest.approx(float(lower_bound(900, 1000, 0.05)), abs=1e-6)
    assert accuracy_audit(500, 1000, 4, shares=shares) == 0.0
    with pytest.raises(InputError, match="shares"):
        accuracy_audit(900, 1000, 2, shares=[0.5, 0.2])
