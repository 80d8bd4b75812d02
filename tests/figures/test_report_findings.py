"""The sentences of the first screen say what the tables say, in few words."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from report_page import audits, claims, metrics

from tensorldp_papers.report.findings import findings


def sentences(rows: pd.DataFrame | None = None, told: pd.DataFrame | None = None) -> list[str]:
    """All sentences of the invented run, or of other rows or claims."""
    given = metrics() if rows is None else rows
    return [finding.text for finding in findings(given, claims() if told is None else told, audits())]


def frontier() -> pd.DataFrame:
    """Runs of PrivUnit at three epsilons, on MNIST."""
    rows = metrics().query("study == 'latent' and mechanism == 'privunit'")
    return rows.assign(
        study="frontier", dataset="mnist", guarantee_pure_epsilon=rows["epsilon"], value=0.1 * rows["epsilon"] ** 0.5
    )


def test_sentences_are_short_and_each_leads_somewhere() -> None:
    found = findings(pd.concat([metrics(), frontier()]), claims(), audits())
    assert len(found) == 5
    assert all(len(finding.text.split()) <= 20 and finding.number and finding.place for finding in found)


def test_what_tldp_guarantees_is_taken_from_its_rows() -> None:
    assert sentences()[0] == "Where TLDP-L prints an ε of one, one record of digits gets 64."
    rows = metrics()
    both = pd.concat([rows, rows.assign(dataset="mnist", guarantee_epsilon=784.0)])
    assert sentences(both)[0].endswith("one record of MNIST gets 784.")
    assert "gets ∞" in sentences(rows.assign(guarantee_epsilon=math.inf))[0]


def test_tldp_and_laplace_are_compared_at_one_true_epsilon() -> None:
    assert sentences()[1].endswith("of plain Laplace noise on digits differ by less than 0.01.")
    rows = metrics()
    rows.loc[rows["mechanism"] == "tldp-l", "value"] += 0.2
    assert sentences(rows)[1].endswith("differ by 0.20.")
    rows.loc[rows["mechanism"] == "laplace", "guarantee_epsilon"] *= 7
    assert not [sentence for sentence in sentences(rows) if "differ" in sentence]


def test_what_a_true_epsilon_buys_is_the_frontiers_number_nearest_to_one() -> None:
    found = sentences(pd.concat([metrics(), frontier()]))[2]
    assert found == "At a true ε of one, PrivUnit on public features reaches 10 % accuracy on MNIST."


@pytest.mark.parametrize(("count", "text"), [(0, "None of the"), (1, "1 of the"), (2, "2 of the")])
def test_refuted_theorems_are_counted(count: int, text: str) -> None:
    told = claims(4).assign(kind="theorem", verdict=["refuted"] * count + ["reproduced"] * (4 - count))
    assert sentences(told=told)[-2].startswith(text)


def test_audits_that_exceed_a_guarantee_are_compared_with_chance() -> None:
    assert sentences()[-1] == "None of 2 audits found more than its guarantee allows."
    above = findings(metrics(), claims(), audits().assign(epsilon_lower=3.0))[-1].text
    assert above == "Audits exceed a guarantee 2 times, more than chance explains."
    many = pd.concat([audits()] * 20)
    many.iloc[:1, many.columns.get_loc("epsilon_lower")] = 3.0  # type: ignore[index]
    assert findings(metrics(), claims(), many)[-1].text.endswith("1 time, no more than chance explains.")


def test_a_run_without_their_studies_has_no_sentence() -> None:
    assert findings(metrics()[:0], claims()[:0], audits()[:0]) == []
