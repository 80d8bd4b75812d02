"""What a cell's releases guarantee, and an audit of what they give away, measured from samples."""

from __future__ import annotations

from typing import Any

from tensorldp.audit.likelihood import audits
from tensorldp.audit.thresholds import CONFIDENCE
from tensorldp.curves.base import PrivacyCurve
from tensorldp.deltas import PROFILE_DELTAS, REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.mechanisms import Mechanism
from tensorldp.randomness import derive_seed
from tensorldp_papers.run.cell import AnyCell

LABELS = "labels are released unperturbed"


def describe(curve: PrivacyCurve, unit: str, notes: list[str]) -> dict[str, Any]:
    """Describes a guarantee as a JSON object: at delta 1e-5, pure (atoms removed), the atom, and whether it is exact.

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


REFUTING = 1.0 - 1e-6  # a run has thousands of audits, and one refutation stops it
ELEMENTS = 1_000_000  # drawn for one audit: half a second


def audit_mechanism(mechanism: Mechanism, cell: AnyCell, deltas: list[float], note: str = "") -> list[dict[str, Any]]:
    """Audits one release beside its guarantee, one row a delta: by likelihood ratio, or black box without density.

    `claimed` is the epsilon of the mechanism's curve at the row's delta, and `refuted` says whether the same releases
    prove a larger one at confidence 1 - 1e-6. A mechanism that cannot be audited at all has no samples, and the note
    says why. The releases come from the cell's own stream, so audits of equal mechanisms in two cells are independent
    of each other.
    """
    curve = mechanism.curve()
    samples = max(200, min(10_000, ELEMENTS // mechanism.size))
    row: dict[str, Any] = {
        "kind": "likelihood ratio",
        "confidence": CONFIDENCE,
        "samples": samples,
        "unit": mechanism.unit,
        "epsilon_lower": 0.0,
        "event": "",
        "note": note,
        "guarantee_epsilon": curve.epsilon(REPORT_DELTA),
        "guarantee_pure_epsilon": curve.pure_epsilon,
    }
    seed, reason = audit_seed(cell), ""
    for kind, likelihood in (("likelihood ratio", True), ("black box", False)):
        try:
            found = audits(
                mechanism, samples=samples, confidence=CONFIDENCE, deltas=deltas, seed=seed, likelihood=likelihood
            )
        except InputError as error:
            reason = reason or str(error)
            continue
        seen = "; ".join(filter(None, (note, reason)))
        return [
            {
                **row,
                "kind": kind,
                "delta": audit.delta,
                "epsilon_lower": audit.epsilon_lower,
                "event": audit.event,
                "note": seen,
                "claimed": (claimed := curve.epsilon(audit.delta)),
                "refuted": audit.bound_at(REFUTING) > claimed,
            }
            for audit in found
        ]
    nothing = {"samples": 0, "note": reason, "refuted": False}
    return [{**row, **nothing, "delta": delta, "claimed": curve.epsilon(delta)} for delta in deltas]


def audit_seed(cell: AnyCell) -> int:
    """Computes the seed of a cell's audit from its key and the purpose: the cell's own seeds do not change it."""
    return derive_seed(cell.study, cell.dataset, cell.variant, cell.mechanism, cell.epsilon, "audit")
