"""The sentences and pictures of the first screen say what the tables say."""

from __future__ import annotations

import math
import re

import pandas as pd
import pytest
from report_page import audits, claims, metrics

from tensorldp_papers.plots.words import VERDICTS, short_number
from tensorldp_papers.report.findings import epsilons_at, findings, picture_rows
from tensorldp_papers.report.pictures import epsilons_picture, scores_picture


def test_what_a_printed_epsilon_guarantees_is_taken_from_the_rows() -> None:
    found = epsilons_at(metrics()).set_index(["study", "mechanism"])
    assert found.loc[("tldp_type1", "tldp-l"), "printed"] == 1.0
    assert found.loc[("tldp_type1", "tldp-l"), "low"] == 64.0
    text = findings(metrics(), claims(), audits(), VERDICTS)
    assert "TLDP 64 (printed 1, a record)" in text[0]


def test_the_best_score_is_within_the_true_epsilon() -> None:
    rows = metrics().assign(guarantee_pure_epsilon=lambda t: t["epsilon"])
    rows.loc[(rows["mechanism"] == "privunit") & (rows["epsilon"] == 10.0), "value"] = 0.75
    rows.loc[(rows["mechanism"] == "privunit") & (rows["epsilon"] == 1.0), "value"] = 0.5
    control = rows[rows["mechanism"] == "none"].assign(variant="control=public", value=0.0)
    text = findings(pd.concat([rows, control]), claims(), audits(), VERDICTS)[1]
    assert "0.500 (PrivUnit) at ε ≤ 1, 0.750 (PrivUnit) at ε ≤ 10; without privacy 0.375." in text
    alone = control.assign(variant="backbone=strokes,control=public", value=0.625)
    text = findings(pd.concat([rows, control, alone]), claims(), audits(), VERDICTS)[1]
    assert text.endswith("without privacy 0.375; from public data alone 0.625.")


def test_verdicts_and_audits_are_counted() -> None:
    *_, verdicts, tried = findings(metrics(), claims(), audits(), VERDICTS)
    assert verdicts.startswith("Of 37 theorems of the sources: ")
    assert "Of 72 statements about runs of the sources: " in verdicts
    assert "may be wrong by chance" in verdicts
    assert tried.startswith("2 audits tried")
    assert "0 found more" in tried


def test_one_claim_and_one_audit_are_counted_as_one() -> None:
    one = claims().query("verdict == 'holds with a condition'").head(1)
    *_, verdicts, tried = findings(metrics(), one, audits().head(1), VERDICTS)
    assert verdicts.startswith("Of 1 statement about runs of the sources: 1 holds with a condition. ")
    assert tried.startswith("1 audit tried")


def test_a_run_without_their_studies_has_no_sentence_and_no_picture() -> None:
    none = metrics()[:0]
    assert findings(none, claims()[:0], audits()[:0], VERDICTS) == []
    assert epsilons_picture(none) == scores_picture(none) == ""


def test_the_pictures_hold_every_row_and_say_it_in_words() -> None:
    rows, picture = picture_rows(metrics()), epsilons_picture(metrics())
    assert len(re.findall('class="printed"', picture)) == len(rows) > 3
    assert "TLDP-L, Type I, a record: 1 to 64" in picture
    assert 'role="img" aria-label="Scores at true epsilons on digits' in scores_picture(metrics())


def test_runs_with_settings_of_their_own_are_not_joined_by_a_line() -> None:
    rows = metrics()
    federated = rows[rows["mechanism"] == "tldp-g"].assign(study="pldp_fl", mechanism="pdpm", metric="accuracy")
    assert len(federated)
    before, after = scores_picture(rows), scores_picture(pd.concat([rows, federated]))
    assert "PLDP-FL: PDPM" in after
    assert after.count('class="trace"') == before.count('class="trace"')


@pytest.mark.parametrize(
    ("value", "text"), [(0.0273, "0.0273"), (4941.0, "4,940"), (math.inf, "∞"), (1e6, "1,000,000")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert short_number(value) == text


def test_an_infinite_guarantee_is_no_point_of_the_picture() -> None:
    rows = metrics().assign(guarantee_epsilon=math.inf)
    assert picture_rows(pd.DataFrame(rows)) == []
