"""Every mechanism of the package, checked with little time each; `python -m tensorldp check KEY` takes more."""

import pytest

from tensorldp.check import check
from tensorldp.mechanisms import Box, make, mechanism_class, names

KEYS = [name for name in names() if mechanism_class(name).same_shape]


@pytest.mark.parametrize("name", KEYS)
def test_no_claim_of_ours_is_refuted(name: str) -> None:
    low = 0.0 if mechanism_class(name).integer else -1.0
    mechanism = make(name, epsilon=1.0, domain=Box(low, 1.0, (2, 2)))
    # no limit of time that a slow machine would reach; a false alarm once in 10^6 runs
    found = check(mechanism, minutes=10.0, samples=400, rounds=1, starts=1, confidence=1 - 1e-6)
    assert not found.refuted, found
    declared = ("density", "squared error", "noise", "independence")
    assert [finding.text for finding in found.findings if finding.kind in declared] == []
