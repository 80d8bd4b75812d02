"""Planted lies are refuted, honest randomizers are not. Few rounds for each: benchmarks/lies.py takes more."""

import pytest
from case import Case
from honest import HONEST
from planted import LIES

from tensorldp.check import Verdict, check

SUBTLE = {  # they need more releases than a test may take: benchmarks/lies.py finds them
    "10 % too little noise",
    "a near-copy with probability 1e-3",
    "delta ten times too small",
    "batch-norm before perturbing",
    "an infinity that only one record gives",
}


def verdict(case: Case, *, samples: int, rounds: int, starts: int | None, confidence: float) -> Verdict:
    return check(
        case.make(),
        domain=case.domain,
        claim_epsilon=case.epsilon,
        claim_delta=case.delta,
        floating_point=case.floating_point,
        minutes=10.0,  # the rounds end a check, on a slow machine too
        samples=samples,
        rounds=rounds,
        starts=starts,
        confidence=confidence,
    )


def test_the_suite_is_large_and_its_names_differ() -> None:
    assert len(LIES) >= 20
    assert len(HONEST) >= 20
    assert len({case.name for case in (*LIES, *HONEST)}) == len(LIES) + len(HONEST)
    assert {case.name for case in LIES} >= SUBTLE


@pytest.mark.parametrize("case", [case for case in LIES if case.name not in SUBTLE], ids=lambda case: case.name)
def test_a_lie_is_refuted(case: Case) -> None:
    found = verdict(case, samples=30_000, rounds=6, starts=None, confidence=0.95)
    assert found.refuted, found


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_an_honest_randomizer_is_not(case: Case) -> None:
    found = verdict(case, samples=256, rounds=1, starts=1, confidence=1 - 1e-6)  # a false alarm once in 10^6 runs
    assert not found.refuted, found
