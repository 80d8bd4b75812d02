"""The stages of a cell on small records."""

import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.nets.train import (
    empty_model,
    evaluate,
    has_buffers,
    parameter_release,
    train_federated,
    train_on_releases,
)
from tensorldp_papers.papers.tldp.federated import run_guarantee
from tensorldp_papers.papers.tldp.learning import METHOD, record_guarantee
from tensorldp_papers.papers.tldp.settings import (
    FederatedCell,
    FederatedFactors,
    LearningCell,
    LearningFactors,
    LearningTraining,
)
from tensorldp_papers.run.records import Records, Scaling, matrix_shape, model_inputs, read_records
from tensorldp_papers.run.releases import perturb
from tensorldp_papers.run.table import (
    COLUMNS,
    KEY,
    SERIES,
    SERIES_COLUMNS,
    all_rows,
    guarantees_table,
    join_tables,
    metrics_table,
    series_table,
    with_series,
)

CPU = torch.device("cpu")
TRAINING = LearningTraining(epochs=2, rounds=2, batch_size=16)


def cell(
    mechanism: str = "tldp-l", epsilon: str = "2", *, model: str = "small_cnn", seeds: tuple[int, ...] = (0,)
) -> LearningCell:
    return LearningCell(
        study="s",
        dataset="d",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release="data",
        method="learning",
        delta=1e-5,
        training=TRAINING,
        factors=LearningFactors(model=model),
        seeds=seeds,
    )


def federated(
    mechanism: str,
    epsilon: str,
    where: Literal["user", "server"],
    model: str = "small_cnn",
    training: LearningTraining = TRAINING,
) -> FederatedCell:
    return FederatedCell(
        study="s",
        dataset="d",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release="parameters",
        method="federated",
        delta=1e-5,
        training=training,
        factors=FederatedFactors(model=model, where=where),
        seeds=(0,),
    )


def images(count: int = 40, shape: tuple[int, ...] = (8, 8)) -> Records:
    x = torch.randint(0, 17, (count, *shape), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    return Records(x, torch.arange(count) % 4, "d", 4, 0.0, 16.0, "image")


def text(count: int = 24) -> Records:
    x = torch.randint(0, 30, (count, 12), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    return Records(x, torch.arange(count) % 2, "d", 2, 0.0, 30.0, "text", vocabulary=30)


def test_colour_images_are_released_as_matrices_and_come_back_in_their_shape() -> None:
    assert matrix_shape((32, 32, 3)) == (32, 96)
    released = perturb(images(5, (8, 8, 3)), cell("idn"), 0, "train", CPU)
    assert released.shape == (5, 8, 8, 3)
    assert model_inputs(released, "image").shape == (5, 3, 8, 8)


def test_a_release_depends_on_seed_split_and_cell_and_on_nothing_else() -> None:
    first = perturb(images(), cell(), 0, "train", CPU)
    torch.rand(3)
    assert torch.equal(first, perturb(images(), cell(), 0, "train", CPU))
    for other in (
        perturb(images(), cell(), 1, "train", CPU),
        perturb(images(), cell(), 0, "test", CPU),
        perturb(images(), cell(epsilon="3"), 0, "train", CPU),
    ):
        assert not torch.equal(first, other)


def test_none_releases_the_records_themselves() -> None:
    assert torch.equal(perturb(images(), cell("none", "inf"), 0, "train", CPU), images().x.float())


def test_data_without_a_public_range_are_not_released_as_data() -> None:
    table = Records(torch.zeros(3, 5), torch.zeros(3).long(), "breast_cancer", 2, -math.inf, math.inf, "tabular")
    with pytest.raises(InputError, match="breast_cancer have no public range"):
        perturb(table, cell(), 0, "train", CPU)


def test_training_on_releases_is_deterministic_and_scored_on_clean_and_released_records() -> None:
    released = perturb(images(), cell(), 0, "train", CPU)
    model, scaling = train_on_releases(cell(), released, images().y, images(), 0, CPU)
    again, _ = train_on_releases(cell(), released, images().y, images(), 0, CPU)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert scaling.mean == pytest.approx(float(released.mean()), rel=1e-4)
    rows = evaluate(model, images(), scaling, CPU, released)
    assert [row["metric"] for row in rows] == [
        "accuracy",
        "weighted_f1",
        "accuracy_perturbed_test",
        "weighted_f1_perturbed_test",
    ]


@pytest.mark.parametrize("where", ["user", "server"])
@pytest.mark.parametrize("mechanism", ["tldp-l", "idn", "llagp", "dphsgd", "none"])
def test_federated_training_runs_with_every_kind_of_release(mechanism: str, where: Literal["user", "server"]) -> None:
    settings = federated(mechanism, "inf" if mechanism == "none" else "50", where)
    model, _ = train_federated(settings, images(), 0, CPU)
    again, _ = train_federated(settings, images(), 0, CPU)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    found = run_guarantee(parameter_release(settings, empty_model(settings, images().task)), has_buffers(model))
    assert found["unit"] == "run"
    assert ("not local" in found["note"]) == (where == "server")


def test_text_takes_word_vectors_that_came_with_the_data() -> None:
    vectors = torch.randn(30, 100, generator=torch.Generator().manual_seed(1))
    settings = federated("none", "inf", "user", "bilstm", LearningTraining(epochs=1, rounds=1, batch_size=16))
    records = text()
    with_vectors = Records(records.x, records.y, "d", 2, 0.0, 30.0, "text", 30, vectors)
    model, scaling = train_federated(settings, with_vectors, 0, CPU)
    assert torch.equal(model.embedding.weight, vectors)  # type: ignore[union-attr, arg-type]
    assert evaluate(model, records, scaling, CPU)[0]["metric"] == "accuracy"


def test_guarantees_are_of_the_whole_record_and_say_that_labels_are_not_covered() -> None:
    found = record_guarantee(cell(epsilon="1"), images().box())
    assert found["pure_epsilon"] == pytest.approx(64.0)
    assert found["unit"] == "record"
    assert "labels" in found["note"]


def test_records_are_read_with_their_digest_checked(tmp_path: Path) -> None:
    path = tmp_path / "train.safetensors"
    metadata = {"dataset": "d", "classes": "4", "low": "0", "high": "16", "kind": "image"}
    write_arrays(path, {"x": images().x.numpy(), "y": images().y.numpy()}, metadata)
    write_json(tmp_path / "digest.json", {"train": sha256(path)})
    assert torch.equal(read_records(path).x, images().x)
    write_arrays(path, {"x": images().x.numpy() + np.uint8(1), "y": images().y.numpy()}, metadata)
    with pytest.raises(InputError, match="is not the one that"):
        read_records(path)


def test_scaling_is_public_or_of_what_was_released() -> None:
    assert Scaling.public(0.0, 16.0)(torch.tensor([0.0, 8.0, 16.0])).tolist() == [-1.0, 0.0, 1.0]
    released = torch.tensor([1.0, 2.0, 6.0])
    assert float(Scaling.of(released)(released).mean()) == pytest.approx(0.0, abs=1e-6)


def test_the_table_has_its_columns_and_names_what_a_cell_lacks() -> None:
    key = {
        "study": "s",
        "dataset": "d",
        "variant": "base",
        "release": "data",
        "mechanism": "none",
        "delta": 1e-5,
        "epsilon": "inf",
    }
    run = {"seconds": 1.0, "peak_mb": 2.0, "device": "cpu", "commit": "c"}
    metrics = {"cell": key, "rows": [{"seed": 0, "metric": "accuracy", "value": 0.5}], "runs": {"0": run}}
    guarantee = {"unit": "record", "epsilon": "inf", "delta": 1e-5, "pure_epsilon": "inf", "atom": 1.0, "exact": True}
    table = metrics_table([(json.loads(json.dumps(metrics)), guarantee)], "quick")
    assert list(table.columns) == COLUMNS
    assert table.loc[0, "guarantee_epsilon"] == math.inf
    with pytest.raises(InputError, match="lack 'atom'"):
        metrics_table([(metrics, {k: v for k, v in guarantee.items() if k != "atom"})], "quick")
    with pytest.raises(InputError, match="no cells"):
        metrics_table([], "quick")


def test_series_have_a_table_of_their_own_so_that_keys_are_unique() -> None:
    key = {"study": "s", "dataset": "d", "variant": "base", "release": "data", "mechanism": "none", "delta": 1e-5}
    run = {"seconds": 1.0, "peak_mb": 2.0, "device": "cpu", "commit": "c"}
    rows = [
        {"seed": 0, "metric": "accuracy", "value": 0.5},
        {"seed": 0, "metric": "accuracy_by_round", "round": 10, "value": 0.5},
        {"seed": 0, "metric": "accuracy_by_round", "round": 5, "value": 0.25},
        {"seed": 0, "metric": "client_uploads", "client": 3, "value": 2.0},
    ]
    guarantee = {"unit": "record", "epsilon": "inf", "delta": 1e-5, "pure_epsilon": "inf", "atom": 1.0, "exact": True}
    metrics = {"cell": {**key, "epsilon": "inf"}, "rows": rows, "runs": {"0": run}}
    table, series = metrics_table([(metrics, guarantee)], "quick"), series_table([(metrics, guarantee)])
    assert list(table.columns) == COLUMNS
    assert not table.duplicated(KEY).any()
    assert list(series.columns) == SERIES_COLUMNS
    assert not series.duplicated([*KEY, *SERIES]).any()
    assert series["value"].tolist() == [0.25, 0.5, 2.0]
    assert series["round"].dropna().tolist() == [5, 10]
    assert series["client"].dropna().tolist() == [3]
    pd.testing.assert_frame_equal(with_series(table, series), all_rows([(metrics, guarantee)], "quick"))
    pd.testing.assert_frame_equal(
        with_series(table, series[:0]), all_rows([({**metrics, "rows": rows[:1]}, guarantee)], "quick")
    )
    twice = {**metrics, "rows": [*rows, {"seed": 0, "metric": "accuracy", "value": 0.75}]}
    with pytest.raises(InputError, match="two values of accuracy for seed 0"):
        metrics_table([(twice, guarantee)], "quick")


def test_kept_keys_are_unique() -> None:
    kept = Path(__file__).parents[2] / "results" / "reference"
    metrics, series = (pd.read_parquet(kept / f"{name}.parquet") for name in ("metrics", "series"))
    before = [column for column in COLUMNS if column not in ("isa", "precision")]  # what runs recorded at first
    assert list(metrics.columns) in (before, COLUMNS)
    assert not metrics.duplicated(KEY).any()
    assert list(series.columns) == SERIES_COLUMNS
    assert not series.duplicated([*KEY, *SERIES]).any()


def test_linear_models_of_all_seeds_train_together_as_they_would_alone() -> None:
    settings = cell(model="linear", seeds=(0, 1, 4))
    released = {seed: perturb(images(), settings, seed, "train", CPU) for seed in settings.seeds}
    found = list(METHOD.train_all(settings, images(), lambda s: {"train": released[s].numpy()}, CPU))
    assert [seed for seed, _, _ in found] == [0, 1, 4]
    for seed, trained, _ in found:
        model, scaling = train_on_releases(settings, released[seed], images().y, images(), seed, CPU)
        assert trained.facts == {"mean": scaling.mean, "std": scaling.std}
        for key, value in model.state_dict().items():
            np.testing.assert_allclose(trained.arrays[key], value.numpy(), atol=1e-5)


def test_tables_of_studies_are_joined_to_what_one_table_of_all_would_be(tmp_path: Path) -> None:
    guarantee = {"unit": "record", "epsilon": 1.0, "delta": 1e-5, "pure_epsilon": "inf", "atom": 0.0, "exact": True}
    run = {"seconds": 1.0, "peak_mb": 5.0, "device": "cpu", "commit": "abc"}
    key: dict[str, Any] = {
        "dataset": "d",
        "variant": "base",
        "release": "data",
        "mechanism": "laplace",
        "delta": 1e-5,
        "epsilon": "1",
    }
    single = [{"seed": 0, "metric": "accuracy", "value": 0.1 + 0.2}]
    series = [{"seed": 0, "metric": "accuracy_by_round", "round": 5, "value": 1 / 3}]
    cells: dict[str, Any] = {
        study: [({"cell": {**key, "study": study}, "rows": rows, "runs": {"0": run}}, guarantee)]
        for study, rows in {"a": single, "b": single + series}.items()
    }
    every = cells["a"] + cells["b"]
    for make, name in (
        (lambda found: metrics_table(found, "quick"), "metrics.parquet"),
        (series_table, "series.parquet"),
        (guarantees_table, "guarantees.csv"),
    ):
        paths = [tmp_path / study / name for study in cells]
        for path, found in zip(paths, cells.values(), strict=True):
            path.parent.mkdir(exist_ok=True)
            table = make(found)
            table.to_parquet(path) if path.suffix == ".parquet" else table.to_csv(path, index=False)
        joined, whole = join_tables(paths), make(every)
        if name.endswith("parquet"):
            pd.testing.assert_frame_equal(joined, whole, check_exact=True)
        else:
            assert joined.to_csv(index=False) == whole.to_csv(index=False)
    assert join_tables([tmp_path / "a" / "series.parquet"]).empty
