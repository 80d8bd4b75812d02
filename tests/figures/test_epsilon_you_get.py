"""The first picture: what is printed, what is guaranteed, and the accuracy beside them."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from made_up import table, title, words

from tensorldp_papers.plots.epsilon_you_get import draw_epsilons, epsilons, sentence

INF = math.inf


def row(study: str, mechanism: str, epsilon: float, variant: str, value: float, **more: Any) -> dict[str, Any]:
    return {
        **{"study": study, "dataset": "mnist", "mechanism": mechanism, "epsilon": epsilon, "variant": variant},
        **{"value": value, "metric": "accuracy", "seed": 0, "guarantee_epsilon": INF, "guarantee_exact": True},
        **{"guarantee_pure_epsilon": INF, **more},
    }


@pytest.fixture
def metrics() -> pd.DataFrame:
    return pd.DataFrame(
        [
            row("tldp_type1", "tldp-l", 1.0, "model=a", 0.9, guarantee_epsilon=382.3, guarantee_pure_epsilon=784.0),
            row("tldp_type1", "tldp-l", 1.0, "model=b", 0.8, guarantee_epsilon=382.3, guarantee_pure_epsilon=784.0),
            row("tldp_type1", "tldp-l", 5.0, "model=a", 0.99, guarantee_epsilon=3330.0),
            row("tldp_type1", "tldp-l", 1.0, "model=a,range=printed", 1.0, guarantee_epsilon=382.3),
            row("pldp_fl", "pdpm", 1.0, "eps=e3,tau=t1", 0.8, guarantee_epsilon=9e4, guarantee_exact=False),
            row("pldp_fl", "pdpm", 1.0, "eps=e1,tau=t1", 0.9, guarantee_epsilon=9e4),
            row(
                "frontier",
                "privunit",
                1.0,
                "backbone=strokes",
                0.96,
                guarantee_epsilon=0.99,
                guarantee_pure_epsilon=1.0,
            ),
            row("frontier", "privunit", 1.0, "backbone=strokes,private=record", 0.99, guarantee_epsilon=0.99),
            row(
                "tvg_testing",
                "idn",
                1e6,
                "model=lenet,unit=batch",
                0.93,
                guarantee_epsilon=2782.0,
                metric="accuracy_perturbed_test",
            ),
        ]
    )


def test_each_mechanism_has_the_best_setting_at_the_epsilon_that_its_paper_prints(metrics: pd.DataFrame) -> None:
    found = epsilons(metrics).set_index("name")
    assert list(found.loc["TLDP-L on images", ["printed", "guaranteed", "accuracy"]]) == [1.0, 382.3, 0.9]
    assert list(found.loc["PLDP-FL, mode e3", ["guaranteed", "exact", "accuracy"]]) == [9e4, False, 0.8]
    assert found.loc["TVG's IDN, test images", "guaranteed"] == 2782.0
    assert len(found) == 4


def test_what_holds_with_delta_0_as_printed_is_said_to_be_as_printed(metrics: pd.DataFrame) -> None:
    found = epsilons(metrics).set_index("name").loc["PrivUnit, public features"]
    assert list(found[["guaranteed", "pure", "accuracy"]]) == [1.0, True, 0.96]
    said = words(draw_epsilons(epsilons(metrics)))
    assert said.count("as printed") == 1
    assert {"382", "≤ 90,000", "2,782", "1,000,000", "96 %", "90 %", "80 %", "93 %"} <= set(said)


def test_the_title_is_what_the_rows_say(metrics: pd.DataFrame) -> None:
    assert title(draw_epsilons(epsilons(metrics))) == "The ε on the label is not the ε you get"
    held = epsilons(metrics[metrics["study"].isin(["frontier", "tvg_testing"])])
    assert title(draw_epsilons(held)) == "The ε on the label is guaranteed"
    nothing = epsilons(metrics[metrics["study"] == "none"])
    assert title(draw_epsilons(nothing)) == "No paper's mechanism is in this run"


def test_a_run_without_mnist_shows_what_it_has_and_names_it() -> None:
    found = epsilons(table(dataset="digits"))
    assert found["dataset"].tolist() == ["digits"]
    assert any("test records of digits" in text for text in words(draw_epsilons(found)))
    assert sentence(found) == "TLDP-L on images: printed 1, guaranteed 64, accuracy 55%"
