"""The figures of profiles, audits and ceilings say what their tables have."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from made_up import lines, said, table

from tensorldp_papers.papers.tldp.figures import ceiling_table, draw_ceiling
from tensorldp_papers.plots.privacy import draw_profiles, profile_table
from tensorldp_papers.plots.sheets import PHONE, on
from tensorldp_papers.plots.style import look

RUNS = table([(name, (0.5, 1.0), 64.0) for name in ("tldp-l", "laplace")])
NO_AUDITS = pd.DataFrame(columns=["mechanism", "nominal", "epsilon_lower", "delta"])


@pytest.fixture(scope="module")
def profiles() -> pd.DataFrame:
    return profile_table(("laplace", "tldp-l"), nominal=(1.0,), points=12)


@pytest.fixture(scope="module")
def ceiling() -> pd.DataFrame:
    return ceiling_table()


def audit(mechanism: str, epsilon: float, delta: float = 1e-5) -> pd.DataFrame:
    return pd.DataFrame([{"mechanism": mechanism, "nominal": 1.0, "epsilon_lower": epsilon, "delta": delta}])


def test_profiles_fall_and_those_that_keep_their_nominal_epsilon_stand_apart(profiles: pd.DataFrame) -> None:
    for _, part in profiles.groupby("mechanism"):
        assert part.sort_values("epsilon")["delta"].is_monotonic_decreasing
    figure = draw_profiles(profiles, NO_AUDITS)
    kept, exceeded = figure.axes
    assert kept.get_title(loc="left") == "Nominal ε = 1 is kept by"
    assert [[name for name in lines(ax) if name[0] != "_"] for ax in figure.axes] == [["Laplace"], ["TLDP-L"]]
    assert kept.get_xlim() == exceeded.get_xlim()


def test_a_panel_has_at_most_five_lines_and_says_what_is_left_out() -> None:
    one = profile_table(("laplace",), nominal=(1.0,), points=6)
    many = pd.concat([one.assign(mechanism=name) for name in ("laplace", "idn", "mvg", "privunit", "duchi", "hybrid")])
    figure = draw_profiles(many, NO_AUDITS)
    assert sum(name[0] != "_" for name in lines(figure)) == 5
    assert f"Not drawn: {look('hybrid').label}." in said(figure)


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        (audit("laplace", 0.1), "No audit finds more than the nominal ε of one release"),
        (audit("tldp-l", 1.5), "Audits find more than the nominal ε of TLDP-L, and contradict no profile"),
        (audit("laplace", 50.0), "An audit contradicts the profile of Laplace"),
        (audit("tldp-l", 1.5, delta=0.0), "No audit finds more"),
        (pd.concat([audit("laplace", 0.0), audit("laplace", math.inf)]), "No audit finds more"),
    ],
)
def test_the_title_says_what_audits_found(profiles: pd.DataFrame, found: pd.DataFrame, answer: str) -> None:
    figure = draw_profiles(profiles, found)
    assert answer in said(figure)
    marks = [line for ax in figure.axes for line in ax.get_lines() if line.get_label() == "_audit"]
    places = [float(x) for mark in marks for x in np.asarray(mark.get_xdata())]
    assert places == [x for x in found["epsilon_lower"] if 0 < x < math.inf]  # and none that found nothing
    assert {mark.get_color() for mark in marks} <= {look("laplace").colour, look("tldp-l").colour}


def test_the_ceiling_rises_with_epsilon_and_with_delta_and_the_title_says_where_it_is(ceiling: pd.DataFrame) -> None:
    assert ceiling["pure"].is_monotonic_increasing
    assert (ceiling["at_1e-5"] >= ceiling["pure"]).all()
    assert "at a true ε of 1 no classifier gets above 23 %" in said(draw_ceiling(ceiling, RUNS))
    assert "gets above 100 %" in said(draw_ceiling(ceiling.assign(pure=1.0), RUNS))


def test_runs_stand_at_their_printed_and_at_their_true_epsilon(ceiling: pd.DataFrame) -> None:
    drawn = lines(draw_ceiling(ceiling, RUNS))
    assert drawn["TLDP-L, printed ε"] == [0.5, 1.0]
    assert drawn["TLDP-L, true ε"] == [32.0, 64.0]
    assert not any("Laplace" in name for name in drawn)
    few = RUNS.query("seed == 0 and epsilon == 1").assign(dataset="mnist", epsilon=7.0)
    assert lines(draw_ceiling(ceiling, pd.concat([RUNS, few]))) == drawn


def test_a_table_without_such_runs_has_the_ceiling_and_the_printed_scores(ceiling: pd.DataFrame) -> None:
    with on(PHONE):
        drawn = lines(draw_ceiling(ceiling, RUNS[:0]))
    assert set(drawn) == {"_ceiling", "printed by LATENT", "printed by TLDP"}
    assert (len(drawn["printed by LATENT"]), len(drawn["printed by TLDP"])) == (4, 1)
