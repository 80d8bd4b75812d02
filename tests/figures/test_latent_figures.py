"""LATENT's figures and Table 2 show what the metrics say, with true epsilons and ceilings."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from made_up import every, headings, points, rows, said, title

from tensorldp.errors import InputError
from tensorldp.privacy import accuracy_ceiling
from tensorldp_papers.papers.latent import figures as latent
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.sheets import PHONE, on

ARMS = (
    ("model=cnn", "none", (math.inf,)),
    ("model=ann", "none", (math.inf,)),
    ("model=ann,reading=A", "latent", (0.5, 2.0, 500.0)),
    ("model=ann,reading=B", "latent", (0.5, 2.0)),
    ("features=64,model=centroid", "privunit", (0.5, 2.0)),
)
VALUES = {  # of metrics, and of those by epoch
    **{"accuracy": 0.6, "accuracy_perturbed_test": 0.4, "train_accuracy": 0.9},
    **{"train_records": 100.0, "largest_class": 0.1, "string_bits": 2560.0},
    **{"accuracy_by_epoch 1": 0.2, "accuracy_by_epoch 4": 0.6},
    **{"accuracy_perturbed_test_by_epoch 4": 0.4, "train_accuracy_by_epoch 4": 0.9},
}


def metrics(dataset: str = "mnist") -> pd.DataFrame:
    cells = []
    for variant, mechanism, epsilons in ARMS:
        for cell in every(variant=[variant], mechanism=[mechanism], epsilon=epsilons, seed=(0, 1), of=list(VALUES)):
            metric, _, epoch = cell["of"].partition(" ")
            value = VALUES[cell["of"]] + (0.02 * cell["seed"] if "accuracy" in metric else 0.0)
            pure = cell["epsilon"] + (1000.0 if "reading=B" in variant else 0.0)
            of_cell = {"guarantee_epsilon": 0.9 * pure, "guarantee_pure_epsilon": pure}
            cells.append({**cell, **of_cell, "metric": metric, "epoch": int(epoch) if epoch else None, "value": value})
    return rows(cells, study="latent", dataset=dataset)


def changed(reading: str, metric: str, value: float) -> pd.DataFrame:
    """The metrics with one score of a reading changed."""
    found = metrics()
    mine = found["variant"].str.endswith(f"reading={reading}") & (found["metric"] == metric)
    return found.assign(value=found["value"].where(~mine, value))


def test_figure_10_has_both_readings_at_their_printed_epsilon_with_the_papers_stars() -> None:
    found = points(latent.draw_accuracy(metrics()))
    assert found["read as Eq. 6"][0] == [0.5, 2.0]  # 500 is beyond the figure
    assert found["read as Eq. 7"][1] == pytest.approx([0.61, 0.61])
    assert sorted(found["printed by the paper"][0]) == [0.5, 2.0]
    assert "no privacy" in found
    other = points(latent.draw_accuracy(metrics("digits")))
    assert "printed by the paper" not in other
    at, values = other["most that Eq. 6 allows"]
    assert values[0] == pytest.approx(0.1 + math.sqrt(100 * at[0] ** 2 / (8 * 2560) / 2), rel=1e-3)  # in closed form


@pytest.mark.parametrize(
    ("tables", "answer"),
    [
        (("mnist",), "By neither reading LATENT nears its printed accuracy on MNIST"),
        (("digits",), "LATENT's ε = 0.5 on digits: 61 % accuracy if read as Eq. 6, 61 % as Eq. 7"),
        (("B", "cifar10"), "Only read as Eq. 7 LATENT nears its printed accuracy: on MNIST, not CIFAR-10"),
    ],
)
def test_the_title_of_figure_10_says_which_reading_nears_what_is_printed(tables: tuple[str, ...], answer: str) -> None:
    parts = [changed("B", "accuracy", 0.95) if name == "B" else metrics(name) for name in tables]
    assert title(latent.draw_accuracy(pd.concat(parts))) == answer


def test_the_fork_leads_to_a_pure_epsilon_and_to_the_one_at_delta() -> None:
    figure = latent.draw_guaranteed(changed("A", "accuracy", 0.1))
    found = points(figure)
    assert found["_A"] == ([0.5], pytest.approx([0.1]))
    assert found["_B"] == (pytest.approx([0.9 * 1000.5]), pytest.approx([0.61]))
    assert found["_printed"] == ([0.5], [0.9626])
    told = said(figure)
    assert "LATENT's ε = 0.5: 10 % accuracy if read as Eq. 6, ε = 900 if read as Eq. 7" in told
    assert "91 % on its training records" in told
    assert "(at δ = 0: 1,000)" in told
    for epsilon, value in list(zip(*found["_ceiling"], strict=True))[::40]:  # no classifier gets above
        assert value == pytest.approx(accuracy_ceiling(epsilon, 10), rel=1e-9)


def test_the_fork_is_of_the_data_set_whose_scores_are_printed_and_of_what_was_run() -> None:
    more = pd.concat([metrics("digits"), metrics("digits").assign(seed=7), metrics()])
    assert headings(latent.draw_guaranteed(more)) == ["MNIST"]
    assert headings(latent.draw_guaranteed(metrics("digits"))) == ["digits"]
    alone = metrics().query("seed == 0 and not variant.str.contains('reading=B')")
    assert "at what one record is guaranteed" in said(latent.draw_guaranteed(alone))
    assert "One seed." in said(latent.draw_accuracy(alone))
    with on(PHONE):
        assert "_A" in points(latent.draw_guaranteed(alone))


def test_epochs_are_read_at_the_smallest_epsilon() -> None:
    table = latent.epoch_table(metrics())
    assert set(table["curve"]) == {"accuracy", "accuracy_perturbed_test", "train_accuracy"}
    assert (set(table["epoch"]), set(table["epsilon"])) == ({1, 4}, {0.5})
    figure = latent.draw_epochs(metrics())
    assert headings(figure) == ["MNIST, read as Eq. 6, printed ε 0.5", "MNIST, read as Eq. 7, printed ε 0.5"]
    assert set(points(figure.axes[0])) == {"training records", "clean test records", "released ones", "chance"}
    assert "by either reading" in said(latent.draw_epochs(changed("A", "accuracy_by_epoch", 0.8)))
    memory = changed("A", "accuracy_by_epoch", 0.1)
    assert "91 % on training records, 10 % on test records" in said(latent.draw_epochs(memory))
    with pytest.raises(InputError, match="checkpoints above 1"):
        latent.draw_epochs(metrics().query("not metric.str.contains('epoch')"))


def test_the_probability_figure_has_both_readings() -> None:
    figure = latent.draw_probability()
    first = {name: values[0] for name, (_, values) in points(figure.axes[0]).items()}
    assert first == {"read as Eq. 6": pytest.approx(0.5, abs=1e-4), "read as Eq. 7": pytest.approx(0.75, abs=1e-4)}
    assert {"_Eq. 15, read as Eq. 6", "read as Eq. 6"} <= set(points(figure.axes[1]))
    assert "in 50.0 % of cases by Eq. 6, in 75 % by Eq. 7" in said(figure)


def test_table_2_has_ours_beside_the_printed_numbers_of_the_paper() -> None:
    table = latent.table2(metrics()).set_index(["method", "epsilon"])
    found: Any = table.loc  # the stubs know no tuple of labels
    ours = found[("LATENT, reading A", 0.5)][["paper_test", "test_clean", "test_released", "training"]]
    assert ours.tolist() == pytest.approx([0.9626, 0.61, 0.41, 0.91])
    assert found[("LATENT, reading B", 2.0)]["guarantee_pure_epsilon"] == 1002.0
    assert found[("NPCNN", math.inf)]["paper_test"] == 0.9816
    assert math.isnan(found[("ACG+16", 0.5)]["test_clean"])
    assert math.isnan(found[("privunit on 64 projections", 0.5)]["paper_test"])
    assert ("LATENT, reading A", 500.0) not in table.index
    assert not latent.table2(metrics("digits"))["paper_test"].notna().any()
    own = [p for p in printed_points("latent") if p.method == "LATENT"]
    assert {(p.dataset, p.epsilon, p.metric): p.value for p in own} == {
        **{("mnist", 2.0, "train_accuracy"): 0.9923, ("mnist", 2.0, "accuracy"): 0.9634},
        **{("mnist", 0.5, "train_accuracy"): 0.9942, ("mnist", 0.5, "accuracy"): 0.9626},
        **{("cifar10", 2.0, "train_accuracy"): 0.9562, ("cifar10", 2.0, "accuracy"): 0.9173},
        **{("cifar10", 0.5, "train_accuracy"): 0.9577, ("cifar10", 0.5, "accuracy"): 0.9147},
    }


def test_permuted_labels_and_other_studies_are_left_out_and_altered_images_are_lines_of_their_own() -> None:
    permuted, other = metrics().assign(variant="labels=permuted,model=ann,reading=A"), metrics().assign(study="other")
    assert len(latent.latent_rows(pd.concat([metrics(), permuted, other]))) == len(metrics())
    with pytest.raises(InputError, match="no rows of study latent"):
        latent.latent_rows(other)
    own = metrics("cifar10")
    altered = own[own["variant"].isin(["model=ann", "model=ann,reading=B"])]
    altered = altered.assign(variant="augment=1,model=ann,reading=B", value=altered["value"] + 0.1)
    both = pd.concat([metrics(), own, altered])
    assert set(latent.latent_rows(both)["line"]) == {"cnn", "ann", "A", "B", "centroid", "ann altered", "B altered"}
    assert set(latent.epoch_table(both)["line"]) == {"A", "B", "B altered"}
    assert points(latent.draw_accuracy(both).axes[1])["read as Eq. 7"][1] == pytest.approx([0.61, 0.61])
