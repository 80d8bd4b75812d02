"""What LATENT's strings allow at all: the accuracy that no classifier exceeds, the cost of a record, quoted numbers."""

from __future__ import annotations

import math
import time

import torch

from tensorldp.mechanisms.bits import encode_bits
from tensorldp.mechanisms.latent import Latent
from tensorldp.privacy import accuracy_ceiling
from tensorldp.randomness import generator
from tensorldp_papers.claims.base import Finding, cannot_be_checked, claim
from tensorldp_papers.claims.laws import cifar_latent, latent

LARGEST_CLASS = {"mnist": 0.1135, "cifar10": 0.1}  # of the test sets: 1,135 ones, and 1,000 of each
SECONDS = {"mnist": 0.1655, "cifar10": 0.0374}  # per record, section 4.2
TESTS = "tests/privacy/test_accuracy_audit.py"


def clean_ceiling(made: Latent, records: int, chance: float) -> float:
    """The highest accuracy on clean test inputs of a classifier that learns from `records` releases of `made`.

    A record's bits are kappa = r l (ln 2 - h(p)) nats from fair coins at most, so that by Pinsker's inequality all
    of them move the chance of any event by at most sqrt(n kappa / 2).

    See docs/mathematics/audits.md#ceiling-on-clean-inputs.
    """
    s = made.signal
    kappa = made.size * made.bits * ((1 + s) * math.log1p(s) + (1 - s) * math.log1p(-s)) / 2
    return min(1.0, chance + math.sqrt(records * kappa / 2))


def perturbed_ceiling(epsilon: float, chance: float) -> float:
    """The highest accuracy on test inputs that come through an epsilon-LDP channel, with the largest class `chance`."""
    odds = math.exp(epsilon) * chance / (1 - chance)
    return max(odds / (1 + odds), accuracy_ceiling(epsilon, 10))


@claim("A01", expected="96 % and 91 % possible for some classifier at eps = 0.5, with a perturbed or a clean test set")
def headline() -> Finding:
    best, words = {}, []
    for name, made, records in (("mnist", latent(0.5, "A"), 60_000), ("cifar10", cifar_latent(0.5, "A"), 100_000)):
        limits = (perturbed_ceiling(0.5, LARGEST_CLASS[name]), clean_ceiling(made, records, LARGEST_CLASS[name]))
        best[name] = max(limits)
        words.append(
            f"{name} {limits[0]:.3f} on perturbed and {limits[1]:.3f} on clean test images ({records:,} "
            "training records)"
        )
    return Finding(
        best["mnist"] >= 0.96 and best["cifar10"] >= 0.91,
        f"no classifier that knows such releases alone can: at most {' and '.join(words)}; with the "
        f"coins of Eq. 7 epsilon is {latent(0.5, 'B').curve().pure_epsilon:,.0f} and "
        f"{cifar_latent(0.5, 'B').curve().pure_epsilon:,.0f}",
        f"{TESTS}::test_ceilings",
    )


@claim("A15", expected="the numbers of the two papers that are quoted")
def quoted() -> Finding:
    return cannot_be_checked(
        "numbers quoted from two other papers ([ACG+16], [SS15]), whose experiments are not part of this grid"
    )


def _seconds(made: Latent) -> float:
    """To encode and randomise one record on this machine, the best of ten."""
    x = torch.randn(1, made.size, generator=generator("timed"))
    times = []
    for _ in range(10):
        start = time.perf_counter()
        made.privatize_bits(encode_bits(x, whole_bits=made.whole, fraction_bits=made.fraction), generator("coins"))
        times.append(time.perf_counter() - start)
    return min(times)


@claim("A18", expected="no more than the printed seconds per record")
def seconds() -> Finding:
    """The measured times stay out of the text, which would change from run to run."""
    mechanisms = {"mnist": latent(0.5, "A"), "cifar10": cifar_latent(0.5, "A")}
    speed = min(SECONDS[name] / _seconds(made) for name, made in mechanisms.items())
    reached = max((factor for factor in (1, 10, 100) if speed >= factor), default=0)
    bits = [made.size * made.bits for made in mechanisms.values()]
    return Finding(
        speed >= 1,
        f"encoding and randomising a record is {'at least' if reached else 'not'} "
        f"{max(reached, 1)} times as fast here as printed; the printed times are in the ratio "
        f"{SECONDS['mnist'] / SECONDS['cifar10']:.2f}, the bits of a record in {bits[0] / bits[1]:g}",
        "benchmarks/latent.py",
    )
