"""Planted lies are refuted, honest randomizers are not. Few rounds for each: benchmarks/lies.py takes more."""

from typing import Any

import pytest
import torch
from honest import HONEST
from planted import LIES, Case

from tensorldp.check import Verdict, check

SUBTLE = {  # they need more releases than a test may take: benchmarks/lies.py finds them
    "10 % too little noise",
    "a near-copy with probability 1e-3",
    "delta ten times too small",
    "batch-norm before perturbing",
    "an infinity that only one record gives",
    "noise cut off in its tails",
}
LONG = {  # in `make test`, a grosser lie of the same kind stands for each
    "half the noise for a record alone",
    "a third of the noise in float32",
    "noise forgotten for 0.3 % of the records, which are in other units",
}
FLOATS = {
    "denormal numbers for zeros",
    "the record's sign on zeros",
    "overflow in float32",
    "two-sided geometric, floats included",
}


def verdict(case: Case, **options: Any) -> Verdict:
    return check(
        case.make(),
        domain=case.domain,
        claim_epsilon=case.epsilon,
        claim_delta=case.delta,
        floating_point=case.floating_point,
        minutes=10.0,  # the rounds end a check, on a slow machine too
        **options,
    )


def test_the_suite_is_large_and_its_names_differ() -> None:
    assert len(LIES) >= 20
    assert len(HONEST) >= 20
    assert len({case.name for case in (*LIES, *HONEST)}) == len(LIES) + len(HONEST)
    assert {case.name for case in LIES} >= SUBTLE


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.weekly] if case.name in LONG else [])
        for case in LIES
        if case.name not in SUBTLE
    ],
)
def test_a_lie_is_refuted(case: Case) -> None:
    found = verdict(case, samples=30_000, rounds=6)
    assert found.refuted, found


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in HONEST if case.epsilon is not None], ids=lambda case: case.name)
def test_an_honest_randomizer_is_not(case: Case) -> None:
    """The mechanisms of the package are checked in tests/privacy/checking/test_check.py."""
    options: Any = {} if case.floating_point else {"dtypes": ()}
    found = verdict(case, samples=256, rounds=1, starts=1, confidence=1 - 1e-6, **options)  # a false alarm in 10^6
    assert not found.refuted, found


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("case", [case for case in (*LIES, *HONEST) if case.name in FLOATS], ids=lambda case: case.name)
def test_what_floats_give_away_is_found_in_the_format_that_gives_it_away(case: Case, dtype: torch.dtype) -> None:
    leaks = case in LIES and (case.name != "overflow in float32" or dtype != torch.float64)
    options = {"confidence": 1 - 1e-6, "starts": None if case in LIES else 1}
    found = verdict(case, samples=1600, rounds=2, dtypes=(dtype,), **options)
    assert ("floating point" in {finding.kind for finding in found.findings}) == leaks
    assert found.refuted == leaks
