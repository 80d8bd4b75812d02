"""The table of audits beside the guarantees that they may falsify, and which guarantees are audited."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.audit.accuracy import accuracy_audit
from tensorldp.audit.thresholds import CONFIDENCE
from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp.pages import plain
from tensorldp_papers.run.cell import check_name
from tensorldp_papers.run.table import read_table

# for each cell its scores, its guarantee and its audits, none without a mechanism to audit
Cells = Sequence[tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]]
AUDIT_COLUMNS = [
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


AUDIT_KEY = ["study", "dataset", "variant", "mechanism", "epsilon", "kind", "event"]


def audit_accuracy(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Audits black boxes: accuracy on released test records certifies epsilon, one row per seed.

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


def audits_table(cells: Cells) -> pd.DataFrame:
    """Tabulates the audits, one row each, beside the guarantee that it may falsify."""
    rows = []
    for metrics, guarantee, audits in cells:
        cell = metrics["cell"]
        shared = {key: cell[key] for key in ("study", "dataset", "variant", "mechanism")}
        for row in audits + audit_accuracy(metrics):
            beside = {
                key: float(row[key] if key in row else guarantee[key.removeprefix("guarantee_")])
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
    # objects, so that how a value is written depends on no other row
    return pd.DataFrame(rows, columns=AUDIT_COLUMNS, dtype=object).sort_values(AUDIT_KEY, ignore_index=True)


AUDITED, NOT_AUDITED, REFUTED, NOTHING = "audited", "not audited", "refuted", "nothing guaranteed"
STANDING_KEY = ["study", "dataset", "variant", "mechanism", "epsilon"]
STANDING_COLUMNS = [*STANDING_KEY, "standing", "reason", "largest_class"]
STANDING_FILE = "standing.csv"
NOTHING_LOST = (
    "Claims and the report rest on guarantees, so they were stopped. Nothing that was computed is lost: the metrics, "
    "audits and figures of this run lie beside this page, and the refuted curves are drawn as such."
)


def standing_table(cells: Cells, checks: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Tabulates by cell whether an audit or a check has tried its guarantee, and what refutes it if one did.

    `largest_class` is the share of its test records that answering with one class gets right, empty without labels.
    Checks of mechanisms are by `check_name`: {"refuted", "tried", "reason"} at least.
    """
    rows = []
    for metrics, guarantee, audits in cells:
        cell = metrics["cell"]
        check = checks.get(check_name(cell["mechanism"], cell.get("options") or {}), {})
        standing, reason = _standing(metrics, guarantee, audits, check)
        share = metrics.get("test_set", {}).get("largest_class")
        key = {key: cell[key] for key in STANDING_KEY}
        rows.append({**key, "standing": standing, "reason": reason, "largest_class": share})
    table = pd.DataFrame(rows, columns=STANDING_COLUMNS)
    numbers = {"epsilon": float, "largest_class": float}
    return table.astype(numbers).sort_values(STANDING_KEY, ignore_index=True)


def _standing(
    metrics: dict[str, Any], guarantee: dict[str, Any], audits: Sequence[dict[str, Any]], check: Mapping[str, Any]
) -> tuple[str, str]:
    if check.get("refuted"):
        return REFUTED, str(check["reason"])
    for row in audits:
        if row.get("refuted"):
            return REFUTED, (
                f"an audit of {row['samples']} releases contradicts epsilon {float(row['claimed']):.6g} at delta "
                f"{row['delta']:g} (event: {row['event']})"
            )
    if not any(math.isfinite(float(guarantee[key])) for key in ("epsilon", "pure_epsilon")):
        return NOTHING, ""
    released = any(row["metric"] == "accuracy_perturbed_test" for row in metrics["rows"])
    if released or check.get("tried") or any(row["samples"] > 0 for row in audits):
        return AUDITED, ""
    return NOT_AUDITED, next((row["note"] for row in audits if row["note"]), "there is nothing to draw samples of")


def stop_if_refuted(standing: Path, page: Path) -> None:
    """Ends what rests on guarantees if one is refuted in `standing_table`'s CSV; a page that says so is the report."""
    table = read_table(standing, keep_default_na=False)
    found = table[table["standing"] == REFUTED]
    if found.empty:
        return
    names, first = ", ".join(dict.fromkeys(found["mechanism"])), found.iloc[0]
    count = "1 cell" if len(found) == 1 else f"{len(found)} cells"
    sentence = (
        f"the guarantee of {names} is refuted in {count}, first {first['study']} at epsilon {first['epsilon']:g}: "
        f"{first['reason']}; correct the mechanism's curve, or take it out of config.yaml"
    )
    rows = [(" / ".join(str(row[key]) for key in STANDING_KEY), row["reason"]) for row in found.to_dict("records")]
    alert, heads = f"{sentence[0].upper()}{sentence[1:]}.", ("cell", "what refutes it")
    write_text(page, plain("There is no report of this run", NOTHING_LOST, alert=alert, heads=heads, rows=rows))
    raise InputError(f"{sentence}; {page} says so, and all that was computed is kept")
