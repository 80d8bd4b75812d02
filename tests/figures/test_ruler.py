"""The ruler of all figures: looks, axes, names at lines, sheets, themes, and how numbers and names are written."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.transforms import BboxBase

from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.plots import style, words
from tensorldp_papers.plots.axes import decades, epsilons, sizes
from tensorldp_papers.plots.labels import GAP
from tensorldp_papers.plots.lines import draw_level
from tensorldp_papers.plots.names import dataset_name, in_order, variant_words
from tensorldp_papers.plots.sheets import PHONE, SMALLEST, finish, on, panels, save, text_width, wrapped
from tensorldp_papers.plots.style import contrast, label, look

MINE = ("tldp-l", "tldp-g", "laplace", "gaussian", "privunit")
INF = math.inf


def test_every_mechanism_has_the_label_of_its_class_and_a_look_of_its_own() -> None:
    names = [*MECHANISMS.names(), "gaussian form=table5"]
    assert len({label(name) for name in names}) == len(names)
    assert len({(look(name).colour, look(name).marker) for name in names}) == len(names)
    assert len({look(name).colour for name in MECHANISMS.names()}) == len(MECHANISMS.names())
    for name in MECHANISMS.names():
        mechanism = MECHANISMS.get(name)
        assert label(name) == mechanism.label
        for variant, text in mechanism.variant_labels.items():
            assert label(f"{name} {variant}") == text
            assert look(f"{name} {variant}").colour == look(name).colour
    assert (look("from-nowhere").label, look("from-nowhere").colour) == ("from-nowhere", style.QUIET)
    mentioned = ["none", "laplace", "tldp-l", "tldp-g", "from-nowhere"]
    assert style.order(set(mentioned)) == mentioned


def test_names_can_be_read_in_every_colour_on_light_and_dark_pages() -> None:
    of_mechanisms = {look(name).colour for name in MECHANISMS.names()}
    for colour in (*of_mechanisms, *style.FURTHER_COLOURS, style.INK, style.QUIET):
        assert contrast(colour, style.LIGHT_PAGE) >= style.CONTRAST - 0.01
        assert contrast(style.in_the_dark(colour), style.DARK_PAGE) >= style.CONTRAST
    for colour in style.COLOURS.values():  # of marks, which need less
        for background in ("#ffffff", "#16191d"):
            assert contrast(style.readable(colour, background), background) >= 3
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert style.readable("#0072B2", "#ffffff") == "#0072B2"


@pytest.mark.parametrize(
    ("values", "width", "numbers"),
    [
        ([0.1, 1e6], 830, ["0.1", "1", "10", "100", "1,000", "10,000", "10⁵", "10⁶"]),
        ([0.1, 1e6], 300, ["1", "100", "10,000", "10⁶"]),  # no room for more
        ([9.07, 27.82], 830, ["5", "10", "20", "50"]),
        ([], 830, ["0.1", "1", "10", "100", "1,000"]),
        ([0.0, INF, 2.0], 830, ["1", "2"]),
    ],
)
def test_decades_have_plain_numbers_and_then_powers(values: list[float], width: int, numbers: list[str]) -> None:
    figure, (ax,) = panels(1)
    figure.set_figwidth(width / 96)
    decades(ax, values, "ε")
    assert [text.get_text() for text in ax.get_xticklabels()] == numbers


def test_panels_that_are_compared_have_one_range_and_each_label_once() -> None:
    figure, axes = panels(4, columns=2)
    epsilons(axes, [1e-6, 3.0, 5000.0], "ε")
    for ax in axes:
        ax.set_ylabel("score")
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert 1.0 < axes[0].get_xlim()[0] < 3.0  # from a tenth at the earliest
    finish(figure, "Four")
    assert [ax.get_xlabel() for ax in axes] == ["", "", "ε", "ε"]
    assert [ax.yaxis.label.get_visible() for ax in axes] == [True, False, True, False]
    sizes(axes[0], [400, 20000, 400], "m")
    assert [text.get_text() for text in axes[0].get_xticklabels()] == ["400", "20,000"]


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


def far(box: BboxBase, points: np.ndarray) -> float:
    across = np.maximum(np.maximum(box.x0 - points[:, 0], points[:, 0] - box.x1), 0)
    along = np.maximum(np.maximum(box.y0 - points[:, 1], points[:, 1] - box.y1), 0)
    return float(np.hypot(across, along).min())


@pytest.mark.parametrize("seed", range(6))
def test_names_stand_at_their_lines_and_cover_nothing(seed: int) -> None:
    (ax,) = crowded(seed).axes
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts if text.get_gid() == "name"}
    assert len(boxes) == 6
    for first, second in combinations(boxes.values(), 2):
        assert not first.overlaps(second)
    lines = {}
    for line in (line for line in ax.get_lines() if str(line.get_label())[0] != "_"):
        at = line.get_transform().transform(np.asarray(line.get_xydata()))
        lines[str(line.get_label())] = np.concatenate([np.linspace(a, b, 60) for a, b in pairwise(at)])
    for name, box in boxes.items():
        assert min(far(box, points) for points in lines.values()) > 0, f"{name} covers a line"
        assert far(box, lines[name]) <= 60 + GAP


@pytest.mark.parametrize("seed", [9, 33, 35])  # without the rule, each has a thin line through another name
def test_thin_lines_from_names_to_marks_far_away_cross_no_name(seed: int) -> None:
    figure, (ax,) = panels(1)
    rng = np.random.default_rng(seed)
    epsilons(ax, np.geomspace(0.1, 1000.0, 9), "ε")
    for name in MINE:
        here = ([rng.uniform(200, 900)], [rng.uniform(0.6, 0.7)])
        ax.plot(*here, color=look(name).colour, marker="o", linestyle="None", label=look(name).label)
    draw_level(ax, [0.55], "no privacy")
    finish(figure, "Marks")
    boxes = [text.get_window_extent() for text in ax.texts if text.get_gid() == "name"]
    leads = [line for line in ax.get_lines() if line.get_label() == "_lead"]
    assert leads
    for line in leads:
        start, end = line.get_transform().transform(np.asarray(line.get_xydata()))
        ways = np.linspace(start, end, 60)[1:]  # its first point is its own name's edge
        assert all(far(box, ways) > 0 for box in boxes)


def test_a_wide_name_keeps_its_place_where_a_narrow_one_has_another() -> None:
    with on(PHONE):
        figure, (ax,) = panels(1, height=2.2)
        x = [10.0, 50.0, 100.0, 200.0, 500.0]
        epsilons(ax, x, "ε")
        for name, y in {
            "laplace": [0.055] * 5,
            "gaussian": [0.02] * 5,
            "tldp-l": [0.12, 0.41, 0.47, 0.49, 0.49],
            "tldp-g": [0.11, 0.16, 0.21, 0.32, 0.45],
        }.items():
            ax.plot(x, y, color=look(name).colour, marker="o", label=look(name).label)
        ax.set_ylim(-0.03, 1.0)
        finish(figure, "Two lines at chance")
    leads = [line for line in ax.get_lines() if line.get_label() == "_lead"]
    ends = [line.get_transform().transform(np.asarray(line.get_xydata())) for line in leads]
    assert max((float(np.hypot(*(end - start))) for start, end in ends), default=0.0) < 40


def test_no_name_stands_beside_a_gap_of_its_line() -> None:
    figure, (ax,) = panels(1)
    epsilons(ax, [0.1, 1000.0], "ε")
    ax.plot([0.2, 10.0, 900.0], [0.2, np.nan, 0.9], color=look("laplace").colour, marker="o", label="Laplace")
    finish(figure, "Two marks")
    (name,) = (text.get_window_extent() for text in ax.texts if text.get_gid() == "name")
    marks = ax.transData.transform([(0.2, 0.2), (900.0, 0.9)])
    assert 0 < far(name, marks) < 4 * GAP


def test_lines_that_lie_on_each_other_share_one_name_and_words_are_broken_at_the_width() -> None:
    figure, (ax,) = panels(1)
    for name, values in (("tldp-l", [0.2, 0.5, 0.7]), ("laplace", [0.2, 0.5, 0.7]), ("privunit", [0.1, 0.2, 0.3])):
        ax.plot([1, 2, 3], values, color=look(name).colour, label=look(name).label)
    finish(figure, "One")
    assert {text.get_text() for text in ax.texts} == {"TLDP-L = Laplace", "PrivUnit"}
    with on(PHONE):
        figure, axes = panels(4, columns=2)
        finish(figure, "A title that is too long for one line of a phone, and so it has more than one of them")
    assert len({round(ax.get_position().x0, 3) for ax in axes}) == 1  # a phone has one column
    assert len(figure.texts) > 1
    text = "one two three four five six seven eight nine ten"
    broken = wrapped(text, 100.0).split("\n")
    assert " ".join(broken) == text
    assert len(broken) > 1
    assert all(text_width(line, SMALLEST) <= 100.0 for line in broken)


def test_files_follow_both_themes(tmp_path: Path) -> None:
    save(lambda: crowded(0), tmp_path / "figure")
    svg = (tmp_path / "figure.svg").read_text()
    (rules,) = re.findall(r"prefers-color-scheme: dark\)\{(.*?)\}</style>", svg)
    colours = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg.split("</style>")[-1]))
    assert colours
    assert all(f": {colour}" in rules for colour in colours)
    light, dark = (imread(tmp_path / f"figure{theme}.png") for theme in ("", "_dark"))
    assert light[0, 0, :3].min() == 1.0
    assert dark[0, 0, :3].max() < 0.15
    assert light.shape == dark.shape
    assert light.shape[1] == 1660


def test_numbers_are_written_short() -> None:
    values = (0.01234, 99.96, 4941.0, INF)
    assert [words.whole_number(v) for v in values] == ["0.0123", "100", "4,941", "∞"]
    assert [words.short_number(v) for v in values] == ["0.0123", "100", "4,940", "∞"]
    assert [words.json_number(v) for v in (1 / 3, INF, math.nan)] == [0.333333, None, None]
    assert words.json_number(1 / 3, 2) == 0.33
    cells = (INF, -INF, math.nan, 0.123456, 12345, True, "text")
    assert [words.table_number(v) for v in cells] == ["∞", "-∞", "–", "0.1235", "12,345", "yes", "text"]
    at = (0.0, 0.001, 0.25, 10.0, 1000.0, 10_000.0, 1e5, 2.5e6)
    assert [words.axis_number(v) for v in at] == ["0", "0.001", "0.25", "10", "1,000", "10,000", "10⁵", "2.5 × 10⁶"]


def test_axes_settings_and_data_are_called_what_people_call_them() -> None:
    assert words.true_axis("record") == "guaranteed ε, of one whole record (nats, δ = 1e-5)"
    assert [words.listed(list(names)) for names in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert [dataset_name(key) for key in ("fashion_mnist", "cifar10", "mine")] == ["Fashion-MNIST", "CIFAR-10", "mine"]
    assert in_order(["mine", "cifar10", "mnist"]) == ["mnist", "cifar10", "mine"]
    said = variant_words("backbone=lenet_tanh,model=lenet_tanh_head,unit=batch")
    assert said == "features of LeNet with tanh, LeNet's head, noise for a batch"


def test_a_users_own_data_are_not_taken_for_what_a_paper_shows() -> None:
    source = "TLDP, Figure 1"
    assert words.with_own_data(source, ["mnist", "digits"], "tldp") == source
    assert words.with_own_data(source, ["mine"], "tldp") == f"Your data, as in {source}"
    assert words.with_own_data(source, ["mine", "digits"], "tldp") == f"{source}; your own data: mine"
    assert words.with_own_data("Irises", ["mine"], "irises") == "Irises"  # what a user calls a study of their own
    assert words.own_data(["mine"], "my-paper") == []
    assert words.origin("Figure 1", "Table 2, Figure 1", ["mnist"], "tldp") == "Figure 1 of the source (Table 2)."
    assert words.origin("Figure 1", "ours", ["mine"], "my-paper") == "Figure 1 of the source (ours)."
    assert words.origin("", "this project", ["mnist"], "frontier") == "In no source's figures (this project)."
