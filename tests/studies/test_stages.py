"""The stages of a cell on small records, and the tables of what they give."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small import CPU, fixed, images, make_cell, save, table

from tensorldp.errors import InputError
from tensorldp_papers.nets.train import empty_model, evaluate
from tensorldp_papers.papers.tldp.federated import has_buffers, parameter_release, run_guarantee, train_federated
from tensorldp_papers.papers.tldp.learning import METHOD, train_on_releases
from tensorldp_papers.papers.tldp.settings import FederatedCell, LearningCell
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.run import table as tables
from tensorldp_papers.run.privacy import audit_mechanism
from tensorldp_papers.run.records import Scaling, matrix_shape, model_inputs
from tensorldp_papers.run.releases import perturb
from tensorldp_papers.run.table import COLUMNS, KEY, SERIES, SERIES_COLUMNS, metrics_table, series_table

TRAINING = {"epochs": 2, "rounds": 2, "batch_size": 16}


def cell(mechanism: str = "tldp-l", epsilon: str = "2", *, model: str = "small_cnn", **changes: Any) -> LearningCell:
    return make_cell("learning", mechanism, epsilon, training=TRAINING, factors={"model": model}, **changes)


def federated(mechanism: str, epsilon: str, where: str, model: str = "small_cnn") -> FederatedCell:
    factors = {"model": model, "where": where}
    return make_cell("federated", mechanism, epsilon, training=TRAINING, factors=factors, release="parameters")


def test_a_release_depends_on_seed_split_and_cell_and_on_nothing_else() -> None:
    first = perturb(images(), cell(), 0, "train", CPU)
    torch.rand(3)
    assert torch.equal(first, perturb(images(), cell(), 0, "train", CPU))
    for one, seed, split in ((cell(), 1, "train"), (cell(), 0, "test"), (cell(epsilon="3"), 0, "train")):
        assert not torch.equal(first, perturb(images(), one, seed, split, CPU))
    colour = images(5, (8, 8, 3))
    assert torch.equal(perturb(colour, cell("none", "inf"), 0, "train", CPU), colour.x.float())
    assert perturb(colour, cell("idn"), 0, "train", CPU).shape == (5, 8, 8, 3)  # released as matrices
    assert (matrix_shape((32, 32, 3)), model_inputs(colour.x, "image").shape) == ((32, 96), (5, 3, 8, 8))
    with pytest.raises(InputError, match="the records of d have no public range"):
        perturb(table(torch.zeros(3, 5)), cell(), 0, "train", CPU)


def test_training_is_the_same_again_and_of_linear_models_for_all_seeds_together() -> None:
    for wanted in (cell(), cell(model="linear", seeds=(0, 1, 4))):
        released = {seed: perturb(images(), wanted, seed, "train", CPU) for seed in wanted.seeds}
        arrays = {seed: {"train": x.numpy()} for seed, x in released.items()}
        found = list(METHOD.train_all(wanted, images(), arrays.__getitem__, CPU))
        assert [seed for seed, _, _ in found] == list(wanted.seeds)
        for seed, trained, _ in found:
            model, scaling = train_on_releases(wanted, released[seed], images().y, images(), seed, CPU)
            assert trained.facts == {"mean": scaling.mean, "std": scaling.std}
            assert scaling.mean == pytest.approx(float(released[seed].mean()), rel=1e-4)
            assert float(scaling(released[seed]).std()) == pytest.approx(1.0, rel=1e-4)
            for key, value in model.state_dict().items():
                np.testing.assert_allclose(trained.arrays[key], value.numpy(), atol=1e-5)
    assert Scaling.public(0.0, 16.0)(torch.tensor([0.0, 8.0, 16.0])).tolist() == [-1.0, 0.0, 1.0]
    rows = [row["metric"] for row in evaluate(model, images(), scaling, CPU, released[0])]
    assert rows == ["accuracy", "weighted_f1", "accuracy_perturbed_test", "weighted_f1_perturbed_test"]


@pytest.mark.parametrize("where", ["user", "server"])
@pytest.mark.parametrize("mechanism", ["tldp-l", "idn", "llagp", "dphsgd", "none"])
def test_federated_training_runs_with_every_kind_of_release(mechanism: str, where: str) -> None:
    settings = federated(mechanism, "inf" if mechanism == "none" else "50", where)
    (model, _), (again, _) = (train_federated(settings, images(24), 0, CPU) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    found = run_guarantee(parameter_release(settings, empty_model(settings, images().task)), has_buffers(model))
    assert found["unit"] == "run"
    assert ("not local" in found["note"]) == (where == "server")


@pytest.mark.parametrize("width", [50, 100])
def test_text_takes_word_vectors_that_came_with_the_data(width: int) -> None:
    x = torch.randint(0, 30, (24, 12), generator=fixed(), dtype=torch.int32)
    vectors = torch.randn(30, width, generator=fixed(1))
    records = table(x, "text", low=0.0, high=30.0, vocabulary=30, embedding=vectors)
    model, scaling = train_federated(federated("none", "inf", "user", "bilstm"), records, 0, CPU)
    weight: torch.Tensor = model.embedding.weight  # type: ignore[union-attr, assignment]
    assert torch.equal(weight[:, :width], vectors)
    assert not weight[:, width:].any()  # the network keeps its size
    assert evaluate(model, records, scaling, CPU)[0]["metric"] == "accuracy"


@pytest.mark.parametrize("mechanism", ["tldp-l", "privunit"])
def test_a_release_its_guarantee_and_its_audit_know_no_precision(mechanism: str, tmp_path: Path) -> None:
    exact, found = cell(mechanism), []
    save(tmp_path, images())
    for one in (exact, exact.computing_in(["bfloat16"])):
        released = [METHOD.release(one, images(), 0, split, CPU)[split] for split in ("train", "test")]
        audited, note = METHOD.audited(one, tmp_path)
        assert audited is not None
        audit = audit_mechanism(audited, one, [1e-5], note)
        found.append(([(x.dtype, x.tobytes()) for x in released], METHOD.guarantee(one, tmp_path), audit))
    guarantee = found[0][1]
    assert guarantee["pure_epsilon"] == pytest.approx(128.0 if mechanism == "tldp-l" else 2.0)  # of the whole record
    assert guarantee["unit"] == "record"
    assert "labels" in guarantee["note"]
    assert one.precision == "bfloat16"
    assert found[0] == found[1]


Row = tuple[str, str, int, str, str, int]  # study, mechanism, seed, metric, which series, place in it
GUARANTEE = {"unit": "record", "epsilon": "inf", "delta": 1e-5, "pure_epsilon": "inf", "atom": 1.0, "exact": True}
ROWS = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from(["laplace", "none"]),
    st.integers(0, 2),
    st.sampled_from(["accuracy", "auc"]),
    st.sampled_from(["", *SERIES]),
    st.sampled_from([5, 10]),
)


def scored(rows: dict[Row, float]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Such values as cells, with their guarantees."""
    found: dict[tuple[str, str], Any] = {}
    for (study, mechanism, seed, metric, series, place), value in rows.items():
        key = {"study": study, "dataset": "d", "variant": "base", "release": "data", "mechanism": mechanism}
        empty = {"cell": {**key, "delta": 1e-5, "epsilon": "inf"}, "rows": [], "runs": {}}
        metrics, _ = found.setdefault((study, mechanism), (empty, {**GUARANTEE, "unit": study + mechanism}))
        metrics["rows"].append({"seed": seed, "metric": metric, "value": value, **({series: place} if series else {})})
        metrics["runs"][str(seed)] = {"seconds": float(seed), "peak_mb": 2.0, "device": "cpu", "commit": mechanism}
    return list(found.values())


@settings(max_examples=10, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=8, unique_by=lambda row: row if row[4] else row[:4]))
def test_every_value_stands_in_the_one_row_of_its_cell_seed_and_place(rows: list[Row]) -> None:
    rows += {(*row[:3], "single", "", 0) for row in rows}  # every run has a value that is of no series
    values = {row: float(number) for number, row in enumerate(rows)}
    cells = scored(values)
    metrics, series = metrics_table(cells, "quick"), series_table(cells)
    assert (list(metrics.columns), list(series.columns)) == (COLUMNS, SERIES_COLUMNS)
    assert not metrics.duplicated(KEY).any()
    assert not series.duplicated([*KEY, *SERIES]).any()
    both = tables.with_series(metrics, series)
    pd.testing.assert_frame_equal(both, tables.all_rows(cells, "quick"))
    pd.testing.assert_frame_equal(both, tables.all_rows(cells[::-1], "quick"))
    found = {}
    for row in both.to_dict("records"):
        (place,) = [(key, row[key]) for key in SERIES if not pd.isna(row[key])] or [("", 0)]
        found[row["study"], row["mechanism"], row["seed"], row["metric"], *place] = row["value"]
        assert (row["guarantee_unit"], row["commit"]) == (row["study"] + row["mechanism"], row["mechanism"])
        assert (row["seconds"], row["guarantee_epsilon"], row["epsilon"]) == (row["seed"], math.inf, math.inf)
    assert found == {(*row[:4], row[4], row[5] if row[4] else 0): value for row, value in values.items()}


def test_what_a_cell_lacks_or_has_twice_is_named() -> None:
    one = ("a", "none", 0, "accuracy", "", 0)
    ((metrics, guarantee),) = scored({one: 0.5})
    with pytest.raises(InputError, match="lack 'atom'"):
        metrics_table([(metrics, {k: v for k, v in guarantee.items() if k != "atom"})], "quick")
    with pytest.raises(InputError, match="no cells"):
        metrics_table([], "quick")
    with pytest.raises(InputError, match="two values of accuracy for seed 0"):
        metrics_table(scored({one: 0.5, (*one[:5], 1): 0.75}), "quick")


@pytest.mark.parametrize("name", ["metrics.parquet", "series.parquet", "standing.csv"])
def test_an_emptied_table_is_named_itself_with_what_to_do(tmp_path: Path, name: str) -> None:
    single = scored({("a", "laplace", 0, "accuracy", "", 0): 0.5})
    metrics_table(single, "quick").to_parquet(tmp_path / "metrics.parquet")
    series_table(single).to_parquet(tmp_path / "series.parquet")
    (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=rf"^the table \S*/{name} cannot be read \(.*\): delete it") as told:
        read_metrics(tmp_path / "metrics.parquet")
    assert "\n" not in str(told.value)


def test_kept_keys_are_unique() -> None:
    metrics, series = (
        pd.read_parquet(Path(__file__).parents[2] / f"results/reference/{name}.parquet")
        for name in ("metrics", "series")
    )
    before = [column for column in COLUMNS if column not in ("isa", "precision")]  # what runs recorded at first
    assert list(metrics.columns) in (before, COLUMNS)
    assert not metrics.duplicated(KEY).any()
    assert list(series.columns) == SERIES_COLUMNS
    assert not series.duplicated([*KEY, *SERIES]).any()


@pytest.mark.parametrize("name", ["metrics.parquet", "series.parquet", "guarantees.csv"])
def test_tables_of_studies_are_joined_to_what_one_table_of_all_would_be(tmp_path: Path, name: str) -> None:
    single = {("a", "laplace", 0, "accuracy", "", 0): 0.1 + 0.2}
    series = {("b", "none", seed, "accuracy", place, 5): seed / 3 for seed in (0, 1) for place in ("", "round")}
    made: dict[str, Callable[..., pd.DataFrame]] = {
        "metrics.parquet": partial(metrics_table, scale="quick"),
        "series.parquet": series_table,
        "guarantees.csv": tables.guarantees_table,
    }
    paths = [tmp_path / study / name for study in "ab"]
    for path, rows in zip(paths, (single, series), strict=True):
        tables.write_table(path, made[name](scored(rows)))
    tables.join_tables(paths, out := tmp_path / name)
    tables.write_table(whole := tmp_path / "whole" / name, made[name](scored(single | series)))
    if out.suffix == ".csv":
        assert out.read_bytes() == whole.read_bytes()
    pd.testing.assert_frame_equal(tables.read_table(out), tables.read_table(whole), check_exact=True)
    tables.join_tables(paths[:1], out)
    assert out.read_bytes() == paths[0].read_bytes()  # series.parquet of this study is empty
    paths[1].write_bytes(b"")
    with pytest.raises(InputError, match=f"the file {paths[1]} is not what was computed for its place"):
        tables.join_tables(paths, out)
    assert out.read_bytes() == paths[0].read_bytes()
