"""What PLDP-FL's figures read out of the metrics, and what they say about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from tensorldp.errors import InputError
from tensorldp_papers.papers.pldp_fl import figures as pldp
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.sheets import PHONE, on

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def table(rows: list[Row]) -> pd.DataFrame:
    shared = {
        "study": "pldp_fl",
        "dataset": "digits",
        "mechanism": "pdpm",
        "epsilon": 1.0,
        "seed": 0,
        "guarantee_epsilon": 100.0,
        "variant": "eps=e3,model=mlp,tau=t1",
    }
    return pd.DataFrame([{**shared, **row} for row in rows])


def title(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts if text.get_fontweight() == "bold")


def lines(ax: Axes) -> list[list[float]]:
    """What is drawn through, without references."""
    return [np.asarray(line.get_ydata()).tolist() for line in ax.lines if not line.is_dashed()]


def curves(cells: dict[str, float], **shared: Any) -> list[Row]:
    """Accuracies of cells, by variant, in two rounds and two seeds, the same in both."""
    return [
        {"variant": variant, "metric": "accuracy_by_round", "round": mark, "value": value, "seed": seed, **shared}
        for variant, value in cells.items()
        for mark in (5, 10)
        for seed in (0, 1)
    ]


def nine(values: dict[str, float], centre: str = "global") -> list[Row]:
    """PDPM's nine cells: values by mode of epsilon, of the narrowest ranges; half of that for others."""
    cells = {
        f"centre={centre},eps={mode},model=mlp,tau={tau}": value if tau == "t1" else value / 2
        for mode, value in values.items()
        for tau in ("t1", "t2", "t3")
    }
    return curves(cells)


FREE = curves({"model=mlp": 0.9}, mechanism="none", epsilon=np.inf)
MODES = {"e1": 0.1, "e2": 0.12, "e3": 0.8}


def test_rounds_and_clients_are_read_from_their_columns() -> None:
    metrics = table(
        [
            {"metric": "accuracy_by_round", "round": 5, "value": 0.3},
            {"metric": "accuracy_by_round", "round": 100, "value": 0.5},
            {"metric": "accuracy", "value": 0.5},
            {"metric": "client_uploads", "client": 7, "value": 4.0},
            {"metric": "client_epsilon", "client": 7, "value": 90.0},
            {"metric": "client_per_weight", "client": 7, "value": 3.6},
        ]
    )
    rows = pldp.pldp_rows(metrics, "pldp_fl")
    assert rows["tau"].unique().tolist() == ["t1"]
    assert rows["budget"].unique().tolist() == [""]
    found = pldp.over_rounds(rows)
    assert found[["round", "value"]].to_numpy().tolist() == [[5, 0.3], [100, 0.5]]
    client = pldp.client_table(rows).iloc[0]
    assert (client["client"], client["uploads"], client["epsilon"]) == (7, 4.0, 90.0)
    assert client["nominal"] == pytest.approx(0.9)


def test_each_mix_of_epsilon_has_a_panel_with_a_line_for_each_of_ranges() -> None:
    figure = pldp.draw_rounds(table([*nine(MODES), *FREE]))
    for ax, value in zip(figure.axes, MODES.values(), strict=True):
        assert lines(ax) == [[value] * 2, [value / 2] * 2, [value / 2] * 2]
    assert [ax.get_title("left") for ax in figure.axes][2] == "digits, ε of 0.9 or 1"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (MODES, "PDPM learns only with ε of 0.9 or 1: at best 80 % on digits"),
        ({**MODES, "e3": 0.1}, "PDPM hardly learns at any mix of ε"),
        ({"e1": 0.5, "e2": 0.6, "e3": 0.8}, "PDPM learns at every mix of ε: at best 80 % on digits"),
    ],
)
def test_the_title_says_with_which_budgets_pdpm_learns(values: dict[str, float], said: str) -> None:
    assert title(pldp.draw_rounds(table([*nine(values), *FREE]))) == said


def test_a_figure_shows_one_centre_of_safe_ranges() -> None:
    rows = table([*nine(MODES), *nine(dict.fromkeys(MODES, 0.2), "zero"), *FREE])
    assert lines(pldp.draw_rounds(rows).axes[2])[0] == [0.8, 0.8]
    assert lines(pldp.draw_rounds(rows, centre="zero").axes[2])[0] == [0.2, 0.2]


def test_what_the_paper_prints_is_a_star_in_its_panel() -> None:
    rows = table([*nine(MODES), *FREE]).assign(dataset="mnist")
    figure = pldp.draw_rounds(rows)
    stars = [
        [np.asarray(line.get_ydata()).tolist() for line in ax.lines if line.get_marker() == "*"] for ax in figure.axes
    ]
    assert stars == [[], [[0.957]], [[0.979]]]
    assert title(figure).endswith("at best 80 % on MNIST (97.9 % printed)")


def test_mechanisms_are_compared_apart_and_printed_scores_are_named() -> None:
    cells = {f"centre={centre},eps=e2,model=mlp,tau=2.0": 0.1 for centre in ("zero", "global")}
    rows = [*curves(cells), *curves(cells, mechanism="plu-fedoa"), *FREE]
    figure = pldp.draw_comparison(table(rows).assign(dataset="mnist"))
    assert [ax.get_title("left") for ax in figure.axes] == ["MNIST, around the weights sent", "MNIST, around 0"]
    assert {"PDPM", "PLU-FedOA", "printed, PDPM"} <= {
        part for text in figure.axes[0].texts for part in text.get_text().split(" = ")
    }
    assert title(figure) == "On ranges of width 2 no mechanism learns in 10 rounds; the paper prints 97.5 % and 90.3 %"
    better = [*curves(cells), *curves(cells, mechanism="duchi"), *FREE]
    learned = table(better).assign(value=lambda t: t["value"].where(t["mechanism"] != "duchi", 0.7))
    assert title(pldp.draw_comparison(learned)) == "On ranges of width 2 only Duchi learns"


def guaranteed(pdpm: float, privunit: float, at: float = 10.0) -> pd.DataFrame:
    shared = {"metric": "accuracy"}
    rows: list[Row] = []
    for seed in (0, 1):
        for tau, lower in (("t1", 0.0), ("t2", 0.05)):
            cell = {"variant": f"centre=zero,eps=e1,model=mlp,tau={tau}", "guarantee_epsilon": 10.0}
            rows.append({**shared, **cell, "value": pdpm - lower, "seed": seed})
        twin = {"mechanism": "privunit", "variant": "budget=model,eps=e2,model=mlp", "seed": seed}
        rows += [
            {**shared, **twin, "epsilon": epsilon, "guarantee_epsilon": true, "value": value}
            for epsilon, true, value in ((1.0, at, privunit), (100.0, 1000.0, 0.99))
        ]
    return table(rows)


def test_pdpm_with_its_best_ranges_stands_beside_privunit_at_the_same_guarantee() -> None:
    (pair,) = pldp.pairs(guaranteed(0.2, 0.8))
    assert (pair.mode, pair.epsilon, pair.pdpm[0], pair.privunit[0]) == ("e1", 10.0, 0.2, 0.8)
    figure = pldp.draw_guaranteed(guaranteed(0.2, 0.8))
    assert title(figure) == "At one true ε PrivUnit is ahead: 80 % to PDPM's 20 % on digits at 10"
    assert {"20 %", "80 %", "PDPM", "PrivUnit"} == {text.get_text() for text in figure.axes[0].texts}
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["ε of 0.1 or 0.2:\ntrue ε 10"]


def test_the_guarantees_title_follows_the_numbers() -> None:
    assert title(pldp.draw_guaranteed(guaranteed(0.8, 0.2))) == "PDPM and PrivUnit at nearly one true ε"
    for far in (8.0, 11.0):  # of less noise, or too much more
        assert pldp.pairs(guaranteed(0.2, 0.8, far)) == []
    figure = pldp.draw_guaranteed(guaranteed(0.2, 0.8, 11.0))
    assert title(figure) == pldp.NOT_RUN
    assert any("not run" in text.get_text() for text in figure.axes[0].texts)


def test_the_ledger_shows_every_client_twice_and_how_the_median_client_spends() -> None:
    rows: list[Row] = []
    for mode in ("e1", "e2", "e3"):
        variant = {"variant": f"eps={mode},model=mlp,tau=t1"}
        for i in range(5):
            rows += [
                {**variant, "metric": f"client_{what}", "client": i, "value": value}
                for what, value in (("uploads", 2.0), ("epsilon", 50.0 + i), ("per_weight", 0.2 * (i + 1)))
            ]
        rows += [
            {**variant, "metric": f"spent_{word}_by_round", "round": mark, "value": float(mark)}
            for word in ("least", "median", "most")
            for mark in (5, 10)
        ]
    figure = pldp.draw_ledger(table(rows))
    left, right = figure.axes
    whole, weight, stated = left.lines
    assert [len(np.asarray(line.get_xdata())) for line in (whole, weight)] == [15, 15]
    assert {round(float(x), 6) for x in np.asarray(whole.get_xdata())} == {0.1, 0.2, 0.3, 0.4, 0.5}
    assert stated.is_dashed()
    assert [np.asarray(line.get_xdata()).tolist() for line in right.lines] == [[5, 10]] * 3
    assert title(figure) == "A client whose ε is 0.5 in the paper has spent 54 in the run"


def shares(cells: dict[str, float], **shared: Any) -> list[Row]:
    """Cells of Figure 3 by variant and share: accuracy is half of it, uploads 20 MB of it."""
    return [
        {"variant": variant, "metric": metric, "value": value, **shared}
        for variant, share in cells.items()
        for metric, value in (("participation", share), ("accuracy", share / 2), ("uploaded_megabytes", 20 * share))
    ]


def test_a_scale_without_other_shares_says_so() -> None:
    figure = pldp.draw_participation(table([{"metric": "accuracy", "value": 0.5}]))
    assert any("not run" in text.get_text() for ax in figure.axes for text in ax.texts)
    assert title(figure) == pldp.NOT_RUN


def test_the_studys_own_share_is_on_figure_3() -> None:
    rows = shares(
        {
            "eps=e3,model=mlp,participation=0.1,tau=t1": 0.1,
            "eps=e3,model=mlp,tau=t1": 0.7,
            "eps=e3,model=mlp,participation=1.0,tau=t1": 1.0,
        }
    )
    rows += shares({"eps=e3,model=mlp,tau=t3": 0.9, "budget=model,eps=e3,model=mlp,tau=t1": 0.9})
    figure = pldp.draw_participation(table(rows))
    left, right = figure.axes
    assert np.asarray(left.lines[0].get_xdata()).tolist() == [0.1, 0.7, 1.0]
    assert lines(left) == [[2.0, 14.0, 20.0]]
    assert lines(right) == [[0.05, 0.35, 0.5]]
    assert title(figure) == "With 10 % of the clients in a round PDPM has 5 % on digits, with all 50 %"


def test_figure_3_has_a_panel_of_accuracy_for_each_data_set() -> None:
    cells = {f"eps=e3,model=mlp,participation={share},tau=t1": share for share in (0.1, 1.0)}
    rows = table([*shares(cells), *shares(cells, dataset="mnist")])
    axes = pldp.draw_participation(rows).axes
    assert [ax.get_title("left") for ax in axes] == ["communication", "digits", "MNIST"]
    assert [lines(ax) for ax in axes] == [[[2.0, 20.0]], [[0.05, 0.5]], [[0.05, 0.5]]]


def test_figure_3_leaves_out_cells_of_more_rounds() -> None:
    rows = [
        {"variant": variant, "mechanism": "none", "metric": metric, "value": value}
        for variant, share, rounds in (("model=mlp", 0.7, 100), ("model=mlp,participation=1.0", 1.0, 50))
        for metric, value in (("participation", share), ("accuracy", 0.9), ("uploaded_megabytes", rounds * share))
    ]
    rows += shares({"eps=e3,model=mlp,tau=t1": 0.7})
    rows[-1]["value"] = 35.0  # of 50 rounds
    _, right = pldp.draw_participation(table(rows)).axes
    (free,) = [line for line in right.lines if line.is_dashed()]
    assert np.asarray(free.get_xdata()).tolist() == [1.0]


def errors(factor: float, mechanisms: tuple[str, ...] = ("pdpm",)) -> pd.DataFrame:
    """Errors of a mean: measured ones are this factor of the closed form."""
    cells = [("eps=same,tau=t1", e, 1 / e) for e in (0.1, 1.0)] + [("eps=same,tau=2.0", e, 2 / e) for e in (0.1, 1.0)]
    cells += [(f"eps={mode},tau={tau}", 1.0, tau) for mode in ("e1", "e2", "e3") for tau in (0.2, 2.0)]
    rows = [
        {"study": "pldp_synthetic", "dataset": "synthetic", "variant": variant, "epsilon": epsilon, "seed": seed}
        | {"metric": metric, "value": value * (1 + 0.5 * i), "mechanism": name}
        for i, name in enumerate(mechanisms)
        for variant, epsilon, error in cells
        for metric, value in (("expected_relative_error", error), ("relative_error", factor * error))
        for seed in (0, 1)
    ]
    return table(rows)


def test_measured_errors_lie_on_their_closed_form_and_the_title_says_how_near() -> None:
    figure = pldp.draw_errors(errors(1.02))
    assert title(figure) == "PDPM's error of a mean follows its closed form: half of the settings within 2 %"
    left, right = figure.axes
    assert lines(left) == [pytest.approx([10.2, 1.02])]
    assert len(lines(right)) == 3
    dashed = [line for line in left.lines if line.is_dashed()]
    assert [np.asarray(line.get_ydata()).tolist() for line in dashed] == [[10.0, 1.0]]
    assert "off its closed form" in title(pldp.draw_errors(errors(1.5)))


def test_errors_of_mechanisms_are_compared_at_one_epsilon() -> None:
    figure = pldp.draw_error_mechanisms(errors(1.0, ("plu-fedoa", "pdpm")))
    assert title(figure) == "At the same ε of one value PDPM's error is 1.5 times that of Laplace noise"
    assert "Laplace" not in title(pldp.draw_error_mechanisms(errors(1.0)))


def test_panels_have_few_lines_and_no_text_has_a_key() -> None:
    cells = {f"centre={centre},eps=e2,model=mlp,tau=2.0": 0.1 for centre in ("zero", "global")}
    names = ("pdpm", "plu-fedoa", "duchi", "piecewise", "laplace", "hybrid")
    rows = table([row for name in names for row in curves(cells, mechanism=name)] + nine(MODES) + FREE)
    rows = rows.assign(dataset="fashion_mnist")
    with on(PHONE):
        figures = [pldp.draw_rounds(rows), pldp.draw_comparison(rows), pldp.draw_guaranteed(guaranteed(0.2, 0.8))]
    for figure in figures:
        assert all(len(lines(ax)) <= MOST_LINES + 1 for ax in figure.axes)  # and stars
        shown = " ".join(text.get_text() for text in figure.findobj(Text))
        assert not {"_", "e1", "e2", "e3", "pdpm"} & set(shown.replace("_", " _ ").split())


def test_a_table_without_the_study_is_one_sentence() -> None:
    with pytest.raises(InputError, match="no rows of study pldp_fl"):
        pldp.draw_rounds(table([{"study": "s", "metric": "accuracy", "value": 1.0}]))
