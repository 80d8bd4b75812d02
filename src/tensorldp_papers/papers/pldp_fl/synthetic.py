"""PLDP-FL 6.2.1: the error of a mean of synthetic values, each participant with a budget and a range of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism
from tensorldp.mechanisms.pldp_fl import Pdpm, PluFedOa
from tensorldp.mechanisms.sampled_coordinates import duchi_variance, piecewise_variance
from tensorldp.randomness import uniform
from tensorldp_papers.papers.pldp_fl.clients import PerWeight, make_upload, preferences
from tensorldp_papers.papers.pldp_fl.settings import SyntheticCell, SyntheticFactors, SyntheticTraining
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.streams import common_stream, noise_stream


def uniform_variance(mechanism: Mechanism) -> float | None:
    """Computes E Var(M(w) | w) of a w that is uniform on the mechanism's interval; None without a closed form.

    Variances are quadratic in the value, so that Simpson's rule is exact.
    """
    box = mechanism.domain.as_box()
    half = box.width / 2.0
    if isinstance(mechanism, Pdpm):
        low, middle, high = (mechanism.variance(v) for v in (-half, 0.0, half))
    elif isinstance(mechanism, PluFedOa):
        return mechanism.squared_error() / mechanism.size
    elif mechanism.name in ("duchi", "piecewise"):
        law = duchi_variance if mechanism.name == "duchi" else piecewise_variance
        low, middle, high = (half**2 * law(t, mechanism.epsilon) for t in (-1.0, 0.0, 1.0))
    else:
        return None
    return (low + 4.0 * middle + high) / 6.0


def expected_error(mechanisms: Sequence[Mechanism]) -> float | None:
    """Computes E |mean of releases - mean of values| for values uniform on each participant's interval.

    By the central limit theorem sqrt(2 / pi) times the deviation of the mean; None where one has no closed form.
    """
    variances = [uniform_variance(mechanism) for mechanism in mechanisms]
    known = [variance for variance in variances if variance is not None]
    if len(known) < len(variances):
        return None
    return math.sqrt(2.0 / math.pi * math.fsum(known)) / len(known)


def released_means(
    mechanisms: Sequence[Mechanism], records: int, values: torch.Generator, noise: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Returns the true and the released mean over participants of each of `records` values, both (records,), float64.

    Each participant has a mechanism of one value, whose interval its values fill uniformly.
    """
    truth = torch.zeros(records, dtype=torch.float64)
    released = torch.zeros(records, dtype=torch.float64)
    for mechanism in mechanisms:
        box = mechanism.domain.as_box()
        own = (box.low + box.width * uniform((records, 1), values)).clamp(box.low, box.high)
        truth += own.squeeze(1)
        released += mechanism.privatize(own, noise).squeeze(1)
    return truth / len(mechanisms), released / len(mechanisms)


def participants(cell: SyntheticCell) -> list[PerWeight]:
    """Returns every participant's way to release its values."""
    settings = cell.training
    wanted = preferences(
        cell.factors.eps,
        cell.factors.tau,
        clients=settings.participants,
        largest=cell.nominal_epsilon,
        centre=settings.range_centre,
    )
    found = [make_upload(cell.mechanism, preference, size=settings.records) for preference in wanted]
    return [upload for upload in found if isinstance(upload, PerWeight)]


class PldpSynthetic(MeasureMethod[SyntheticTraining, SyntheticFactors]):
    """Errors of the mean over participants, averaged over their records, with the closed form beside them."""

    def measure(self, cell: SyntheticCell, data: Path | None, seed: int, device: torch.device) -> Rows:
        mechanisms: list[Mechanism] = [upload.mechanism for upload in participants(cell)]
        centre = abs(cell.training.range_centre)
        if centre == 0.0:
            raise InputError(
                "range_centre of pldp_synthetic must not be 0: the relative error of a mean of 0 is not defined"
            )
        truth, released = released_means(
            mechanisms, cell.training.records, common_stream(cell, seed, "values"), noise_stream(cell, seed, "noise")
        )
        error = float((released - truth).abs().mean())
        rows: Rows = [
            {"metric": "absolute_error", "value": error},
            {"metric": "relative_error", "value": float(((released - truth) / truth).abs().mean())},
        ]
        expected = expected_error(mechanisms)
        if expected is not None:
            rows += [
                {"metric": "expected_absolute_error", "value": expected},
                {"metric": "expected_relative_error", "value": expected / centre},
            ]
        return rows

    def guarantee(self, cell: SyntheticCell, data: Path | None) -> dict[str, Any]:
        curves: list[PrivacyCurve] = [upload.curve() for upload in set(participants(cell))]
        largest = max(curves, key=lambda curve: curve.epsilon(REPORT_DELTA))
        count = cell.training.records
        return describe(
            largest,
            "record",
            [
                f"the {count} values of the participant with the weakest guarantee, each "
                "released once; the nominal epsilon covers one value"
            ],
        )

    def audited(self, cell: SyntheticCell, data: Path | None) -> Audited:
        top = max(participants(cell), key=lambda upload: upload.mechanism.epsilon)
        return top.mechanism, "the largest participant's mechanism on one value"


METHOD = PldpSynthetic()
