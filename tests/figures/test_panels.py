"""Panels of curves: few bands, ticks where something was run, legends of what is drawn, notes that do not collide."""

import itertools
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.text import Text

from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.plots.curves import CONTEXT, draw_study
from tensorldp_papers.plots.lines import say_single
from tensorldp_papers.plots.panels import (
    MOST_BANDS,
    by_family,
    coincident,
    drawn,
    epsilon_ticks,
    place_notes,
)
from tensorldp_papers.plots.printed import printed_points, printed_sentences
from tensorldp_papers.plots.words import axis_number, family_words

pytestmark = pytest.mark.usefixtures("closed")

MANY = ("laplace", "dphsgd", "gaussian", "gaussian-analytic", "llagp", "idn", "mvg", "tldp-l", "tldp-g", "duchi")


@pytest.fixture
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def study(mechanisms: tuple[str, ...] = MANY, epsilons: tuple[float, ...] = (1.0, 5.0)) -> pd.DataFrame:
    """A study of TLDP's on MNIST with three seeds, in which no two mechanisms score alike."""
    rows = [
        {
            "study": "tldp_type1",
            "dataset": "mnist",
            "variant": "model=small_cnn",
            "mechanism": name,
            "epsilon": epsilon,
            "seed": seed,
            "metric": "weighted_f1",
            "value": 0.05 * i + 0.01 * seed + 0.01 * epsilon,
            "guarantee_epsilon": 64 * epsilon,
            "guarantee_pure_epsilon": 64 * epsilon,
            "guarantee_unit": "record",
        }
        for i, name in enumerate(mechanisms)
        for epsilon in epsilons
        for seed in (0, 1, 2)
    ]
    return pd.DataFrame(rows)


def test_every_panel_has_at_most_six_bands_and_ticks_at_the_epsilons_alone() -> None:
    figure = draw_study(study(), "tldp_type1")
    shown = [ax for ax in figure.axes if ax.get_visible()]
    bands = [sum(isinstance(c, PolyCollection) for c in ax.collections) for ax in shown]
    assert max(bands) <= MOST_BANDS
    assert sum(bands) == len(MANY)
    for ax in shown:
        assert ax.get_xticks().tolist() == [1.0, 5.0]
        assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "5"]
        assert ax.get_xticks(minor=True).tolist() == []


@pytest.mark.parametrize("axis", ["nominal", "guaranteed"])
def test_legends_name_what_their_columns_draw_and_nothing_else(axis: str) -> None:
    figure = draw_study(study(), "tldp_type1", axis=axis)  # type: ignore[arg-type]
    named = set()
    for ax in figure.axes:
        legend = ax.get_legend()
        assert legend is not None
        texts = [text.get_text() for text in legend.get_texts()]
        assert texts == list(drawn([ax], texts))
        named |= set(texts)
    assert {MECHANISMS.get(name).label for name in MANY} <= named


def test_printed_scores_stand_at_their_epsilon_with_the_sentence_that_they_come_from() -> None:
    small = study(("laplace", "tldp-l"))
    figure = draw_study(small, "tldp_type1")
    marks = [line for ax in figure.axes for line in ax.get_lines() if line.get_label() == "printed by the paper"]
    assert [(np.asarray(m.get_xdata()).tolist(), np.asarray(m.get_ydata()).tolist()) for m in marks] == [([1.0], [0.9])]
    assert any("approximately 90%" in text.get_text().replace("\n", " ") for text in figure.texts)
    other = draw_study(small.assign(dataset="digits"), "tldp_type1")
    assert not any("90%" in text.get_text() for text in other.texts)


def test_levels_are_of_the_study_and_data_set_that_the_sentence_names() -> None:
    assert [point.value for point in printed_points("tldp_type2", "svhn", "weighted_f1")] == [0.4]
    assert printed_points("tldp_type2", "svhn", "accuracy") == ()
    levels = [point for point in printed_points(metric="weighted_f1") if np.isnan(point.epsilon)]
    assert len(levels) == 6
    for level in levels:
        assert f"{level.value:.0%}" in level.sentence
    assert set(printed_sentences()) == {"tvg_sgd", "tvg_features", "tvg_testing", "tvg_covariance"}


def test_families_stay_together_unless_one_is_larger_than_a_panel() -> None:
    groups = by_family(set(MANY))
    assert sorted(itertools.chain(*groups)) == sorted(MANY)
    assert all(len(group) <= MOST_BANDS for group in groups)
    where = {name: i for i, group in enumerate(groups) for name in group}
    assert where["gaussian"] == where["gaussian-analytic"] == where["llagp"]
    assert [len(group) for group in by_family({f"none-such-{i}" for i in range(8)})] == [6, 2]
    assert family_words(["tldp-l", "tldp-g", "laplace"]) == "TLDP, Laplace"


def test_lines_that_lie_on_each_other_are_named_and_others_are_not() -> None:
    _, ax = plt.subplots()
    ax.plot([1, 10], [0.5, 0.6], label="one")
    ax.plot([1, 10], [0.505, 0.595], label="two")
    ax.plot([1, 10], [0.5, 0.7], label="apart")
    ax.plot([1, 10, 100], [0.5, 0.6, 0.9], label="longer")
    ax.plot([1, 10, 99], [0.5, 0.7, 0.8], label="parts later")
    ax.plot([1], [0.5], label="a point")
    ax.axhline(0.5, label="level")
    ax.set(xscale="log", ylim=(0, 1))
    assert coincident(ax) == [["one", "two", "longer"], ["apart", "parts later"]]
    ax.get_lines()[2].set_data([1, 10, 50], [0.5, 0.7, 0.75])
    assert coincident(ax) == [["one", "two", "longer"]]


def test_ticks_without_room_for_a_number_stay_without_one() -> None:
    _, ax = plt.subplots()
    epsilons = [0.1, 0.11, 0.12, 0.5, 1, 2, 5, 10, np.inf]
    epsilon_ticks(ax, epsilons)
    kept, rest = ax.get_xticks().tolist(), ax.get_xticks(minor=True).tolist()
    assert sorted(kept + rest) == epsilons[:-1]
    assert {0.1, 1.0, 10.0} <= set(kept)
    assert 0.11 in rest


def test_numbers_on_axes_are_short() -> None:
    assert [axis_number(v) for v in (0.1, 5.0, 23.1077, 3724.9, 1e4, 2e6)] == [
        "0.1",
        "5",
        "23.1",
        "3725",
        "$10^{4}$",
        "$2·10^{6}$",
    ]


def test_a_line_of_one_point_says_so() -> None:
    _, ax = plt.subplots()
    say_single(ax, [1.0, 2.0], [0.5, 0.6], "#000000")
    assert not ax.texts
    say_single(ax, [1.0], [0.5], "#000000")
    assert [text.get_text() for text in ax.texts] == ["one ε"]


def test_notes_cover_neither_each_other_nor_points() -> None:
    figure, ax = plt.subplots(figsize=(6, 4))
    ax.set(xlim=(0, 100), ylim=(0, 100))
    points = [(50.0 + dx, 50.0 + dy, f"{1000 + i}") for i, (dx, dy) in enumerate([(0, 0), (2, 1), (3, -2), (1, 3)])]
    points += [(99.0, 50.0, "edge"), (50.0, 99.0, "top")]
    place_notes(ax, points)
    figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # of an annotation, without its line
    assert len(boxes) == len(points)
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))
    places = ax.transData.transform([(x, y) for x, y, _ in points])
    assert not any(box.contains(x, y) for box in boxes for x, y in places)
    assert all(ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1 for box in boxes)


def test_a_panel_has_the_means_of_the_others_in_grey_and_says_so() -> None:
    figure = draw_study(study(), "tldp_type1")
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert len(shown) > 1
    for ax in shown:
        lines = [line for line in ax.get_lines() if len(np.atleast_1d(line.get_xdata())) == 2]
        means = {round(float(np.asarray(line.get_ydata())[0]), 6) for line in lines}
        assert means >= {round(0.05 * i + 0.02, 6) for i in range(len(MANY))}
    assert any(CONTEXT in text.get_text() for text in figure.texts)


def test_a_data_set_with_a_part_of_the_grid_has_numbers_on_its_axis_and_stretches_no_other() -> None:
    """TLDP alone on CIFAR-10, at large epsilons: MNIST's honest mechanisms at the true epsilons stay out."""
    whole = [study(), study(("laplace",), (50.0,))]
    part = study(("tldp-l", "tldp-g"), (50.0, 100.0)).assign(dataset="cifar10")
    figure = draw_study(pd.concat([*whole, part]), "tldp_type1")
    shown = [ax for ax in figure.axes if ax.get_visible()]
    (alone,) = [ax for ax in shown if ax.get_title().startswith("cifar10")]
    assert alone.yaxis.get_tick_params()["labelleft"]
    laplace = next(ax for ax in shown if ax.get_title().startswith("mnist"))
    assert max(x for line in laplace.lines for x in np.atleast_1d(line.get_xdata()) if np.isfinite(x)) <= 5.0


def test_a_network_without_any_mechanism_takes_no_row() -> None:
    bare = study(("none",), (float("inf"),)).assign(variant="model=other")
    figures = [draw_study(rows, "tldp_type1") for rows in (study(), pd.concat([study(), bare]))]
    assert len(figures[0].axes) == len(figures[1].axes)


def test_data_sets_stand_side_by_side_where_their_rows_would_be_too_many() -> None:
    arms = [study().assign(variant=f"model=small_cnn,where={arm}") for arm in ("server", "user", "nowhere")]
    one = pd.concat(arms)
    groups = len(by_family(set(MANY)))
    for names, columns in ((["cifar10", "mnist"], groups), (["cifar10", "digits", "mnist"], 3 * groups)):
        figure = draw_study(pd.concat([one.assign(dataset=name) for name in names]), "tldp_type1")
        grid = figure.axes[0].get_subplotspec().get_gridspec()  # type: ignore[union-attr]
        assert (grid.nrows, grid.ncols) == (len(names) * 3 * groups // columns, columns)
        titles = [ax.get_title().split(",")[0] for ax in figure.axes if ax.get_visible()]
        assert sorted(titles) == sorted(names * 3 * groups)
        if columns > groups:
            assert titles[: 3 * groups] == [name for name in names for _ in range(groups)]
