"""What PLDP-FL's figures read out of the metrics."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer

from tensorldp.errors import InputError
from tensorldp_papers.papers.pldp_fl import figures as pldp


def table(rows: list[dict[str, object]]) -> pd.DataFrame:
    shared = {
        "study": "pldp_fl",
        "dataset": "digits",
        "mechanism": "pdpm",
        "epsilon": 1.0,
        "seed": 0,
        "guarantee_epsilon": 100.0,
        "variant": "eps=e3,model=mlp,tau=t1",
    }
    return pd.DataFrame([{**shared, **row} for row in rows])


def test_rounds_and_clients_are_read_from_their_columns() -> None:
    metrics = table(
        [
            {"metric": "accuracy_by_round", "round": 5, "value": 0.3},
            {"metric": "accuracy_by_round", "round": 100, "value": 0.5},
            {"metric": "accuracy", "value": 0.5},
            {"metric": "client_uploads", "client": 7, "value": 4.0},
            {"metric": "client_epsilon", "client": 7, "value": 90.0},
            {"metric": "client_per_weight", "client": 7, "value": 3.6},
        ]
    )
    rows = pldp.pldp_rows(metrics, "pldp_fl")
    assert rows["tau"].unique().tolist() == ["t1"]
    assert rows["budget"].unique().tolist() == [""]
    found = pldp.over_rounds(rows)
    assert found[["round", "value"]].to_numpy().tolist() == [[5, 0.3], [100, 0.5]]
    client = pldp.client_table(rows).iloc[0]
    assert (client["client"], client["uploads"], client["epsilon"]) == (7, 4.0, 90.0)
    assert client["nominal"] == pytest.approx(0.9)


def test_the_ledger_figure_shows_every_client_twice() -> None:
    rows: list[dict[str, object]] = []
    for mode in ("e1", "e2", "e3"):
        variant = {"variant": f"eps={mode},model=mlp,tau=t1"}
        for i in range(5):
            rows += [
                {**variant, "metric": f"client_{what}", "client": i, "value": value}
                for what, value in (("uploads", 2.0), ("epsilon", 50.0 + i), ("per_weight", 0.2 * (i + 1)))
            ]
        rows += [
            {**variant, "metric": f"spent_{word}_by_round", "round": mark, "value": float(mark)}
            for word in ("least", "median", "most")
            for mark in (5, 10)
        ]
    left, right = pldp.draw_ledger(table(rows)).axes
    points = np.vstack([c.get_offsets() for c in left.collections])
    assert len(points) == 3 * 2 * 5
    assert {round(x, 6) for x, _ in points} == {0.1, 0.2, 0.3, 0.4, 0.5}
    assert [np.asarray(line.get_xdata()).tolist() for line in right.lines] == [[5, 10]] * 3
    assert "nats" in left.get_ylabel()


def test_both_centres_of_safe_ranges_are_drawn() -> None:
    rows: list[dict[str, object]] = []
    for variant, value in (
        ("centre=zero,eps=e3,model=mlp,tau=t1", 0.3),
        ("centre=global,eps=e3,model=mlp,tau=t1", 0.8),
    ):
        rows += [{"variant": variant, "metric": "accuracy_by_round", "round": r, "value": value} for r in (5, 10)]
        rows += [{"variant": variant, "metric": "accuracy", "value": value}]
    rows += [
        {"variant": "model=mlp", "mechanism": "none", "metric": name, "round": r, "value": 0.9}
        for name, r in (("accuracy_by_round", 5), ("accuracy_by_round", 10), ("accuracy", None))
    ]
    panel = pldp.draw_rounds(table(rows)).axes[2]
    labels = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in panel.lines}
    drawn = {text.split(", ")[-1]: values for text, values in labels.items() if "," in text}
    assert drawn["around 0"] == [0.3, 0.3]
    assert drawn["around the weights sent"] == [0.8, 0.8]
    marks = [
        mark for mark in pldp.draw_guaranteed(table(rows)).axes[0].containers if isinstance(mark, ErrorbarContainer)
    ]
    assert {
        str(mark.get_label()).split(", ")[-1]: np.asarray(mark.lines[0].get_ydata()).tolist() for mark in marks
    } == {
        "ranges around 0": [0.3],
        "around the weights sent": [0.8],
    }


def test_a_scale_without_other_shares_says_so() -> None:
    figure = pldp.draw_participation(table([{"metric": "accuracy", "value": 0.5}]))
    assert any("not run" in text.get_text() for ax in figure.axes for text in ax.texts)


def test_the_studys_own_share_is_on_figure_3() -> None:
    variants = {
        "eps=e3,model=mlp,participation=0.1,tau=t1": 0.1,
        "eps=e3,model=mlp,tau=t1": 0.7,
        "eps=e3,model=mlp,participation=1.0,tau=t1": 1.0,
    }
    rows: list[dict[str, object]] = [
        {"variant": variant, "metric": metric, "value": value}
        for variant, share in variants.items()
        for metric, value in (("participation", share), ("accuracy", share / 2), ("uploaded_megabytes", 20 * share))
    ]
    rows += [
        {"variant": variant, "metric": metric, "value": 0.9}
        for metric in ("participation", "accuracy")
        for variant in ("eps=e3,model=mlp,tau=t3", "budget=model,eps=e3,model=mlp,tau=t1")
    ]
    left, right = pldp.draw_participation(table(rows)).axes
    lines = {ax: [line for line in ax.lines if len(np.asarray(line.get_xdata()))] for ax in (left, right)}
    assert [np.asarray(line.get_xdata()).tolist() for line in lines[left]] == [[0.1, 0.7, 1.0]]
    assert np.asarray(lines[right][0].get_ydata()).tolist() == [0.05, 0.35, 0.5]


def test_figure_3_has_a_panel_of_accuracy_for_each_data_set() -> None:
    variants = {f"eps=e3,model=mlp,participation={share},tau=t1": share for share in (0.1, 1.0)}
    rows: list[dict[str, object]] = [
        {"dataset": dataset, "variant": variant, "metric": metric, "value": value}
        for dataset, factor in (("digits", 0.5), ("mnist", 0.9))
        for variant, share in variants.items()
        for metric, value in (("participation", share), ("accuracy", factor * share), ("uploaded_megabytes", share))
    ]
    axes = pldp.draw_participation(table(rows)).axes
    drawn = [
        [np.asarray(line.get_ydata()).tolist() for line in ax.lines if len(np.asarray(line.get_xdata()))] for ax in axes
    ]
    assert drawn == [[[0.1, 1.0], [0.1, 1.0]], [[0.05, 0.5]], [[0.09000000000000001, 0.9]]]


def test_figure_3_leaves_out_cells_of_more_rounds() -> None:
    rows = [
        {"variant": variant, "mechanism": "none", "metric": metric, "value": value}
        for variant, share, rounds in (("model=mlp", 0.7, 100), ("model=mlp,participation=1.0", 1.0, 50))
        for metric, value in (("participation", share), ("accuracy", 0.9), ("uploaded_megabytes", rounds * share))
    ]
    rows += [
        {"variant": "eps=e3,model=mlp,tau=t1", "metric": metric, "value": value}
        for metric, value in (("participation", 0.7), ("accuracy", 0.5), ("uploaded_megabytes", 35.0))
    ]
    left, _ = pldp.draw_participation(table(rows)).axes
    assert {tuple(np.asarray(line.get_xdata()).tolist()) for line in left.lines} - {()} == {(1.0,), (0.7,)}


def test_a_table_without_the_study_is_one_sentence() -> None:
    with pytest.raises(InputError, match="no rows of study pldp_fl"):
        pldp.draw_rounds(table([{"study": "s", "metric": "accuracy", "value": 1.0}]))
