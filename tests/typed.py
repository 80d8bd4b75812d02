"""What a test knows of a mechanism and the type that `make` returns does not say."""

from typing import Any, TypeVar

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.mechanisms import Domain, Mechanism, make

M = TypeVar("M", bound=Mechanism)


def make_as(
    kind: type[M], name: str | None = None, *, epsilon: float, domain: Domain, delta: float = 1e-5, **options: Any
) -> M:
    """`make(name, ...)`, which is a `kind`; without a name, that of the class."""
    mechanism = make(name or kind.name, epsilon=epsilon, domain=domain, delta=delta, **options)
    assert isinstance(mechanism, kind)
    return mechanism


def exact_error(mechanism: Mechanism) -> float:
    """The squared error of a mechanism that has it in closed form."""
    error = mechanism.squared_error()
    assert error is not None
    return error


def gaussian_mu(curve: PrivacyCurve) -> float:
    """The mu of a Gaussian curve."""
    assert isinstance(curve, GaussianCurve)
    return curve.mu
