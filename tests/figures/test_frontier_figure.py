import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up import line, lines, title, words

from tensorldp.errors import InputError
from tensorldp_papers.papers.frontier.figures import (
    draw_clients,
    draw_frontier,
    draw_mechanisms,
    draw_shuffled,
    frontier_rows,
    frontier_table,
    network_rows,
    paper_rows,
    reference_metrics,
    shuffled_rows,
)
from tensorldp_papers.plots.printed import printed_points

INF = math.inf


def row(
    mechanism: str,
    pure: float,
    value: float,
    *,
    variant: str = "backbone=strokes",
    epsilon: float | None = None,
    study: str = "frontier",
    metric: str = "accuracy",
    seed: int = 0,
) -> dict[str, Any]:
    return {
        "study": study,
        "dataset": "mnist",
        "variant": variant,
        "mechanism": mechanism,
        "epsilon": pure,
        "seed": seed,
        "metric": metric,
        "value": value,
        "guarantee_pure_epsilon": pure,
        "guarantee_epsilon": pure if epsilon is None else epsilon,
    }


@pytest.fixture
def metrics() -> pd.DataFrame:
    return pd.DataFrame(
        [
            row("none", INF, 0.97),
            row("none", 0.0, 0.8, variant="backbone=strokes,control=public"),
            *(row("privunit", e, v, seed=s) for e, v in ((1.0, 0.9), (4.0, 0.95)) for s in (0, 1)),
            row("projunit", 1.0, 0.99),
            row("privunit", 1.0, 0.7, variant="backbone=strokes,private=record"),
            row("privunit", 1.0, 0.1, variant="backbone=strokes,control=shuffled"),
            row("gaussian-analytic", INF, 0.85, epsilon=1.0),
            row("k-rr", 1.0, 0.2, variant="backbone=strokes,private=answer", metric="accuracy_perturbed_test"),
            row("tldp-g", INF, 0.9, epsilon=300.0, study="tldp_type1", metric="weighted_f1", variant="model=a"),
            row("tldp-g", INF, 0.8, epsilon=300.0, study="tldp_type1", metric="weighted_f1", variant="model=b"),
        ]
    )


def test_rows_stand_at_the_true_epsilon(metrics: pd.DataFrame) -> None:
    rows = frontier_rows(metrics).set_index("line")
    assert rows.loc["gaussian-analytic", "at"] == 1.0
    assert rows.loc["privunit"]["seeds"].tolist() == [2, 2]
    assert rows.loc["k-rr private=answer", "value"] == 0.2


def test_the_papers_have_their_best_variant_where_it_truly_lies(metrics: pd.DataFrame) -> None:
    found = paper_rows(metrics)
    assert found[["line", "at", "value"]].to_numpy().tolist() == [["TLDP", 300.0, 0.9]]
    assert paper_rows(metrics[metrics["study"] == "frontier"]).empty


def test_the_table_is_of_privunit_whatever_else_scores_higher(metrics: pd.DataFrame) -> None:
    table = frontier_table(metrics).set_index("epsilon")
    others = table[["labels_private", "no_privacy", "public_only", "labels_shuffled"]]
    assert table["labels_public"][1.0] == pytest.approx(0.9)
    assert others.T[1.0].tolist() == [0.7, 0.97, 0.8, 0.1]
    assert math.isnan(table["labels_private"][4.0])


def test_the_figure_has_the_printed_points_as_stars_at_the_epsilon_that_they_print(metrics: pd.DataFrame) -> None:
    figure = draw_frontier(metrics, metrics)
    for paper in ("TLDP", "LATENT"):
        drawn = line(figure, f"printed by {paper}")
        points = [(p.epsilon, p.value) for p in printed_points(dataset="mnist") if p.paper == paper and p.proposed]
        assert list(zip(np.asarray(drawn.get_xdata()), np.asarray(drawn.get_ydata()), strict=True)) == points
        assert (drawn.get_marker(), drawn.get_markerfacecolor()) == ("*", "none")
    assert lines(figure)["TLDP"] == [300.0]
    assert lines(figure)["PrivUnit, public features"] == [1.0, 4.0]


def test_the_title_names_the_epsilon_at_which_papers_do_as_well_or_claims_nothing(metrics: pd.DataFrame) -> None:
    assert title(draw_frontier(metrics, metrics)) == "Accuracy at the true ε of one record"
    good = metrics.assign(value=metrics["value"].mask(metrics["study"] == "tldp_type1", 0.95))
    said = "ε ≤ 10 on public features buys what papers' mechanisms need 300 or more for (MNIST)"
    assert title(draw_frontier(good, good)) == said
    public = good.assign(value=good["value"].mask(good["variant"].str.contains("control=public"), 0.96))
    assert title(draw_frontier(public, public)) == "Accuracy at the true ε of one record"


def test_at_epsilon_1_each_mechanism_of_the_pipeline_has_a_row(metrics: pd.DataFrame) -> None:
    figure = draw_mechanisms(metrics)
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_yticklabels()] == ["ProjUnit", "PrivUnit", "Gaussian, analytic"]
    assert {"0.90", "0.99", "0.85", "no privacy", "public data alone"} <= set(words(figure))
    assert title(figure) == "The same pipeline at a true ε of 1: ProjUnit is best, or within 0.01 of it"


def test_the_kept_metrics_are_beside_the_others(metrics: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    metrics.to_parquet(tmp_path / "metrics.parquet")
    assert len(reference_metrics(tmp_path / "metrics.parquet")) == len(metrics)
    metrics[:2].to_parquet(tmp_path / "reference" / "metrics.parquet")
    assert len(reference_metrics(tmp_path / "metrics.parquet")) == 2


def test_a_table_without_the_study_is_refused(metrics: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="no rows of study frontier"):
        frontier_rows(metrics[metrics["study"] != "frontier"])


def test_the_central_epsilon_has_a_figure_of_its_own(metrics: pd.DataFrame) -> None:
    central = row("privunit", 1.0, 0.02, metric="shuffled_epsilon")
    table = pd.concat([metrics, pd.DataFrame([central])], ignore_index=True)
    assert shuffled_rows(table)[["line", "at", "value"]].to_numpy().tolist() == [["privunit", 0.02, 0.9]]
    figure = draw_shuffled(table)
    assert lines(figure)["labels public"] == [0.02]
    low, high = figure.axes[0].get_xlim()
    assert low < 0.02 < high
    assert title(figure).endswith("smaller by a factor of up to 50")
    assert "shuffled_epsilon" not in set(frontier_rows(table)["line"])


def test_every_panel_has_one_range_in_which_the_papers_truly_lie(metrics: pd.DataFrame) -> None:
    other = metrics[metrics["study"] == "frontier"].assign(dataset="cifar10")
    figure = draw_frontier(pd.concat([metrics, other], ignore_index=True), metrics)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["MNIST", "CIFAR-10"]
    for ax in figure.axes:
        low, high = ax.get_xlim()
        assert low < 0.1
        assert high > 1e6
    assert "we offer nothing there" in " ".join(words(figure))


def test_clients_stand_at_the_guarantee_of_their_whole_run_beside_networks(metrics: pd.DataFrame) -> None:
    own = [
        row("privunit", 4.0, 0.8, variant="backbone=strokes,private=client"),
        row("privunit", 4.0, 0.7, variant="backbone=strokes,private=client,rounds=5"),
    ]
    network = [
        row("pdpm", 4e5, value, study="pldp_fl", variant=f"eps=e1,tau={tau}")
        for tau, value in (("t1", 0.2), ("t2", 0.4))
    ]
    table, kept = pd.concat([metrics, pd.DataFrame(own)]), pd.DataFrame(network)
    assert network_rows(kept)[["mechanism", "at", "value"]].to_numpy().tolist() == [["pdpm", 4e5, 0.4]]
    figure = draw_clients(table, kept)
    points = {
        name: (np.asarray(line(figure, name).get_xdata()).tolist(), np.asarray(line(figure, name).get_ydata()).tolist())
        for name in ("PrivUnit, one upload", "PrivUnit, five uploads", "PDPM, whole network")
    }
    assert points["PrivUnit, one upload"] == ([4.0], [0.8])
    assert points["PrivUnit, five uploads"] == ([4.0], [0.7])
    assert points["PDPM, whole network"] == ([4e5], [0.4])
    assert title(figure) == "One upload of a linear model: 80 % at ε = 4. A whole network: 40 % at 400,000"
