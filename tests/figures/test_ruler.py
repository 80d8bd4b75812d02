"""The ruler of all figures: looks, axes, names at lines, sheets and themes."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D
from matplotlib.text import Text

from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.plots.axes import decades, epsilons, sizes
from tensorldp_papers.plots.labels import GAP
from tensorldp_papers.plots.lines import draw_level
from tensorldp_papers.plots.sheets import PHONE, SMALLEST, finish, on, panels, save, text_width, wrapped
from tensorldp_papers.plots.style import (
    COLOURS,
    CONTRAST,
    DARK_PAGE,
    FURTHER_COLOURS,
    INK,
    LIGHT_PAGE,
    OWN_COLOURS,
    QUIET,
    contrast,
    in_the_dark,
    label,
    look,
    order,
)

NAMES = [*MECHANISMS.names(), "gaussian form=table5"]
MINE = ("tldp-l", "tldp-g", "laplace", "gaussian", "privunit")


def test_every_mechanism_has_a_label_and_a_look_of_its_own() -> None:
    assert len({label(name) for name in NAMES}) == len(NAMES)
    looks = {(look(name).colour, look(name).marker) for name in NAMES}
    assert len(looks) == len(NAMES)
    assert (look("from-nowhere").label, look("from-nowhere").colour) == ("from-nowhere", QUIET)
    assert order({"tldp-g", "from-nowhere", "none", "tldp-l", "laplace"}) == [
        *("none", "laplace", "tldp-l", "tldp-g", "from-nowhere")
    ]


def test_labels_are_those_of_the_classes() -> None:
    for name in MECHANISMS.names():
        mechanism = MECHANISMS.get(name)
        assert label(name) == mechanism.label
        for variant, text in mechanism.variant_labels.items():
            assert label(f"{name} {variant}") == text
            assert look(f"{name} {variant}").colour == look(name).colour


@pytest.mark.parametrize("colour", [*COLOURS.values(), *OWN_COLOURS.values(), *FURTHER_COLOURS, INK, QUIET])
def test_names_can_be_read_in_every_colour_on_light_and_dark_pages(colour: str) -> None:
    assert contrast(colour, LIGHT_PAGE) >= CONTRAST - 0.01
    assert contrast(in_the_dark(colour), DARK_PAGE) >= CONTRAST


def ticks(values: list[float], width: int = 830) -> list[str]:
    figure, (ax,) = panels(1)
    figure.set_figwidth(width / 96)
    decades(ax, values, "ε")
    return [text.get_text() for text in ax.get_xticklabels()]


def test_decades_have_plain_numbers_and_then_powers() -> None:
    assert ticks([0.1, 1e6]) == ["0.1", "1", "10", "100", "1,000", "10,000", "10⁵", "10⁶"]
    assert ticks([9.07, 27.82]) == ["5", "10", "20", "50"]
    assert ticks([]) == ["0.1", "1", "10", "100", "1,000"]
    assert ticks([0.0, math.inf, 2.0]) == ["1", "2"]


def test_where_there_is_no_room_every_second_decade_has_a_number() -> None:
    assert ticks([0.1, 1e6], 300) == ["1", "100", "10,000", "10⁶"]


def test_panels_that_are_compared_have_one_range_from_a_tenth_at_the_earliest() -> None:
    _, axes = panels(2, columns=2)
    epsilons(axes, [1e-6, 3.0, 5000.0], "ε")
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert 1.0 < axes[0].get_xlim()[0] < 3.0


def test_sizes_have_a_tick_each() -> None:
    _, (ax,) = panels(1)
    sizes(ax, [400, 20000, 400], "m")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["400", "20,000"]


def crowded(seed: int) -> Figure:
    figure, (ax,) = panels(1)
    rng = np.random.default_rng(seed)
    x = np.geomspace(0.1, 1000.0, 9)
    epsilons(ax, x, "ε")
    for i, name in enumerate(MINE):
        y = 0.9 / (1 + np.exp(-(np.log10(x) - rng.uniform(-1, 2)) * (2 + i)))
        ax.plot(x, y, color=look(name).colour, marker="o", label=look(name).label)
    draw_level(ax, [0.95], "no privacy")
    return finish(figure, "A crowded panel")


@pytest.mark.parametrize("seed", range(6))
def test_names_stand_at_their_lines_and_cover_nothing(seed: int) -> None:
    figure = crowded(seed)
    (ax,) = figure.axes
    texts = [text for text in ax.texts if text.get_gid() == "name"]
    boxes = {text.get_text(): text.get_window_extent() for text in texts}
    assert len(boxes) == 6
    for first, second in combinations(boxes.values(), 2):
        assert not first.overlaps(second)
    lines = {str(line.get_label()): pixels(line) for line in ax.get_lines() if str(line.get_label())[0] != "_"}
    for name, box in boxes.items():
        inside = [
            (p[:, 0] > box.x0) & (p[:, 0] < box.x1) & (p[:, 1] > box.y0) & (p[:, 1] < box.y1) for p in lines.values()
        ]
        assert not any(found.any() for found in inside), f"{name} covers a line"
        assert far(box, lines[name]) <= 60


def pixels(line: Line2D) -> np.ndarray:
    xy = np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])
    at: np.ndarray = line.get_transform().transform(xy)
    return np.concatenate([np.linspace(a, b, 60) for a, b in pairwise(at)])


def far(box, points: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    across = np.maximum(np.maximum(box.x0 - points[:, 0], points[:, 0] - box.x1), 0)
    along = np.maximum(np.maximum(box.y0 - points[:, 1], points[:, 1] - box.y1), 0)
    return float(np.hypot(across, along).min()) - GAP


def test_lines_that_lie_on_each_other_share_one_name() -> None:
    figure, (ax,) = panels(1)
    for name in ("tldp-l", "laplace"):
        ax.plot([1, 2, 3], [0.2, 0.5, 0.7], color=look(name).colour, label=look(name).label)
    ax.plot([1, 2, 3], [0.1, 0.2, 0.3], color=look("privunit").colour, label="PrivUnit")
    finish(figure, "One")
    assert {text.get_text() for text in ax.texts} == {"TLDP-L = Laplace", "PrivUnit"}


def test_a_phone_has_one_column_and_the_same_smallest_text() -> None:
    with on(PHONE):
        figure, axes = panels(4, columns=2)
        finish(figure, "A title that is too long for one line of a phone, and so it has more than one of them")
    assert figure.get_figwidth() == pytest.approx(360 / 96)
    assert len({round(ax.get_position().x0, 3) for ax in axes}) == 1
    assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if isinstance(text, Text)) >= SMALLEST


def test_words_are_broken_at_the_width() -> None:
    text = "one two three four five six seven eight nine ten"
    broken = wrapped(text, 100.0).split("\n")
    assert " ".join(broken) == text
    assert len(broken) > 1
    assert all(text_width(line, SMALLEST) <= 100.0 for line in broken)


def test_files_follow_both_themes(tmp_path: Path) -> None:
    save(lambda: crowded(0), tmp_path / "figure")
    svg = (tmp_path / "figure.svg").read_text()
    assert 'width="622.5pt"' in svg
    (rules,) = re.findall(r"prefers-color-scheme: dark\)\{(.*?)\}</style>", svg)
    colours = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg.split("</style>")[-1]))
    assert colours
    assert all(f": {colour}" in rules for colour in colours)
    light, dark = (imread(tmp_path / f"figure{theme}.png") for theme in ("", "_dark"))
    assert light[0, 0, :3].min() == 1.0
    assert dark[0, 0, :3].max() < 0.15
    assert light.shape == dark.shape
    assert light.shape[1] == 1660


def test_a_row_says_its_score_once_and_a_column_its_epsilon_once() -> None:
    figure, axes = panels(4, columns=2)
    for ax in axes:
        ax.set(xlabel="ε", ylabel="score")
    finish(figure, "Four")
    assert [ax.get_xlabel() for ax in axes] == ["", "", "ε", "ε"]
    assert [ax.yaxis.label.get_visible() for ax in axes] == [True, False, True, False]
