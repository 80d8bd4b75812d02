"""Scores at printed and at true epsilon, side by side."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up import GRID, lines, table, title, words

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS, NO_PRIVACY
from tensorldp_papers.plots.curves import by_family, draw_every_mechanism, draw_study, main_setting, with_lines
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.means import study_data
from tensorldp_papers.plots.sheets import save
from tensorldp_papers.plots.style import look

SOURCE = "TLDP, Figure 1"


def test_the_printed_axis_ends_with_the_papers_grid_and_the_true_one_shows_all() -> None:
    figure = draw_study(table(), "tldp_type1", source=SOURCE)
    printed, true = lines(figure, 0), lines(figure, 1)
    assert printed["TLDP-L"] == [1.0, 5.0]
    assert printed["Laplace"] == [1.0]
    assert true["TLDP-L"] == [64.0, 320.0]
    assert [x for x in true["Laplace"] if x != 8.0] == [1.0, 64.0]
    assert "no privacy" in printed


def test_no_line_crosses_what_nothing_was_run_at() -> None:
    figure = draw_study(table(), "tldp_type1", source=SOURCE)
    laplace = next(line for line in figure.axes[1].get_lines() if line.get_label() == "Laplace")
    assert np.isnan(np.asarray(laplace.get_ydata(), dtype=float)).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("tldp", "laplace", "said"),
    [
        (0.5, 0.5, "TLDP's lead is a relabelled axis: at one true ε Laplace does as well"),
        (0.9, 0.5, "At one true ε TLDP leads on digits"),
    ],
)
def test_the_title_says_what_the_numbers_support(tldp: float, laplace: float, said: str) -> None:
    own = table([("tldp-l", (1.0, 5.0), 64.0)], value=tldp)
    other = table([("laplace", (1.0, 64.0), 1.0), ("none", (math.inf,), 1.0)], value=laplace)
    assert title(draw_study(pd.concat([own, other]), "tldp_type1", source=SOURCE)) == said


def test_where_nothing_was_run_at_one_true_epsilon_the_title_claims_nothing() -> None:
    alone = table([("tldp-l", (1.0,), 64.0), ("laplace", (1.0,), 1.0)])
    assert title(draw_study(alone, "tldp_type1", source=SOURCE)) == "The same runs at their printed and at their true ε"


def test_a_panel_has_five_lines_at_most_and_the_appendix_has_all() -> None:
    names = [n for n in MECHANISMS.names() if n not in (NO_PRIVACY, "k-rr", "k-rr-secure")]
    rows = table([(name, (1.0, 5.0), 1.0) for name in names])
    figure = draw_study(rows, "tldp_type1", source=SOURCE)
    assert {"TLDP-L", "TLDP-G", "PrivUnit", "Laplace"} < set(lines(figure, 1))
    assert all(len([name for name in lines(figure, i) if name[0] != "_"]) <= MOST_LINES for i in (0, 1))
    every = draw_every_mechanism(rows, "tldp_type1", source=SOURCE)
    assert {look(name).label for name in names} <= set(lines(every))
    for ax in every.axes:
        assert len([line for line in ax.get_lines() if str(line.get_label())[0] != "_"]) <= MOST_LINES


def test_families_stay_together() -> None:
    names = {"laplace", "tldp-l", "tldp-l-w", "gaussian", "gaussian-analytic", "gaussian-classical", "llagp", "mvg"}
    groups = by_family(names)
    assert {name for group in groups for name in group} == names
    of = {name: i for i, group in enumerate(groups) for name in group}
    assert of["tldp-l"] == of["tldp-l-w"]


def test_each_data_set_shows_its_main_setting_with_noise_by_users() -> None:
    rows = pd.concat(
        [
            table(variant="model=fcn,where=server"),
            table(variant="model=fcn,where=user"),
            table(variant="model=fcn,range=printed,where=user", value=0.1),
            table(GRID[:1], variant="model=mobilenet_v2,where=user"),
        ]
    )
    assert set(main_setting(with_lines(rows))["setting"]) == {"model=fcn,where=user"}
    said = " ".join(words(draw_study(rows, "tldp_type1", source=SOURCE)))
    assert "Fully connected network, noise added by users." in said
    assert "With the printed Δ of 256, not drawn, TLDP has 0.15 at ε = 5." in said


def test_what_has_no_finite_guarantee_is_said() -> None:
    rows = table().assign(guarantee_epsilon=math.inf)
    said = " ".join(words(draw_study(rows, "tldp_type1", source=SOURCE)))
    assert "Not drawn at their true ε, which is infinite at that δ: some of Laplace and TLDP-L." in said


def test_one_seed_is_marks_without_a_band() -> None:
    figure = draw_study(table(seeds=(0,)), "tldp_type1", source=SOURCE)
    own = next(line for line in figure.axes[0].get_lines() if line.get_label() == "TLDP-L")
    assert own.get_linestyle() == "None"
    assert not figure.axes[0].collections
    assert draw_study(table(), "tldp_type1", source=SOURCE).axes[0].collections


def test_a_study_without_rows_is_named() -> None:
    with pytest.raises(InputError, match="no rows of study tldp_type9"):
        draw_study(table(), "tldp_type9", source=SOURCE)


def test_the_data_of_a_figure_are_summed_over_seeds() -> None:
    assert study_data(table(), "tldp_type1")["count"].eq(2).all()


def test_saved_figures_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(lambda: draw_study(table(), "tldp_type1", source=SOURCE), tmp_path / name)
    for ending in (".png", "_dark.png", ".svg", "_phone.svg"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
