"""The claims as a data set: the kept ones fit the schema, and nothing is lost on the way."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.claims.base import Claim, catalogue
from tensorldp_papers.claims.table import as_csv, as_json, claim_set, schema_text
from tensorldp_papers.rooms import papers

KEPT = Path(__file__).parents[2] / "results" / "reference" / "claims.csv"
TABLE = pd.read_csv(KEPT, dtype=str, keep_default_na=False)
ONE = TABLE.head(1)


def test_the_kept_claims_fit_the_schema_and_come_back_from_both_files() -> None:
    claims = claim_set(TABLE, catalogue())
    stored = json.loads(as_json(claims))
    jsonschema.validate(stored, json.loads(schema_text()))
    lines = pd.read_csv(io.StringIO(as_csv(claims)), dtype=str, keep_default_na=False)
    rows = lines.to_dict("records")
    assert [{**row, "numbers": json.loads(row["numbers"])} for row in rows] == stored["claims"]
    assert any(one["low"] is not None for record in stored["claims"] for one in record["numbers"])
    shared = [column for column in TABLE.columns if column in lines.columns and column != "numbers"]
    pd.testing.assert_frame_equal(lines[shared], TABLE[shared])
    for record in stored["claims"]:
        assert record["place"] == catalogue()[record["id"]].place
        assert record["identifier"] == papers()[record["source"]].identifier


@pytest.mark.parametrize("change", [{"verdict": "true"}, {"kind": "rumour"}, {"id": "t01"}, {"further": "x"}])
def test_the_schema_refuses_what_is_no_claim(change: dict[str, str]) -> None:
    stored = json.loads(as_json(claim_set(ONE, catalogue())))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**stored, "claims": [stored["claims"][0] | change]}, json.loads(schema_text()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="observed"), "no column observed"),
        (lambda t: pd.concat([t, t]), "T01 twice"),
        (lambda t: t.assign(verdict="true"), "verdict = 'true' is not one of"),
        (lambda t: t.assign(id="first"), "claim first: id is not valid"),
    ],
)
def test_a_damaged_table_is_one_sentence(change: Callable[[pd.DataFrame], pd.DataFrame], message: str) -> None:
    with pytest.raises(InputError, match=message):
        claim_set(change(ONE), catalogue())


def test_a_claim_from_outside_needs_no_place() -> None:
    row = ONE.assign(id="M01", source="mine")
    (unknown,) = claim_set(row, {}).claims
    (known,) = claim_set(row, {"M01": Claim("M01", "mine", "section 2", "x", "theorem")}).claims
    assert (unknown.place, unknown.identifier, known.place) == ("", "", "section 2")
