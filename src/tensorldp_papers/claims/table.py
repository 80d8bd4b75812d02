"""The table of all claims with their verdicts, also as JSON and CSV with a schema."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tensorldp import __version__
from tensorldp.errors import InputError
from tensorldp_papers.claim_registry import KINDS
from tensorldp_papers.claims.base import (
    Claim,
    ConditionKind,
    Finding,
    Need,
    NotRun,
    Number,
    Verdict,
    catalogue,
    load_checks,
    verdict,
)
from tensorldp_papers.claims.criteria import in_words
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.rooms import paper

COLUMNS = [
    "id",
    "source",
    "claim",
    "kind",
    "verdict",
    "condition",
    "condition_is",
    "wanted",
    "expected",
    "observed",
    "evidence",
    "criterion",
    "was",
    "numbers",
    "seeds_needed",
    "missing",
    "studies",
]
DIGITS = 6  # of a number of the table: as many as no page writes, and as processors share


def find(claim: Claim, evidence: Evidence) -> Finding | NotRun:
    """Returns what a claim's check finds, or that the runs which it needs are not there.

    Raises:
        InputError: if it has no check, or its check fails on damaged results.
    """
    checks = load_checks()
    if claim.id not in checks:
        raise InputError(f"the claim {claim.id} has no check")
    evidence.used, evidence.studies = [], set()
    try:
        return checks[claim.id].check(evidence)
    except NotRun as missing:
        return missing
    except InputError as error:
        raise InputError(f"the claim {claim.id} cannot be decided: {error}") from None


def row_of(claim: Claim, found: Finding | NotRun, evidence: Evidence) -> dict[str, str]:
    """Returns a claim's row of the table, of what `find` found in this evidence."""
    registered = load_checks()[claim.id]
    row = {"id": claim.id, "source": claim.source, "claim": claim.claim, "kind": claim.kind}
    row["expected"] = registered.expected
    row["criterion"], row["was"] = in_words(claim.id)
    needs: Sequence[Need]
    numbers: Sequence[Number]
    if isinstance(found, NotRun):
        needs, numbers = [Need(str(found), (found.lacking,))], ()
        row |= {"verdict": "not run at this scale", "condition": "", "wanted": str(found), "observed": str(found)}
        row["evidence"] = "none at this scale"
    else:
        needs = found.needs or [Need(wanted, (wanted,)) for wanted in [found.wanted] if wanted]
        numbers = found.numbers
        row |= {"verdict": verdict(claim, found), "condition": found.condition if found.holds else ""}
        row |= {"wanted": found.wanted, "observed": found.observed}
        row["evidence"] = "; ".join(filter(None, [found.evidence or claim.test, *evidence.used]))
    row["condition_is"] = registered.condition_is if row["condition"] else ""
    row["numbers"] = json.dumps([_as_record(number) for number in dict.fromkeys(numbers)], ensure_ascii=False)
    seeds = max((need.seeds for need in needs), default=0)
    row["seeds_needed"] = str(float(seeds)) if seeds else ""  # a float, as 20 would not be read and written alike
    missing = list(dict.fromkeys(part for need in needs for part in need.missing))
    row["missing"] = json.dumps(missing, ensure_ascii=False)
    row["studies"] = " ".join(sorted(evidence.studies))
    return {column: row[column] for column in COLUMNS}


def _as_record(number: Number) -> dict[str, Any]:
    """A number as JSON has it: what it does not have is left out, and infinity is null."""
    record = {
        key: value for key, value in vars(number).items() if value not in ("", None) and (key, value) != ("seeds", 0)
    }
    floats = {key: float(value) for key, value in record.items() if key in ("value", "low", "high")}
    rounded = {key: float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for key, value in floats.items()}
    return record | rounded


def numbers_in(text: str) -> dict[str, float]:
    """Returns the numbers in a row's column `numbers` by name; of those with one name the first."""
    records = json.loads(text or "[]")
    return {one["name"]: math.inf if one["value"] is None else one["value"] for one in reversed(records)}


def claims_table(evidence: Evidence) -> pd.DataFrame:
    """Computes one row per claim of the catalogue, in its order.

    `condition` is what a claim needs to hold, `wanted` what would decide one that is not decided. `numbers` has those
    behind `observed` as JSON, `seeds_needed` how many would do where seeds are wanted, `missing` what else is wanted,
    in short and as JSON, and `studies` those that the check read.

    Raises:
        InputError: if a claim has no check, or a check fails on damaged results, naming the claim.
    """
    rows = [row_of(claim, find(claim, evidence), evidence) for claim in catalogue().values()]
    return pd.DataFrame(rows, columns=COLUMNS)


FORMAT: Literal[1] = 1


class NumberRecord(BaseModel):
    """A number that a check found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, description="what it is of")]
    value: Annotated[float | None, Field(description="the number; null for infinity")]
    unit: Annotated[str, Field(description="empty for shares, ratios, scores and epsilons")] = ""
    low: Annotated[float | None, Field(description="lower end of its interval, if it has one")] = None
    high: Annotated[float | None, Field(description="upper end of its interval, if it has one")] = None
    seeds: Annotated[int, Field(description="of a mean over seeds how many, else 0")] = 0


class ClaimRecord(BaseModel):
    """One claim with its verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9-]*[0-9]$", description="never used again for another statement")]
    source: Annotated[str, Field(min_length=1, description="key of its source")]
    identifier: Annotated[str, Field(description="DOI or archive number of the source; empty if it has none")]
    place: Annotated[str, Field(description="where the source says it; empty if that is not known here")]
    claim: Annotated[str, Field(min_length=1, description="the statement")]
    kind: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
    verdict: Annotated[str, Field(json_schema_extra={"enum": list(get_args(Verdict))})]
    condition: Annotated[str, Field(description="what a claim that holds needs to hold")]
    condition_is: Annotated[str, Field(json_schema_extra={"enum": ["", *get_args(ConditionKind)]})]
    wanted: Annotated[str, Field(description="what would decide a claim that is not decided")]
    expected: Annotated[str, Field(description="what the claim would lead one to expect")]
    observed: Annotated[str, Field(description="what came out")]
    evidence: Annotated[str, Field(description="a test, a file of the results or a function, and the runs used")]
    criterion: Annotated[str, Field(description="date and commit of the criterion; empty if its room notes none")]
    was: Annotated[str, Field(description="verdicts by earlier criteria, after data had been seen")]
    scale: Annotated[str, Field(description="scale of the runs; empty if the table does not say")]
    numbers: Annotated[list[NumberRecord], Field(description="those behind `observed`; none in older tables")]


class ClaimSet(BaseModel):
    """All claims of one table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = Field(description="raised when a field is removed or changes its meaning")
    version: str = Field(description="of tensorldp")
    claims: list[ClaimRecord]


def claim_set(table: pd.DataFrame, catalogue: dict[str, Claim]) -> ClaimSet:
    """Returns the claims of a table of verdicts, in its order.

    Args:
        table: `results/claims.csv`, or that of `results/reference`, read as text without missing values.
        catalogue: the claims that are known here, by id, for their places.

    Raises:
        InputError: if a column is missing, an id occurs twice, or a value is not allowed.
    """
    later = ("scale", "condition_is", "criterion", "was")  # which older tables do not have
    given = set(ClaimRecord.model_fields) - {"identifier", "place", "numbers", *later}
    if missing := sorted(given - set(table.columns)):
        raise InputError(f"the table of claims has no column {missing[0]}: it is not one that a run has written")
    twice = table["id"][table["id"].duplicated()]
    if len(twice):
        raise InputError(f"the table of claims has the id {twice.iloc[0]} twice: an id names one claim")
    records = []
    for row in table.to_dict("records"):
        name = str(row["id"])
        for key, allowed in (("kind", KINDS), ("verdict", get_args(Verdict))):
            if row[key] not in allowed:
                raise InputError(f"claim {name}: {key} = {row[key]!r} is not one of {', '.join(allowed)}")
        about = {
            "identifier": paper(str(row["source"])).identifier,
            "place": catalogue[name].place if name in catalogue else "",
            **{key: row.get(key, "") for key in later},
            "numbers": json.loads(row.get("numbers") or "[]"),
        }
        try:
            records.append(ClaimRecord.model_validate({key: row[key] for key in given} | about))
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(f"claim {name}: {first['loc'][0]} is not valid: {first['msg']}") from None
    return ClaimSet(format=FORMAT, version=__version__, claims=records)


def as_json(claims: ClaimSet) -> str:
    """Returns the text of claims.json."""
    return json.dumps(claims.model_dump(), indent=2, ensure_ascii=False) + "\n"


def as_csv(claims: ClaimSet) -> str:
    """Returns the text of claims.csv: the same records, one line each, in the order of the schema, numbers as JSON."""
    rows = [record.model_dump() for record in claims.claims]
    for row in rows:
        row["numbers"] = json.dumps(row["numbers"], ensure_ascii=False)
    return str(pd.DataFrame(rows, columns=list(ClaimRecord.model_fields)).to_csv(index=False))


def schema_text() -> str:
    """Returns the JSON schema of claims.json."""
    return json.dumps(ClaimSet.model_json_schema(), indent=2, sort_keys=True) + "\n"
