"""A criterion is changed with a date, the verdict before it and a reason, or not at all."""

import ast
import re
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import criterion_numbers
import pandas as pd
import pytest
from criterion_numbers import line_to_add, numbers_of, numbers_of_rules

from tensorldp_papers.claim_registry import listed
from tensorldp_papers.claims.base import load_checks
from tensorldp_papers.claims.criteria import criteria, in_words, rules

CHECKS = load_checks()
IDS = [row["id"] for rows in listed().values() for row in rows]
KEPT = Path(__file__).parents[2] / "results" / "reference"
ERRORS = "tensorldp_papers.papers.tldp.claims.errors"


def test_every_criterion_is_the_last_one_that_its_room_notes() -> None:
    """Otherwise add these lines to criteria.csv of their rooms, with the verdict before and the reason."""
    lines = [line_to_add(id, CHECKS[id], date.today().isoformat()) for id in IDS]
    assert [line for line in lines if line] == []
    assert sorted(criteria()) == sorted(IDS)


def test_a_later_criterion_has_a_reason_and_no_earlier_date() -> None:
    for id, lines in criteria().items():
        for before, line in pairwise(lines):
            assert line.reason, id
            assert before.date <= line.date, id
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", line.date) for line in lines), id
        assert all(re.fullmatch(r"[0-9a-f]{8}|", line.commit) for line in lines), id


def test_the_kept_verdict_of_a_claim_is_the_last_of_its_history_where_each_change_has_a_reason() -> None:
    """Otherwise add a line to results/reference/verdicts.csv; its commit is empty until it is known."""
    history, kept = (pd.read_csv(KEPT / f"{name}.csv", keep_default_na=False) for name in ("verdicts", "claims"))
    last = history.drop_duplicates("id", keep="last").set_index("id")["verdict"]
    assert {id: verdict for id, verdict in zip(kept["id"], kept["verdict"], strict=True) if last[id] != verdict} == {}
    for id, lines in history.groupby("id"):
        assert lines["date"].is_monotonic_increasing, id
        assert lines["reason"].iloc[1:].str.len().gt(0).all(), id


def test_a_changed_word_expectation_or_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = CHECKS["T20"]
    other = replace(registered.claim, claim="IDN entry, as an estimate")
    assert line_to_add("T20", replace(registered, claim=other), "2027-01-01")
    assert line_to_add("T20", replace(registered, expected="printed = exact within a factor of 2"), "2027-01-01")
    assert line_to_add("T20", registered, "2027-01-01") is None
    constants = criterion_numbers._read(ERRORS).constants
    monkeypatch.setitem(constants, "AS_PRINTED", ast.parse("2.5", mode="eval").body)
    assert "2.5" in str(line_to_add("T20", registered, "2027-01-01"))


def test_the_numbers_of_the_rules_for_all_claims_are_those_of_their_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise add a line to claims/rules.csv, with a reason."""
    assert numbers_of_rules() == rules()[-1]["numbers"]
    assert all(line["reason"] for line in rules())
    for name in ("FLAT", "ALPHA", "LOOKS", "ERRORS"):
        module = next(one for one in criterion_numbers.RULES if name in criterion_numbers._read(one).constants)
        with monkeypatch.context() as patch:
            patch.setitem(criterion_numbers._read(module).constants, name, ast.parse("0.125", mode="eval").body)
            assert numbers_of_rules() != rules()[-1]["numbers"], name
    monkeypatch.setattr(criterion_numbers, "rooms", tuple)
    assert numbers_of_rules() != rules()[-1]["numbers"]


def test_limits_are_found_in_constants_in_options_of_a_claim_and_in_functions_that_a_check_calls() -> None:
    assert {"0.05", "28125"} <= set(numbers_of("V21", CHECKS["V21"]).split())
    assert {"0.9634", "0.95"} <= set(numbers_of("A12", CHECKS["A12"]).split())
    assert "0.9173" not in numbers_of("A12", CHECKS["A12"]).split()  # of A13, which has the same check


def test_an_earlier_verdict_stands_beside_the_one_by_todays_criterion() -> None:
    since, was = in_words("T20")
    assert since.startswith("2026-11-28")
    assert was == "refuted until 2026-11-25; holds with a condition until 2026-11-28"
    assert in_words("M01") == ("", "")
