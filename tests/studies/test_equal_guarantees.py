"""Arms that are meant to overlap on the guaranteed axis do, by the guarantees that the library computes."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from small import save

from tensorldp_papers.run import privacy
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import study_cells
from tensorldp_papers.run.method import guarantee_of
from tensorldp_papers.run.records import Records
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study, study_files

RECORDS = {
    "digits": ((8, 8), 10, 0.0, 16.0, "image"),
    "mnist": ((28, 28), 10, 0.0, 255.0, "image"),
    "breast_cancer": ((30,), 2, 0.0, 1.0, "tabular"),
    "digits features": ((64,), 10, -1.0, 1.0, "features"),  # of LeNet's body with tanh
    "mnist features": ((400,), 10, -1.0, 1.0, "features"),
}
IMAGES = pytest.mark.parametrize(("scale", "dataset"), [("quick", "digits"), ("desk", "mnist")])
Epsilon = Callable[..., float]


@cache
def cells(study: str, scale: str, dataset: str) -> list[AnyCell]:
    found = study_cells(load_study(study_files()[study]), parse_settings({"scale": scale, "studies": [study]}))
    return [cell for cell in found if cell.dataset == dataset]


@pytest.fixture
def epsilon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Epsilon:
    """A cell's guarantee on records of the right shape: it depends on nothing else."""
    monkeypatch.setattr(privacy, "PROFILE_DELTAS", ())

    def of(cell: AnyCell, features: str = "", key: str = "epsilon") -> float:
        shape, classes, low, high, kind = RECORDS[cell.dataset + features]
        if not (folder := tmp_path / cell.dataset).exists():
            x = torch.zeros((classes, *shape), dtype=torch.uint8 if kind == "image" else torch.float32)
            save(folder, Records(x, torch.arange(classes), cell.dataset, classes, low, high, kind), "test")
        return float(guarantee_of(cell, folder)[key])

    return of


def own(made: list[AnyCell], mechanism: str, *words: str, without: str = "?") -> list[AnyCell]:
    """The cells of a mechanism whose variant has these words."""
    named = [c for c in made if c.mechanism == mechanism and all(word in c.variant for word in words)]
    return [c for c in named if without not in c.variant]


@pytest.mark.parametrize(("scale", "dataset"), [("quick", "breast_cancer"), ("desk", "mnist")])
def test_type3_baselines_reach_the_guarantees_of_tldp(scale: str, dataset: str, epsilon: Epsilon) -> None:
    made = [c for c in cells("tldp_type3", scale, dataset) if "where=user" in c.variant and "range=" not in c.variant]
    ours = [epsilon(c) for wanted in ("10", "100", "500") for c in own(made, "tldp-l") if c.epsilon == wanted]
    for name in ("laplace", "gaussian-analytic"):
        assert sorted(epsilon(c) for c in own(made, name))[-3:] == pytest.approx(ours, rel=0.1)


@IMAGES
def test_whole_models_reach_the_guarantees_of_pdpm(scale: str, dataset: str, epsilon: Epsilon) -> None:
    made = cells("pldp_fl", scale, dataset)
    for mode in ("e1", "e2"):
        ours = own(made, "pdpm", f"eps={mode},", "tau=t1", "centre=zero", without="participation")
        for name in ("privunit", "gaussian-analytic"):
            reached = [epsilon(c) for c in own(made, name, "budget=model")]
            assert min(abs(one / epsilon(ours[-1]) - 1) for one in reached) < 0.02


@IMAGES
def test_short_projections_reach_the_guarantees_of_bit_strings(scale: str, dataset: str, epsilon: Epsilon) -> None:
    made = cells("latent", scale, dataset)
    honest, bits = ({epsilon(c, key="pure_epsilon") for c in own(made, name)} for name in ("privunit", "latent"))
    assert all(min(abs(one / pure - 1) for one in honest) < 0.01 for pure in bits)


def test_the_printed_range_is_run_at_every_scale() -> None:
    for study, dataset in (("tldp_type2", "digits"), ("tldp_type3", "breast_cancer")):
        printed = [c for c in cells(study, "quick", dataset) if "range=printed" in c.variant]
        assert {c.mechanism for c in printed} == {"laplace", "tldp-l", "tldp-g"}
        assert all(c.options == {"delta_range": 256} for c in printed)


@IMAGES
def test_records_reach_the_guarantees_of_noise_for_a_batch(scale: str, dataset: str, epsilon: Epsilon) -> None:
    batch = {
        float(c.epsilon): c for c in own(cells("tvg_features", scale, dataset), "idn", "unit=batch", without="trained")
    }
    ours = [epsilon(batch[nominal], " features") for nominal in (1e4, 1e6)]
    for study in ("tvg_features", "tvg_testing"):
        single = own(cells(study, scale, dataset), "gaussian-analytic", "unit=record")
        assert all(min(abs(float(c.epsilon) / one - 1) for c in single) < 1e-3 for one in ours)


@pytest.mark.parametrize(("scale", "dataset", "size"), [("quick", "digits", 128), ("desk", "mnist", 1280)])
def test_features_reach_the_guarantees_of_tldp(scale: str, dataset: str, size: int) -> None:
    made = [c for c in cells("tldp_type2", scale, dataset) if "=printed" not in c.variant and "form=" not in c.variant]
    tldp = {float(c.epsilon) for c in own(made, "tldp-l")}
    for name in ("laplace", "gaussian-analytic", "privunit", "duchi", "hybrid"):
        assert {1.0, 5.0, max(tldp)} <= {e for e in tldp if e * size in {float(c.epsilon) for c in own(made, name)}}


@IMAGES
def test_membership_is_tried_at_the_guarantees_of_tldp(scale: str, dataset: str) -> None:
    made, attacks = cells("reconstruction", scale, dataset), ("likelihood", "membership")
    for name in ("laplace", "gaussian-analytic", "privunit"):
        first, second = ({c.epsilon for c in own(made, name, f"attack={attack}")} for attack in attacks)
        assert len(first & second) >= 4
