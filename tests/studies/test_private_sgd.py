"""The method of private SGD: release, guarantee, audit and scores."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small import CPU, fixed, make_cell, save, table
from typed import gaussian_mu

from tensorldp.curves.dp_sgd import noise_multiplier_for
from tensorldp.errors import InputError
from tensorldp_papers.papers.tvg.private_sgd import METHOD
from tensorldp_papers.papers.tvg.settings import PrivateSgdCell

TRAINING: dict[str, Any] = {
    "lot": 16,
    "steps": 20,
    "learning_rate": 0.5,
    "learning_rate_l2": 0.5,
    "momentum": 0.0,
    "pretrained": False,
}
TRAINING |= {"clip": 1.0, "clip_l2": 1.0, "accountant": "rdp"}
RECORDS = table(torch.randn(160, 5, generator=fixed()) + 2.0 * (torch.arange(160) % 2)[:, None])


def cell(mechanism: str, epsilon: str = "10", **training: Any) -> PrivateSgdCell:
    settings: dict[str, Any] = {
        "release": "gradients",
        "training": TRAINING | training,
        "factors": {"model": "mlp_12"},
    }
    return make_cell("private_sgd", mechanism, epsilon, **settings)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data"), RECORDS, "train")


@pytest.mark.parametrize("name", ["none", "optimized", "gaussian", "mvg", "udn", "idn", "matrix", "gaussian-analytic"])
def test_every_mechanism_trains_reproducibly_and_is_scored_with_its_auc(name: str) -> None:
    settings = cell(name, "inf" if name == "none" else "10")
    trained, again = (METHOD.train(settings, RECORDS, 0, CPU) for _ in range(2))
    assert all((trained.arrays[key] == again.arrays[key]).all() for key in trained.arrays)
    found = {row["metric"]: row["value"] for row in METHOD.evaluate(settings, RECORDS, trained, 0, CPU)}
    assert set(found) == {"accuracy", "weighted_f1", "auc"}
    if name in ("none", "gaussian-analytic"):
        assert found["auc"] > 0.95


def test_the_guarantee_is_of_the_run_the_printed_epsilon_is_not_it_and_a_step_has_its_noise(data: Path) -> None:
    honest = METHOD.guarantee(cell("gaussian-analytic"), data)
    assert 5.0 < honest["epsilon"] <= 10.0
    assert honest["unit"] == "run"
    printed = METHOD.guarantee(cell("gaussian", "100"), data)
    assert printed["epsilon"] > 200.0  # the form 2 q sqrt(T ln(1/delta)) / epsilon is not for large epsilon
    assert METHOD.guarantee(cell("none", "inf"), data)["epsilon"] == math.inf
    mechanism, note = METHOD.audited(cell("gaussian-analytic"), data)
    assert mechanism is not None
    multiplier = noise_multiplier_for(10.0, 1e-5, 0.1, 20, "rdp")
    assert gaussian_mu(mechanism.curve()) == pytest.approx(2.0 / multiplier)
    assert "one step" in note
    assert METHOD.audited(cell("none", "inf"), data)[0].name == "none"  # type: ignore[union-attr]


def test_records_that_are_held_out_are_scored_alone_and_no_part_of_the_training(data: Path, tmp_path: Path) -> None:
    settings, first = cell("none", "inf", held_out=0.25), RECORDS.first(120)
    trained = METHOD.train(settings, RECORDS, 0, CPU)
    alone = METHOD.train(cell("none", "inf"), first, 0, CPU)
    assert all((trained.arrays[key] == alone.arrays[key]).all() for key in trained.arrays)
    rest = replace(RECORDS, x=RECORDS.x[120:], y=RECORDS.y[120:])
    own = {row["metric"]: row["value"] for row in METHOD.evaluate(cell("none", "inf"), rest, alone, 0, CPU)}
    found = METHOD.evaluate(settings, RECORDS.first(2), trained, 0, CPU)  # test records do not matter
    assert found == [{"metric": f"{name}_held_out", "value": own[name]} for name in ("accuracy", "weighted_f1")]
    fewer = save(tmp_path, first, "train")
    assert METHOD.guarantee(cell("idn", held_out=0.25), data) == METHOD.guarantee(cell("idn"), fewer)
    assert METHOD.guarantee(cell("idn"), data) != METHOD.guarantee(cell("idn"), fewer)


@pytest.mark.parametrize(("share", "held"), [(0.001, 0), (0.999, 160)])
def test_records_are_left_to_train_on_and_to_score(share: float, held: int) -> None:
    with pytest.raises(InputError, match=f"of 160 records holds {held} out"):
        METHOD.train(cell("none", "inf", held_out=share), RECORDS, 0, CPU)
