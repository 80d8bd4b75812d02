"""What PLDP-FL's figures read out of the metrics, and what they say about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up import Row, every, headings, lines, named_rows, rows, said, scores, title
from matplotlib.axes import Axes

from tensorldp.errors import InputError
from tensorldp_papers.papers.pldp_fl import figures as pldp

MODES = {"e1": 0.1, "e2": 0.12, "e3": 0.8}


def table(cells: list[Row], dataset: str = "digits") -> pd.DataFrame:
    shared = {"variant": "eps=e3,model=mlp,tau=t1", "epsilon": 1.0, "guarantee_epsilon": 100.0}
    return rows(cells, **{"study": "pldp_fl", "dataset": dataset, "mechanism": "pdpm", **shared})


def drawn(ax: Axes, *, dashed: bool = False) -> list[list[float]]:
    """What is drawn through, without references; or the references."""
    shown = [line for line in ax.lines if line.get_label() != "_lead"]  # of names
    return [np.asarray(line.get_ydata()).tolist() for line in shown if line.is_dashed() == dashed]


def curves(cells: dict[str, float], **shared: Any) -> list[Row]:
    """Accuracies of cells, by variant, in two rounds and two seeds, the same in both."""
    marks = every(variant=list(cells), round=(5, 10), seed=(0, 1))
    return [{"metric": "accuracy_by_round", "value": cells[mark["variant"]], **mark, **shared} for mark in marks]


def nine(values: dict[str, float] = MODES, centre: str = "global") -> list[Row]:
    """PDPM's nine cells: values by mode of epsilon, of the narrowest ranges; half of that for others."""
    found = every(mode=list(values), tau=("t1", "t2", "t3"))
    named = {f"centre={centre},eps={cell['mode']},model=mlp,tau={cell['tau']}": cell for cell in found}
    return curves({name: values[cell["mode"]] / (1 if cell["tau"] == "t1" else 2) for name, cell in named.items()})


FREE = curves({"model=mlp": 0.9}, mechanism="none", epsilon=np.inf)
WIDE = [f"centre={centre},eps=e2,model=mlp,tau=2.0" for centre in ("zero", "global")]


def test_rounds_and_clients_are_read_from_their_columns() -> None:
    cells = scores({"client_uploads": 4.0, "client_epsilon": 90.0, "client_per_weight": 3.6}, client=7)
    cells += [{"metric": "accuracy_by_round", "round": mark, "value": mark / 100} for mark in (5, 100)]
    found = pldp.pldp_rows(table([*cells, {"metric": "accuracy"}]), "pldp_fl")
    assert (found["tau"].unique().tolist(), found["budget"].unique().tolist()) == (["t1"], [""])
    assert pldp.over_rounds(found)[["round", "value"]].to_numpy().tolist() == [[5, 0.05], [100, 1.0]]
    client = pldp.client_table(found)[["client", "uploads", "epsilon", "nominal"]]
    assert client.iloc[0].tolist() == pytest.approx([7, 4.0, 90.0, 0.9])
    with pytest.raises(InputError, match="no rows of study pldp_fl"):
        pldp.draw_rounds(table([{"study": "s"}]))


def test_each_mix_of_epsilon_has_a_panel_with_a_line_for_each_of_ranges_around_one_centre() -> None:
    both = table([*nine(), *nine(dict.fromkeys(MODES, 0.2), "zero"), *FREE])
    figure = pldp.draw_rounds(both)
    for ax, value in zip(figure.axes, MODES.values(), strict=True):
        assert drawn(ax) == [[value] * 2, [value / 2] * 2, [value / 2] * 2]
    assert headings(figure)[2] == "digits, ε of 0.9 or 1"
    assert drawn(pldp.draw_rounds(both, centre="zero").axes[2])[0] == [0.2, 0.2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "dataset", "answer"),
    [
        (MODES, "digits", "PDPM learns only with ε of 0.9 or 1: at best 80 % on digits"),
        (MODES, "mnist", "PDPM learns only with ε of 0.9 or 1: at best 80 % on MNIST (97.9 % printed)"),
        ({**MODES, "e3": 0.1}, "digits", "PDPM reaches a third of the accuracy without privacy at no mix of ε"),
        ({**MODES, "e1": 0.5, "e2": 0.6}, "digits", "PDPM learns at every mix of ε: at best 80 % on digits"),
    ],
)
def test_the_title_says_with_which_budgets_pdpm_learns(values: dict[str, float], dataset: str, answer: str) -> None:
    figure = pldp.draw_rounds(table([*nine(values), *FREE], dataset))
    assert title(figure) == answer
    stars = [
        [np.asarray(line.get_ydata()).tolist() for line in ax.lines if line.get_marker() == "*"] for ax in figure.axes
    ]
    assert stars == ([[], [[0.957]], [[0.979]]] if dataset == "mnist" else [[], [], []])  # printed


def test_mechanisms_are_compared_apart_and_printed_scores_are_named() -> None:
    low = curves(dict.fromkeys(WIDE, 0.1))
    figure = pldp.draw_comparison(table([*low, *({**row, "mechanism": "plu-fedoa"} for row in low), *FREE], "mnist"))
    assert headings(figure) == ["MNIST, around the server's weights", "MNIST, around 0"]
    named = {part for text in figure.axes[0].texts for part in text.get_text().split(" = ")}
    assert {"PDPM", "PLU-FedOA", "printed, PDPM"} <= named
    assert title(figure) == "On ranges of width 2 no mechanism learns in 10 rounds; the paper prints 97.5 % and 90.3 %"
    learned = pldp.draw_comparison(table([*low, *curves(dict.fromkeys(WIDE, 0.7), mechanism="duchi"), *FREE]))
    assert title(learned) == "On ranges of width 2 only Duchi learns"


@pytest.mark.parametrize(
    ("duchi", "piecewise", "answer"),
    [
        ((0.7, 0.7), (0.6, 0.6), "On ranges of width 2 only Duchi and Piecewise learn"),
        ((0.7, 0.7), (0.253, 0.386), "On ranges of width 2 Duchi reaches a third of the accuracy without privacy"),
        ((0.253, 0.386), (0.253, 0.386), "Accuracy over rounds of several mechanisms on ranges of width 2"),
    ],
)
def test_a_mechanism_whose_seeds_lie_across_the_threshold_is_not_told_from_those_that_learn(
    duchi: tuple[float, float], piecewise: tuple[float, float], answer: str
) -> None:
    """0.319 [0.253, 0.386] and 0.293 [0.286, 0.300] lie on either side of a third of 0.908: that is no finding."""
    cells = curves(dict.fromkeys(WIDE, 0.1)) + FREE
    for name, (low, high) in (("duchi", duchi), ("piecewise", piecewise)):
        marks = every(variant=WIDE, round=(5, 10), seed=(0, 1))
        cells += [
            {"metric": "accuracy_by_round", "mechanism": name, "value": high if mark["seed"] else low, **mark}
            for mark in marks
        ]
    assert title(pldp.draw_comparison(table(cells))) == answer


def guaranteed(pdpm: float, privunit: float, at: float = 10.0) -> pd.DataFrame:
    """PDPM with two ranges at a true epsilon of 10, beside PrivUnit at two others."""
    twin = {"mechanism": "privunit", "variant": "budget=model,eps=e2,model=mlp"}
    cells: list[Row] = [
        {"variant": "centre=zero,eps=e1,model=mlp,tau=t1", "guarantee_epsilon": 10.0, "value": pdpm},
        {"variant": "centre=zero,eps=e1,model=mlp,tau=t2", "guarantee_epsilon": 10.0, "value": pdpm - 0.05},
        {**twin, "epsilon": 1.0, "guarantee_epsilon": at, "value": privunit},
        {**twin, "epsilon": 100.0, "guarantee_epsilon": 1000.0, "value": 0.99},
    ]
    return table([{**cell, "seed": seed} for cell in cells for seed in (0, 1)])


def test_pdpm_with_its_best_ranges_stands_beside_privunit_at_the_same_guarantee() -> None:
    (pair,) = pldp.pairs(guaranteed(0.2, 0.8))
    assert (pair.mode, pair.pdpm.at, pair.pdpm.mean, pair.privunit.mean) == ("e1", 10.0, 0.2, 0.8)
    figure = pldp.draw_guaranteed(guaranteed(0.2, 0.8))
    assert title(figure) == "At one true ε PrivUnit is ahead: 80 % to PDPM's 20 % on digits at 10"
    assert {"20 %", "80 %", "PDPM", "PrivUnit"} == {text.get_text() for text in figure.axes[0].texts}
    assert named_rows(figure) == ["ε of 0.1 or 0.2:\ntrue ε 10"]
    assert title(pldp.draw_guaranteed(guaranteed(0.8, 0.2))) == "PDPM and PrivUnit at nearly one true ε"
    for far in (8.0, 11.0):  # of less noise, or too much more
        assert pldp.pairs(guaranteed(0.2, 0.8, far)) == []
    figure = pldp.draw_guaranteed(guaranteed(0.2, 0.8, 11.0))
    assert title(figure) == pldp.NOT_RUN
    assert "not run" in said(figure)


def test_the_ledger_shows_every_client_twice_and_how_the_median_client_spends() -> None:
    cells: list[Row] = []
    for mode in MODES:
        variant = f"eps={mode},model=mlp,tau=t1"
        for i in range(5):
            of_client = {"client_uploads": 2.0, "client_epsilon": 50.0 + i, "client_per_weight": 0.2 * (i + 1)}
            cells += scores(of_client, variant=variant, client=i)
        for mark in (5, 10):
            spent = {f"spent_{word}_by_round": float(mark) for word in ("least", "median", "most")}
            cells += scores(spent, variant=variant, round=mark)
    figure = pldp.draw_ledger(table(cells))
    left, right = figure.axes
    whole, weight, stated = left.lines
    assert len(np.asarray(weight.get_xdata())) == 15
    assert sorted(np.asarray(whole.get_xdata())) == pytest.approx(sorted([0.1, 0.2, 0.3, 0.4, 0.5] * 3))
    assert stated.is_dashed()
    assert [np.asarray(line.get_xdata()).tolist() for line in right.lines] == [[5, 10]] * 3
    assert title(figure) == "A client whose ε is 0.5 in the paper has spent 54 in the run"


def shares(cells: dict[str, float], rounds: int = 20, **shared: Any) -> list[Row]:
    """Cells of Figure 3 by variant and share: accuracy is half of it, uploads so many MB of it."""
    of = {
        variant: {"participation": s, "accuracy": s / 2, "uploaded_megabytes": rounds * s}
        for variant, s in cells.items()
    }
    return [row for variant, values in of.items() for row in scores(values, variant=variant, **shared)]


def test_figure_3_has_the_studys_own_share_and_a_panel_of_accuracy_for_each_data_set() -> None:
    own = {"participation=0.1,tau=t1": 0.1, "tau=t1": 0.7, "participation=1.0,tau=t1": 1.0, "tau=t3": 0.9}
    cells = {f"eps=e3,model=mlp,{variant}": share for variant, share in own.items()}
    cells["budget=model,eps=e3,model=mlp,tau=t1"] = 0.9
    figure = pldp.draw_participation(table([*shares(cells), *shares(cells, dataset="mnist")]))
    assert headings(figure) == ["communication", "digits", "MNIST"]
    assert [drawn(ax) for ax in figure.axes] == [[[2.0, 14.0, 20.0]], [[0.05, 0.35, 0.5]], [[0.05, 0.35, 0.5]]]
    assert list(lines(figure.axes[0]).values()) == [[0.1, 0.7, 1.0]]
    one = pldp.draw_participation(table(shares(cells)))
    assert title(one) == "With 10 % of the clients in a round PDPM has 5 % on digits, with all 50 %"
    none = pldp.draw_participation(table([{}]))
    assert "not run" in said(none)
    assert title(none) == pldp.NOT_RUN


def test_figure_3_leaves_out_cells_of_more_rounds() -> None:
    cells = shares({"eps=e3,model=mlp,tau=t1": 0.7}, rounds=50)
    cells += shares({"model=mlp": 0.7}, rounds=100, mechanism="none")
    cells += shares({"model=mlp,participation=1.0": 1.0}, rounds=50, mechanism="none")
    _, right = pldp.draw_participation(table(cells)).axes
    assert drawn(right, dashed=True) == [[0.5], [0.1, 0.1]]  # the second is chance


def errors(factor: float, mechanisms: tuple[str, ...] = ("pdpm",)) -> pd.DataFrame:
    """Errors of a mean, measured ones this factor of the closed form; a second mechanism's are 1.5 times as large."""
    settings = [(f"eps=same,tau={tau}", e, size / e) for tau, size in (("t1", 1), ("2.0", 2)) for e in (0.1, 1.0)]
    settings += [(f"eps={mode},tau={tau}", 1.0, tau) for mode in MODES for tau in (0.2, 2.0)]
    cells: list[Row] = []
    for i, name in enumerate(mechanisms):
        for variant, epsilon, error in settings:
            values = {"expected_relative_error": error, "relative_error": factor * error}
            scaled = {metric: value * (1 + 0.5 * i) for metric, value in values.items()}
            for seed in (0, 1):
                cells += scores(scaled, variant=variant, epsilon=epsilon, mechanism=name, seed=seed)
    return table(cells, "synthetic").assign(study="pldp_synthetic")


def test_measured_errors_lie_on_their_closed_form_and_are_compared_at_one_epsilon() -> None:
    figure = pldp.draw_errors(errors(1.02))
    assert title(figure) == "PDPM's error of a mean follows its closed form: half of the settings within 2 %"
    left, right = figure.axes
    assert drawn(left) == [pytest.approx([10.2, 1.02])]
    assert drawn(left, dashed=True) == [[10.0, 1.0]]
    assert len(drawn(right)) == 3
    assert "off its closed form" in title(pldp.draw_errors(errors(1.5)))
    figure = pldp.draw_error_mechanisms(errors(1.0, ("plu-fedoa", "pdpm")))
    assert title(figure) == "At the same ε of one value PDPM's error is 1.5 times that of Laplace noise"
    assert "Laplace" not in title(pldp.draw_error_mechanisms(errors(1.0)))
