"""Which runs the first picture shows; light, as the workflow asks it at every start."""

from __future__ import annotations

from dataclasses import dataclass

OTHERWISE = (
    "range",
    "labels",
    "augment",
    "control",
    "private",
    "participation",
    "split",
    "learner",
    "budget",
)  # factors of other settings


@dataclass(frozen=True)
class Row:
    """A mechanism at an epsilon that its paper prints.

    Attributes:
        name: in the picture.
        study, mechanism: that ran it.
        printed: the epsilon, or the next that a study ran.
        factors: that its variant has.
        metric: the accuracy that is shown.
        of: what is protected.
    """

    name: str
    study: str
    mechanism: str
    printed: float
    factors: tuple[tuple[str, str], ...] = ()
    metric: str = "accuracy"
    of: str = "an image"


FIRST_PICTURE = (
    Row("TLDP-L on parameters", "tldp_type3", "tldp-l", 50.0, (("where", "user"),), of="a user's run"),
    Row("PLDP-FL, mode e3", "pldp_fl", "pdpm", 1.0, (("eps", "e3"),), of="a client's run"),
    Row("LATENT, read as Eq. 7", "latent", "latent", 0.5, (("reading", "B"),)),
    Row("TLDP-L on images", "tldp_type1", "tldp-l", 1.0),
    Row("TVG's IDN, test images", "tvg_testing", "idn", 1e6, (("unit", "batch"),), "accuracy_perturbed_test"),
    Row("LATENT, read as Eq. 6", "latent", "latent", 0.5, (("reading", "A"),)),
    Row("PrivUnit, public features", "frontier", "privunit", 1.0),
)
