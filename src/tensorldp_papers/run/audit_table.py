"""The table of audits: those of samples, and accuracies on released records, beside the guarantee they may falsify."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from tensorldp.audit.accuracy import accuracy_audit
from tensorldp.audit.confidence import CONFIDENCE

COLUMNS = [
    "study",
    "dataset",
    "variant",
    "mechanism",
    "epsilon",
    "kind",
    "epsilon_lower",
    "delta",
    "confidence",
    "samples",
    "event",
    "guarantee_epsilon",
    "guarantee_pure_epsilon",
    "unit",
    "note",
    "claimed",
    "refuted",
]


def audit_accuracy(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Black-box audits: accuracy on released test records certifies epsilon, one row per seed.

    It is the epsilon at which no classifier exceeds the accuracy for these shares of the classes.
    """
    rows = []
    for row in metrics["rows"]:
        if row["metric"] != "accuracy_perturbed_test":
            continue
        total, shares = metrics["test_set"]["records"], metrics["test_set"]["shares"]
        correct = round(row["value"] * total)
        bound = accuracy_audit(correct, total, max(2, len(shares)), CONFIDENCE, shares=shares)
        rows.append(
            {
                "kind": "accuracy",
                "epsilon_lower": bound,
                "delta": 0.0,
                "confidence": CONFIDENCE,
                "samples": total,
                "unit": "record",
                "note": "",
                "claimed": None,
                "refuted": False,
                "event": f"accuracy {row['value']:.4f} on perturbed test records, seed {row['seed']}",
            }
        )
    return rows


def audits_table(cells: Sequence[tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]]) -> pd.DataFrame:
    """One row per audit, beside the guarantee that it may falsify.

    Args:
        cells: for each cell its scores, its guarantee and its audits, none without a mechanism to audit.
    """
    rows = []
    for metrics, guarantee, audits in cells:
        cell = metrics["cell"]
        shared = {key: cell[key] for key in ("study", "dataset", "variant", "mechanism")}
        for row in [*audits, *audit_accuracy(metrics)]:
            beside = {
                key: float(row.get(key, guarantee[key.removeprefix("guarantee_")]))
                for key in ("guarantee_epsilon", "guarantee_pure_epsilon")
            }
            rows.append(
                {
                    **shared,
                    "epsilon": float(cell["epsilon"]),
                    **row,
                    **beside,
                    "epsilon_lower": float(row["epsilon_lower"]),
                }
            )
    keys = ["study", "dataset", "variant", "mechanism", "epsilon", "kind", "event"]
    return pd.DataFrame(rows, columns=COLUMNS).sort_values(keys, ignore_index=True)
