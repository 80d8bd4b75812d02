"""The table of all claims with their verdicts."""

from __future__ import annotations

import pandas as pd

from tensorldp.errors import InputError
from tensorldp_papers.claims.base import Claim, NotRun, catalogue, load_checks, verdict
from tensorldp_papers.claims.evidence import Evidence

COLUMNS = [
    "id",
    "source",
    "claim",
    "kind",
    "verdict",
    "condition",
    "wanted",
    "expected",
    "observed",
    "evidence",
]


def decide(claim: Claim, evidence: Evidence) -> dict[str, str]:
    """The row of one claim.

    Raises:
        InputError: if it has no check, or its check fails on damaged results.
    """
    checks = load_checks()
    if claim.id not in checks:
        raise InputError(f"the claim {claim.id} of catalogue.csv has no check")
    registered = checks[claim.id]
    evidence.used = []
    condition = wanted = ""
    try:
        finding = registered.check(evidence)
        found, observed = verdict(claim, finding), finding.observed
        condition, wanted = finding.condition if finding.holds else "", finding.wanted
        source = "; ".join(filter(None, [finding.evidence, *evidence.used]))
    except NotRun as missing:
        found, observed, source, wanted = "not run at this scale", str(missing), "none at this scale", str(missing)
    except InputError as error:
        raise InputError(f"the claim {claim.id} cannot be decided: {error}") from None
    return {
        "id": claim.id,
        "source": claim.source,
        "claim": claim.claim,
        "kind": claim.kind,
        "verdict": found,
        "condition": condition,
        "wanted": wanted,
        "expected": registered.expected,
        "observed": observed,
        "evidence": source,
    }


def claims_table(evidence: Evidence) -> pd.DataFrame:
    """One row per claim of the catalogue, in its order.

    `condition` is what a claim needs to hold, `wanted` what would decide one that is not decided.

    Raises:
        InputError: if a claim has no check, or a check fails on damaged results, naming the claim.
    """
    return pd.DataFrame([decide(claim, evidence) for claim in catalogue().values()], columns=COLUMNS)
