"""Figures show what the tables say."""

import math
from pathlib import Path

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.plots.curves import draw_study
from tensorldp_papers.plots.means import study_data
from tensorldp_papers.plots.style import appearance, label, order, save
from tensorldp_papers.run.table import COLUMNS


def table() -> pd.DataFrame:
    rows = []
    grid = (("tldp-l", (1.0, 5.0), 64.0), ("laplace", (1.0, 64.0), 1.0), ("none", (math.inf,), 1.0))
    for mechanism, epsilons, scale in grid:
        for epsilon in epsilons:
            for seed in (0, 1):
                for metric in ("weighted_f1", "accuracy", "accuracy_perturbed_test"):
                    key = ["tldp_type1", "digits", "model=small_cnn", "data", mechanism, epsilon, 1e-5, seed, metric]
                    rows.append(
                        [
                            *key,
                            0.5 + 0.1 * seed,
                            "record",
                            epsilon * scale,
                            1e-5,
                            epsilon * scale,
                            0.0,
                            True,
                            "quick",
                            1.0,
                            2.0,
                            "cpu",
                            "avx2",
                            "float32",
                            "c",
                        ]
                    )
    return pd.DataFrame(rows, columns=COLUMNS)


def drawn(figure) -> dict[str, list[float]]:  # type: ignore[no-untyped-def]
    lines = [line for ax in figure.axes for line in ax.get_lines()]
    return {str(line.get_label()): [float(v) for v in line.get_xdata()] for line in lines}


def test_every_mechanism_has_a_label_and_a_look_of_its_own() -> None:
    names = [*MECHANISMS.names(), "gaussian form=table5"]
    assert len({label(name) for name in names}) == len(names)
    looks = [tuple(map(str, appearance(name).values())) for name in names]
    assert len(set(looks)) == len(looks)
    assert (label("from-nowhere"), appearance("from-nowhere")["color"]) == ("from-nowhere", "#000000")
    assert order({"tldp-g", "from-nowhere", "none", "tldp-l", "laplace"}) == [
        "none",
        "laplace",
        "tldp-l",
        "tldp-g",
        "from-nowhere",
    ]


def test_labels_are_those_of_the_classes() -> None:
    for name in MECHANISMS.names():
        mechanism = MECHANISMS.get(name)
        assert label(name) == mechanism.label
        for variant, text in mechanism.variant_labels.items():
            assert label(f"{name} {variant}") == text
            assert appearance(f"{name} {variant}")["color"] == appearance(name)["color"]


def test_the_nominal_axis_ends_with_the_papers_grid_and_the_guaranteed_one_shows_all() -> None:
    nominal = drawn(draw_study(table(), "tldp_type1"))
    guaranteed = drawn(draw_study(table(), "tldp_type1", axis="guaranteed"))
    assert nominal["TLDP-L"] == [1.0, 5.0]
    assert nominal["Laplace"] == [1.0]
    assert guaranteed["TLDP-L"] == [64.0, 320.0]
    assert guaranteed["Laplace"] == [1.0, 64.0]
    assert "no privacy" in nominal


def test_an_axis_on_which_nothing_has_a_finite_place_says_so() -> None:
    rows = table().assign(guarantee_pure_epsilon=math.inf)
    figure = draw_study(rows, "tldp_type1", axis="pure")
    figure.canvas.draw()
    assert "finite" in figure.axes[0].texts[0].get_text()


def test_a_study_without_rows_is_named() -> None:
    with pytest.raises(InputError, match="no rows of study tldp_type9"):
        draw_study(table(), "tldp_type9")


def test_the_data_of_a_figure_are_summed_over_seeds() -> None:
    assert study_data(table(), "tldp_type1")["count"].eq(2).all()


def test_saved_figures_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(draw_study(table(), "tldp_type1"), tmp_path / name)
    for kind in ("png", "svg"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
