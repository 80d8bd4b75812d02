"""TVG's figures: printed beside true epsilon, titles that follow the numbers, and how loose each mechanism is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up import Row, headings, rows, said, title
from matplotlib.axes import Axes

from tensorldp.errors import InputError
from tensorldp_papers.papers.tvg.figures import NEUTRAL, draw_covariance, draw_looseness, draw_tvg
from tensorldp_papers.papers.tvg.looseness import looseness

Lines = dict[str, dict[float, tuple[float, float]]]  # of mechanisms: by printed epsilon, the true one and the score
ALIKE: Lines = {
    "idn": {1.0: (0.2, 0.1), 100.0: (2.0, 0.3), 1e4: (20.0, 0.6)},
    "udn": {1.0: (0.1, 0.1), 1e3: (1.9, 0.3), 1e5: (19.0, 0.59)},
    "mvg": {1.0: (0.1, 0.1), 1e4: (0.5, 0.15), 1e6: (2.1, 0.31)},
    "gaussian-per-element": {1.0: (0.1, 0.1), 10.0: (2.1, 0.29), 1e3: (21.0, 0.61)},
}
LEADS: Lines = {
    "idn": {1.0: (1.0, 0.2), 10.0: (10.0, 0.5)},
    "mvg": {1.0: (2.0, 0.1), 10.0: (20.0, 0.2)},
    "gaussian-analytic": {1.0: (1.0, 0.8), 10.0: (100.0, 0.85)},
}
MVG_BELOW: Lines = {**ALIKE, "mvg": {1.0: (0.1, 0.1), 100.0: (2.1, 0.2), 1e4: (22.0, 0.3)}}
FAR: Lines = {**ALIKE, "mvg": {1.0: (400.0, 0.7)}}  # where no other is
CROSSING: Lines = {"idn": {1.0: (1.0, 0.2), 10.0: (10.0, 0.8)}, "udn": {1.0: (2.0, 0.6), 10.0: (20.0, 0.3)}}


def table(study: str = "tvg_testing", lines: Lines = ALIKE, **shared: Any) -> pd.DataFrame:
    """A study of these lines and a run without privacy; seeds lie 0.02 apart."""
    shared = {"metric": "accuracy_perturbed_test", "variant": "model=lenet_tanh,unit=batch", **shared, "study": study}
    plain = {"metric": shared["metric"].replace("_perturbed_test", ""), "variant": shared["variant"].split(",unit")[0]}
    cells: list[Row] = [{"mechanism": "none", "value": 0.9, **plain}]
    for name, printed in ((name, printed) for name, of_line in lines.items() for printed in of_line):
        true, value = lines[name][printed]
        cells.append({"mechanism": name, "epsilon": printed, "guarantee_epsilon": true, "value": value})
    return rows([{**c, "seed": seed, "value": c["value"] + 0.02 * seed} for c in cells for seed in (0, 1)], **shared)


def names(ax: Axes) -> set[str]:
    return {text.get_text() for text in ax.texts}


def marks(ax: Axes) -> set[tuple[float, float]]:
    solid = [line for line in ax.lines if line.get_marker() not in ("None", None)]
    points = np.concatenate([np.asarray(line.get_xydata()) for line in solid])
    return {(round(float(x), 6), round(float(y), 6)) for x, y in points if np.isfinite(y)}


def test_the_same_scores_stand_at_their_printed_and_at_their_true_epsilon() -> None:
    figure = draw_tvg(table(), "tvg_testing", source="TVG, Figure 5")
    printed, true = figure.axes
    assert headings(figure) == ["digits, as printed", "digits, true ε"]
    assert marks(printed) == {(x, round(y + 0.01, 6)) for line in ALIKE.values() for x, (_, y) in line.items()}
    assert marks(true) == {(x, round(y + 0.01, 6)) for line in ALIKE.values() for x, y in line.values()}
    assert printed.get_xlim()[1] > 1e6 > 100 > true.get_xlim()[1]  # each panel has a range of its own
    assert title(figure) == "At one true ε all mechanisms score alike; IDN's printed 10,000 is a true 20"
    assert names(printed) == {"IDN", "UDN", "MVG", "Gaussian, per element", "no privacy", "chance"}
    assert names(true) == {"Gaussian = IDN = MVG = UDN", "no privacy", "chance"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (MVG_BELOW, "At one true ε all score alike but MVG, which scores less on digits"),
        (LEADS, "At one true ε DP-SGD scores highest on digits"),
        (CROSSING, NEUTRAL),
        (FAR, NEUTRAL),
    ],
)
def test_the_title_names_a_mechanism_that_leads_or_lies_below_where_the_numbers_do(lines: Lines, answer: str) -> None:
    runs = table("tvg_sgd", lines, metric="auc", variant="model=mlp_12")
    figure = draw_tvg(runs, "tvg_sgd")
    assert title(figure).startswith(answer)
    assert ("IDN = UDN" in names(figure.axes[1])) == (lines is MVG_BELOW)
    if lines is LEADS:
        assert title(draw_tvg(runs[runs["seed"] == 0], "tvg_sgd")).startswith(NEUTRAL)  # none from a single seed


def test_the_area_under_the_curve_is_drawn_where_a_data_set_has_it() -> None:
    parts = [
        table("tvg_sgd", metric=metric, variant="model=mlp_12", dataset=dataset)
        for dataset, metric in (("adult", "auc"), ("adult", "accuracy"), ("mnist", "accuracy"))
    ]
    labels = [ax.get_ylabel() for ax in draw_tvg(pd.concat(parts), "tvg_sgd").axes[0::2]]
    assert labels == ["accuracy on clean test records", "area under the ROC curve"]  # MNIST comes first
    with pytest.raises(InputError, match="no rows of study tvg_features with metric accuracy"):
        draw_tvg(table("tvg_features", metric="auc"), "tvg_features")


@pytest.mark.slow
def test_trained_bodies_have_a_figure_of_their_own() -> None:
    shared: dict[str, Any] = {"metric": "accuracy"}
    plain, trained = (f"backbone=lenet_tanh{end},model=lenet_tanh_head,unit=batch" for end in ("", "_trained"))
    untrained = table("tvg_features", variant=plain, **shared)
    own = table("tvg_features", {"idn": {1.0: (80.0, 0.5), 10.0: (900.0, 0.6)}}, variant=trained, **shared)
    runs = pd.concat([untrained, own])
    assert marks(draw_tvg(runs, "tvg_features").axes[1]) == marks(draw_tvg(untrained, "tvg_features").axes[1])
    assert marks(draw_tvg(runs, "tvg_features", trained=True).axes[1]) == {(80.0, 0.51), (900.0, 0.61)}


def test_runs_of_another_length_are_not_on_a_line_with_the_others() -> None:
    shared = {"metric": "accuracy", "variant": "model=lenet"}
    runs = table("tvg_sgd", LEADS, **shared)
    longer = table("tvg_sgd", {"idn": {1.0: (0.5, 0.05)}}, **{**shared, "variant": "model=lenet,steps=28125"})
    drawn = draw_tvg(pd.concat([runs, longer]), "tvg_sgd")
    assert [marks(ax) for ax in drawn.axes] == [marks(ax) for ax in draw_tvg(runs, "tvg_sgd").axes]


def test_noise_for_a_batch_is_drawn_unless_that_for_a_record_is_asked_for() -> None:
    record: Lines = {"idn": {1.0: (1.0, 0.4), 100.0: (90.0, 0.7)}, "udn": {1.0: (0.8, 0.35), 100.0: (70.0, 0.65)}}
    other = "model=lenet_tanh,subspace=identity,unit=record"
    own = table(lines=record, variant="model=lenet_tanh,unit=record")
    runs = pd.concat([table(), own, table(lines={"idn": {1.0: (1.0, 0.05)}}, variant=other)])
    batch, single = (draw_tvg(runs, "tvg_testing", unit=unit) for unit in ("batch", "record"))
    assert marks(batch.axes[1]) == marks(draw_tvg(table(), "tvg_testing").axes[1])
    assert marks(single.axes[1]) == {(1.0, 0.41), (90.0, 0.71), (0.8, 0.36), (70.0, 0.66)}
    assert "whole batch" in said(batch)
    assert "one record" in said(single)


def test_no_classifier_gets_above_a_dashed_curve_on_the_true_axis_alone() -> None:
    ceilings: Lines = {"idn": {1.0: (0.2, 0.2), 100.0: (2.0, 0.6), 1e4: (20.0, 1.0), 1e5: (200.0, 1.0)}}
    figure = draw_tvg(pd.concat([table(), table(lines=ceilings, metric="accuracy_ceiling")]), "tvg_testing")
    printed, true = (
        [line for line in ax.lines if line.is_dashed() and len(np.asarray(line.get_xdata())) > 2] for ax in figure.axes
    )
    assert printed == []
    assert np.asarray(true[0].get_xdata()).tolist() == [0.2, 2.0, 20.0]  # and not where all are at 1


def test_errors_of_the_covariance_are_one_where_only_the_true_epsilon_counts() -> None:
    lines: Lines = {
        name: {e: (e / factor, (factor / e) ** 2) for e in (0.1, 1.0, 10.0)}
        for name, factor in (("idn", 10.0), ("udn", 11.0), ("mvg", 1000.0))
    }
    far: Lines = {"jl": {e: (e / 10, 1e9 / e) for e in (0.1, 1.0, 10.0)}}
    for more, ending in (({}, ""), (far, "; JL's is larger")):
        runs = table("tvg_covariance", {**lines, **more}, metric="rss_noisy", variant="base", dataset="ctg")
        figure = draw_covariance(runs.assign(value=runs["value"] * (1 + 0.3 * runs["seed"])))
        assert title(figure) == f"At one true ε IDN, MVG and UDN have one error{ending}"
        assert "IDN = MVG = UDN" in names(figure.axes[1])
        assert "Not drawn: " not in " ".join(text.get_text() for text in figure.texts)
    tiny = runs.assign(guarantee_epsilon=runs["guarantee_epsilon"].where(runs["mechanism"] != "udn", 0.0))
    assert "Not drawn: UDN where the true ε is below 10⁻⁵." in " ".join(
        t.get_text() for t in draw_covariance(tiny).texts
    )
    apart = runs.assign(value=runs["value"] * np.where(runs["mechanism"] == "udn", 100.0, 1.0))
    assert title(draw_covariance(apart)) == NEUTRAL


def test_each_bar_has_its_number() -> None:
    figure = draw_looseness(looseness())
    (ax,) = figure.axes
    written = [text.get_text() for text in ax.texts]
    assert written == ["931 times", "237 times", "45 times", "8.5 times", "1.3 times"]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]  # type: ignore[attr-defined]
    assert sorted(ends) == pytest.approx(sorted(looseness().values()))
    assert title(figure) == "TVG's three mechanisms add 8.5 to 237 times the noise needed; MVG adds 931"


def test_mechanisms_with_a_single_point_at_a_true_epsilon_are_not_said_to_lie_on_one_line() -> None:
    sparse: Lines = {
        "idn": {1.0: (0.01, 0.1), 1e3: (400.0, 0.9)},
        "udn": {1.0: (0.02, 0.1), 1e3: (900.0, 0.92)},
        "optimized": {1.0: (0.5, 0.4), 1e3: (950.0, 0.93)},
    }
    figure = draw_tvg(table("tvg_sgd", sparse, metric="auc", variant="model=mlp_12"), "tvg_sgd")
    assert "=" not in "".join(names(figure.axes[1]))
    assert "alike" not in title(figure)
