"""LATENT's figures and Table 2 show what the metrics say, with true epsilons and ceilings."""

import math
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp.privacy import accuracy_ceiling
from tensorldp_papers.papers.latent.figures import (
    draw_accuracy,
    draw_epochs,
    draw_guaranteed,
    draw_probability,
    epoch_table,
    latent_rows,
    table2,
)
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.sheets import PHONE, on
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


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def lines(figure: Figure, panel: int = 0) -> dict[str, tuple[list[float], list[float]]]:
    """The lines of a panel by their names."""
    return {
        str(line.get_label()): (np.atleast_1d(line.get_xdata()).tolist(), np.atleast_1d(line.get_ydata()).tolist())
        for line in figure.axes[panel].get_lines()
    }


def words(figure: Figure) -> str:
    """All that stands around and in the panels of a figure, in one line."""
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    return " ".join([*(text.get_text() for text in figure.texts), *texts])


def changed(reading: str, metric: str, value: float, **options: str) -> pd.DataFrame:
    """The metrics with one score of a reading changed."""
    rows = metrics(**options)
    mine = rows["variant"].str.endswith(f"reading={reading}") & (rows["metric"] == metric)
    return rows.assign(value=rows["value"].where(~mine, value))


def test_figure_10_has_both_readings_at_their_printed_epsilon_with_the_papers_stars() -> None:
    found = lines(draw_accuracy(metrics()))
    assert found["read as Eq. 6"][0] == [0.5, 2.0]  # 500 is beyond the figure
    assert found["read as Eq. 7"][1] == pytest.approx([0.61, 0.61])
    assert sorted(found["printed by the paper"][0]) == [0.5, 2.0]
    assert {"no privacy", "most that Eq. 6 allows"} <= set(found)
    assert "printed by the paper" not in lines(draw_accuracy(metrics("digits")))


def test_the_title_of_figure_10_says_which_reading_nears_what_is_printed() -> None:
    assert "By neither reading" in words(draw_accuracy(metrics()))
    only = pd.concat([changed("B", "accuracy", 0.95), metrics("cifar10")])
    assert "Only read as Eq. 7 LATENT nears its printed accuracy: on MNIST, not CIFAR-10" in words(draw_accuracy(only))
    assert "ε = 0.5 on digits: 61 % accuracy if read as Eq. 6, 61 % as Eq. 7" in words(draw_accuracy(metrics("digits")))


def test_the_clean_ceiling_is_that_of_the_closed_form() -> None:
    at, values = lines(draw_accuracy(metrics("digits")))["most that Eq. 6 allows"]
    assert values[0] == pytest.approx(0.1 + math.sqrt(100 * at[0] ** 2 / (8 * 2560) / 2), rel=1e-3)


def test_the_fork_leads_to_a_pure_epsilon_and_to_the_one_at_delta() -> None:
    figure = draw_guaranteed(changed("A", "accuracy", 0.1))
    found = lines(figure)
    assert found["_A"][0] == [0.5]
    assert found["_A"][1] == pytest.approx([0.1])
    assert found["_B"][0] == pytest.approx([0.9 * 1000.5])
    assert found["_B"][1] == pytest.approx([0.61])
    assert found["_printed"] == ([0.5], [0.9626])
    assert "LATENT's ε = 0.5: 10 % accuracy if read as Eq. 6, ε = 900 if read as Eq. 7" in words(figure)
    assert "91 % on its training records" in words(figure)
    assert "(at δ = 0: 1,000)" in words(figure).replace("\n", " ")


def test_no_classifier_enters_the_region_above_the_closed_form() -> None:
    at, values = lines(draw_guaranteed(metrics()))["_ceiling"]
    for epsilon, value in zip(at[::40], values[::40], strict=True):
        assert value == pytest.approx(accuracy_ceiling(epsilon, 10), rel=1e-9)


def test_the_fork_is_of_the_data_set_whose_scores_are_printed() -> None:
    more = pd.concat([metrics("digits"), metrics("digits").assign(seed=7), metrics()])
    assert draw_guaranteed(more).axes[0].get_title(loc="left") == "MNIST"
    assert draw_guaranteed(metrics("digits")).axes[0].get_title(loc="left") == "digits"


def test_one_reading_alone_and_one_seed_are_drawn() -> None:
    alone = metrics().query("seed == 0 and not variant.str.contains('reading=B')")
    assert "at what one record is guaranteed" in words(draw_guaranteed(alone))
    assert "One seed." in words(draw_accuracy(alone))
    with on(PHONE):
        assert "_A" in lines(draw_guaranteed(alone))


def test_epochs_are_read_at_the_smallest_epsilon() -> None:
    table = epoch_table(metrics())
    assert set(table["curve"]) == {"accuracy", "accuracy_perturbed_test", "train_accuracy"}
    assert set(table["epoch"]) == {1, 4}
    assert set(table["epsilon"]) == {0.5}
    figure = draw_epochs(metrics())
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["MNIST, read as Eq. 6, printed ε 0.5", "MNIST, read as Eq. 7, printed ε 0.5"]
    assert set(lines(figure)) == {"training records", "clean test records", "released ones"}
    assert "by either reading" in words(draw_epochs(changed("A", "accuracy_by_epoch", 0.8)))
    memory = changed("A", "accuracy_by_epoch", 0.1)
    assert "91 % on training records, 10 % on test records" in words(draw_epochs(memory))
    without = metrics()
    with pytest.raises(InputError, match="checkpoints above 1"):
        draw_epochs(without[~without["metric"].str.contains("epoch")])


def test_the_probability_figure_has_both_readings() -> None:
    figure = draw_probability()
    first = {name: values[0] for name, (_, values) in lines(figure).items()}
    assert first == {"read as Eq. 6": pytest.approx(0.5, abs=1e-4), "read as Eq. 7": pytest.approx(0.75, abs=1e-4)}
    assert {"_Eq. 15, read as Eq. 6", "read as Eq. 6"} <= set(lines(figure, 1))
    assert "in 50.0 % of cases by Eq. 6, in 75 % by Eq. 7" in words(figure)


def test_no_key_stands_in_a_figure() -> None:
    both = pd.concat([metrics(), metrics("cifar10")])
    for figure in (draw_accuracy(both), draw_guaranteed(both), draw_epochs(both), draw_probability()):
        texts = words(figure) + " ".join(ax.get_title(loc="left") + ax.get_ylabel() for ax in figure.axes)
        assert not {"_", "cifar10", "mnist", "reading="} & set(texts.replace("=", "= ").split())
        assert "_" not in texts


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
    assert set(epoch_table(both)["line"]) == {"A", "B", "B altered"}
    assert lines(draw_accuracy(both), 1)["read as Eq. 7"][1] == pytest.approx([0.61, 0.61])
