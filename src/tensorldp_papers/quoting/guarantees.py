"""Functions that quotes may name: bounds that need no run."""

from __future__ import annotations

from collections.abc import Callable

MNIST_TEST = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)  # images of each digit among the 10,000


def mnist_ceiling(epsilon: float | str) -> float:
    """The most that a classifier can reach on eps-LDP releases of MNIST's test images, whose classes are unequal."""
    from tensorldp.audit.ceiling import class_ceiling  # torch loads here

    total = sum(MNIST_TEST)
    return class_ceiling(float(epsilon), 0.0, [count / total for count in MNIST_TEST])


def pdpm_upload(epsilon: float | str, weights: float | str, delta: float | str) -> float:
    """What one upload by PDPM has at least: exact for two models whose weights lie at opposite ends of all ranges."""
    from scipy.optimize import brentq

    from tensorldp.mechanisms.pdpm import PdpmCurve

    curve = PdpmCurve(float(epsilon), int(weights))
    return float(brentq(lambda e: curve.forward(e) - float(delta), 0.0, curve.pure_epsilon))


FUNCTIONS: dict[str, Callable[..., float]] = {"mnist_ceiling": mnist_ceiling, "pdpm_upload": pdpm_upload}
