"""Checks of mechanisms and functions."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorldp import privacy
from tensorldp.check.check import check
from tensorldp.check.claim import Claim
from tensorldp.check.verdict import page, write_verdict
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.mechanisms.sampled_coordinates import Piecewise

BOX = Box(-1.0, 1.0, (2,))


def no_noise(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.clone()


def test_a_gross_lie_is_found_after_a_few_hundred_releases() -> None:
    verdict = privacy.check(no_noise, domain=BOX, claim_epsilon=1.0, minutes=10.0)
    assert verdict.refuted
    assert verdict.attempts[0].samples < 1000
    assert verdict.epsilon_lower >= 1.0 or verdict.findings[0].kind == "locality"


def test_the_claim_of_a_mechanism_is_its_curve_and_a_right_one_stands() -> None:
    verdict = check(make("laplace", epsilon=1.0, domain=BOX), minutes=10.0, samples=1000, rounds=1, seed=1)
    assert not verdict.refuted
    assert verdict.epsilon_lower <= 1.0
    assert {finding.kind for finding in verdict.findings} <= {"floating point"}
    assert sum(attempt.error for attempt in verdict.attempts) <= 0.05 + 1e-12


def test_rounds_end_a_check_at_the_same_releases_on_every_machine() -> None:
    first, again = (
        check(make("k-rr", epsilon=1.0, domain=Box(0, 3, (2,))), minutes=minutes, samples=256, rounds=1, starts=1)
        for minutes in (10.0, 20.0)
    )
    assert (first.samples, first.epsilon_lower) == (again.samples, again.epsilon_lower)
    assert [a.samples for a in first.attempts] == [a.samples for a in again.attempts]
    assert [a.outcome for a in first.attempts] == [a.outcome for a in again.attempts]


def test_what_floats_give_away_refutes_only_a_claim_that_includes_them() -> None:
    mechanism = make("laplace", epsilon=1.0, domain=Box(-1.0, 1.0, (1,)))
    options: dict[str, Any] = {"minutes": 10.0, "samples": 1000, "rounds": 3, "dtypes": (torch.float32,)}
    beside, included = (check(mechanism, floating_point=claimed, **options) for claimed in (False, True))
    assert [finding.kind for finding in beside.findings] == ["floating point"]
    assert not beside.refuted
    assert included.refuted


class HalfCurve(Laplace):
    """Claims half its epsilon."""

    name = "half-curve"

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(0.5 * self.box.width / self.scale, self.size)


class WrongDensity(Piecewise):
    """Declares the likelihood ratio with the wrong sign."""

    name = "wrong-density"

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        return super().log_likelihood_ratio(y, x_prime, x)


class WrongError(Laplace):
    """States half its error."""

    name = "wrong-error"

    def squared_error(self) -> float:
        return super().squared_error() / 2.0


def test_a_large_claim_is_still_held_against_its_own_density() -> None:
    verdict = check(HalfCurve(epsilon=100.0, domain=Box(-1.0, 1.0, (1,))), minutes=10.0, samples=1000, rounds=1)
    assert verdict.refuted
    assert verdict.findings[0].kind == "declaration"


@pytest.mark.parametrize(("cls", "kind"), [(WrongDensity, "density"), (WrongError, "squared error")])
def test_other_declarations_are_found_wrong_without_refuting_the_claim(cls: type, kind: str) -> None:
    verdict = check(cls(epsilon=1.0, domain=BOX), minutes=10.0, samples=2000, rounds=1, starts=1)
    assert kind in {finding.kind for finding in verdict.findings}
    assert not verdict.refuted


def test_a_claim_of_a_curve_keeps_the_points_that_counting_can_reach() -> None:
    claim = Claim.of_curve(GaussianCurve(1.0), "record")
    assert (0.0, GaussianCurve(1.0).delta(0.0)) in claim.points
    assert all(math.isfinite(epsilon) for epsilon, _ in claim.points)
    assert Claim.point(50.0).countable == ()


def test_the_page_stands_alone_and_the_json_is_plain(tmp_path: Path) -> None:
    verdict = check(no_noise, domain=BOX, claim_epsilon=1.0, minutes=10.0)
    path = write_verdict(tmp_path / "out", verdict)
    text = path.read_text()
    assert text == page(verdict)
    assert "http" not in text
    assert "The claim is refuted." in text
    assert "<rect" in text
    found = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert found["refuted"] is True
    assert found["findings"][0]["event"] == verdict.findings[0].event


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "domain"),
        ({"domain": BOX}, "claim_epsilon"),
        ({"domain": BOX, "claim_epsilon": -1.0}, "claimed epsilon"),
        ({"domain": BOX, "claim_epsilon": 1.0, "claim_delta": 1.0}, "claimed delta"),
        ({"domain": BOX, "claim_epsilon": 1.0, "minutes": 0.0}, "minutes"),
        ({"domain": BOX, "claim_epsilon": 1.0, "samples": 10}, "samples"),
        ({"domain": BOX, "claim_epsilon": 1.0, "rounds": 0}, "rounds"),
        ({"domain": BOX, "claim_epsilon": 1.0, "starts": 0}, "starts"),
        ({"domain": BOX, "claim_epsilon": 1.0, "pair": (torch.zeros(3), torch.ones(3))}, "shape"),
        ({"domain": BOX, "claim_epsilon": 1.0, "dtypes": (torch.float16,)}, "dtypes"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(no_noise, **options)


def test_code_that_fails_is_named() -> None:
    def broken(x: Tensor, generator: torch.Generator) -> Tensor:
        raise RuntimeError("out of order")

    with pytest.raises(InputError, match=r"broken failed .* out of order"):
        check(broken, domain=BOX, claim_epsilon=1.0)
    with pytest.raises(InputError, match="one release a record"):
        check(lambda x, g: x.sum(), domain=BOX, claim_epsilon=1.0)
    with pytest.raises(InputError, match="cannot be checked"):
        check(make("jl", epsilon=1.0, domain=Box(-1.0, 1.0, (4, 4))))
