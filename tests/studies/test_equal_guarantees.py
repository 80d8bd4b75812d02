"""Arms that are meant to overlap on the guaranteed axis do, by the guarantees that the library computes."""

from pathlib import Path

import numpy as np
import pytest

from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.grid import study_cells
from tensorldp_papers.run.method import guarantee_of
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study, study_files

RECORDS = {
    "digits": ((8, 8), 10, "image", 16),
    "mnist": ((28, 28), 10, "image", 255),
    "breast_cancer": ((30,), 2, "tabular", 1),
}
FEATURES = {"digits": 64, "mnist": 400}  # of LeNet's body with tanh


def cells(study: str, scale: str, dataset: str) -> list[AnyCell]:
    found = study_cells(load_study(study_files()[study]), parse_settings({"scale": scale, "studies": [study]}))
    return [cell for cell in found if cell.dataset == dataset]


def folder(tmp_path: Path, name: str) -> Path:
    """Records of the right shape: guarantees depend on nothing else."""
    shape, classes, kind, high = RECORDS[name]
    x = np.zeros((classes, *shape), dtype=np.uint8 if kind == "image" else np.float32)
    metadata = {"dataset": name, "classes": str(classes), "low": "0", "high": str(high), "kind": kind}
    write_arrays(tmp_path / "test.safetensors", {"x": x, "y": np.arange(classes)}, metadata)
    write_json(tmp_path / "digest.json", {"test": sha256(tmp_path / "test.safetensors")})
    return tmp_path


def write_features(folder: Path, dataset: str) -> None:
    """Features of the right number, in the range of tanh."""
    x = np.zeros((2, FEATURES[dataset]), dtype=np.float32)
    metadata = {"dataset": dataset, "classes": "10", "low": "-1", "high": "1", "kind": "features"}
    write_arrays(folder / "test.safetensors", {"x": x, "y": np.arange(2)}, metadata)
    write_json(folder / "digest.json", {"test": sha256(folder / "test.safetensors")})


@pytest.mark.parametrize(("scale", "dataset"), [("quick", "breast_cancer"), ("desk", "mnist")])
def test_type3_baselines_reach_the_guarantees_of_tldp(scale: str, dataset: str, tmp_path: Path) -> None:
    data = folder(tmp_path, dataset)
    made = [c for c in cells("tldp_type3", scale, dataset) if "where=user" in c.variant and "range=" not in c.variant]
    ours = {c.epsilon: guarantee_of(c, data)["epsilon"] for c in made if c.mechanism == "tldp-l"}
    for name in ("laplace", "gaussian-analytic"):
        reached = sorted(guarantee_of(c, data)["epsilon"] for c in made if c.mechanism == name)[-3:]
        assert reached == pytest.approx([ours["10"], ours["100"], ours["500"]], rel=0.1)


@pytest.mark.parametrize(("scale", "dataset"), [("quick", "digits"), ("desk", "mnist")])
def test_whole_models_reach_the_guarantees_of_pdpm(scale: str, dataset: str, tmp_path: Path) -> None:
    data, made = folder(tmp_path, dataset), cells("pldp_fl", scale, dataset)
    ours = {
        mode: guarantee_of(c, data)["epsilon"]
        for mode in ("e1", "e2")
        for c in made
        if c.mechanism == "pdpm" and f"eps={mode}," in c.variant and "tau=t1" in c.variant
        if "participation" not in c.variant and "centre=zero" in c.variant
    }
    for name in ("privunit", "gaussian-analytic"):
        whole = [c for c in made if c.mechanism == name and "budget=model" in c.variant]
        reached = [guarantee_of(c, data)["epsilon"] for c in whole]
        for mode in ("e1", "e2"):
            assert min(abs(one / ours[mode] - 1) for one in reached) < 0.02


@pytest.mark.parametrize(("scale", "dataset"), [("quick", "digits"), ("desk", "mnist")])
def test_short_projections_reach_the_guarantees_of_bit_strings(scale: str, dataset: str, tmp_path: Path) -> None:
    data, made = folder(tmp_path, dataset), cells("latent", scale, dataset)
    honest = [guarantee_of(c, data)["pure_epsilon"] for c in made if c.mechanism == "privunit"]
    for cell in made:
        if cell.mechanism == "latent":
            pure = guarantee_of(cell, data)["pure_epsilon"]
            assert min(abs(one / pure - 1) for one in honest) < 0.01


def test_the_printed_range_is_run_at_every_scale() -> None:
    for study, dataset in (("tldp_type2", "digits"), ("tldp_type3", "breast_cancer")):
        printed = [c for c in cells(study, "quick", dataset) if "range=printed" in c.variant]
        assert {c.mechanism for c in printed} == {"laplace", "tldp-l", "tldp-g"}
        assert all(c.options == {"delta_range": 256} for c in printed)


@pytest.mark.parametrize(("scale", "dataset"), [("quick", "digits"), ("desk", "mnist")])
def test_records_reach_the_guarantees_of_noise_for_a_batch(scale: str, dataset: str, tmp_path: Path) -> None:
    write_features(tmp_path, dataset)
    made = cells("tvg_features", scale, dataset)
    batch = {float(c.epsilon): c for c in made if c.mechanism == "idn" and "unit=batch" in c.variant}
    single = [float(c.epsilon) for c in made if c.mechanism == "gaussian-analytic" and "unit=record" in c.variant]
    reached = set()
    for epsilon in (1e4, 1e6):
        ours = guarantee_of(batch[epsilon], tmp_path)["epsilon"]
        reached.add(nearest := min(single, key=lambda one, ours=ours: abs(one / ours - 1)))  # type: ignore[misc]
        assert nearest == pytest.approx(ours, rel=1e-3)
    testing = [c for c in cells("tvg_testing", scale, dataset) if c.mechanism == "gaussian-analytic"]
    assert reached <= {float(c.epsilon) for c in testing if "unit=record" in c.variant}


@pytest.mark.parametrize(("scale", "dataset", "size"), [("quick", "digits", 128), ("desk", "mnist", 1280)])
def test_features_reach_the_guarantees_of_tldp(scale: str, dataset: str, size: int) -> None:
    made = [c for c in cells("tldp_type2", scale, dataset) if "=printed" not in c.variant and "form=" not in c.variant]
    tldp = {float(c.epsilon) for c in made if c.mechanism == "tldp-l"}
    for name in ("laplace", "gaussian-analytic", "privunit", "duchi", "hybrid"):
        own = {float(c.epsilon) for c in made if c.mechanism == name}
        assert {1.0, 5.0, max(tldp)} <= {e for e in tldp if e * size in own}


def test_membership_is_tried_at_the_guarantees_of_tldp() -> None:
    for scale, dataset in (("quick", "digits"), ("desk", "mnist")):
        own: dict[str, dict[str, set[str]]] = {"likelihood": {}, "membership": {}}
        for c in cells("reconstruction", scale, dataset):
            for attack, found in own.items():
                if f"attack={attack}" in c.variant:
                    found.setdefault(c.mechanism, set()).add(c.epsilon)
        for name in ("laplace", "gaussian-analytic", "privunit"):
            assert len(own["membership"][name] & own["likelihood"][name]) >= 4
