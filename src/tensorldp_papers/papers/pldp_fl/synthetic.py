"""PLDP-FL 6.2.1: the error of a mean of synthetic values, each participant with a budget and a range of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.guarantee import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism
from tensorldp_papers.papers.pldp_fl.clients import PerWeight, make_upload, preferences
from tensorldp_papers.papers.pldp_fl.mean import expected_error, released_means
from tensorldp_papers.papers.pldp_fl.settings import SyntheticCell, SyntheticFactors, SyntheticTraining
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.streams import common_stream, noise_stream


def participants(cell: SyntheticCell) -> list[PerWeight]:
    """Every participant's way to release its values."""
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
                "released once; the nominal epsilon is of one value"
            ],
        )

    def audited(self, cell: SyntheticCell, data: Path | None) -> Audited:
        top = max(participants(cell), key=lambda upload: upload.mechanism.epsilon)
        return top.mechanism, "the largest participant's mechanism on one value"


METHOD = PldpSynthetic()
