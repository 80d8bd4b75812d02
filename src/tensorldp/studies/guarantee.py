"""What a cell's releases guarantee, for the unit that the study protects."""

from __future__ import annotations

from typing import Any

from tensorldp.mechanisms import Box, Mechanism
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.studies.cell import CellSettings
from tensorldp.training.release import ParameterRelease

REPORT_DELTA = 1e-5
LABELS = "labels are released unperturbed"


def describe(curve: PrivacyCurve, unit: str, notes: list[str]) -> dict[str, Any]:
    """A guarantee as a JSON object: at delta 1e-5, pure (atoms removed), the atom, and whether it is exact."""
    return {"unit": unit, "epsilon": curve.epsilon(REPORT_DELTA), "delta": REPORT_DELTA,
            "pure_epsilon": curve.pure_epsilon, "atom": curve.atom, "exact": curve.exact,
            "note": "; ".join(note for note in notes if note)}


def record_guarantee(cell: CellSettings, box: Box) -> dict[str, Any]:
    """One release of one record, as data or as features."""
    mechanism: Mechanism = cell.mechanism_on(box)
    notes = [mechanism.note, LABELS]
    if cell.release == "features":
        notes.append("the extractor is fixed and data-independent")
    return describe(mechanism.curve(), mechanism.unit, notes)


def run_guarantee(release: ParameterRelease, buffers: bool) -> dict[str, Any]:
    """One user's parameters over all rounds: every round releases the whole vector again."""
    notes = list(release.notes)
    if buffers:
        notes.append("batch-norm running statistics are released unperturbed and are not covered")
    return describe(release.run_curve(), "run", notes)
