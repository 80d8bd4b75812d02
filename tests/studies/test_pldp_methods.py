"""PLDP-FL's studies on small records."""

import math
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small import CPU, images, make_cell, save

from tensorldp import privacy
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp_papers.papers.pldp_fl.method import METHOD as LEARNING
from tensorldp_papers.papers.pldp_fl.settings import PldpCell, SyntheticCell
from tensorldp_papers.papers.pldp_fl.synthetic import METHOD as SYNTHETIC
from tensorldp_papers.run.records import Records

WEIGHTS = 64 * 32 + 32 + 32 * 10 + 10
SMALL = {"rounds": 4, "epochs": 2, "clients": 8, "learning_rate": 0.1, "every": 2}


def learning(
    mechanism: str = "pdpm", epsilon: str = "1", *, training: dict[str, Any] | None = None, **factors: Any
) -> PldpCell:
    settings: dict[str, Any] = {"training": {**SMALL, **(training or {})}, "factors": {"model": "mlp", **factors}}
    return make_cell("pldp_fl", mechanism, epsilon, study="pldp_fl", **settings)


def synthetic(epsilon: str = "1", *, training: dict[str, Any] | None = None, **factors: Any) -> SyntheticCell:
    settings: dict[str, Any] = {"training": training or {}, "factors": factors}
    return make_cell("pldp_synthetic", "pdpm", epsilon, study="pldp_synthetic", **settings)


@pytest.fixture(scope="module")
def records() -> Records:
    y = torch.arange(160) % 10
    x = images(160).x // 5
    x[torch.arange(160), y % 8, y // 8] = 16  # one bright pixel tells the class
    return replace(images(160), x=x, y=y, classes=10)


@pytest.fixture(scope="module")
def folder(records: Records, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data"), records, "test")


def scores(settings: PldpCell, records: Records, seed: int = 0) -> dict[Any, float]:
    """A cell's metrics, those of a series with their round or client."""
    rows = LEARNING.evaluate(settings, records, LEARNING.train(settings, records, seed, CPU), seed, CPU)
    named = [(row["metric"], *(row[key] for key in ("round", "client") if key in row)) for row in rows]
    assert len(set(named)) == len(rows)
    return {name if name[1:] else name[0]: row["value"] for name, row in zip(named, rows, strict=True)}


def test_without_privacy_the_clients_learn(records: Records) -> None:
    rows = scores(learning("none", "inf", training={"rounds": 20, "learning_rate": 0.3}), records)
    assert rows["accuracy"] > 0.9
    assert rows["accuracy_by_round", 20] == rows["accuracy"]
    assert rows["uploaded_megabytes"] == pytest.approx(20 * 6 * WEIGHTS * 4 / 1e6)  # 6 = 0.7 of 8
    assert rows["participation"] == 0.7
    assert not any(str(name).strip("('").startswith(("client", "spent")) for name in rows)


def test_the_ledger_is_what_each_client_gave_away(records: Records, folder: Path) -> None:
    settings = learning(eps="e2", tau="t1")
    rows = scores(settings, records)
    uploads = [int(rows["client_uploads", i]) for i in range(8)]
    assert sum(uploads) == 4 * 6
    for i, count in enumerate(uploads):
        level = (i + 1) / 8  # the first eight of ten levels, the largest scaled to 1
        assert rows["client_per_weight", i] == pytest.approx(count * level)
        vector = make("pdpm", epsilon=level, domain=Box(-0.1, 0.1, (WEIGHTS,)))
        spent = privacy.compose(vector, count=count, delta=1e-5).epsilon if count else 0.0
        assert rows["client_epsilon", i] == pytest.approx(spent)
    every = [rows["client_epsilon", i] for i in range(8)]
    assert [rows[f"spent_{which}_by_round", 4] for which in ("most", "least")] == [max(every), min(every)]
    assert rows["spent_most_by_round", 2] < rows["spent_most_by_round", 4]
    guarantee, other = LEARNING.guarantee(replace(settings, seeds=(0, 1)), folder), scores(settings, records, 1)
    assert guarantee["unit"] == "run"
    assert guarantee["epsilon"] == pytest.approx(max(*every, other["spent_most_by_round", 4]))


def test_ranges_about_the_weights_sent_learn_more_at_the_same_guarantee(records: Records, folder: Path) -> None:
    """Weights must leave [-0.01, 0.01] to tell the classes apart, and little noise is added to that range."""
    wide = {"rounds": 20, "learning_rate": 0.3, "every": 20, "participation": 1.0}
    about, zero = (
        learning("pdpm", "10", training=wide, centre=one, eps="same", tau=0.02) for one in ("global", "zero")
    )
    gains = [scores(about, records, seed)["accuracy"] - scores(zero, records, seed)["accuracy"] for seed in (0, 1, 2)]
    assert statistics.mean(gains) - 3 * statistics.stdev(gains) / math.sqrt(3) > 0.2
    assert LEARNING.guarantee(about, folder) == LEARNING.guarantee(zero, folder)


def test_a_cell_is_the_same_whatever_ran_before_and_however_it_is_chunked(records: Records) -> None:
    first, again = (LEARNING.train(learning(eps="e2", tau="t1"), records, 0, CPU) for _ in range(2))
    assert (first.arrays["weights"] == again.arrays["weights"]).all()
    sizes = [learning("none", "inf", training={"memory_mb": size}) for size in (1024.0, 0.1)]
    quiet, tight = (LEARNING.train(one, records, 0, CPU).arrays["weights"] for one in sizes)
    assert abs(quiet - tight).max() < 1e-5


def test_settings_without_sense_are_told(records: Records, folder: Path) -> None:
    with pytest.raises(InputError, match="client 160 of 200 has no data"):
        LEARNING.train(learning(training={"clients": 200}), records, 0, CPU)
    with pytest.raises(InputError, match="range_centre of pldp_fl is 1 but the factor centre is global"):
        LEARNING.guarantee(learning(training={"range_centre": 1.0}, centre="global"), folder)
    with pytest.raises(InputError, match=r"allowance = 0\.01 of pldp_fl is below every client's epsilon"):
        LEARNING.guarantee(learning(training={"on_exhausted": "stop", "allowance": 0.01}), folder)


def test_the_synthetic_error_is_the_expected_one_and_the_guarantee_of_all_values() -> None:
    many = synthetic(training={"records": 5000}, eps="e2", tau="t2")
    rows = {row["metric"]: row["value"] for row in SYNTHETIC.measure(many, None, 0, CPU)}
    for kind in ("absolute_error", "relative_error"):
        assert rows[kind] == pytest.approx(rows[f"expected_{kind}"], rel=0.06)
    with pytest.raises(InputError, match="range_centre of pldp_synthetic must not be 0"):  # no relative error
        SYNTHETIC.measure(synthetic(training={"range_centre": 0.0}), None, 0, CPU)
    found = SYNTHETIC.guarantee(synthetic(eps="e2", tau="t1"), None)
    vector = make("pdpm", epsilon=1.0, domain=Box(0.0, 1.0, (100,)))
    assert found["pure_epsilon"] == pytest.approx(100.0)
    assert found["epsilon"] == pytest.approx(vector.guarantee(1e-5).epsilon)


def test_audits_are_of_the_largest_clients_mechanism(folder: Path) -> None:
    whole = learning("privunit", "3", eps="e2", budget="model")
    for found, size, epsilon in (
        (LEARNING.audited(learning(eps="e2", tau="t1"), folder), 1, 1.0),
        (LEARNING.audited(whole, folder), 64, 3.0),
        (SYNTHETIC.audited(synthetic("0.2", eps="e1", tau="t1"), None), 1, 0.2),
    ):
        mechanism, note = found
        assert mechanism is not None
        assert mechanism.size == size
        assert mechanism.epsilon == pytest.approx(epsilon)
        assert math.isfinite(mechanism.guarantee(0.0).epsilon)
        assert ("client" in note) or ("participant" in note)
