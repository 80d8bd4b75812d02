"""Functions that quotes may name: bounds that need no run."""

from __future__ import annotations

from collections.abc import Callable

MNIST_TEST = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)  # images of each digit among the 10,000


def mnist_ceiling(epsilon: float | str) -> float:
    """The most that a classifier can reach on eps-LDP releases of MNIST's test images, whose classes are unequal."""
    from tensorldp.privacy.auditing.ceiling import class_ceiling  # torch loads here

    total = sum(MNIST_TEST)
    return class_ceiling(float(epsilon), 0.0, [count / total for count in MNIST_TEST])


FUNCTIONS: dict[str, Callable[..., float]] = {"mnist_ceiling": mnist_ceiling}
