"""The table of all claims with their verdicts."""

from __future__ import annotations

import pandas as pd

from tensorldp.claims.base import NotRun, catalogue, load_checks, verdict
from tensorldp.claims.evidence import Evidence
from tensorldp.errors import InputError

COLUMNS = ["id", "source", "claim", "kind", "verdict", "expected", "observed", "evidence"]


def claims_table(evidence: Evidence) -> pd.DataFrame:
    """One row per claim of the catalogue, in its order.

    Raises:
        InputError: if a claim has no check, or a check fails on damaged results, naming the claim.
    """
    checks = load_checks()
    rows = []
    for claim in catalogue().values():
        if claim.id not in checks:
            raise InputError(f"the claim {claim.id} of catalogue.csv has no check")
        registered = checks[claim.id]
        evidence.used = []
        try:
            finding = registered.check(evidence)
            found, observed = verdict(claim, finding), finding.observed
            source = "; ".join(filter(None, [finding.evidence, *evidence.used]))
        except NotRun as missing:
            found, observed, source = "not run at this scale", str(missing), "none at this scale"
        except InputError as error:
            raise InputError(f"the claim {claim.id} cannot be decided: {error}") from None
        rows.append(
            {
                "id": claim.id,
                "source": claim.source,
                "claim": claim.claim,
                "kind": claim.kind,
                "verdict": found,
                "expected": registered.expected,
                "observed": observed,
                "evidence": source,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)
