"""The method of private SGD: release, guarantee, audit and scores."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tensorldp.files import write_arrays
from tensorldp_papers.papers.tvg.private_sgd import METHOD
from tensorldp_papers.papers.tvg.settings import PrivateSgdCell, PrivateSgdTraining
from tensorldp_papers.run.method_plan import ModelFactors
from tensorldp_papers.run.records import Records

CPU = torch.device("cpu")
TRAINING = {
    "lot": 16,
    "steps": 20,
    "clip": 1.0,
    "clip_l2": 1.0,
    "learning_rate": 0.5,
    "learning_rate_l2": 0.5,
    "momentum": 0.0,
    "accountant": "rdp",
    "pretrained": False,
}


def cell(mechanism: str, epsilon: str = "10") -> PrivateSgdCell:
    return PrivateSgdCell(
        study="s",
        dataset="d",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release="gradients",
        method="private_sgd",
        delta=1e-5,
        training=PrivateSgdTraining.model_validate(TRAINING),
        factors=ModelFactors(model="mlp_12"),
        seeds=(0,),
    )


def table(count: int = 160) -> Records:
    y = torch.arange(count) % 2
    x = torch.randn(count, 5, generator=torch.Generator().manual_seed(0)) + 2.0 * y[:, None]
    return Records(x, y, "d", 2, -math.inf, math.inf, "tabular")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    metadata = {"dataset": "d", "classes": "2", "low": "-inf", "high": "inf", "kind": "tabular"}
    write_arrays(tmp_path / "train.safetensors", {"x": table().x.numpy(), "y": table().y.numpy()}, metadata)
    return tmp_path


@pytest.mark.parametrize("name", ["none", "optimized", "gaussian", "mvg", "udn", "idn", "matrix", "gaussian-analytic"])
def test_every_mechanism_trains_reproducibly_and_is_scored_with_its_auc(name: str) -> None:
    settings = cell(name, "inf" if name == "none" else "10")
    trained, again = (METHOD.train(settings, table(), 0, CPU) for _ in range(2))
    assert all((trained.arrays[key] == again.arrays[key]).all() for key in trained.arrays)
    found = {row["metric"]: row["value"] for row in METHOD.evaluate(settings, table(), trained, 0, CPU)}
    assert set(found) == {"accuracy", "weighted_f1", "auc"}
    if name in ("none", "gaussian-analytic"):
        assert found["auc"] > 0.95


def test_the_guarantee_is_of_the_run_and_the_printed_epsilon_is_not_it(data: Path) -> None:
    honest: dict[str, Any] = METHOD.guarantee(cell("gaussian-analytic"), data)
    assert 5.0 < honest["epsilon"] <= 10.0
    assert honest["unit"] == "run"
    printed = METHOD.guarantee(cell("gaussian", "100"), data)
    assert printed["epsilon"] > 200.0  # the form 2 q sqrt(T ln(1/delta)) / epsilon is not for large epsilon
    assert METHOD.guarantee(cell("none", "inf"), data)["epsilon"] == math.inf


def test_the_audited_step_has_the_noise_of_the_run(data: Path) -> None:
    mechanism, note = METHOD.audited(cell("gaussian-analytic"), data)
    assert mechanism is not None
    from tensorldp.curves.dp_sgd import noise_multiplier_for

    multiplier = noise_multiplier_for(10.0, 1e-5, 0.1, 20, "rdp")
    assert mechanism.curve().mu == pytest.approx(2.0 / multiplier)  # type: ignore[attr-defined]
    assert "one step" in note
    assert METHOD.audited(cell("none", "inf"), data)[0].name == "none"  # type: ignore[union-attr]
