"""What a cell's releases guarantee, for the unit that the study protects."""

from __future__ import annotations

from typing import Any

from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import PROFILE_DELTAS, REPORT_DELTA
from tensorldp.mechanisms import Box, Mechanism
from tensorldp_papers.nets.release import ParameterRelease
from tensorldp_papers.run.record_batches import BATCH, batch_box, record_in_batch
from tensorldp_papers.run.streams import LearningCell, mechanism_on

LABELS = "labels are released unperturbed"


def describe(curve: PrivacyCurve, unit: str, notes: list[str]) -> dict[str, Any]:
    """A guarantee as a JSON object: at delta 1e-5, pure (atoms removed), the atom, and whether it is exact.

    `profile` has epsilon at delta 0, atoms counted, and at each of `PROFILE_DELTAS`, by the delta as text.
    """
    epsilon = curve.epsilon(REPORT_DELTA)
    return {
        "unit": unit,
        "epsilon": epsilon,
        "delta": REPORT_DELTA,
        "pure_epsilon": curve.pure_epsilon,
        "atom": curve.atom,
        "exact": curve.exact,
        "profile": {
            f"{delta:g}": epsilon if delta == REPORT_DELTA else curve.epsilon(delta) for delta in (0.0, *PROFILE_DELTAS)
        },
        "note": "; ".join(note for note in notes if note),
    }


def record_guarantee(cell: LearningCell, box: Box) -> dict[str, Any]:
    """One release of one record, as data or as features, alone or in a batch whose noise it shares the law of."""
    batch = cell.factors.unit == "batch"
    mechanism: Mechanism = mechanism_on(cell, batch_box(box, "records") if batch else box)
    curve = mechanism.curve()
    notes = [mechanism.note, LABELS]
    if batch:
        notes.append(
            f"the noise is made for a batch of {BATCH} records, which as a whole has epsilon "
            f"{curve.epsilon(REPORT_DELTA):.4g}"
        )
        curve = record_in_batch(curve)
    if cell.release == "features":
        notes.append("the extractor is fixed and data-independent")
    return describe(curve, mechanism.unit, notes)


def run_guarantee(release: ParameterRelease, buffers: bool) -> dict[str, Any]:
    """One user's parameters over all rounds: every round releases the whole vector again."""
    notes = list(release.notes)
    if buffers:
        notes.append("batch-norm running statistics are released unperturbed and are not covered")
    return describe(release.run_curve(), "run", notes)
