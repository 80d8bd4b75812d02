"""TVG's figures: printed beside true epsilon, titles that follow the numbers, and how loose each mechanism is."""

from __future__ import annotations

import math
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from tensorldp.errors import InputError
from tensorldp_papers.papers.tvg.figures import NEUTRAL, draw_covariance, draw_looseness, draw_tvg
from tensorldp_papers.papers.tvg.looseness import looseness
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.sheets import PHONE, on

Lines = dict[str, dict[float, tuple[float, float]]]  # of mechanisms: by printed epsilon, the true one and the score
ALIKE: Lines = {
    "idn": {1.0: (0.2, 0.1), 100.0: (2.0, 0.3), 1e4: (20.0, 0.6)},
    "udn": {1.0: (0.1, 0.1), 100.0: (1.0, 0.2), 1e4: (10.0, 0.5)},
    "mvg": {1.0: (0.1, 0.1), 100.0: (0.5, 0.15), 1e4: (5.0, 0.4)},
    "gaussian-per-element": {1.0: (0.1, 0.1), 100.0: (1.5, 0.25), 1e4: (15.0, 0.55)},
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def table(
    study: str = "tvg_testing",
    lines: Lines = ALIKE,
    *,
    metric: str = "accuracy_perturbed_test",
    dataset: str = "digits",
    variant: str = "model=lenet_tanh,unit=batch",
    seeds: tuple[int, ...] = (0, 1),
) -> pd.DataFrame:
    """A study of these lines and a run without privacy; seeds lie 0.02 apart."""
    cells = [(name, printed, *at) for name, points in lines.items() for printed, at in points.items()]
    rows = [(*cell, metric, variant) for cell in cells]
    plain = ",".join(part for part in variant.split(",") if not part.startswith("unit")) or "base"
    rows.append(("none", math.inf, math.inf, 0.9, "accuracy" if "perturbed" in metric else metric, plain))
    return pd.DataFrame(
        [
            {
                "study": study,
                "dataset": dataset,
                "variant": where,
                "mechanism": name,
                "epsilon": printed,
                "guarantee_epsilon": true,
                "guarantee_unit": "record",
                "seed": seed,
                "metric": what,
                "value": value + 0.02 * seed,
            }
            for name, printed, true, value, what, where in rows
            for seed in seeds
        ]
    )


def title(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts if text.get_fontweight() == "bold")


def names(ax: Axes) -> set[str]:
    return {text.get_text() for text in ax.texts}


def marks(ax: Axes) -> set[tuple[float, float]]:
    solid = [line for line in ax.lines if line.get_marker() not in ("None", None)]
    points = [np.column_stack([np.asarray(line.get_xdata()), np.asarray(line.get_ydata())]) for line in solid]
    return {(round(float(x), 6), round(float(y), 6)) for line in points for x, y in line if np.isfinite(y)}


def test_the_same_scores_stand_at_their_printed_and_at_their_true_epsilon() -> None:
    printed, true = draw_tvg(table(), "tvg_testing", source="TVG, Figure 5").axes
    assert tuple(ax.get_title("left") for ax in (printed, true)) == ("digits, as printed", "digits, true ε")
    assert marks(printed) == {(x, round(y + 0.01, 6)) for line in ALIKE.values() for x, (_, y) in line.items()}
    assert marks(true) == {(x, round(y + 0.01, 6)) for line in ALIKE.values() for x, y in line.values()}
    assert printed.get_xlim() == true.get_xlim()


def test_where_a_score_only_depends_on_the_true_epsilon_the_title_and_one_name_say_so() -> None:
    figure = draw_tvg(table(), "tvg_testing")
    assert title(figure) == "At one true ε all mechanisms score alike; IDN's printed 10,000 is a true 20"
    printed, true = figure.axes
    assert names(printed) == {"IDN", "UDN", "MVG", "Gaussian, per element", "no privacy"}
    assert names(true) == {"Gaussian = IDN = MVG = UDN", "no privacy"}


def test_one_mechanism_below_the_others_is_named() -> None:
    lines = {**ALIKE, "mvg": {1.0: (0.1, 0.1), 100.0: (4.0, 0.1), 1e4: (18.0, 0.2)}}
    figure = draw_tvg(table(lines=lines), "tvg_testing")
    assert title(figure) == "At one true ε all score alike but MVG, which scores less"
    assert "MVG" in names(figure.axes[1])
    assert "Gaussian = IDN = UDN" in names(figure.axes[1])


def test_a_mechanism_that_leads_is_named_and_none_from_a_single_seed() -> None:
    lines: Lines = {
        "idn": {1.0: (1.0, 0.2), 10.0: (10.0, 0.5)},
        "mvg": {1.0: (2.0, 0.1), 10.0: (20.0, 0.2)},
        "gaussian-analytic": {1.0: (1.0, 0.8), 10.0: (100.0, 0.85)},
    }
    rows = table("tvg_sgd", lines, metric="auc", variant="model=mlp_12", dataset="adult")
    figure = draw_tvg(rows, "tvg_sgd")
    assert title(figure) == "At one true ε DP-SGD scores highest on Adult"
    assert figure.axes[0].get_ylabel() == "area under the ROC curve"
    assert title(draw_tvg(rows[rows["seed"] == 0], "tvg_sgd")) == NEUTRAL


def test_a_title_without_support_is_neutral() -> None:
    lines: Lines = {"idn": {1.0: (1.0, 0.2), 10.0: (10.0, 0.8)}, "udn": {1.0: (2.0, 0.6), 10.0: (20.0, 0.3)}}
    assert title(draw_tvg(table(lines=lines), "tvg_testing")) == NEUTRAL


def test_the_area_under_the_curve_is_drawn_where_a_data_set_has_it() -> None:
    rows = [
        table("tvg_sgd", metric=metric, variant="model=mlp_12", dataset=dataset)
        for dataset, metric in (("adult", "auc"), ("adult", "accuracy"), ("mnist", "accuracy"))
    ]
    labels = [ax.get_ylabel() for ax in draw_tvg(pd.concat(rows), "tvg_sgd").axes[0::2]]
    assert labels == ["accuracy on clean test records", "area under the ROC curve"]  # MNIST comes first


def test_noise_for_a_batch_is_drawn_unless_that_for_a_record_is_asked_for() -> None:
    record: Lines = {"idn": {1.0: (1.0, 0.4), 100.0: (90.0, 0.7)}, "udn": {1.0: (0.8, 0.35), 100.0: (70.0, 0.65)}}
    other = "model=lenet_tanh,subspace=identity,unit=record"
    parts = [
        table(),
        table(lines=record, variant="model=lenet_tanh,unit=record"),
        table(lines={"idn": {1.0: (1.0, 0.05)}}, variant=other),
    ]
    rows = pd.concat(parts)
    batch, single = (draw_tvg(rows, "tvg_testing", unit=unit) for unit in ("batch", "record"))
    assert marks(batch.axes[1]) == marks(draw_tvg(table(), "tvg_testing").axes[1])
    assert marks(single.axes[1]) == {(1.0, 0.41), (90.0, 0.71), (0.8, 0.36), (70.0, 0.66)}
    assert any("whole batch" in text.get_text() for text in batch.texts)
    assert any("one record" in text.get_text() for text in single.texts)


def test_no_classifier_gets_above_a_dashed_curve_on_the_true_axis_alone() -> None:
    ceilings: Lines = {"idn": {1.0: (0.2, 0.2), 100.0: (2.0, 0.6), 1e4: (20.0, 1.0), 1e5: (200.0, 1.0)}}
    figure = draw_tvg(pd.concat([table(), table(lines=ceilings, metric="accuracy_ceiling")]), "tvg_testing")
    curves = [
        [line for line in ax.lines if line.is_dashed() and len(np.asarray(line.get_xdata())) > 2] for ax in figure.axes
    ]
    assert curves[0] == []
    assert np.asarray(curves[1][0].get_xdata()).tolist() == [0.2, 2.0, 20.0]  # and not where all are at 1


@pytest.mark.parametrize("study", ["tvg_sgd", "tvg_features", "tvg_testing"])
def test_a_panel_has_at_most_five_lines_and_no_text_has_a_key(study: str) -> None:
    every = ("idn", "udn", "mvg", "gaussian-per-element", "gaussian-analytic", "optimized", "matrix", "jl")
    rows = table(study, dict.fromkeys(every, ALIKE["idn"]), metric="accuracy_perturbed_test")
    rows = pd.concat([rows, rows.assign(metric="accuracy")])
    with on(PHONE):
        figure = draw_tvg(pd.concat([rows, rows.assign(dataset="fashion_mnist")]), study, source="TVG")
    for ax in figure.axes:
        assert len([line for line in ax.lines if not line.is_dashed()]) <= MOST_LINES
    shown = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "_" not in shown.replace("_child", "")
    assert "=" not in shown.replace(" = ", "")


def test_a_metric_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no rows of study tvg_features with metric accuracy"):
        draw_tvg(table("tvg_features", metric="auc"), "tvg_features")


def test_errors_of_the_covariance_are_one_where_only_the_true_epsilon_counts() -> None:
    lines: Lines = {
        name: {e: (e / factor, (factor / e) ** 2) for e in (0.1, 1.0, 10.0)}
        for name, factor in (("idn", 10.0), ("udn", 50.0), ("mvg", 5000.0))
    }
    far: Lines = {"jl": {e: (e, 1e9 / e) for e in (0.1, 1.0, 10.0)}}
    for drawn, said in (
        (lines, "At one true ε IDN, MVG and UDN have one error"),
        ({**lines, **far}, "At one true ε IDN, MVG and UDN have one error; JL's is larger"),
    ):
        rows = table("tvg_covariance", drawn, metric="rss_noisy", variant="base", dataset="ctg")
        figure = draw_covariance(rows.assign(value=rows["value"] - 0.02 * rows["seed"]))
        assert title(figure) == said
        assert "IDN = MVG = UDN" in names(figure.axes[1])
    apart = rows.assign(value=rows["value"] * np.where(rows["mechanism"] == "udn", 100.0, 1.0))
    assert title(draw_covariance(apart)) == NEUTRAL


def test_each_bar_has_its_number() -> None:
    figure = draw_looseness()
    (ax,) = figure.axes
    written = [text.get_text() for text in ax.texts]
    assert written == ["931 times", "237 times", "45 times", "8.5 times", "1.3 times"]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]  # type: ignore[attr-defined]
    assert sorted(ends) == pytest.approx(sorted(looseness().values()))
    assert title(figure) == "TVG's three mechanisms add 8.5 to 237 times the noise needed; MVG adds 931"
