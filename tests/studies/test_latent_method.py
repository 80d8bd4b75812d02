"""LATENT's method on small images: packed releases, both readings, the honest arm and their guarantees."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp.mechanisms.bits import bytes_to_bits, encode_bits
from tensorldp_papers.papers.latent.bit_strings import (
    feature_blocks,
    module_of,
    release_bits,
    release_projection,
    standardise_records,
    unit_images,
)
from tensorldp_papers.papers.latent.method import METHOD
from tensorldp_papers.papers.latent.settings import LatentCell, LatentFactors, LatentTraining
from tensorldp_papers.run.records import Records

CPU = torch.device("cpu")
TRAINING = LatentTraining(epochs=4, width=16, batch_size=16, learning_rate=0.005, checkpoints=2)


def cell(mechanism: str = "latent", epsilon: str = "2", *, reading: str | None = None, **factors: Any) -> LatentCell:
    """A cell of the study; without factors, reading A of the ANN on bit strings."""
    reading = "A" if not factors else reading
    return LatentCell(
        study="latent",
        dataset="d",
        variant="v",
        mechanism=mechanism,
        epsilon=epsilon,
        release="bits",
        method="latent",
        delta=1e-5,
        training=TRAINING,
        factors=LatentFactors.model_validate(factors or {"model": "ann"}),
        options={"reading": reading} if reading else {},
        seeds=(0,),
    )


def images(count: int = 60, shape: tuple[int, ...] = (8, 8)) -> Records:
    """Four classes that differ in which quarter is bright."""
    y = torch.arange(count) % 4
    x = torch.randint(0, 40, (count, *shape), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    half = shape[0] // 2
    for i, label in enumerate(y.tolist()):
        x[i, half * (label // 2) : half * (label // 2 + 1), half * (label % 2) : half * (label % 2 + 1)] += 200
    return Records(x, y, "d", 4, 0.0, 255.0, "image")


def test_strings_are_packed_and_of_one_record_alone() -> None:
    released = METHOD.release(cell("none", "inf", model="ann"), images(), 0, "train", CPU)["train"]
    assert released.dtype == np.uint8
    assert released.shape == (60, 2 * 2 * 64 * 10 // 8)
    one = images()
    alone = Records(one.x[:7], one.y[:7], "d", 4, 0.0, 255.0, "image")
    again = METHOD.release(cell("none", "inf", model="ann"), alone, 0, "train", CPU)["train"]
    assert np.unpackbits(released[:7] ^ again).mean() < 1e-3  # a bit may move where a batch rounds differently


def test_strings_are_the_codes_of_standardised_features() -> None:
    settings, records = cell("none", "inf", model="ann"), images()
    features = module_of(settings, (8, 8), 0)(unit_images(records, records.x))
    z = standardise_records(features)
    assert torch.allclose(z.mean(dim=1), torch.zeros(60), atol=1e-5)
    assert torch.allclose(z.std(dim=1, unbiased=False), torch.ones(60), atol=1e-4)
    packed = release_bits(settings, records, 0, CPU, split="train")
    by_hand = encode_bits(z, whole_bits=4, fraction_bits=5)
    assert np.unpackbits((packed ^ by_hand).numpy()).mean() < 1e-3  # where rounding differs


def test_permuted_labels_teach_nothing() -> None:
    records = images(200)
    arrays, scores = [], []
    for factors in ({}, {"labels": "permuted"}, {"labels": "permuted"}):
        one = cell("none", "inf", model="ann", **factors)
        released = METHOD.release(one, records, 0, "train", CPU)
        trained = METHOD.train(one, records, released, 0, CPU)
        arrays.append(trained.arrays)
        rows = METHOD.evaluate(one, records, trained, released, 0, CPU)
        scores.append(next(row["value"] for row in rows if row["metric"] == "accuracy"))
    assert all((arrays[1][key] == arrays[2][key]).all() for key in arrays[1])
    assert scores[0] > scores[1] + 0.3


def test_a_blank_image_has_a_string_of_zeros() -> None:
    assert not standardise_records(torch.full((2, 9), 3.0)).any()
    blank = Records(torch.zeros(2, 8, 8, dtype=torch.uint8), torch.tensor([0, 1]), "d", 2, 0.0, 255.0, "image")
    assert not release_bits(cell("none", "inf", model="ann"), blank, 0, CPU, split="test").any()
    assert torch.isfinite(
        release_projection(cell("privunit", "2", model="centroid", features=4), blank, 0, CPU, split="test")
    ).all()


@pytest.mark.parametrize(("reading", "flipped"), [("A", 0.5), ("B", 0.25)])
def test_readings_flip_a_half_and_a_quarter_of_the_bits(reading: str, flipped: float) -> None:
    settings = cell(model="ann", reading=reading)
    clean = release_bits(settings, images(), 0, CPU, split="train", private=False)
    noisy = release_bits(settings, images(), 0, CPU, split="train")
    share = float(bytes_to_bits(clean ^ noisy, 2560).mean())
    assert share == pytest.approx(flipped, abs=5 * 0.5 / math.sqrt(60 * 2560))
    for other in (
        release_bits(settings, images(), 1, CPU, split="train"),
        release_bits(settings, images(), 0, CPU, split="test"),
    ):
        assert not torch.equal(noisy, other)
    assert torch.equal(noisy, release_bits(settings, images(), 0, CPU, split="train"))


def test_colour_images_take_the_other_module_and_code() -> None:
    records = images(6, (16, 16, 3))
    packed = release_bits(cell("none", "inf", model="ann"), records, 0, CPU, split="train")
    blocks = torch.cat(list(feature_blocks(cell(), records, 0, CPU)))
    assert blocks.shape == (6, 64 * 2 * 2)
    assert torch.equal(packed, encode_bits(blocks, whole_bits=2, fraction_bits=7))


def test_altered_images_are_further_releases_and_are_paid_for(tmp_path: Path) -> None:
    records = images(12, (16, 16, 3))
    save(tmp_path, records)
    once = cell(model="ann", reading="A")
    twice = cell(model="ann", reading="A", augment=1)
    assert len(release_bits(twice, records, 0, CPU, split="train")) == 24
    assert len(release_bits(twice, records, 0, CPU, split="test")) == 12
    assert METHOD.guarantee(once, tmp_path)["pure_epsilon"] == pytest.approx(2.0)
    assert METHOD.guarantee(twice, tmp_path)["pure_epsilon"] == pytest.approx(4.0)
    trained = METHOD.train(twice, records, METHOD.release(twice, records, 0, "train", CPU), 0, CPU)
    assert trained.facts["records"] == 24


def test_an_arm_without_privacy_may_stand_beside_a_reading(tmp_path: Path) -> None:
    save(tmp_path, images(12, (16, 16, 3)))
    free = cell("none", "inf", model="ann", reading="B", augment=1)
    assert math.isinf(METHOD.guarantee(free, tmp_path)["pure_epsilon"])


def save(folder: Path, records: Records) -> None:
    metadata = {"dataset": "d", "classes": "4", "low": "0", "high": "255", "kind": "image"}
    for split in ("train", "test"):
        write_arrays(folder / f"{split}.safetensors", {"x": records.x.numpy(), "y": records.y.numpy()}, metadata)


def run(settings: LatentCell) -> dict[Any, float]:
    records = images()
    released: dict[str, np.ndarray] = {}
    for split in ("train", "test"):
        released |= METHOD.release(settings, records, 0, split, CPU)
    trained = METHOD.train(settings, records, released, 0, CPU)
    rows = METHOD.evaluate(settings, records, trained, released, 0, CPU)
    return {(row["metric"], row["epoch"]) if "epoch" in row else row["metric"]: row["value"] for row in rows}


def test_every_arm_is_scored_and_learns_where_it_can() -> None:
    bits = run(cell("none", "inf", model="ann"))
    assert bits["accuracy"] > 0.95
    assert "accuracy_perturbed_test" not in bits
    assert bits["accuracy_by_epoch", 4] == bits["accuracy"]
    assert {("accuracy_by_epoch", 2), ("train_accuracy_by_epoch", 2), "string_bits", "largest_class"} <= set(bits)
    assert run(cell("none", "inf", model="cnn"))["train_records"] == 60
    b = run(cell(epsilon="0.5", model="ann", reading="B"))
    assert b["accuracy"] > 0.8
    assert b["accuracy_perturbed_test"] > 0.6
    a = run(cell(epsilon="0.5"))
    assert a["accuracy_perturbed_test"] < 0.6
    centroid = run(cell("privunit", "50", model="centroid", features=16))
    assert centroid["accuracy"] > 0.9
    assert run(cell("privunit", "50", model="centroid", features=16)) == centroid


def test_guarantees_are_the_mechanisms_own(tmp_path: Path) -> None:
    save(tmp_path, images())
    a, b = (METHOD.guarantee(cell(epsilon="0.5", model="ann", reading=r), tmp_path) for r in "AB")
    assert a["pure_epsilon"] == pytest.approx(0.5)
    assert b["pure_epsilon"] == pytest.approx(2560 * math.log(1 + 2 * math.exp(0.5 / 2560)))
    honest = METHOD.guarantee(cell("privunit", "0.5", model="centroid", features=64), tmp_path)
    assert honest["pure_epsilon"] == pytest.approx(0.5)
    assert METHOD.guarantee(cell("none", "inf", model="cnn"), tmp_path)["epsilon"] == math.inf
    assert "labels are released unperturbed" in a["note"]


def test_cells_that_make_no_sense_are_one_sentence() -> None:
    with pytest.raises(InputError, match="model cnn of latent is the baseline without privacy"):
        METHOD.release(cell(model="cnn"), images(), 0, "train", CPU)
    with pytest.raises(InputError, match="bit strings of latent are released by latent or none, got 'laplace'"):
        METHOD.release(cell("laplace", model="ann"), images(), 0, "train", CPU)
