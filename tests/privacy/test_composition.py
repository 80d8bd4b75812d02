"""Guarantees of many uses."""

import math
import subprocess
import sys
import time
from typing import Any

import pytest

from tensorldp import privacy
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make


def test_rounds_of_laplace() -> None:
    mechanism = make("laplace", epsilon=1.0, domain=Box(0, 1, (6,)))
    once, often = (privacy.compose(mechanism, count=n, delta=0.0) for n in (1, 10))
    assert (once.epsilon, once.unit) == (pytest.approx(1.0), "record")
    assert (often.epsilon, often.unit, often.exact) == (pytest.approx(10.0), "run", True)
    assert privacy.compose(mechanism, count=10, delta=1e-5).epsilon < 10.0


def test_rounds_of_gaussian() -> None:
    mechanism = make("gaussian-analytic", epsilon=1.0, domain=Box(0, 1, (6,)))
    assert privacy.compose(mechanism, count=1, delta=1e-5).epsilon == pytest.approx(1.0)
    assert privacy.compose(mechanism, count=5, delta=0.0).epsilon == math.inf


def test_note_is_kept() -> None:
    mechanism = make("tldp-l", epsilon=1.0, domain=Box(0, 255, (28, 28)))
    assert privacy.compose(mechanism, count=3, delta=1e-5).note == mechanism.note != ""


def test_a_model_over_fifty_rounds_within_a_second() -> None:
    mechanism = make("tldp-l", epsilon=100.0, domain=Box(-1, 1, (2_236_682,)))
    start = time.perf_counter()
    guarantee = privacy.compose(mechanism, count=50, delta=1e-5)
    assert time.perf_counter() - start < 1.0
    assert guarantee.epsilon == pytest.approx(50 * 2_236_682 * 99, rel=1e-4)  # the mean a - 1 per weight


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_bad_count(count: Any) -> None:
    with pytest.raises(InputError, match="count"):
        privacy.compose(make("laplace", epsilon=1.0, domain=Box(0, 1, (6,))), count=count, delta=1e-5)


def test_bad_delta_and_mechanism() -> None:
    with pytest.raises(InputError, match="delta"):
        privacy.compose(make("laplace", epsilon=1.0, domain=Box(0, 1, (6,))), count=2, delta=1.0)
    with pytest.raises(InputError, match="mechanism"):
        privacy.compose("laplace", count=2, delta=1e-5)  # type: ignore[arg-type]


@pytest.mark.slow
def test_either_package_imports_first() -> None:
    for code in (
        "import tensorldp.privacy, tensorldp.mechanisms",
        "import tensorldp.mechanisms, tensorldp.privacy",
        "from tensorldp.privacy import audit, compose, Audit, Guarantee; import tensorldp.mechanisms",
    ):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError):
        privacy.nothing  # noqa: B018
