"""Audits of cells stand below their guarantees."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tensorldp.curves.discrete import PureCurve
from tensorldp.files import write_arrays
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp_papers.papers.tldp.settings import FederatedFactors, LearningFactors, LearningTraining
from tensorldp_papers.run.audit_table import audits_table
from tensorldp_papers.run.cell import AnyCell, Cell
from tensorldp_papers.run.method import audited_of
from tensorldp_papers.run.privacy import audit_mechanism, audit_seed


def cell(mechanism: str, epsilon: str, release: str = "data") -> AnyCell:
    data = release == "data"
    factors = LearningFactors(model="linear") if data else FederatedFactors(model="linear", where="user")
    return Cell(
        study="s",
        dataset="d",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release=release,
        method="learning" if data else "federated",
        delta=1e-5,
        training=LearningTraining(clip=1.0),
        factors=factors,
        seeds=(0,),
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with prepared records of 4 x 4."""
    write_arrays(
        tmp_path / "test.safetensors",
        {"x": np.zeros((3, 4, 4), np.float32), "y": np.zeros(3, np.int64)},
        {"dataset": "d", "classes": "4", "low": "0", "high": "16", "kind": "image"},
    )
    return tmp_path


def audited(settings: AnyCell, data: Path) -> tuple[Mechanism, str]:
    mechanism, note = audited_of(settings, data)
    assert mechanism is not None
    return mechanism, note


@pytest.mark.parametrize("release", ["data", "parameters"])
@pytest.mark.parametrize("name", ["tldp-l", "laplace", "gaussian-analytic", "llagp", "dphsgd", "privunit"])
def test_an_audit_stands_beside_the_guarantee_of_what_it_audited(name: str, release: str, data: Path) -> None:
    mechanism, note = audited(cell(name, "3", release), data)
    assert mechanism.size == (16 if release == "data" else 64)
    assert bool(note) == (release == "parameters")
    (row,) = audit_mechanism(mechanism, cell(name, "3", release), [1e-5], note)
    assert row["epsilon_lower"] <= row["guarantee_epsilon"]


def test_every_cell_is_audited_on_a_stream_of_its_own(data: Path) -> None:
    one = cell("laplace", "3")
    others = [
        replace(one, study="t"),
        replace(one, dataset="e"),
        replace(one, variant="w"),
        replace(one, mechanism="tldp-l"),
        replace(one, epsilon="4"),
    ]
    assert len({audit_seed(settings) for settings in (one, *others)}) == 1 + len(others)
    assert audit_seed(replace(one, seeds=(3, 4))) == audit_seed(one)  # a further seed changes no audit
    mechanism, _ = audited(one, data)
    first, again, other = (audit_mechanism(mechanism, settings, [0.0]) for settings in (one, one, others[2]))
    assert first == again
    assert first[0]["epsilon_lower"] != other[0]["epsilon_lower"]


def test_the_table_has_accuracy_audits_too(data: Path) -> None:
    key = {"study": "s", "dataset": "d", "variant": "v", "mechanism": "laplace", "epsilon": "3"}
    metrics = {
        "cell": key,
        "test_set": {"records": 1000, "shares": [0.1] * 10},
        "rows": [
            {"seed": 0, "metric": "accuracy_perturbed_test", "value": 0.9},
            {"seed": 0, "metric": "accuracy", "value": 0.95},
        ],
    }
    mechanism, note = audited(cell("laplace", "3"), data)
    audits = audit_mechanism(mechanism, cell("laplace", "3"), [0.0], note)
    table = audits_table([(metrics, {"epsilon": 3.0, "pure_epsilon": 3.0}, audits)])
    assert sorted(table["kind"]) == ["accuracy", "likelihood ratio"]
    assert table.set_index("kind")["epsilon_lower"]["likelihood ratio"] == audits[0]["epsilon_lower"] > 0
    a = float(table.set_index("kind")["epsilon_lower"]["accuracy"])
    assert math.log(9 * 0.88 / 0.12) < a < math.log(9 * 0.9 / 0.1)


def test_a_cell_without_a_mechanism_has_the_audits_of_its_accuracy_alone() -> None:
    key = {"study": "s", "dataset": "d", "variant": "v", "mechanism": "none", "epsilon": "inf"}
    metrics = {
        "cell": key,
        "test_set": {"records": 1000, "shares": [0.1] * 10},
        "rows": [{"seed": 0, "metric": "accuracy_perturbed_test", "value": 0.9}],
    }
    table = audits_table([(metrics, {"epsilon": "inf", "pure_epsilon": "inf"}, [])])
    assert table["kind"].tolist() == ["accuracy"]


def test_a_mechanism_without_density_is_audited_as_a_black_box() -> None:
    (row,) = audit_mechanism(make("projunit", epsilon=4.0, domain=Box(-1, 1, (4,))), cell("projunit", "4"), [0.0])
    assert row["kind"] == "black box"
    assert row["samples"] > 0
    assert 0.0 < row["epsilon_lower"] <= row["guarantee_pure_epsilon"]
    assert "defines no log_likelihood_ratio" in row["note"]


def test_a_claim_of_a_hundredth_without_density_is_caught() -> None:
    honest = make("projunit", epsilon=8.0, domain=Box(-1, 1, (1,)))

    class Liar(type(honest)):  # type: ignore[misc]
        name = "liar"

        def curve(self) -> PureCurve:
            return PureCurve(self.epsilon / 100.0)

    (row,) = audit_mechanism(Liar(epsilon=8.0, domain=Box(-1, 1, (1,))), cell("projunit", "8"), [0.0])
    assert row["epsilon_lower"] > row["guarantee_pure_epsilon"]
