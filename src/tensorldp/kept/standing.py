"""Where the guarantees of kept cells stand, from the kept audits, for runs that did not say."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.kept.tables import AUDITS, METRICS, STANDING, read_table
from tensorldp.runtime.files import write_text
from tensorldp.studies.standing import COLUMNS, KEY, NOTHING, REFUTED, TRIED, UNTRIED


def add_standings(reference: Path) -> None:
    """Give every kept cell without a standing the one that its kept audits give it.

    Args:
        reference: the folder of the kept results.

    Raises:
        InputError: if no results are kept there.
    """
    metrics, audits, old = (read_table(reference / name) for name in (METRICS, AUDITS, STANDING))
    if metrics is None:
        raise InputError(f"{reference} has no {METRICS}: keep the numbers of a run first")
    if audits is None:
        return
    known = set() if old is None else set(old[KEY].itertuples(index=False, name=None))
    new = [key not in known for key in metrics[KEY].itertuples(index=False, name=None)]
    if any(new):
        found = kept_standing(metrics[new], audits)
        table = found if old is None else pd.concat([old, found], ignore_index=True)
        write_text(reference / STANDING, table.sort_values(KEY, ignore_index=True).to_csv(index=False))


def kept_standing(metrics: pd.DataFrame, audits: pd.DataFrame) -> pd.DataFrame:
    """The table of `studies.standing.standing_table` from the tables of metrics and audits.

    An audit that does not say whether it refutes counts as refuting where its lower bound exceeds the guarantee at its
    delta, whatever its confidence. What checks found is not in these tables.

    Args:
        metrics: rows with the key of a cell and its guarantee.
        audits: rows with the key of a cell, and what each audit found.
    """
    said = audits["refuted"] if "refuted" in audits else pd.Series(None, index=audits.index, dtype=object)
    pure, compared = (audits["epsilon_lower"] > audits[f"guarantee_{kind}"] for kind in ("pure_epsilon", "epsilon"))
    above = (pure & (audits["delta"] == 0.0)) | (compared & (audits["delta"] == REPORT_DELTA))
    refuted = said.where(said.notna(), above).astype(bool)
    tried = set(audits.loc[audits["samples"] > 0, KEY].itertuples(index=False, name=None))
    reasons = {
        tuple(row[key] for key in KEY): f"an audit of {row['samples']} releases proves epsilon "
        f"{row['epsilon_lower']:.6g} at delta {row['delta']:g} (event: {row['event']})"
        for row in audits[refuted].to_dict("records")
    }
    rows = []
    for cell in metrics.drop_duplicates(KEY).to_dict("records"):
        key = tuple(cell[name] for name in KEY)
        standing, reason = UNTRIED, "no audit is kept"
        if key in reasons:
            standing, reason = REFUTED, reasons[key]
        elif not any(math.isfinite(cell[f"guarantee_{kind}"]) for kind in ("epsilon", "pure_epsilon")):
            standing, reason = NOTHING, ""
        elif key in tried:
            standing, reason = TRIED, ""
        rows.append((*key, standing, reason))
    return pd.DataFrame(rows, columns=COLUMNS).sort_values(KEY, ignore_index=True)
