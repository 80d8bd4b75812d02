"""Scores that the papers print in words or tables, at the epsilon that they print: open marks in figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PrintedPoint:
    """One number of a paper.

    Attributes:
        paper, dataset: which paper, on which data set.
        epsilon: as the paper prints it.
        value: accuracy on test records, or F1 where the paper prints that.
        study, metric: what computes it here.
        place: where in the paper.
        sentence: what it says there.
    """

    paper: str
    dataset: str
    epsilon: float
    value: float
    study: str
    metric: str
    place: str
    sentence: str


_LATENT = "Table 2: Accuracy comparison of the results of LATENT against the existing methods"
PRINTED = (
    PrintedPoint(
        "TLDP",
        "mnist",
        1.0,
        0.9,
        "tldp_type1",
        "weighted_f1",
        "section 5.3.1, on Figure 1",
        "On the MNIST and SVHN datasets, the score reaches approximately 90% when ϵ is below 1.",
    ),
    PrintedPoint("LATENT", "mnist", 0.5, 0.9626, "latent", "accuracy", "Table 2, MNIST, Testing", _LATENT),
    PrintedPoint("LATENT", "mnist", 2.0, 0.9634, "latent", "accuracy", "Table 2, MNIST, Testing", _LATENT),
    PrintedPoint("LATENT", "cifar10", 0.5, 0.9147, "latent", "accuracy", "Table 2, CIFAR-10, Testing", _LATENT),
    PrintedPoint("LATENT", "cifar10", 2.0, 0.9173, "latent", "accuracy", "Table 2, CIFAR-10, Testing", _LATENT),
)
