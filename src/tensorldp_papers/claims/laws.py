"""Small finite laws that several claims enumerate, and mechanisms that they use."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tensorldp.audit.accuracy import class_ceiling
from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.latent import Latent
from tensorldp.mechanisms.pldp_fl import Pdpm

TEST_CLASSES = {  # the test images of each class
    "mnist": (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
    "cifar10": (1000,) * 10,
}


def released_ceiling(dataset: str, epsilon: float) -> float:
    """Returns the most that a classifier can reach on epsilon-LDP releases of a data set's test images."""
    counts = TEST_CLASSES[dataset]
    return class_ceiling(epsilon, 0.0, [count / sum(counts) for count in counts])


def curve_of(p: Iterable[float], q: Iterable[float]) -> DiscreteCurve:
    """Returns the privacy curve of a pair of mass functions without zeros."""
    return DiscreteCurve(tuple(math.log(v) for v in p), tuple(math.log(v) for v in q))


def two_coins(heads: float, second: float) -> DiscreteCurve:
    """Returns the truth where the first coin (bias `heads`) says so, else what the second (bias `second`) shows."""
    yes, no = heads + (1 - heads) * second, (1 - heads) * second
    return curve_of((yes, 1 - yes), (no, 1 - no))


def pdpm(epsilon: float, length: float, count: int = 1) -> Pdpm:
    """Makes PDPM on `count` weights in [-length/2, length/2]."""
    return Pdpm(epsilon=epsilon, domain=Box(-length / 2, length / 2, (count,)))


def latent(epsilon: float, reading: str, *, values: int = 9216, whole: int = 4, fraction: int = 5) -> Latent:
    """Makes LATENT on `values` features that fill its code, MNIST's by default."""
    top = float(1 << whole)
    made = make(
        "latent", epsilon=epsilon, domain=Box(-top, top, (values,)), whole=whole, fraction=fraction, reading=reading
    )
    assert isinstance(made, Latent)
    return made


def cifar_latent(epsilon: float, reading: str) -> Latent:
    """Makes LATENT on CIFAR-10's 2,304 features with 1 + 2 + 7 bits each."""
    return latent(epsilon, reading, values=2304, whole=2, fraction=7)


def squared_error(name: str, domain: Box, epsilon: float = 1.0, **options: Any) -> float:
    """Computes the expected squared error of a mechanism with a closed form for it."""
    error = make(name, epsilon=epsilon, domain=domain, **options).squared_error()
    assert error is not None
    return error
