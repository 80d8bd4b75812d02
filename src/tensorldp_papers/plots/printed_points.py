"""What the papers print of their scores in words or tables: open marks in figures, with the sentences themselves."""

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
_TLDP_1 = "On the MNIST and SVHN datasets, the score reaches approximately 90% when ϵ is below 1."
PRINTED = (
    PrintedPoint(
        "TLDP",
        "mnist",
        1.0,
        0.9,
        "tldp_type1",
        "weighted_f1",
        "section 5.3.1, on Figure 1",
        _TLDP_1,
    ),
    PrintedPoint("TLDP", "svhn", 1.0, 0.9, "tldp_type1", "weighted_f1", "section 5.3.1, on Figure 1", _TLDP_1),
    PrintedPoint("LATENT", "mnist", 0.5, 0.9626, "latent", "accuracy", "Table 2, MNIST, Testing", _LATENT),
    PrintedPoint("LATENT", "mnist", 2.0, 0.9634, "latent", "accuracy", "Table 2, MNIST, Testing", _LATENT),
    PrintedPoint("LATENT", "cifar10", 0.5, 0.9147, "latent", "accuracy", "Table 2, CIFAR-10, Testing", _LATENT),
    PrintedPoint("LATENT", "cifar10", 2.0, 0.9173, "latent", "accuracy", "Table 2, CIFAR-10, Testing", _LATENT),
)


@dataclass(frozen=True)
class PrintedLevel:
    """A score that a paper states without an epsilon: where its curves end, or stay.

    Attributes:
        study, dataset: what computes it here.
        value: weighted F1.
        who: whose score it is.
        place: where in the paper.
        sentence: what it says there.
    """

    study: str
    dataset: str
    value: float
    who: str
    place: str
    sentence: str


_FIGURE_2, _FIGURE_3 = "section 5.3.2, on Figure 2", "section 5.3.3, on Figure 3"
_TLDP_2 = (
    "For the MNIST dataset, the F1-score reaches a maximum of about 80%, while in CIFAR-10 and SVHN, the increase is "
    "much more limited, with F1-scores hovering around 40% finally."
)
_TLDP_3 = "both TLDP methods consistently achieve accuracy levels of around 80%."
_OTHERS_3 = "the accuracy of the Laplace, Gaussian, MVG, and IDN mechanisms improves to around 40%"
LEVELS = (
    PrintedLevel(
        "tldp_type1",
        "cifar10",
        0.7,
        "TLDP",
        "section 5.3.1, on Figure 1",
        "Although the growth is slower on the CIFAR-10 dataset, it eventually stabilizes around 70%.",
    ),
    PrintedLevel("tldp_type2", "mnist", 0.8, "TLDP", _FIGURE_2, _TLDP_2),
    PrintedLevel("tldp_type2", "cifar10", 0.4, "TLDP", _FIGURE_2, _TLDP_2),
    PrintedLevel("tldp_type2", "svhn", 0.4, "TLDP", _FIGURE_2, _TLDP_2),
    PrintedLevel("tldp_type3", "imdb", 0.8, "TLDP", _FIGURE_3, _TLDP_3),
    PrintedLevel("tldp_type3", "imdb", 0.4, "baselines", _FIGURE_3, _OTHERS_3),
)

# TVG's text states no score as a number: what it says of each figure's curves
TVG_SENTENCES = {
    "tvg_sgd": (
        "section VIII.C, on Figure 3",
        "The performance of IDN degrades slightly from Optimized whereas both IDN and UDN outperform the rest of the "
        "baselines.",
    ),
    "tvg_features": (
        "section VIII.C, on Figure 4",
        "But IDN still has superior performance than Gaussian in the regime where ϵ is small.",
    ),
    "tvg_testing": (
        "section VIII.C, on Figure 5",
        "Although UDN’s performance is inferior to IDN and Gaussian, it still has better performance than MVG, "
        "especially when ϵ ≥ 1.",
    ),
    "tvg_covariance": (
        "section VIII.C, on Figure 5",
        "JL or MM are worse than UDN and IDN in terms of RSS.",
    ),
}


def printed_marks(study: str, dataset: str, metric: str) -> tuple[list[PrintedPoint], list[PrintedLevel]]:
    """What a paper prints of a study's data set: at an epsilon, and without one."""
    points = [p for p in PRINTED if (p.study, p.dataset, p.metric) == (study, dataset, metric)]
    levels = [p for p in LEVELS if (p.study, p.dataset) == (study, dataset) and metric == "weighted_f1"]
    return points, levels
