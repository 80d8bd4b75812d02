"""TVG's statements about covariance estimation on CTG (Figure 5), decided from our runs of the study.

Residual sums of squares span decades, so orders are of log10 RSS. The paper's Eq. 33 has the eigenvalues of the
estimate, the paper of MVG those of the true covariance: a statement holds if it holds of one of the two, which is then
named. "As good as" is within 0.1 in log10, a quarter of the value, which such an axis over decades does not show.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from tensorldp_papers.claims.base import Finding, claim
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.statements import ALPHA, Every, Inside, Some, Statement, finding, minus, per_seed

STUDY, DATASET = "tvg_covariance", "ctg"
METRICS = {"rss_noisy": "the eigenvalues of the estimate", "rss_true": "those of the true covariance"}
ALIKE = 0.1
MECHANISMS = ("gaussian-per-element", "idn", "jl", "matrix", "mvg", "udn")


def _by_definition(found: Evidence, test: Callable[[pd.DataFrame], Statement]) -> Finding:
    """The finding of a statement with either definition of RSS; one of which it holds is enough, and is named."""
    parts = []
    for metric in METRICS:
        rows = found.rows(STUDY, metric, dataset=DATASET, mechanism=MECHANISMS, sensitivity=None)
        parts.append(test(rows.assign(value=np.log10(rows["value"]))))
    chances = ALPHA / len(parts), ALPHA
    holding = [text for text, part in zip(METRICS.values(), parts, strict=True) if part.decide(*chances)]
    return finding(Some(parts), condition=f"RSS with {holding[0]}" if len(holding) == 1 else "")


def _over(rows: pd.DataFrame, worse: str, better: str, low: float, high: float, epsilon: float | None = None) -> Inside:
    """log10 RSS of one mechanism minus another's, on average over the epsilons or at one."""
    rows = rows if epsilon is None else rows[rows["epsilon"] == epsilon]
    means = [per_seed(rows[rows["mechanism"] == name]) for name in (worse, better)]
    at = "" if epsilon is None else f" at epsilon {epsilon:g}"
    return Inside(f"log10 RSS of {worse} minus {better}{at}", minus(means[0], means[1]), low, high)


@claim("V27", expected="log10 RSS of JL and of the matrix mechanism above that of UDN and of IDN, on average")
def worse_than_directional(found: Evidence) -> Finding:
    pairs = [(worse, better) for worse in ("jl", "matrix") for better in ("udn", "idn")]
    return _by_definition(found, lambda rows: Every([_over(rows, *pair, 0, np.inf) for pair in pairs]))


@claim(
    "V28",
    expected=f"log10 RSS of the matrix mechanism within {ALIKE} of Gaussian's, and above IDN's, on average "
    "(the first by construction)",
)
def matrix_as_gaussian(found: Evidence) -> Finding:
    def test(rows: pd.DataFrame) -> Statement:
        alike = _over(rows, "matrix", "gaussian-per-element", -ALIKE, ALIKE)
        return Every([alike, _over(rows, "matrix", "idn", 0, np.inf)])

    decided = _by_definition(found, test)
    note = "with W = E, as here, the matrix mechanism and Gaussian are one noise by construction, so that only the "
    return replace(decided, observed=f"{decided.observed}; {note}comparison with IDN could fail")


@claim("V29", expected="at every epsilon log10 RSS of IDN below UDN's, UDN's below MVG's and MVG's below JL's")
def distinguished(found: Evidence) -> Finding:
    order = ("idn", "udn", "mvg", "jl")

    def test(rows: pd.DataFrame) -> Statement:
        return Every(
            [
                _over(rows, worse, better, 0, np.inf, float(epsilon))
                for epsilon in sorted(rows["epsilon"].unique())
                for better, worse in itertools.pairwise(order)
            ]
        )

    return _by_definition(found, test)
