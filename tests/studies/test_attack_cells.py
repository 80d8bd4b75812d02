"""Cells of the study `reconstruction`, the table made of them, and its figures."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_digits

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.papers.lecture.attack_pictures import pictures
from tensorldp_papers.papers.lecture.attack_table import COLUMNS, attack_table
from tensorldp_papers.papers.lecture.figures import (
    draw_cost,
    draw_membership,
    draw_one_victim,
    draw_pictures,
    draw_sensitivity,
    draw_sweeps,
    draw_table1,
)
from tensorldp_papers.papers.lecture.method import METHOD
from tensorldp_papers.papers.lecture.settings import AttackCell, AttackFactors, AttackTraining
from tensorldp_papers.run.cell import variant_text
from tensorldp_papers.run.study import study_files
from tensorldp_papers.run.table import metrics_table

CPU = torch.device("cpu")
pytestmark = pytest.mark.xdist_group("attack cells")  # its tests share what is slow to make
STUDY_FILE = study_files()["reconstruction"]
SMALL = {
    "draws": 1,
    "steps": 40,
    "rounds": 3,
    "users": 4,
    "candidates": 20,
    "victims": 5,
    "epochs": 1,
    "members": 20,
    "member_epochs": 1,
    "pairs": 3,
}
NETWORK: dict[str, Any] = {"B": 2, "d": 5, "m": 2000}


def cell(mechanism: str = "none", epsilon: str = "inf", dataset: str = "digits", **factors: Any) -> AttackCell:
    return AttackCell(
        study="reconstruction",
        dataset=dataset,
        variant=variant_text(factors),
        mechanism=mechanism,
        epsilon=epsilon,
        release="gradients",
        method="attacks",
        delta=1e-5,
        training=AttackTraining.model_validate({**SMALL, "victims": 1 if "defence" in factors else 5}),
        factors=AttackFactors.model_validate(factors),
        seeds=(0, 1),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prepared digits."""
    out = tmp_path_factory.mktemp("datasets") / "digits"
    out.mkdir()
    data = load_digits()
    x, y = data.images.astype(np.uint8), data.target
    facts = {"dataset": "digits", "classes": "10", "low": "0", "high": "16", "kind": "image"}
    for split, part in (("train", slice(0, 300)), ("test", slice(300, 400))):
        write_arrays(out / f"{split}.safetensors", {"x": x[part], "y": y[part]}, facts)
    write_json(out / "digest.json", {s: sha256(out / f"{s}.safetensors") for s in ("train", "test")})
    return out


def measured(settings: AttackCell, folder: Path, seed: int = 0) -> dict[str, float]:
    rows = METHOD.measure(settings, None if settings.dataset == "synthetic" else folder, seed, CPU)
    return {row["metric"]: row["value"] for row in rows}


def test_the_tensor_attack_under_clipping_is_that_without(folder: Path) -> None:
    plain = measured(cell(dataset="synthetic", attack="tensor", defence="none", **NETWORK), folder)
    clipped = measured(cell(dataset="synthetic", attack="tensor", defence="clip", strength=0.1, **NETWORK), folder)
    assert clipped["error"] == pytest.approx(plain["error"], rel=1e-4)
    assert plain["gradient_rms"] == pytest.approx(plain["gradient_norm"] / math.sqrt(2000))


def test_dp_sgd_states_its_noise_and_its_guarantee(folder: Path) -> None:
    private = cell(
        "gaussian-analytic", "1000", "synthetic", attack="tensor", defence="mechanism", strength=1, **NETWORK
    )
    scores = measured(private, folder)
    guarantee = METHOD.guarantee(private, None)
    assert guarantee["epsilon"] == pytest.approx(1000.0)
    # two gradients in the ball lie at most 2 apart, so mu is 2 / sigma; noise is stated after clipping's shrinking
    sigma = scores["noise"] / max(1.0, scores["gradient_norm"])
    assert GaussianCurve(2 / sigma).epsilon(1e-5) == pytest.approx(1000.0, rel=1e-6)


@pytest.mark.parametrize("attack", ["dlg", "idlg", "cosine", "analytic"])
def test_gradient_attacks_recover_an_undefended_digit(attack: str, folder: Path) -> None:
    scores = measured(cell(attack=attack, defence="none"), folder)
    assert scores["psnr"] > 30.0
    assert scores["identification"] == scores["label_accuracy"] == 1.0
    assert 0.0 <= scores["accuracy"] <= 1.0
    assert math.isinf(METHOD.guarantee(cell(attack=attack, defence="none"), folder)["epsilon"])


def test_releases_without_noise_are_named_and_with_it_stay_below_the_bound(folder: Path) -> None:
    plain = measured(cell(attack="likelihood"), folder)
    assert plain["identification"] == 1.0
    assert plain["psnr"] > 60.0
    private = cell("privunit", "1", attack="likelihood")
    noisy = measured(private, folder)
    assert noisy["identification_bound"] == pytest.approx(math.e / 20)
    assert noisy["psnr"] < 20.0
    assert METHOD.guarantee(private, folder)["epsilon"] <= 1.0 + 1e-9
    audited, _ = METHOD.audited(private, folder)
    assert audited is not None
    assert audited.size == 64


def test_mistakes_in_a_variant_are_one_sentence(folder: Path) -> None:
    with pytest.raises(InputError, match="the attack 'tensor' of reconstruction needs the factor m"):
        measured(cell(dataset="synthetic", attack="tensor", defence="none", B=2, d=5), folder)
    with pytest.raises(InputError, match="needs the factor strength"):
        measured(cell(attack="cosine", defence="noise"), folder)
    with pytest.raises(InputError, match="needs a mechanism and the others take none"):
        measured(cell("laplace", "1", attack="cosine", defence="noise", strength=1), folder)
    with pytest.raises(InputError, match="cannot work with the activation 'tanh'"):
        measured(cell(dataset="synthetic", attack="tensor", defence="none", activation="tanh", **NETWORK), folder)


def whole_study() -> list[AttackCell]:
    """A cell of every kind that the figures draw."""
    base: dict[str, Any] = {"B": 4, "d": 30, "m": 20000}
    other = []
    for change in ({}, {"m": 5000}, {"d": 20}, {"B": 2}):
        other.append(cell(dataset="synthetic", attack="tensor", defence="none", **{**base, **change}))
    for defence, strengths in (
        ("noise", (1, 2)),
        ("clip", (1,)),
        ("dropout", (0.5,)),
        ("prune", (0.5,)),
        ("local", (2,)),
    ):
        other += [cell(dataset="synthetic", attack="tensor", defence=defence, strength=s, **base) for s in strengths]
    other.append(
        cell("gaussian-analytic", "10000", "synthetic", attack="tensor", defence="mechanism", strength=1, **base)
    )
    other += [
        cell(dataset="synthetic", attack="sensitivity", scaling=s, d=d, m=m)
        for s in ("mean", "sign")
        for m, d in ((100, 40), (400, 40), (400, 10))
    ]
    other += [
        cell(attack="cosine", defence="none"),
        cell(attack="cosine", defence="noise", strength=0.1),
        cell("privunit", "1000", attack="cosine", defence="mechanism", strength=1),
    ]
    for mechanism, epsilons in (("tldp-l", ("1",)), ("laplace", ("1", "64")), ("none", ("inf",))):
        other += [cell(mechanism, e, attack=a) for e in epsilons for a in ("likelihood", "membership")]
    return other


@pytest.fixture(scope="module")
def metrics(folder: Path) -> pd.DataFrame:
    found = []
    for settings in whole_study():
        data = None if settings.dataset == "synthetic" else folder
        rows = [{"seed": seed, **row} for seed in settings.seeds for row in METHOD.measure(settings, data, seed, CPU)]
        raw = {
            key: getattr(settings, key)
            for key in ("study", "dataset", "variant", "release", "mechanism", "epsilon", "delta")
        }
        run = {"seconds": 0.0, "peak_mb": 0.0, "device": "cpu", "commit": "-"}
        written = {"cell": raw, "rows": rows, "runs": {str(seed): run for seed in settings.seeds}}
        found.append((json.loads(json.dumps(written)), METHOD.guarantee(settings, data)))
    return metrics_table(found, "quick")


def test_the_table_states_privacy_cost_and_quality(metrics: pd.DataFrame) -> None:
    table = attack_table(metrics)
    assert list(table.columns) == COLUMNS
    plain = table[table["at_utility_loss"].isna()]
    assert len(plain) == sum(settings.factors.attack != "sensitivity" for settings in whole_study())
    cosine = plain[plain["attack"] == "cosine"].set_index("defence")
    assert cosine.loc["none", "utility_loss"] == 0.0
    assert bool(cosine.loc["none", "recovered"])
    assert not bool(cosine.loc["noise", "recovered"])
    accuracy = cosine["accuracy"]
    lost = accuracy["none"] - accuracy["noise"]
    assert cosine.loc["noise", "utility_loss"] == pytest.approx(lost)
    equal = table[table["at_utility_loss"].notna()]
    assert (equal["utility_loss"] <= equal["at_utility_loss"]).all()
    for _, row in equal.iterrows():
        family = plain[
            (plain["attack"] == row["attack"])
            & (plain["defence"] == row["defence"])
            & (plain["mechanism"] == row["mechanism"])
            & (plain["utility_loss"] <= row["at_utility_loss"])
        ]
        assert row["psnr"] == family["psnr"].min()
    with pytest.raises(InputError, match="no rows of study reconstruction"):
        attack_table(metrics.iloc[:0])


def test_every_figure_is_drawn(metrics: pd.DataFrame) -> None:
    assert [ax.get_xlabel() for ax in draw_sweeps(metrics).axes] == [
        "neurons m",
        "dimension d",
        "batch size B (records)",
    ]
    assert sum(ax.get_visible() for ax in draw_table1(metrics).axes) == 6
    for draw in (draw_sensitivity, draw_cost, draw_membership):
        assert all(ax.get_xlabel() for ax in draw(metrics).axes)


def test_pictures_on_both_axes(metrics: pd.DataFrame, folder: Path, tmp_path: Path) -> None:
    stored = tmp_path / "pictures.safetensors"
    write_arrays(stored, pictures(metrics, folder.parent))
    assert stored.stat().st_size < 10_000
    for axis in ("nominal", "guaranteed"):
        (canvas,) = draw_pictures(metrics, stored, axis).axes
        assert len(canvas.images) == 1 + 2 * 2  # the original once; release and reconstruction of TLDP-L and Laplace
        said = [text.get_text() for text in canvas.texts]
        if axis == "guaranteed":
            assert "digits, true ε = 48" in said
            assert {"set to ε 1", "set to ε 64"} <= set(said)
        else:
            assert "digits, printed ε = 1" in said
            assert sum(text.startswith("true ε") for text in said) == 2
    (one,) = draw_one_victim(metrics, stored).axes
    assert len(one.images) == 5


def test_pictures_of_two_data_sets_stand_in_blocks_of_their_own(
    metrics: pd.DataFrame, folder: Path, tmp_path: Path
) -> None:
    colour = tmp_path / "cifar10"
    colour.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (40, 32, 32, 3), dtype=np.uint8)
    facts = {"dataset": "cifar10", "classes": "10", "low": "0", "high": "255", "kind": "image"}
    for split in ("train", "test"):
        write_arrays(colour / f"{split}.safetensors", {"x": pixels, "y": np.arange(40) % 10}, facts)
    (tmp_path / "digits").symlink_to(folder)
    both = pd.concat([metrics, metrics[metrics["variant"] == "attack=likelihood"].assign(dataset="cifar10")])
    found = pictures(both, tmp_path)
    shapes = {name.split("/")[0]: picture.shape for name, picture in found.items()}
    assert shapes == {"cifar10": (32, 32, 3), "digits": (8, 8)}
    original = next(picture for name, picture in found.items() if name.startswith("cifar10/original"))
    assert any(np.array_equal(original, one) for one in pixels)
    write_arrays(tmp_path / "pictures.safetensors", found)
    grid = draw_pictures(both, tmp_path / "pictures.safetensors", "guaranteed")
    (canvas,) = grid.axes
    said = [text.get_text() for text in canvas.texts]
    assert [text.split(",")[0] for text in said if "true ε =" in text] == ["digits", "CIFAR-10"]
    assert len(canvas.images) == 10
