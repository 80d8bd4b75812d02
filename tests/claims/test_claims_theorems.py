"""What needs no run is decided as it was derived apart from the code, and the rest is not decided without runs."""

from __future__ import annotations

import time

import pandas as pd
import pytest
from invented import Draw, found

from tensorldp_papers.claims.base import load_checks
from tensorldp_papers.claims.table import claims_table
from tensorldp_papers.papers.tldp.claims import theorems as tldp_theorems

NOTHING = Draw()
pytestmark = pytest.mark.xdist_group("claims")  # a process computes each of these findings once
VERDICTS = {
    "holds with a condition": "T17 V20 V24 V25 A04 A21 A25",
    "not checkable": "T01 T22 T51 P17 P19 P23 L12 L21 A15",
    "not reproduced": "T28 T29 T59 P18 V26 A01",
    "refuted": "T02 T07 T08 T09 T10 T12 T13 T15 T25 T26 T27 T54 T55 T56 P06 P07 P08 P20 L02 L04 L06 L09 V07 V19 "
    "A02 A05 A06 A07 A19 A26",
    "reproduced": "T03 T04 T05 T06 T11 T14 T16 T30 T32 T58 P01 P02 P03 P04 P05 P10 P21 L01 L03 L05 L07 L08 L10 V01 "
    "V02 V03 V04 V05 V06 V08 V09 V10 V11 V12 V13 V18 A03 A08 A09 A10 A20",
    "undecided": "T52",
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    load_checks()
    start = time.process_time()
    made = claims_table(NOTHING).set_index("id")
    assert time.process_time() - start < 40  # those without runs are quick
    return made


def test_what_needs_no_run_is_decided_and_nothing_else(table: pd.DataFrame) -> None:
    computed = table[table["verdict"] != "not run at this scale"]
    by_verdict = computed.drop("A18").groupby("verdict").groups  # A18 compares the speed of this machine
    assert {str(verdict): " ".join(ids) for verdict, ids in by_verdict.items()} == VERDICTS
    assert computed.loc[computed["verdict"] != "not checkable", "observed"].str.contains(r"\d").all()
    assert (table["expected"] != "").all()


WORDS = [
    ("T02", "1.000000 at 10,"),
    ("T17", "at most 0.249 of a baseline's at nominal epsilon 1"),
    ("T17", "1.0000 of laplace's, 1.0000 of gaussian's, 1.0000 of mvg's, 1.0000 of idn's"),
    ("L02", "100-DP"),
    ("L02", "3.1e-44, that of (100) with 0.697"),
    ("L04", "Eq. 4.4 is 0.0e+00"),
    ("L09", "l2 norm m^1.5 d^1.0 epsilon^-1"),
    ("L09", "l1 norm m^2.0 d^1.5 epsilon^-1"),
    ("V07", "epsilon 413 at delta 1e-5"),
    ("V10", "udn 49"),
    ("V12", "15.41, H_28^2 = 15.42"),
    ("V19", "36.77"),
    ("V20", "0.797 at 8, 2.27 at 10"),
    ("V24", "idn 8.47, udn 44.8, tvg 237, mvg 931"),
    ("V25", "m^1.00 n^2.00"),
]


def test_numbers_are_those_of_the_independent_derivation(table: pd.DataFrame) -> None:
    assert [pair for pair in WORDS if pair[1] not in str(table.loc[pair[0], "observed"])] == []


def test_retention_is_refuted_because_it_gains_nothing_in_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check compares two mechanisms: where retention does gain, it says so."""
    observed = found("T02", NOTHING).observed
    gains = [float(word.split(" at ")[0].split()[-1]) for word in observed.split(", ") if " at 1" in word]
    assert max(gains) > 1.001
    monkeypatch.setattr(tldp_theorems, "SHARED", tldp_theorems.LARGE)
    assert tldp_theorems.retention_substitutes_noise().holds
