"""What a run found, in sentences of at most 20 words with one number each, for the first screen of the report."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.claim_registry import GROUPS
from tensorldp_papers.papers.frontier.figures import STUDY as FRONTIER
from tensorldp_papers.papers.frontier.figures import frontier_table
from tensorldp_papers.plots.comparing import EQUAL, meetings, points
from tensorldp_papers.plots.curves import main_setting, with_lines
from tensorldp_papers.plots.means import placed
from tensorldp_papers.plots.names import dataset_name, in_order, study_name
from tensorldp_papers.plots.style import label
from tensorldp_papers.plots.words import percent, short_number

IMAGES = "tldp_type1"
PRINTED = 1.0  # the printed epsilon that the sentences speak of, or the next that a study ran
LEVEL = 0.01  # of a score: no smaller difference is written


@dataclass(frozen=True)
class Finding:
    """A sentence, and where on the page its number is shown.

    Attributes:
        before, number, after: the sentence.
        place: an id of the page.
        words: what is there.
        verdict: the verdict of the claims that the place shows, if it is the table of claims.
    """

    before: str
    number: str
    after: str
    place: str
    words: str
    verdict: str = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return f"{self.before}{self.number}{self.after}"


def findings(metrics: pd.DataFrame, claims: pd.DataFrame, audits: pd.DataFrame) -> list[Finding]:
    """At most five sentences, each computed from the tables; what a run has no numbers for is left out.

    Args:
        metrics: the metrics table of a run.
        claims: its claims with their verdicts.
        audits: its audits.
    """
    found = (_label(metrics), _level(metrics), _frontier(metrics), _refuted(claims), _audited(audits))
    return [finding for finding in found if finding]


def _number(epsilon: float) -> str:
    return "one" if epsilon == 1.0 else short_number(epsilon)


def _first(rows: pd.DataFrame) -> str:
    """The data set that a sentence is about: MNIST, or the first one."""
    names = in_order(rows["dataset"])
    return "mnist" if "mnist" in names else names[0]


def _label(metrics: pd.DataFrame) -> Finding | None:
    """What TLDP's printed epsilon guarantees an image."""
    rows = metrics[(metrics["study"] == IMAGES) & (metrics["mechanism"] == "tldp-l")]
    rows = rows[~rows["variant"].str.contains("range=printed")]
    if rows.empty:
        return None
    rows = rows[rows["dataset"] == (dataset := _first(rows))]
    printed = min(rows["epsilon"].unique(), key=lambda e: abs(math.log(e / PRINTED)))
    guaranteed = rows[rows["epsilon"] == printed]["guarantee_epsilon"].min()
    before = f"Where {label('tldp-l')} prints an ε of {_number(printed)}, one record of {dataset_name(dataset)} gets "
    return Finding(before, short_number(float(guaranteed)), ".", IMAGES, study_name(IMAGES))


def _level(metrics: pd.DataFrame) -> Finding | None:
    """How far TLDP-L and the Laplace mechanism are apart at one true epsilon."""
    rows = metrics[(metrics["study"] == IMAGES) & (metrics["metric"] == "weighted_f1")]
    if rows.empty:
        return None
    rows = rows[rows["dataset"] == (dataset := _first(rows))]
    rows = placed(main_setting(with_lines(rows.copy())), "guarantee_epsilon")
    known, tldp = (points(rows[rows["line"] == name]) for name in ("laplace", "tldp-l"))
    apart = [abs(a.mean - b.mean) for a, b in meetings(known, tldp, EQUAL)]
    if not apart:
        return None
    before = f"At one true ε, F1 of {label('tldp-l')} and of plain Laplace noise on {dataset_name(dataset)} differ by "
    gap = float(np.median(apart))
    return Finding(before, f"{gap:.2f}" if gap >= LEVEL else f"less than {LEVEL}", ".", IMAGES, study_name(IMAGES))


def _frontier(metrics: pd.DataFrame) -> Finding | None:
    """What the best known randomizer gives at a true epsilon of about 1."""
    rows = metrics[metrics["study"] == FRONTIER]
    if not (rows["mechanism"] != NO_PRIVACY).any():
        return None
    table = frontier_table(rows)
    table = table[table["labels_public"].notna()] if len(table) else table
    if table.empty:
        return None
    table = table[table["dataset"] == (dataset := _first(table))]
    best = table.iloc[(np.log(table["epsilon"] / PRINTED)).abs().argmin()]
    before = f"At a true ε of {_number(float(best['epsilon']))}, {label('privunit')} on public features reaches "
    after = f" accuracy on {dataset_name(dataset)}."
    return Finding(before, percent(best["labels_public"]), after, FRONTIER, study_name(FRONTIER))


def _refuted(claims: pd.DataFrame) -> Finding | None:
    """How many theorems do not hold."""
    theorems = claims[claims["kind"].isin(GROUPS["theorem"])]
    refuted = int((theorems["verdict"] == "refuted").sum())
    if theorems.empty:
        return None
    after = " of the sources' theorems is refuted." if refuted == 1 else " of the sources' theorems are refuted."
    return Finding("", str(refuted or "None"), after, "claims", "claims", "refuted")


def _audited(audits: pd.DataFrame) -> Finding | None:
    """Whether audits found more than is guaranteed."""
    tried = audits[(audits["samples"] > 0) & np.isfinite(audits["guarantee_epsilon"]) & (audits["delta"] > 0)]
    if tried.empty:
        return None
    above = int((tried["epsilon_lower"] > tried["guarantee_epsilon"]).sum())
    if not above:
        parts = ("None of ", f"{len(tried):,}", " audits found more than its guarantee allows.")
    else:
        expected = (1.0 - float(tried["confidence"].min())) * len(tried)
        chance = "no more than chance explains" if above <= expected else "more than chance explains"
        parts = ("Audits exceed a guarantee ", f"{above:,}", f" {'time' if above == 1 else 'times'}, {chance}.")
    return Finding(*parts, "privacy", "audits")
