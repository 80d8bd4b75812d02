"""The figures of profiles, audits and ceilings say what their tables have."""

import math
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tensorldp_papers.plots.privacy import ceiling_table, draw_ceiling, draw_profiles, profile_table
from tensorldp_papers.plots.sheets import PHONE, on
from tensorldp_papers.plots.style import look

NO_AUDITS = pd.DataFrame(columns=["mechanism", "nominal", "epsilon_lower", "delta"])


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def profiles() -> pd.DataFrame:
    return profile_table(("laplace", "tldp-l"), nominal=(1.0,), points=12)


def audit(mechanism: str, epsilon: float, delta: float = 1e-5) -> pd.DataFrame:
    return pd.DataFrame([{"mechanism": mechanism, "nominal": 1.0, "epsilon_lower": epsilon, "delta": delta}])


def title(figure: Figure) -> str:
    """The words around the panels, in one line."""
    return " ".join(text.get_text() for text in figure.texts)


def lines(figure: Figure) -> dict[str, list[float]]:
    found = [line for ax in figure.axes for line in ax.get_lines()]
    return {str(line.get_label()): [float(v) for v in np.atleast_1d(line.get_xdata())] for line in found}


def runs(seeds: tuple[int, ...] = (0, 1), dataset: str = "digits") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "study": "tldp_type1",
                "dataset": dataset,
                "variant": "model=small_cnn",
                "mechanism": name,
                "epsilon": epsilon,
                "seed": seed,
                "metric": "accuracy_perturbed_test",
                "value": 0.5 + 0.1 * seed,
                "guarantee_epsilon": 64 * epsilon,
            }
            for name in ("tldp-l", "laplace")
            for epsilon in (0.5, 1.0)
            for seed in seeds
        ]
    )


def test_profiles_fall(profiles: pd.DataFrame) -> None:
    for _, part in profiles.groupby("mechanism"):
        assert part.sort_values("epsilon")["delta"].is_monotonic_decreasing


def test_mechanisms_that_keep_their_nominal_epsilon_stand_apart_from_those_that_do_not(profiles: pd.DataFrame) -> None:
    kept, exceeded = draw_profiles(profiles, NO_AUDITS).axes
    assert kept.get_title(loc="left") == "Nominal ε = 1 is kept by"
    names = [
        [str(line.get_label()) for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
        for ax in (kept, exceeded)
    ]
    assert names == [["Laplace"], ["TLDP-L"]]
    assert kept.get_xlim() == exceeded.get_xlim()


def test_a_panel_has_at_most_five_lines_and_says_what_is_left_out() -> None:
    one = profile_table(("laplace",), nominal=(1.0,), points=6)
    many = pd.concat([one.assign(mechanism=name) for name in ("laplace", "idn", "mvg", "privunit", "duchi", "hybrid")])
    figure = draw_profiles(many, NO_AUDITS)
    (ax,) = [ax for ax in figure.axes if ax.get_visible()]
    assert sum(not str(line.get_label()).startswith("_") for line in ax.get_lines()) == 5
    assert f"Not drawn: {look('hybrid').label}." in title(figure)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (audit("laplace", 0.1), "No audit finds more than the nominal ε of one release"),
        (audit("tldp-l", 1.5), "Audits exceed the nominal ε of TLDP-L, but no profile"),
        (audit("laplace", 50.0), "An audit contradicts the profile of Laplace"),
        (audit("tldp-l", 1.5, delta=0.0), "No audit finds more"),
    ],
)
def test_the_title_says_what_audits_found(profiles: pd.DataFrame, found: pd.DataFrame, said: str) -> None:
    figure = draw_profiles(profiles, found)
    assert said in title(figure)
    assert lines(figure)["_audit"] in ([], found["epsilon_lower"].tolist())
    marks = [line for ax in figure.axes for line in ax.get_lines() if line.get_label() == "_audit"]
    assert sum(len(np.atleast_1d(mark.get_xdata())) for mark in marks) == 1
    assert all(mark.get_color() in {look("laplace").colour, look("tldp-l").colour} for mark in marks)


def test_an_audit_that_found_nothing_is_not_drawn(profiles: pd.DataFrame) -> None:
    nothing = pd.concat([audit("laplace", 0.0), audit("laplace", math.inf)])
    assert lines(draw_profiles(profiles, nothing))["_audit"] == []


def test_the_ceiling_rises_with_epsilon_and_with_delta() -> None:
    ceiling = ceiling_table()
    assert ceiling["pure"].is_monotonic_increasing
    assert (ceiling["at_1e-5"] >= ceiling["pure"]).all()


def test_runs_stand_at_their_printed_and_at_their_true_epsilon() -> None:
    drawn = lines(draw_ceiling(ceiling_table(), runs()))
    assert drawn["TLDP-L, printed ε"] == [0.5, 1.0]
    assert drawn["TLDP-L, true ε"] == [32.0, 64.0]
    assert not any("Laplace" in name for name in drawn)
    few = runs((0,), "mnist").query("epsilon == 1").assign(epsilon=7.0)
    assert lines(draw_ceiling(ceiling_table(), pd.concat([runs(), few]))) == drawn


def test_the_title_says_what_the_ceiling_is_at_epsilon_1() -> None:
    table = ceiling_table()
    assert "at a true ε of 1 no classifier gets above 23 %" in title(draw_ceiling(table, runs()))
    assert "gets above 100 %" in title(draw_ceiling(table.assign(pure=1.0), runs()))


def test_a_table_without_such_runs_has_the_ceiling_and_the_printed_scores() -> None:
    with on(PHONE):
        drawn = lines(draw_ceiling(ceiling_table(), runs()[:0]))
    assert set(drawn) == {"_ceiling", "printed by LATENT", "printed by TLDP"}
    assert len(drawn["printed by LATENT"]) == 4
    assert len(drawn["printed by TLDP"]) == 1
