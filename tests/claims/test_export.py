"""The claims as a data set: the kept ones fit the schema, and nothing is lost on the way."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.citations import PAPERS
from tensorldp_papers.claims.base import Claim, catalogue
from tensorldp_papers.claims.table import as_csv, as_json, claim_set, schema_text

ROOT = Path(__file__).parents[2]


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / "reference" / "claims.csv", dtype=str, keep_default_na=False)


def test_the_kept_claims_fit_the_schema_and_come_back_from_both_files(table: pd.DataFrame) -> None:
    claims = claim_set(table, catalogue())
    stored = json.loads(as_json(claims))
    jsonschema.validate(stored, json.loads(schema_text()))
    lines = pd.read_csv(io.StringIO(as_csv(claims)), dtype=str, keep_default_na=False)
    assert lines.to_dict("records") == stored["claims"]
    shared = [column for column in table.columns if column in lines.columns]
    pd.testing.assert_frame_equal(lines[shared], table[shared])
    for record in stored["claims"]:
        assert record["place"] == catalogue()[record["id"]].place
        assert record["identifier"] == PAPERS[record["source"]].identifier


def test_the_schema_refuses_what_is_no_claim(table: pd.DataFrame) -> None:
    stored = json.loads(as_json(claim_set(table.head(1), catalogue())))
    schema = json.loads(schema_text())
    for change in ({"verdict": "true"}, {"kind": "rumour"}, {"id": "t01"}, {"further": "x"}):
        broken = {**stored, "claims": [stored["claims"][0] | change]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="observed"), "no column observed"),
        (lambda t: pd.concat([t, t.head(1)]), "T01 twice"),
        (lambda t: t.assign(verdict="true"), "verdict = 'true' is not one of"),
        (lambda t: t.assign(id="first"), "claim first: id is not valid"),
    ],
)
def test_a_damaged_table_is_one_sentence(table: pd.DataFrame, change: object, message: str) -> None:
    assert callable(change)
    with pytest.raises(InputError, match=message):
        claim_set(change(table.head(1)), catalogue())


def test_a_claim_from_outside_needs_no_place(table: pd.DataFrame) -> None:
    row = table.head(1).assign(id="M01", source="mine")
    (unknown,) = claim_set(row, {}).claims
    (known,) = claim_set(row, {"M01": Claim("M01", "mine", "section 2", "x", "theorem")}).claims
    assert (unknown.place, unknown.identifier, known.place) == ("", "", "section 2")
