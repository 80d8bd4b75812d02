"""Accuracies that the papers print, at the epsilon that they print: open marks of the frontier's figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PrintedPoint:
    """One number of a paper.

    Attributes:
        paper, dataset: which paper, on which data set.
        epsilon: as the paper prints it.
        value: accuracy on test records, or F1 where the paper prints that.
        place: where in the paper.
        sentence: what it says there.
    """

    paper: str
    dataset: str
    epsilon: float
    value: float
    place: str
    sentence: str


_LATENT = "Table 2: Accuracy comparison of the results of LATENT against the existing methods"
PRINTED = (
    PrintedPoint(
        "TLDP",
        "mnist",
        1.0,
        0.9,
        "section 5.3.1, on Figure 1",
        "On the MNIST and SVHN datasets, the score reaches approximately 90% when ϵ is below 1.",
    ),
    PrintedPoint("LATENT", "mnist", 0.5, 0.9626, "Table 2, MNIST, Testing", _LATENT),
    PrintedPoint("LATENT", "mnist", 2.0, 0.9634, "Table 2, MNIST, Testing", _LATENT),
    PrintedPoint("LATENT", "cifar10", 0.5, 0.9147, "Table 2, CIFAR-10, Testing", _LATENT),
    PrintedPoint("LATENT", "cifar10", 2.0, 0.9173, "Table 2, CIFAR-10, Testing", _LATENT),
)
