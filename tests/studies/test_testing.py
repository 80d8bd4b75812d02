"""Private test features: units, directions, guarantees, and the shared model of the plan."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small import CPU, fixed, images, make_cell
from typed import exact_error, gaussian_mu, make_as

from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.matrix import MatrixMechanism
from tensorldp.mechanisms.mvg import Mvg
from tensorldp.mechanisms.tvg import Idn, Udn
from tensorldp_papers.nets.features import feature_extractor
from tensorldp_papers.papers.tldp.learning import METHOD as LEARNING
from tensorldp_papers.papers.tldp.learning import record_guarantee
from tensorldp_papers.papers.tvg.settings import TestingCell
from tensorldp_papers.papers.tvg.testing import METHOD, directed, features, private_features, record_curve, train_clean
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.records import Records
from tensorldp_papers.run.releases import batch_box, perturb, privatize_batches, record_in_batch
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.streams import noise_stream

W = torch.randn(7, 12, generator=fixed(2), dtype=torch.float64)


def cell(
    mechanism: str, epsilon: str = "10", unit: str = "batch", subspace: str | None = None, **options: Any
) -> TestingCell:
    factors = {"model": "lenet_tanh", "unit": unit, **({"subspace": subspace} if subspace else {})}
    training = {"epochs": 1, "batch_size": 16}
    return make_cell("testing", mechanism, epsilon, training=training, factors=factors, options=options)


@pytest.mark.parametrize("first", ["records", "elements"])
def test_batches_keep_the_order_and_the_count_of_their_records(first: Any) -> None:
    x = torch.rand(7, 3, 2, generator=fixed(1)) * 2 - 1
    mechanism = make("none", epsilon=math.inf, domain=batch_box(Box(-1.0, 1.0, (3, 2)), first, 4))
    assert torch.equal(privatize_batches(mechanism, x, torch.Generator(), first), x)


def test_a_batch_has_the_noise_of_the_papers_tensor_and_a_record_of_it_a_sixteenth_of_its_mu() -> None:
    mechanism = make_as(Idn, epsilon=10.0, domain=batch_box(Box(-1.0, 1.0, (16, 25)), "records"))
    assert mechanism.sigma == pytest.approx(20699, rel=1e-4)
    mu = gaussian_mu(record_in_batch(mechanism.curve()))
    assert mu == pytest.approx(0.0019, rel=0.02)
    one = make_as(Idn, epsilon=1.0, domain=Box(-1.0, 1.0, (400,)))
    assert mu == pytest.approx(gaussian_mu(one.curve()) * one.sigma / mechanism.sigma)
    assert record_in_batch(NoPrivacyCurve()).atom == 1.0
    with pytest.raises(InputError, match="additive Gaussian"):
        record_in_batch(make("laplace", epsilon=1.0, domain=Box(0.0, 1.0, (2,))).curve())


@pytest.mark.parametrize("name", ["udn", "idn"])
def test_directional_noise_is_algorithm_1_and_spends_the_whole_bound(name: str) -> None:
    mechanism = directed(cell(name), W)
    assert isinstance(mechanism, Udn | Idn)
    sigma = mechanism.factors[0].sigma
    assert float((sigma**-2).sum()) == pytest.approx(mechanism.bound)
    basis = torch.linalg.svd(W)[2].T if name == "udn" else torch.eye(12, dtype=torch.float64)
    weight = ((W @ basis) ** 2).sum(dim=0)
    share = (sigma**2 * weight.sqrt())[weight > 1e-6 * weight.max()]  # P_i is 0 beyond the rank of W, and capped there
    assert torch.allclose(share, share.mean())
    assert mechanism.shape == (12, 256)


def test_directions_save_error_where_the_model_looks() -> None:
    flat = make_as(Idn, epsilon=10.0, domain=Box(-1.0, 1.0, (12,)))
    mine = directed(cell("idn", unit="record"), W)
    assert isinstance(mine, Idn)
    weighted = float(((W * mine.factors[0].sigma) ** 2).sum())
    assert weighted < float((W**2).sum()) * flat.sigma**2
    assert mine.curve().epsilon(1e-5) == pytest.approx(flat.curve().epsilon(1e-5))
    unknown = directed(cell("idn", unit="record", subspace="identity"), W)
    assert unknown.squared_error() == pytest.approx(flat.squared_error())


def test_binary_allocation_and_the_matrix_mechanism_take_the_weights() -> None:
    mvg, gaussian = directed(cell("mvg"), W), directed(cell("gaussian-per-element"), W)
    assert isinstance(mvg, Mvg)
    assert sorted(mvg.shares.tolist(), reverse=True)[:3] == pytest.approx([0.4, 0.4, 0.02])
    matrix = directed(cell("matrix", sensitivity="element", constant=1.25), W)
    assert isinstance(matrix, MatrixMechanism)
    assert matrix.strategy is not None
    assert float(matrix.strategy.norm(dim=0).max()) == pytest.approx(1.0)
    flat = make("matrix", epsilon=10.0, domain=matrix.domain, sensitivity="element", constant=1.25)
    assert flat.squared_error() == pytest.approx(gaussian.squared_error())


def test_a_model_is_trained_once_and_its_features_are_released_reproducibly() -> None:
    net = train_clean(cell("none", "inf"), images(), 0, CPU)
    clean, settings = features(net, images(), CPU), cell("idn")
    assert clean.shape == (40, 64)
    assert float(clean.abs().max()) < 1.0
    mechanism = directed(settings, net.workload)
    again = [private_features(settings, mechanism, clean, noise_stream(settings, 0, "n")) for _ in range(2)]
    assert torch.equal(*again)
    sigma = math.sqrt(exact_error(mechanism) / mechanism.size)
    assert float((again[0] - clean).std()) == pytest.approx(sigma, rel=0.2)


def test_scores_come_with_a_ceiling_and_guarantees_speak_of_one_record() -> None:
    trained = METHOD.train(cell("none", "inf"), images(), 0, CPU)
    common = METHOD.common(cell("none", "inf"), images(), trained, 0, CPU)
    shared = replace(trained, arrays={**trained.arrays, **common})
    rows, again = (METHOD.evaluate(cell("idn", "0.1"), images(), one, 0, CPU) for one in (trained, shared))
    assert rows == again
    found = {row["metric"]: row["value"] for row in rows}
    assert found["accuracy_ceiling"] == pytest.approx(0.25, abs=1e-3)
    assert set(found) == {"accuracy_perturbed_test", "weighted_f1_perturbed_test", "accuracy_ceiling"}
    batch, record = (
        record_curve(one, directed(one, W)).epsilon(1e-5) for one in (cell("idn"), cell("idn", unit="record"))
    )
    assert batch < record < 10.0


def test_the_plan_shares_the_models_of_none_even_where_none_is_not_asked_for() -> None:
    settings = parse_settings({"scale": "quick", "studies": ["tvg_testing"], "mechanisms": {"tvg_testing": ["idn"]}})
    plan = make_plan(settings)
    assert {c.model_path for c in plan.cells} == {"tvg_testing/digits/model=lenet_tanh/none/epsilon~inf"}
    assert [c.mechanism for c in plan.cells].count("none") == 1
    assert replace(plan.cells[0], method="learning").model_path == plan.cells[0].path


def test_features_of_tanh_networks_are_released_in_batches_and_guaranteed_for_a_record() -> None:
    factors = {"model": "linear", "backbone": "lenet_tanh", "unit": "batch"}
    settings = make_cell("learning", "idn", "10", release="features", factors=factors)
    found = feature_extractor("lenet_tanh", images(), CPU).features(images())
    assert found.shape == (40, 16, 4)
    assert float(found.abs().max()) < 1.0
    assert float(found.std()) > 0.1  # they fill the range although nothing is trained
    records = Records(found, images().y, "d", 4, -1.0, 1.0, "features")
    released, again = (perturb(records, settings, 0, "train", CPU, batch=True) for _ in range(2))
    assert torch.equal(released, again)
    batch = make_as(Idn, epsilon=10.0, domain=Box(-1.0, 1.0, (256, 16, 4)))
    assert float((released - found).std()) == pytest.approx(batch.sigma, rel=0.1)
    guaranteed = record_guarantee(settings, records.box())
    assert guaranteed["unit"] == "record"
    assert guaranteed["epsilon"] == pytest.approx(record_in_batch(batch.curve()).epsilon(1e-5))
    assert "a batch of 256 records" in guaranteed["note"]


def test_a_body_that_was_trained_on_the_records_makes_all_their_releases_count(tmp_path: Path) -> None:
    """One record may change all features then, of 300 training records in two batches and of 40 test records in one."""
    factors = {"model": "linear", "backbone": "lenet_tanh_trained", "unit": "batch"}
    settings = make_cell("learning", "idn", "10", release="features", factors=factors)
    box = Box(-1.0, 1.0, (16, 4))
    for split, count in (("train", 300), ("test", 40)):
        x, y = np.zeros((count, 16, 4), np.float32), np.arange(count) % 4
        about = {"dataset": "d", "classes": "4", "low": "-1", "high": "1", "kind": "features"}
        write_arrays(tmp_path / f"{split}.safetensors", {"x": x, "y": y}, about)
    whole = make_as(Idn, epsilon=10.0, domain=Box(-1.0, 1.0, (256, *box.shape))).curve()
    found = LEARNING.guarantee(settings, tmp_path)
    assert found["epsilon"] == pytest.approx(whole.compose(3).epsilon(1e-5))
    assert not found["exact"]
    assert "one may change all 3 releases" in found["note"]
