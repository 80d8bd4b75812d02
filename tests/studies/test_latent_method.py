"""LATENT's method on small images: packed releases, both readings, the honest arm and their guarantees."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small import CPU, images, make_cell, save

from tensorldp.errors import InputError
from tensorldp.mechanisms.bits import bytes_to_bits, encode_bits
from tensorldp_papers.papers.latent import bit_strings
from tensorldp_papers.papers.latent.bit_strings import release_bits, standardise_records, unit_images
from tensorldp_papers.papers.latent.method import METHOD
from tensorldp_papers.papers.latent.settings import LatentCell
from tensorldp_papers.run.records import Records

TRAINING = {"epochs": 4, "width": 16, "batch_size": 16, "learning_rate": 0.005, "checkpoints": 2}


def cell(mechanism: str, epsilon: str, model: str = "ann", reading: str | None = None, **factors: Any) -> LatentCell:
    options = {"reading": reading} if reading else {}
    settings: dict[str, Any] = {"training": TRAINING, "factors": {"model": model, **factors}, "options": options}
    return make_cell("latent", mechanism, epsilon, study="latent", **settings)


FREE = cell("none", "inf")


def quarters(count: int = 60, shape: tuple[int, ...] = (8, 8)) -> Records:
    """Four classes that differ in which quarter is bright."""
    records, half = images(count, shape), shape[0] // 2
    for i, label in enumerate(records.y.tolist()):
        records.x[i, half * (label // 2) :][:half, half * (label % 2) :][:, :half] += 200
    return replace(records, high=255.0)


def test_strings_are_the_packed_codes_of_standardised_features_of_one_record_alone() -> None:
    records = quarters()
    released = METHOD.release(FREE, records, 0, "train", CPU)["train"]
    assert released.dtype == np.uint8
    assert released.shape == (60, 2 * 2 * 64 * 10 // 8)
    z = standardise_records(bit_strings.module_of(FREE, (8, 8), 0)(unit_images(records, records.x)))
    assert torch.allclose(z.mean(dim=1), torch.zeros(60), atol=1e-5)
    assert torch.allclose(z.std(dim=1, unbiased=False), torch.ones(60), atol=1e-4)
    by_hand = encode_bits(z, whole_bits=4, fraction_bits=5).numpy()
    alone = METHOD.release(FREE, records.first(7), 0, "train", CPU)["train"]
    for other in (by_hand, alone):  # a bit may move where a batch rounds differently
        assert np.unpackbits(released[: len(other)] ^ other).mean() < 1e-3


def test_a_blank_image_has_a_string_of_zeros() -> None:
    assert not standardise_records(torch.full((2, 9), 3.0)).any()
    blank = replace(images(2), x=torch.zeros(2, 8, 8, dtype=torch.uint8))
    assert not release_bits(FREE, blank, 0, CPU, split="test").any()
    projected = cell("privunit", "2", "centroid", features=4)
    assert np.isfinite(METHOD.release(projected, blank, 0, "test", CPU)["test"]).all()


@pytest.mark.parametrize(("reading", "flipped"), [("A", 0.5), ("B", 0.25)])
def test_readings_flip_a_half_and_a_quarter_of_the_bits(reading: str, flipped: float) -> None:
    settings = cell("latent", "2", reading=reading)
    clean = release_bits(settings, quarters(), 0, CPU, split="train", private=False)
    noisy = release_bits(settings, quarters(), 0, CPU, split="train")
    share = float(bytes_to_bits(clean ^ noisy, 2560).mean())
    assert share == pytest.approx(flipped, abs=5 * 0.5 / math.sqrt(60 * 2560))
    assert torch.equal(noisy, release_bits(settings, quarters(), 0, CPU, split="train"))
    for seed, split in ((1, "train"), (0, "test")):
        assert not torch.equal(noisy, release_bits(settings, quarters(), seed, CPU, split=split))


def test_colour_images_take_the_other_module_and_code() -> None:
    records = quarters(6, (16, 16, 3))
    blocks = torch.cat(list(bit_strings.feature_blocks(FREE, records, 0, CPU)))
    assert blocks.shape == (6, 64 * 2 * 2)
    packed = release_bits(FREE, records, 0, CPU, split="train")
    assert torch.equal(packed, encode_bits(blocks, whole_bits=2, fraction_bits=7))


def test_altered_images_are_further_releases_and_are_paid_for(tmp_path: Path) -> None:
    records = quarters(12, (16, 16, 3))
    save(tmp_path, records, "test")
    once, twice = cell("latent", "2", reading="A"), cell("latent", "2", reading="A", augment=1)
    assert len(release_bits(twice, records, 0, CPU, split="train")) == 24
    assert len(release_bits(twice, records, 0, CPU, split="test")) == 12
    free = cell("none", "inf", reading="B", augment=1)  # may stand beside a reading
    epsilons = [METHOD.guarantee(one, tmp_path)["pure_epsilon"] for one in (once, twice, free)]
    assert epsilons == pytest.approx([2.0, 4.0, math.inf])
    trained = METHOD.train(twice, records, METHOD.release(twice, records, 0, "train", CPU), 0, CPU)
    assert trained.facts["records"] == 24


def scores(settings: LatentCell) -> dict[Any, float]:
    """A cell's metrics, those of a series with their epoch."""
    records = quarters()
    released: dict[str, Any] = {}
    for split in ("train", "test"):
        released |= METHOD.release(settings, records, 0, split, CPU)
    trained = METHOD.train(settings, records, released, 0, CPU)
    rows = METHOD.evaluate(settings, records, trained, released, 0, CPU)
    return {(row["metric"], row["epoch"]) if "epoch" in row else row["metric"]: row["value"] for row in rows}


def test_every_arm_is_scored_and_learns_where_it_can_and_from_permuted_labels_nothing() -> None:
    free = scores(FREE)
    assert free["accuracy"] > 0.95
    assert "accuracy_perturbed_test" not in free
    assert free["accuracy_by_epoch", 4] == free["accuracy"]
    assert {("accuracy_by_epoch", 2), ("train_accuracy_by_epoch", 2), "string_bits", "largest_class"} <= set(free)
    permuted, again = (scores(cell("none", "inf", labels="permuted")) for _ in range(2))
    assert permuted == again
    assert permuted["accuracy"] < free["accuracy"] - 0.3
    assert scores(cell("none", "inf", "cnn"))["train_records"] == 60
    a, b = (scores(cell("latent", "0.5", reading=reading)) for reading in "AB")
    assert a["accuracy_perturbed_test"] < 0.6 < b["accuracy_perturbed_test"]
    assert b["accuracy"] > 0.8
    centroid, same = (scores(cell("privunit", "50", "centroid", features=16)) for _ in range(2))
    assert centroid["accuracy"] > 0.9
    assert centroid == same


def test_guarantees_are_the_mechanisms_own(tmp_path: Path) -> None:
    save(tmp_path, quarters(), "test")
    a, b = (METHOD.guarantee(cell("latent", "0.5", reading=reading), tmp_path) for reading in "AB")
    assert a["pure_epsilon"] == pytest.approx(0.5)
    assert b["pure_epsilon"] == pytest.approx(2560 * math.log(1 + 2 * math.exp(0.5 / 2560)))
    assert "labels are released unperturbed" in a["note"]
    honest = METHOD.guarantee(cell("privunit", "0.5", "centroid", features=64), tmp_path)
    assert honest["pure_epsilon"] == pytest.approx(0.5)
    assert METHOD.guarantee(cell("none", "inf", "cnn"), tmp_path)["epsilon"] == math.inf


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (cell("latent", "2", "cnn"), "model cnn of latent is the baseline without privacy"),
        (cell("laplace", "2"), "bit strings of latent are released by latent or none, got 'laplace'"),
    ],
)
def test_cells_that_make_no_sense_are_one_sentence(settings: LatentCell, words: str) -> None:
    with pytest.raises(InputError, match=words):
        METHOD.release(settings, quarters(), 0, "train", CPU)
