"""LATENT's figures and Table 2 show what the metrics say, with true epsilons and ceilings."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.privacy import accuracy_ceiling
from tensorldp_papers.papers.latent.figures import (
    draw_accuracy,
    draw_epochs,
    draw_probability,
    epoch_table,
    latent_rows,
    table2,
)
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.run.table import COLUMNS, SERIES

ARMS = {
    "model=cnn": ("none", (math.inf,)),
    "model=ann": ("none", (math.inf,)),
    "model=ann,reading=A": ("latent", (0.5, 2.0, 500.0)),
    "model=ann,reading=B": ("latent", (0.5, 2.0)),
    "features=64,model=centroid": ("privunit", (0.5, 2.0)),
}
VALUES: dict[str | tuple[str, int], float] = {
    "accuracy": 0.6,
    "accuracy_perturbed_test": 0.4,
    "train_accuracy": 0.9,
    "train_records": 100.0,
    "largest_class": 0.1,
    ("accuracy_by_epoch", 1): 0.2,
    ("accuracy_by_epoch", 4): 0.6,
    ("accuracy_perturbed_test_by_epoch", 4): 0.4,
    ("train_accuracy_by_epoch", 4): 0.9,
}


def metrics(dataset: str = "mnist") -> pd.DataFrame:
    rows = []
    for variant, (mechanism, epsilons) in ARMS.items():
        for epsilon in epsilons:
            pure = epsilon + (1000.0 if "reading=B" in variant else 0.0)
            facts = {**VALUES, "string_bits": 2560.0} if "ann" in variant else VALUES
            for seed in (0, 1):
                for name, value in facts.items():
                    metric, epoch = (name, None) if isinstance(name, str) else name
                    if mechanism == "none" and "perturbed" in metric:
                        continue
                    key = ["latent", dataset, variant, "bits", mechanism, epsilon, 1e-5, seed, metric]
                    shift = 0.02 * seed if "accuracy" in metric else 0.0
                    rows.append(
                        [
                            *key,
                            value + shift,
                            "record",
                            pure * 0.9,
                            1e-5,
                            pure,
                            0.0,
                            True,
                            "quick",
                            1.0,
                            2.0,
                            "cpu",
                            "",
                            "float32",
                            "c",
                            None,
                            epoch,
                            None,
                        ]
                    )
    return pd.DataFrame(rows, columns=[*COLUMNS, *SERIES])


def test_both_readings_are_drawn_with_their_true_epsilon_and_the_papers_claims() -> None:
    figure = draw_accuracy(metrics())
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any("reading A: true ε = nominal" in text for text in legend)
    assert any("reading B: true ε ≥ 1,000" in text and "900 at δ = 1e-5" in text for text in legend)
    assert "LATENT, Table 2 (test)" in legend
    lines = {str(line.get_label()): line for line in figure.axes[0].get_lines()}
    reading = lines["LATENT, reading A: true ε = nominal ε"]
    assert np.asarray(reading.get_xdata()).tolist() == [0.5, 2.0]  # 500 is beyond the figure
    assert reading.get_ydata() == pytest.approx([0.61, 0.61])


def test_ceilings_are_those_of_the_closed_forms() -> None:
    clean, released = draw_accuracy(metrics("digits")).axes[:2]
    bound = {str(line.get_label()): line for line in released.get_lines()}["ceiling for ε-LDP test records"]
    for epsilon, value in zip(np.asarray(bound.get_xdata()), np.asarray(bound.get_ydata()), strict=True):
        assert value == pytest.approx(accuracy_ceiling(float(epsilon), 10), rel=1e-9)
    training = {str(line.get_label()): line for line in clean.get_lines()}["ceiling for reading A alone"]
    at, value = float(np.asarray(training.get_xdata())[0]), float(np.asarray(training.get_ydata())[0])
    assert value == pytest.approx(0.1 + math.sqrt(100 * at**2 / (8 * 2560) / 2), rel=1e-3)


def test_the_guaranteed_axis_has_every_point_at_its_pure_epsilon() -> None:
    lines = draw_accuracy(metrics(), axis="pure").axes[0].get_lines()
    found = {str(line.get_label()).split(":")[0]: list(map(float, np.asarray(line.get_xdata()))) for line in lines}
    assert found["LATENT, reading A"] == [0.5, 2.0, 500.0]
    assert found["LATENT, reading B"] == [1000.5, 1002.0]


def test_epochs_are_read_at_the_smallest_epsilon() -> None:
    table = epoch_table(metrics())
    assert set(table["curve"]) == {"accuracy", "accuracy_perturbed_test", "train_accuracy"}
    assert set(table["epoch"]) == {1, 4}
    assert set(table["epsilon"]) == {0.5}
    assert len(draw_epochs(metrics()).axes) == 2
    without = metrics()
    with pytest.raises(InputError, match="checkpoints above 1"):
        draw_epochs(without[~without["metric"].str.contains("epoch")])


def test_the_probability_figure_has_both_readings_and_data_sets() -> None:
    left, right = draw_probability().axes
    assert len(left.get_lines()) == 4
    assert len(right.get_lines()) == 4
    first = [float(np.asarray(line.get_ydata())[0]) for line in left.get_lines()]
    assert first == pytest.approx([0.5, 0.75, 0.5, 0.75], abs=1e-4)


def test_table_2_has_ours_beside_the_printed() -> None:
    table = table2(metrics()).set_index(["method", "epsilon"])
    rows: Any = table.loc  # the stubs know no tuple of labels
    row = rows[("LATENT, reading A", 0.5)]
    assert row["paper_test"] == 0.9626
    assert row["test_clean"] == pytest.approx(0.61)
    assert row["test_released"] == pytest.approx(0.41)
    assert row["training"] == pytest.approx(0.91)
    assert rows[("LATENT, reading B", 2.0)]["guarantee_pure_epsilon"] == 1002.0
    assert rows[("NPCNN", math.inf)]["paper_test"] == 0.9816
    assert math.isnan(rows[("ACG+16", 0.5)]["test_clean"])
    assert math.isnan(rows[("privunit on 64 projections", 0.5)]["paper_test"])
    assert ("LATENT, reading A", 500.0) not in table.index
    assert not table2(metrics("digits"))["paper_test"].notna().any()


def test_the_printed_numbers_are_those_of_the_paper() -> None:
    own = [p for p in printed_points("latent") if p.method == "LATENT"]
    assert {(p.dataset, p.epsilon, p.metric): p.value for p in own} == {
        ("mnist", 2.0, "train_accuracy"): 0.9923,
        ("mnist", 2.0, "accuracy"): 0.9634,
        ("mnist", 0.5, "train_accuracy"): 0.9942,
        ("mnist", 0.5, "accuracy"): 0.9626,
        ("cifar10", 2.0, "train_accuracy"): 0.9562,
        ("cifar10", 2.0, "accuracy"): 0.9173,
        ("cifar10", 0.5, "train_accuracy"): 0.9577,
        ("cifar10", 0.5, "accuracy"): 0.9147,
    }


def test_permuted_labels_and_other_studies_are_left_out() -> None:
    permuted = metrics().assign(variant="labels=permuted,model=ann,reading=A")
    both = pd.concat([metrics(), permuted, metrics().assign(study="tldp_type1")])
    assert len(latent_rows(both)) == len(metrics())
    with pytest.raises(InputError, match="no rows of study latent"):
        latent_rows(metrics().assign(study="tldp_type1"))


def test_networks_that_learned_from_altered_images_are_lines_of_their_own() -> None:
    own = metrics("cifar10")
    altered = own[own["variant"].isin(["model=ann", "model=ann,reading=B"])]
    altered = altered.assign(variant="augment=1,model=ann,reading=B", value=altered["value"] + 0.1)
    both = pd.concat([metrics(), own, altered])
    assert set(latent_rows(both)["line"]) == {"cnn", "ann", "A", "B", "centroid", "ann altered", "B altered"}
    top, _, bottom, _ = draw_accuracy(both).axes
    assert not any("altered" in str(line.get_label()) for line in bottom.get_lines())  # of mnist, below
    lines = {str(line.get_label()): line for line in top.get_lines()}
    name = "LATENT, reading B, altered images too, cifar10: true ε ≥ 1,000\n(900 at δ = 1e-5)"
    assert lines[name].get_ydata() == pytest.approx([0.71, 0.71])
    assert lines["ANN on all bits (p = 1), altered images too: no privacy"].get_ydata() == pytest.approx([0.71, 0.71])
    shown = [ax.get_title() for ax in draw_epochs(both).axes if ax.get_visible()]
    assert len(shown) == 5
    assert sum("altered" in title for title in shown) == 1
