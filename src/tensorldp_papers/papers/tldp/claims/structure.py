"""TLDP's statements about a tensor's structure, and about the activation that keeps features in range."""

from __future__ import annotations

import math

from tensorldp.kinds import NO_PRIVACY
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.tldp import TldpLaplace
from tensorldp_papers.claims.base import Finding, NotRun, claim
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.statements import Every, Inside, finding, minus, per_seed
from tensorldp_papers.papers.tldp.claims.scores import F1, IMAGES

STUDY, TANH, RELU6 = "tldp_type2", "mobilenet_v2_tanh", "mobilenet_v2"
SIDE = 28
USUALLY = 0.5  # "preserving" means at the least: more often than not
UNPERTURBED = "frozen weights and no noise, where the paper speaks of what bounded features do for private ones"
PAIRS = SIDE * (SIDE - 1) // 2


@claim("T57", expected="unperturbed F1 of a classifier of the features higher with tanh than with ReLU6")
def tanh_helps(found: Evidence) -> Finding:
    names = [name for name in IMAGES if found.cells(STUDY, dataset=name, mechanism=NO_PRIVACY, backbone=RELU6)]
    if not names:
        raise NotRun(
            f"needs {STUDY} without perturbation on features of {RELU6}, the network with ReLU6, beside {TANH}"
        )
    parts = []
    for name in names:
        with_tanh, without = (
            per_seed(found.rows(STUDY, F1, dataset=name, mechanism=NO_PRIVACY, backbone=backbone))
            for backbone in (TANH, RELU6)
        )
        gap = minus(with_tanh, without)
        parts.append(Inside(f"F1 with tanh minus with ReLU6 on {name}", gap, low=0, weak=f"{name}: {UNPERTURBED}"))
    missing = [name for name in IMAGES if name not in names]
    return finding(Every(parts), condition=f"{', '.join(missing)} not run" if missing else "")


def _kept_symmetric(epsilon: float) -> float:
    """log10 of the probability that TLDP-L leaves a symmetric image symmetric: both sides of each pair must be kept."""
    made = make("tldp-l", epsilon=epsilon, domain=Box(-1, 1, (SIDE, SIDE)))
    assert isinstance(made, TldpLaplace)
    return 2 * PAIRS * made.log_retention / math.log(10)


@claim("T58", expected="the probability that a pair of elements stays equal under independent noise, 0 for a density")
def independent_noise_breaks_symmetry() -> Finding:
    """Two independent draws of a continuous law are equal with probability 0, whatever its scale."""
    made = make("laplace", epsilon=1.0, domain=Box(-1, 1, (SIDE, SIDE)))
    atom = made.curve().atom
    return Finding(
        atom == 0,
        f"the Laplace mechanism's law has atoms of mass {atom:g}, so that each of the {PAIRS} pairs of a {SIDE} x "
        f"{SIDE} tensor stays equal with probability 0; noise on the upper half, copied to the "
        "lower, keeps the symmetry",
        "tensorldp_papers.papers.tldp.claims.structure.independent_noise_breaks_symmetry",
    )


@claim(
    "T59", expected="TLDP leaves a symmetric tensor symmetric more often than not: the structure that the paper names"
)
def structure() -> Finding:
    best = 1 / (SIDE**2 - 1)  # at which an element is kept most often: exp(-(I - 1) epsilon) epsilon / (2 Delta)
    logs = {epsilon: _kept_symmetric(epsilon) for epsilon in (best, 0.1, 1.0, 10.0)}
    return Finding(
        max(logs.values()) > math.log10(USUALLY),
        f"log10 of the probability that a symmetric {SIDE} x {SIDE} tensor stays symmetric: "
        + ", ".join(f"{value:.4g} at nominal {epsilon:.3g}" for epsilon, value in logs.items())
        + f": both sides of all {PAIRS} pairs must be kept, since the noise of TLDP is independent, too",
        "tensorldp_papers.papers.tldp.claims.structure.structure",
    )
