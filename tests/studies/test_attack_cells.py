"""Cells of the study `reconstruction`, the table made of them, and its figures."""

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_digits
from small import CPU, fixed, make_cell, save

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp_papers.papers.lecture import figures
from tensorldp_papers.papers.lecture.attack_pictures import pictures
from tensorldp_papers.papers.lecture.attack_table import COLUMNS, attack_table
from tensorldp_papers.papers.lecture.method import METHOD
from tensorldp_papers.papers.lecture.settings import AttackCell
from tensorldp_papers.run.cell import variant_text
from tensorldp_papers.run.records import Records
from tensorldp_papers.run.table import metrics_table

pytestmark = pytest.mark.xdist_group("attack cells")  # its tests share what is slow to make
SMALL = {"draws": 1, "steps": 40, "rounds": 3, "users": 4, "candidates": 20, "epochs": 1}
SMALL |= {"members": 20, "member_epochs": 1, "pairs": 3}
SIZES: dict[str, Any] = {"B": 2, "d": 5, "m": 2000}
Measured = Callable[[AttackCell], dict[str, float]]


def cell(mechanism: str = "none", epsilon: str = "inf", dataset: str = "digits", **factors: Any) -> AttackCell:
    named = {"study": "reconstruction", "dataset": dataset, "variant": variant_text(factors), "release": "gradients"}
    training = {**SMALL, "victims": 1 if "defence" in factors else 5}
    return make_cell("attacks", mechanism, epsilon, seeds=(0, 1), training=training, factors=factors, **named)


def tensor(defence: str = "none", mechanism: str = "none", epsilon: str = "inf", **factors: Any) -> AttackCell:
    return cell(mechanism, epsilon, "synthetic", **{**SIZES, "attack": "tensor", "defence": defence, **factors})


def whole_study() -> list[AttackCell]:
    """A cell of every kind that the figures draw."""
    strengths = {"noise": (1, 2), "clip": (0.1,), "dropout": (0.5,), "prune": (0.5,), "local": (2,)}
    return [
        *(tensor(**{**SIZES, **change}) for change in ({}, {"m": 500}, {"d": 4}, {"B": 1})),
        *(tensor(defence, strength=one) for defence, many in strengths.items() for one in many),
        tensor("mechanism", "gaussian-analytic", "1000", strength=1),
        *(
            cell(dataset="synthetic", attack="sensitivity", scaling=scaling, d=d, m=m)
            for scaling in ("mean", "sign")
            for m, d in ((100, 40), (400, 40), (400, 10))
        ),
        cell(attack="cosine", defence="none"),
        cell(attack="cosine", defence="noise", strength=0.1),
        cell("privunit", "1000", attack="cosine", defence="mechanism", strength=1),
        *(
            cell(mechanism, epsilon, attack=attack)
            for mechanism, epsilon in (("tldp-l", "1"), ("laplace", "1"), ("laplace", "64"), ("none", "inf"))
            for attack in ("likelihood", "membership")
        ),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prepared digits."""
    data = load_digits()
    x, y = torch.from_numpy(data.images.astype(np.uint8)), torch.from_numpy(data.target)
    return save(
        tmp_path_factory.mktemp("datasets") / "digits", Records(x[:300], y[:300], "digits", 10, 0.0, 16.0, "image")
    )


@pytest.fixture(scope="module")
def measured(folder: Path) -> Measured:
    """The scores of a cell for seed 0, computed once."""

    @cache
    def scores(settings: AttackCell) -> dict[str, float]:
        data = None if settings.dataset == "synthetic" else folder
        return {row["metric"]: row["value"] for row in METHOD.measure(settings, data, 0, CPU)}

    return scores


@pytest.fixture(scope="module")
def metrics(measured: Measured, folder: Path) -> pd.DataFrame:
    found = []
    for settings in whole_study():
        values = measured(settings)
        rows = [{"seed": seed, "metric": key, "value": values[key]} for seed in settings.seeds for key in values]
        run = {"seconds": 0.0, "peak_mb": 0.0, "device": "cpu", "commit": "-"}
        written = {"cell": settings.settings(), "rows": rows, "runs": {str(seed): run for seed in settings.seeds}}
        guarantee = METHOD.guarantee(settings, None if settings.dataset == "synthetic" else folder)
        found.append((json.loads(json.dumps(written)), guarantee))
    return metrics_table(found, "quick")


def test_clipping_changes_no_tensor_attack_and_dp_sgd_states_its_noise_and_its_guarantee(measured: Measured) -> None:
    plain, clipped = measured(tensor()), measured(tensor("clip", strength=0.1))
    assert clipped["error"] == pytest.approx(plain["error"], rel=1e-4)
    assert plain["gradient_rms"] == pytest.approx(plain["gradient_norm"] / math.sqrt(2000))
    private = tensor("mechanism", "gaussian-analytic", "1000", strength=1)
    assert METHOD.guarantee(private, None)["epsilon"] == pytest.approx(1000.0)
    # two gradients in the ball lie at most 2 apart, so mu is 2 / sigma; noise is stated after clipping's shrinking
    sigma = measured(private)["noise"] / max(1.0, measured(private)["gradient_norm"])
    assert GaussianCurve(2 / sigma).epsilon(1e-5) == pytest.approx(1000.0, rel=1e-6)


@pytest.mark.parametrize("attack", ["dlg", "idlg", "cosine", "analytic"])
def test_gradient_attacks_recover_an_undefended_digit(attack: str, measured: Measured, folder: Path) -> None:
    scores = measured(cell(attack=attack, defence="none"))
    assert scores["psnr"] > 30.0
    assert scores["identification"] == scores["label_accuracy"] == 1.0
    assert 0.0 <= scores["accuracy"] <= 1.0
    assert math.isinf(METHOD.guarantee(cell(attack=attack, defence="none"), folder)["epsilon"])


def test_releases_without_noise_are_named_and_with_it_stay_below_the_bound(measured: Measured, folder: Path) -> None:
    plain, private = measured(cell(attack="likelihood")), cell("privunit", "1", attack="likelihood")
    assert plain["identification"] == 1.0
    assert plain["psnr"] > 60.0
    noisy = measured(private)
    assert noisy["identification_bound"] == pytest.approx(math.e / 20)
    assert noisy["psnr"] < 20.0
    assert METHOD.guarantee(private, folder)["epsilon"] <= 1.0 + 1e-9
    audited, _ = METHOD.audited(private, folder)
    assert audited is not None
    assert audited.size == 64


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (tensor(m=None), "the attack 'tensor' of reconstruction needs the factor m"),
        (cell(attack="cosine", defence="noise"), "needs the factor strength"),
        (
            cell("laplace", "1", attack="cosine", defence="noise", strength=1),
            "needs a mechanism and the others take none",
        ),
        (tensor(activation="tanh"), "cannot work with the activation 'tanh'"),
    ],
)
def test_a_mistake_in_a_variant_is_one_sentence(settings: AttackCell, words: str, measured: Measured) -> None:
    with pytest.raises(InputError, match=words):
        measured(settings)


def test_the_table_states_privacy_cost_and_quality(metrics: pd.DataFrame) -> None:
    table = attack_table(metrics)
    assert list(table.columns) == COLUMNS
    plain = table[table["at_utility_loss"].isna()]
    assert len(plain) == sum(settings.factors.attack != "sensitivity" for settings in whole_study())
    cosine = plain[plain["attack"] == "cosine"].set_index("defence")
    assert cosine.loc["none", "utility_loss"] == 0.0
    assert cosine["recovered"][["none", "noise"]].tolist() == [True, False]
    lost = cosine["accuracy"]["none"] - cosine["accuracy"]["noise"]
    assert cosine.loc["noise", "utility_loss"] == pytest.approx(lost)
    equal = table[table["at_utility_loss"].notna()]
    assert (equal["utility_loss"] <= equal["at_utility_loss"]).all()
    family = ["attack", "defence", "mechanism"]
    for _, row in equal.iterrows():
        within = plain[(plain[family] == row[family]).all(axis=1) & (plain["utility_loss"] <= row["at_utility_loss"])]
        assert row["psnr"] == within["psnr"].min()
    with pytest.raises(InputError, match="no rows of study reconstruction"):
        attack_table(metrics.iloc[:0])


def test_every_figure_is_drawn(metrics: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "BASE", SIZES)
    labels = [ax.get_xlabel() for ax in figures.draw_sweeps(metrics).axes]
    assert labels == ["neurons m", "dimension d", "batch size B (records)"]
    assert sum(ax.get_visible() for ax in figures.draw_table1(metrics).axes) == 6
    for draw in (figures.draw_sensitivity, figures.draw_cost, figures.draw_membership):
        assert all(ax.get_xlabel() for ax in draw(metrics).axes)


def test_pictures_of_two_data_sets_stand_in_blocks_of_their_own_on_both_axes(
    metrics: pd.DataFrame, folder: Path, tmp_path: Path
) -> None:
    pixels = torch.randint(0, 256, (40, 12, 12, 3), generator=fixed(), dtype=torch.uint8)
    save(tmp_path / "cifar10", Records(pixels, torch.arange(40) % 10, "cifar10", 10, 0.0, 255.0, "image"))
    (tmp_path / "digits").symlink_to(folder)
    both = pd.concat([metrics, metrics[metrics["variant"] == "attack=likelihood"].assign(dataset="cifar10")])
    found, stored = pictures(both, tmp_path), tmp_path / "pictures.safetensors"
    shapes = {name.split("/")[0]: picture.shape for name, picture in found.items()}
    assert shapes == {"cifar10": (12, 12, 3), "digits": (8, 8)}
    original = next(picture for name, picture in found.items() if name.startswith("cifar10/original"))
    assert any(np.array_equal(original, one) for one in pixels.numpy())
    write_arrays(stored, {name: picture for name, picture in found.items() if name.startswith("digits")})
    assert stored.stat().st_size < 10_000
    (one,) = figures.draw_one_victim(metrics, stored).axes
    assert len(one.images) == 5
    write_arrays(stored, found)
    said = {}
    for axis in ("nominal", "guaranteed"):
        (canvas,) = figures.draw_pictures(both, stored, axis).axes
        assert len(canvas.images) == 2 * (1 + 2 * 2)  # originals once; releases and reconstructions of two mechanisms
        said[axis] = [text.get_text() for text in canvas.texts]
    assert [text.split(",")[0] for text in said["guaranteed"] if "true ε =" in text] == ["digits", "CIFAR-10"]
    assert {"digits, true ε = 48", "set to ε 1", "set to ε 64"} <= set(said["guaranteed"])
    assert "digits, printed ε = 1" in said["nominal"]
    assert sum(text.startswith("true ε") for text in said["nominal"]) == 4
