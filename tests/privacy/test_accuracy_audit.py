"""What an accuracy certifies (docs/mathematics/audits.md#ceiling-on-released-inputs)."""

import math

import pytest

from tensorldp.audit.accuracy import accuracy_audit, accuracy_ceiling, class_ceiling
from tensorldp.audit.thresholds import lower_bound


def test_ceilings() -> None:
    table = {0: 0.1, 0.5: 0.1548, 1: 0.2320, 2: 0.4509, 4: 0.8585, 5: 0.9428, 6: 0.9782}
    assert [accuracy_ceiling(epsilon, 10) for epsilon in table] == pytest.approx(list(table.values()), abs=5e-5)
    assert accuracy_ceiling(math.inf, 10) == accuracy_ceiling(1e6, 10) == accuracy_ceiling(0.0, 10, delta=1.0) == 1.0
    assert accuracy_ceiling(1.0, 2, delta=0.1) == pytest.approx((math.e + 0.1) / (math.e + 1))


def test_an_accuracy_certifies_the_epsilon_whose_ceiling_it_is() -> None:
    for accuracy, epsilon in ((0.9, 4.39), (0.9626, 5.45), (0.9147, 4.57)):
        assert accuracy_audit(round(accuracy * 10**8), 10**8, 10) == pytest.approx(epsilon, abs=0.01)
    found = accuracy_audit(900, 1000, 10, 0.999)
    assert found < math.log(9 * 0.9 / 0.1)
    assert accuracy_ceiling(found, 10) == pytest.approx(float(lower_bound(900, 1000, 0.001)), abs=1e-9)
    assert accuracy_audit(50, 1000, 10) == accuracy_audit(0, 10, 10) == 0.0


def test_unbalanced_classes_use_the_share_of_the_largest() -> None:
    assert accuracy_audit(630, 1000, 2, largest_class=0.63) == 0.0  # always guessing the largest class proves nothing
    plain = math.log(0.9 * 0.37 / (0.1 * 0.63))
    assert accuracy_audit(10**9 * 9 // 10, 10**9, 2, largest_class=0.63) == pytest.approx(plain, abs=1e-3)
    for shares in ([0.1] * 10, [0.5, 0.5]):
        by_shares = accuracy_audit(900, 1000, len(shares), shares=shares)
        assert by_shares == pytest.approx(accuracy_audit(900, 1000, 2, largest_class=max(shares)), abs=1e-6)


def test_unequal_shares_prove_more_than_the_largest_alone() -> None:
    shares = [0.5, 0.3, 0.1, 0.1]
    tight = accuracy_audit(900, 1000, 4, shares=shares)
    assert tight > accuracy_audit(900, 1000, 4, largest_class=0.5) + 0.1
    assert class_ceiling(tight, 0.0, shares) == pytest.approx(float(lower_bound(900, 1000, 0.05)), abs=1e-6)
    assert accuracy_audit(500, 1000, 4, shares=shares) == 0.0
