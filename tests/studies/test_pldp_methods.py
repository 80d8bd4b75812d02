"""PLDP-FL's studies on small records."""

import math
import statistics
from pathlib import Path
from typing import Any

import pytest
import torch

from tensorldp import privacy
from tensorldp.errors import InputError
from tensorldp.files import sha256, write_arrays, write_json
from tensorldp.mechanisms import Box, make
from tensorldp_papers.papers.pldp_fl.method import METHOD as LEARNING
from tensorldp_papers.papers.pldp_fl.settings import (
    PldpCell,
    PldpFactors,
    PldpTraining,
    SyntheticCell,
    SyntheticFactors,
    SyntheticTraining,
)
from tensorldp_papers.papers.pldp_fl.synthetic import METHOD as SYNTHETIC
from tensorldp_papers.run.records import Records

CPU = torch.device("cpu")
WEIGHTS = 64 * 32 + 32 + 32 * 10 + 10
SMALL = {"rounds": 4, "epochs": 2, "clients": 8, "learning_rate": 0.1, "every": 2}


def learning(
    mechanism: str = "pdpm", epsilon: str = "1", training: dict[str, Any] | None = None, **factors: Any
) -> PldpCell:
    return PldpCell(
        study="pldp_fl",
        dataset="d",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release="parameters",
        method="pldp_fl",
        delta=1e-5,
        training=PldpTraining.model_validate({**SMALL, **(training or {})}),
        factors=PldpFactors.model_validate({"model": "mlp", **factors}),
        seeds=(0, 1),
    )


@pytest.fixture(scope="module")
def records() -> Records:
    y = torch.arange(160) % 10
    x = torch.randint(0, 4, (160, 8, 8), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    x[torch.arange(160), y % 8, y // 8] = 16  # one bright pixel tells the class
    return Records(x, y, "d", 10, 0.0, 16.0, "image")


@pytest.fixture(scope="module")
def folder(records: Records, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    metadata = {"dataset": "d", "classes": "10", "low": "0", "high": "16", "kind": "image"}
    write_arrays(path / "test.safetensors", {"x": records.x.numpy(), "y": records.y.numpy()}, metadata)
    write_json(path / "digest.json", {"test": sha256(path / "test.safetensors")})
    return path


def run(settings: PldpCell, records: Records, seed: int = 0) -> dict[Any, float]:
    rows = LEARNING.evaluate(settings, records, LEARNING.train(settings, records, seed, CPU), seed, CPU)
    found = {name_of(row): row["value"] for row in rows}
    assert len(found) == len(rows)
    return found


def name_of(row: dict[str, Any]) -> str | tuple[str, int]:
    """A row's metric, and of a series its round or client."""
    places = [row[key] for key in ("round", "client") if key in row]
    return (row["metric"], *places) if places else row["metric"]


def test_without_privacy_the_clients_learn(records: Records) -> None:
    rows = run(learning("none", "inf", {"rounds": 20, "learning_rate": 0.3}), records)
    assert rows["accuracy"] > 0.9
    assert rows["accuracy_by_round", 20] == rows["accuracy"]
    assert rows["uploaded_megabytes"] == pytest.approx(20 * 6 * WEIGHTS * 4 / 1e6)  # 6 = 0.7 of 8
    assert rows["participation"] == 0.7
    assert not any(str(name).strip("('").startswith(("client", "spent")) for name in rows)


def test_the_ledger_is_what_each_client_gave_away(records: Records, folder: Path) -> None:
    settings = learning(eps="e2", tau="t1")
    rows = run(settings, records)
    uploads = [int(rows["client_uploads", i]) for i in range(8)]
    assert sum(uploads) == 4 * 6
    for i, count in enumerate(uploads):
        level = (i + 1) / 8  # the first eight of ten levels, the largest scaled to 1
        assert rows["client_per_weight", i] == pytest.approx(count * level)
        vector = make("pdpm", epsilon=level, domain=Box(-0.1, 0.1, (WEIGHTS,)))
        assert rows["client_epsilon", i] == pytest.approx(
            privacy.compose(vector, count=count, delta=1e-5).epsilon if count else 0.0
        )
    spent = [rows["client_epsilon", i] for i in range(8)]
    assert rows["spent_most_by_round", 4] == max(spent)
    assert rows["spent_least_by_round", 4] == min(spent)
    assert rows["spent_most_by_round", 2] < rows["spent_most_by_round", 4]
    guarantee = LEARNING.guarantee(settings, folder)
    assert guarantee["unit"] == "run"
    assert guarantee["epsilon"] == pytest.approx(max(max(spent), run(settings, records, 1)["spent_most_by_round", 4]))


@pytest.mark.parametrize(("budget", "pure"), [("model", 4.0), ("run", 1.0)])
def test_an_honest_budget_is_of_the_whole_model(budget: str, pure: float, folder: Path) -> None:
    settings = learning("privunit", "1", {"participation": 1.0}, budget=budget, eps="same")
    assert LEARNING.guarantee(settings, folder)["pure_epsilon"] == pytest.approx(pure)


def test_ranges_about_the_weights_sent_learn_more_at_the_same_guarantee(records: Records, folder: Path) -> None:
    """Weights must leave [-0.01, 0.01] to tell the classes apart, and little noise is added to that range."""
    tight: dict[str, Any] = {"eps": "same", "tau": 0.02}
    wide = {"rounds": 20, "learning_rate": 0.3, "every": 20, "participation": 1.0}
    gains, cells = [], [learning("pdpm", "10", wide, centre=centre, **tight) for centre in ("global", "zero")]
    for seed in (0, 1, 2):
        about, zero = (run(cell, records, seed)["accuracy"] for cell in cells)
        gains.append(about - zero)
    assert statistics.mean(gains) - 3 * statistics.stdev(gains) / math.sqrt(3) > 0.2
    assert LEARNING.guarantee(cells[0], folder) == LEARNING.guarantee(cells[1], folder)


def test_a_range_has_one_centre(folder: Path) -> None:
    with pytest.raises(InputError, match="range_centre of pldp_fl is 1 but the factor centre is global"):
        LEARNING.guarantee(learning(training={"range_centre": 1.0}, centre="global"), folder)


def test_clients_stop_when_their_budget_is_spent(records: Records) -> None:
    rows = run(learning(training={"on_exhausted": "stop", "participation": 1.0}, eps="e3", tau="t1"), records)
    assert {rows["client_uploads", i] for i in range(8)} == {1.0}


def test_a_cell_is_the_same_whatever_ran_before_and_however_it_is_chunked(records: Records) -> None:
    first = LEARNING.train(learning(eps="e2", tau="t1"), records, 0, CPU)
    torch.rand(3)
    again = LEARNING.train(learning(eps="e2", tau="t1"), records, 0, CPU)
    assert (first.arrays["weights"] == again.arrays["weights"]).all()
    quiet, tight = (
        LEARNING.train(learning("none", "inf", {"memory_mb": size}), records, 0, CPU) for size in (1024.0, 0.1)
    )
    assert abs(quiet.arrays["weights"] - tight.arrays["weights"]).max() < 1e-5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (learning(training={"client_epsilons": [0.5, 0.0]}), "epsilon of client 1 must be .* got 0"),
        (learning(training={"client_ranges": [0.5, 0.2, 0.0]}), "safe range of client 2 must be .* got 0"),
        (learning(training={"participation": 1.5}), "asks for 12 participants of 8 clients"),
        (learning(training={"clients": 200}), "client 160 of 200 has no data"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_client(settings: PldpCell, words: str, records: Records) -> None:
    with pytest.raises(InputError, match=words):
        LEARNING.train(settings, records, 0, CPU)


def test_a_budget_that_buys_nothing_is_told(folder: Path) -> None:
    settings = learning(training={"on_exhausted": "stop", "allowance": 0.01})
    with pytest.raises(InputError, match=r"allowance = 0\.01 of pldp_fl is below every client's epsilon"):
        LEARNING.guarantee(settings, folder)


def synthetic(
    mechanism: str = "pdpm", epsilon: str = "1", training: dict[str, Any] | None = None, **factors: Any
) -> SyntheticCell:
    return SyntheticCell(
        study="pldp_synthetic",
        dataset="synthetic",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release="parameters",
        method="pldp_synthetic",
        delta=1e-5,
        training=SyntheticTraining.model_validate(training or {}),
        factors=SyntheticFactors.model_validate(factors),
        seeds=(0, 1),
    )


def test_the_synthetic_error_is_the_expected_one() -> None:
    many = synthetic(training={"records": 5000}, eps="e2", tau="t2")
    rows = {row["metric"]: row["value"] for row in SYNTHETIC.measure(many, None, 0, CPU)}
    assert rows["absolute_error"] == pytest.approx(rows["expected_absolute_error"], rel=0.06)
    assert rows["relative_error"] == pytest.approx(rows["expected_relative_error"], rel=0.06)


def test_the_synthetic_guarantee_is_of_all_of_a_participants_values() -> None:
    found = SYNTHETIC.guarantee(synthetic(eps="e2", tau="t1"), None)
    vector = make("pdpm", epsilon=1.0, domain=Box(0.0, 1.0, (100,)))
    assert found["pure_epsilon"] == pytest.approx(100.0)
    assert found["epsilon"] == pytest.approx(vector.guarantee(1e-5).epsilon)


def test_a_mean_of_zero_has_no_relative_error() -> None:
    with pytest.raises(InputError, match="range_centre of pldp_synthetic must not be 0"):
        SYNTHETIC.measure(synthetic(training={"range_centre": 0.0}), None, 0, CPU)


def test_audits_are_of_the_largest_clients_mechanism(folder: Path) -> None:
    one, note = LEARNING.audited(learning(eps="e2", tau="t1"), folder)
    assert one is not None
    assert (one.size, one.epsilon) == (1, 1.0)
    whole, _ = LEARNING.audited(learning("privunit", "3", eps="e2", budget="model"), folder)
    assert whole is not None
    assert (whole.size, whole.epsilon) == (64, 3.0)
    value, _ = SYNTHETIC.audited(synthetic(eps="e1", epsilon="0.2", tau="t1"), None)
    assert value is not None
    assert value.epsilon == pytest.approx(0.2)
    assert math.isfinite(value.guarantee(0.0).epsilon)
    assert "client" in note
