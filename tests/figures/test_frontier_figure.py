"""The frontier's figures: papers at their true epsilon beside PrivUnit, and titles that follow the numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up import Row, headings, lines, named_rows, points, rows, said, title, words

from tensorldp.errors import InputError
from tensorldp_papers.papers.frontier import figures as frontier
from tensorldp_papers.plots.means import adds_from
from tensorldp_papers.plots.printed import printed_points

INF = math.inf


def row(mechanism: str, pure: float, value: float, setting: str = "", **more: Any) -> Row:
    """A run on public features, or where a setting says otherwise."""
    cell = {"mechanism": mechanism, "epsilon": pure, "value": value, "guarantee_pure_epsilon": pure}
    return {**cell, "variant": ",".join(filter(None, ("backbone=strokes", setting))), **more}


TLDP = [
    row("tldp-g", INF, value, guarantee_epsilon=300.0, study="tldp_type1", metric="weighted_f1", variant=model)
    for model, value in (("model=a", 0.9), ("model=b", 0.8))
]
RUNS = [
    row("none", INF, 0.97),
    row("none", 0.0, 0.8, "control=public"),
    *(row("privunit", e, v, seed=s) for e, v in ((1.0, 0.9), (4.0, 0.95)) for s in (0, 1)),
    row("projunit", 1.0, 0.99),
    row("privunit", 1.0, 0.7, "private=record"),
    row("privunit", 1.0, 0.1, "control=shuffled"),
    row("gaussian-analytic", INF, 0.85, guarantee_epsilon=1.0),
    row("k-rr", 1.0, 0.2, "private=answer", metric="accuracy_perturbed_test"),
]


def table(*more: Row) -> pd.DataFrame:
    return rows([*RUNS, *TLDP, *more], study="frontier", dataset="mnist")


def test_rows_stand_at_the_true_epsilon_and_papers_with_their_best_variant(tmp_path: Path) -> None:
    found = frontier.frontier_rows(table()).set_index("line")
    assert found.loc["gaussian-analytic", "at"] == 1.0
    assert found.loc["privunit"]["seeds"].tolist() == [2, 2]
    assert found.loc["k-rr private=answer", "value"] == 0.2
    assert frontier.paper_rows(table())[["line", "at", "value"]].to_numpy().tolist() == [["TLDP", 300.0, 0.9]]
    assert frontier.paper_rows(table().query("study == 'frontier'")).empty
    (tmp_path / "reference").mkdir()
    table().to_parquet(tmp_path / "metrics.parquet")
    assert len(frontier.reference_metrics(tmp_path / "metrics.parquet")) == len(table())
    table()[:2].to_parquet(tmp_path / "reference" / "metrics.parquet")  # those that are kept beside the others
    assert len(frontier.reference_metrics(tmp_path / "metrics.parquet")) == 2
    with pytest.raises(InputError, match="no rows of study frontier"):
        frontier.frontier_rows(table().query("study != 'frontier'"))


def test_the_table_is_of_privunit_whatever_else_scores_higher() -> None:
    found = frontier.frontier_table(table()).set_index("epsilon")
    assert found["labels_public"][1.0] == pytest.approx(0.9)
    others = found[["labels_private", "no_privacy", "public_only", "labels_shuffled"]]
    assert others.T[1.0].tolist() == [0.7, 0.97, 0.8, 0.1]
    assert math.isnan(found["labels_private"][4.0])


def test_panels_have_the_printed_points_as_stars_and_the_papers_where_they_truly_lie() -> None:
    other = table().query("study == 'frontier'").assign(dataset="cifar10")
    figure = frontier.draw_frontier(pd.concat([table(), other]), table())
    mnist = figure.axes[0]
    stars = {str(line.get_label()): line for line in mnist.get_lines() if line.get_marker() == "*"}
    for paper in ("TLDP", "LATENT"):
        printed = [p for p in printed_points(dataset="mnist") if p.paper == paper and p.proposed]
        assert points(mnist)[f"printed by {paper}"] == ([p.epsilon for p in printed], [p.value for p in printed])
        assert stars[f"printed by {paper}"].get_markerfacecolor() == "none"
    assert lines(mnist)["TLDP"] == [300.0]
    assert lines(mnist)["PrivUnit, public features"] == [1.0, 4.0]
    assert headings(figure) == ["MNIST", "CIFAR-10"]
    assert [ax.get_xlim()[1] > 300 for ax in figure.axes] == [True, False]  # each panel has a range of its own
    assert "ImageNet's classes for vehicles and animals" in said(figure)


def test_the_title_names_the_epsilon_at_which_papers_do_as_well_or_claims_nothing() -> None:
    nothing = "Accuracy at the true ε of one record"
    assert title(frontier.draw_frontier(table(), table())) == nothing
    good = table().assign(value=lambda t: t["value"].mask(t["study"] == "tldp_type1", 0.95))
    buys = "ε ≤ 10 on public features buys what papers' mechanisms need 300 or more for (MNIST)"
    assert title(frontier.draw_frontier(good, good)) == buys
    public = good.assign(value=good["value"].mask(good["variant"].str.contains("control=public"), 0.96))
    assert title(frontier.draw_frontier(public, public)) == nothing


def test_the_heat_map_has_each_mechanism_of_the_pipeline_by_the_epsilon_that_it_needs() -> None:
    figure = frontier.draw_mechanisms(table())
    assert named_rows(figure) == ["Gaussian, analytic", "PrivUnit", "ProjUnit"]  # they need the same
    assert {"0.90", "0.95", "0.99", "0.85"} <= set(words(figure))  # PrivUnit at 1 and at 4
    assert "Public data alone: 80 % on MNIST." in said(figure)
    all_there = "Halfway from chance to no privacy up to a true ε of 10: 3 of 3 on MNIST"
    assert title(figure) == all_there  # nobody was run where it fails, so nobody is first
    late = [row("hybrid", e, v, seed=s) for e, v in ((1.0, 0.2), (50.0, 0.9)) for s in (0, 1)]
    few = table(*late).query("mechanism in ('none', 'privunit', 'hybrid')")
    assert named_rows(frontier.draw_mechanisms(few)) == ["PrivUnit", "Hybrid"]
    assert (
        title(frontier.draw_mechanisms(few))
        == "First halfway from chance to no privacy: PrivUnit at a true ε of 1 on MNIST"
    )
    poor = few.assign(value=few["value"].mask(few["mechanism"] != "none", 0.1))
    assert (
        title(frontier.draw_mechanisms(poor))
        == "Halfway from chance to no privacy up to a true ε of 10: none of 2 on MNIST"
    )


def test_the_central_epsilon_has_a_figure_of_its_own() -> None:
    central = table(row("privunit", 1.0, 0.02, metric="shuffled_epsilon"))
    assert frontier.shuffled_rows(central)[["line", "at", "value"]].to_numpy().tolist() == [["privunit", 0.02, 0.9]]
    figure = frontier.draw_shuffled(central)
    assert lines(figure)["labels public"] == [0.02]
    low, high = figure.axes[0].get_xlim()
    assert low < 0.02 < high
    assert title(figure).endswith("smaller by a factor of up to 50")
    assert "shuffled_epsilon" not in set(frontier.frontier_rows(central)["line"])


def test_clients_stand_at_the_guarantee_of_their_whole_run_beside_networks() -> None:
    own = table(row("privunit", 4.0, 0.8, "private=client"), row("privunit", 4.0, 0.7, "private=client,rounds=5"))
    network = {"study": "pldp_fl", "dataset": "mnist", "mechanism": "pdpm", "epsilon": 4e5}
    kept = rows([{"variant": f"eps=e1,tau={tau}", "value": v} for tau, v in (("t1", 0.2), ("t2", 0.4))], **network)
    assert frontier.network_seeds(kept)[["mechanism", "at", "value"]].to_numpy().tolist() == [["pdpm", 4e5, 0.4]]
    figure = frontier.draw_clients(own, kept)
    found = {name: at for name, at in points(figure).items() if "," in name}
    assert found["PrivUnit, one upload"] == ([4.0], [0.8])
    assert found["PrivUnit, five uploads"] == ([4.0], [0.7])
    assert found["PDPM, whole network"] == ([4e5], [0.4])
    assert title(figure) == "One upload of a linear model: 80 % at ε = 4. A whole network: 40 % at 400,000"


def test_private_records_add_to_public_ones_from_where_all_larger_epsilons_are_clearly_above() -> None:
    def rows(**means: float) -> pd.DataFrame:
        noise = (-0.01, 0.0, 0.01)
        return pd.DataFrame(
            [
                {"epsilon": float(epsilon[1:]), "seed": seed, "value": mean + noise[seed]}
                for epsilon, mean in means.items()
                for seed in range(3)
            ]
        )

    def least(looks: int = 1, records: int = 10**6, **means: float) -> float:
        return adds_from(rows(**means), known, records=records, looks=looks)

    known = pd.DataFrame({"seed": [0, 1, 2], "value": 0.8})
    assert least(e1=0.5, e2=0.9, e4=0.95) == 2.0
    assert least(e1=0.9, e2=0.81, e4=0.95) == 4.0  # 0.01 above by seeds that differ as much
    assert least(e1=0.9, e2=0.95, e4=0.79) == math.inf
    assert least(e1=0.9, e2=0.85, e4=0.95, records=100) == 4.0  # 0.05 above, each accuracy known to 0.04
    assert least(e1=0.9, e2=0.85, e4=0.95) == 1.0
    assert least(e1=0.9, e2=0.85, e4=0.95, looks=12) == 4.0  # the quantile of 12 looks and three seeds is 15


def test_private_records_that_add_nothing_are_found_to_add_as_rarely_as_is_said() -> None:
    """Equal accuracies on 1,000 test records: 2.5 % of looks find more; of 400, more than 22 have chance 0.1 %."""
    draws, found = np.random.default_rng(0), 0
    for private, public in draws.binomial(1000, 0.8, (400, 2)) / 1000:
        known = pd.DataFrame({"seed": range(5), "value": public})
        rows = known.assign(epsilon=1.0, value=private + draws.normal(0.0, 0.001, 5))
        found += adds_from(rows, known, records=1000, looks=1) == 1.0
    assert 1 <= found <= 22
