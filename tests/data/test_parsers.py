"""Small files in the formats of the real data sets: what becomes of them, and the sentence of each damage."""

from __future__ import annotations

import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tiny
import torch
from numpy.typing import NDArray
from scipy.io import savemat
from tiny import Split, load

from tensorldp.errors import InputError
from tensorldp.files import read_arrays
from tensorldp.randomness import generator
from tensorldp_papers.data import archives
from tensorldp_papers.data.archives import decompressed, tar_members, zip_lines
from tensorldp_papers.data.catalogue import Dataset
from tensorldp_papers.data.fetch import fetch
from tensorldp_papers.data.images import augment
from tensorldp_papers.data.prepare import prepare, write_splits
from tensorldp_papers.data.split import Options, Parsed
from tensorldp_papers.data.tabular import DARKNET_CLASSES, ctg_table, interspersed, parse_adult
from tensorldp_papers.data.text import LENGTH, frequent, tokenise


def prepared(name: str, folder: Path, *, expect_full: bool = False, **options: Any) -> tuple[Split, Split]:
    """Both splits that `prepare` makes of the files in a folder."""
    prepare(name, folder, folder / "out", expect_full=expect_full, **options)
    return load(folder / "out" / "train.safetensors"), load(folder / "out" / "test.safetensors")


def mat(x: NDArray[Any], y: list[int]) -> bytes:
    buffer: Any = io.BytesIO()
    savemat(buffer, {"X": x, "y": np.array(y)[:, None]})
    return bytes(buffer.getvalue())


PIXELS = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 14), np.uint8)


def write_svhn(folder: Path) -> None:
    (folder / "train_32x32.mat").write_bytes(mat(PIXELS[..., :11], [k % 10 + 1 for k in range(11)]))
    (folder / "test_32x32.mat").write_bytes(mat(PIXELS[..., 11:], [1, 2, 3]))


ARCHIVE, CIFAR = "aclImdb_labeled.tar.xz", "cifar-10-binary.tar.gz"
PART = "glove.6B.50d.first100000.txt.xz"
WRITERS: dict[str, Callable[[Path], object]] = {
    "mnist": tiny.write_mnist,
    "cifar10": lambda folder: tiny.write_cifar(folder / CIFAR),
    "svhn": write_svhn,
    "adult": tiny.write_adult,
    "credit": lambda folder: tiny.write_credit(folder / "creditcard.csv"),
    "darknet": lambda folder: tiny.write_darknet(folder / "Darknet.CSV"),
    "imdb": lambda folder: tiny.write_imdb(folder / ARCHIVE),
    "imdb_glove": lambda folder: tiny.write_imdb(folder / ARCHIVE),
    "ctg": lambda folder: None,
}

# Images


def test_idx_files(tmp_path: Path) -> None:
    tiny.write_mnist(tmp_path)
    train, test = prepared("mnist", tmp_path)
    assert (train.x.shape, train.x.dtype, test.x.shape) == ((12, 28, 28), np.uint8, (5, 28, 28))
    assert (train.y.tolist(), train.y.dtype) == ([*range(10), 0, 1], np.int64)
    assert [train.metadata[key] for key in ("dataset", "low", "high")] == ["mnist", "0", "255"]
    with pytest.raises(InputError, match="12 training and 5 test records, expected 60000 and 10000"):
        prepared("mnist", tmp_path, expect_full=True)


def test_cifar_is_the_same_from_the_archive_and_recoded(tmp_path: Path) -> None:
    rows = tiny.write_cifar(tmp_path / CIFAR)
    train, test = prepared("cifar10", tmp_path)
    assert (train.x.shape, test.x.shape) == ((20, 32, 32, 3), (4, 32, 32, 3))
    # the second image of the third batch: red, green and blue planes in turn
    assert (train.x[9, 5, 7] == rows[2, 1, 1:].reshape(3, 32, 32)[:, 5, 7]).all()
    assert test.y.tolist() == rows[5, :, 0].tolist()
    raw = tmp_path / "raw"
    raw.mkdir()
    for batch, part in enumerate(rows, start=1):
        pixels = part[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).tobytes()
        stem = "test_batch" if batch == 6 else f"data_batch_{batch}"
        (raw / f"{stem}_images_u8_10000x32x32x3.bin.xz").write_bytes(lzma.compress(pixels))
    (raw / "train_labels_u8_50000.bin").write_bytes(rows[:5, :, 0].tobytes())
    (raw / "test_labels_u8_10000.bin").write_bytes(rows[5, :, 0].tobytes())
    for one, other in zip((train, test), prepared("cifar10", raw), strict=True):
        assert (one.x == other.x).all()
        assert (one.y == other.y).all()
        assert "JPEG" in other.metadata["deviation"]
    (raw / "test_labels_u8_10000.bin").write_bytes(b"\0")
    with pytest.raises(InputError, match="bytes for 1 labels"):
        prepared("cifar10", raw)


def test_svhn_has_its_images_and_10_is_the_class_0(tmp_path: Path) -> None:
    write_svhn(tmp_path)
    train, _ = prepared("svhn", tmp_path)
    assert train.y.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert (train.x == PIXELS.transpose(3, 0, 1, 2)[:11]).all()


def test_a_part_of_svhn_is_cut_into_two_blocks(tmp_path: Path) -> None:
    x = PIXELS[..., :10].transpose(3, 0, 1, 2)
    (tmp_path / "test_first10000_images_u8_10000x32x32x3.bin.xz").write_bytes(lzma.compress(x.tobytes()))
    (tmp_path / "test_first10000_labels_u8_10000.bin").write_bytes(bytes(range(10)))
    train, test = prepared("svhn_10k", tmp_path)
    assert (train.x == x[:8]).all()
    assert (train.y.tolist(), test.y.tolist()) == ([*range(8)], [8, 9])
    assert "10,000 of SVHN's 99,289 images" in train.metadata["deviation"]


# Altered images


def ramp() -> torch.Tensor:
    """Images whose pixels are their own column and row, so that a shift can be read off them."""
    rows, columns = torch.meshgrid(torch.arange(20.0), torch.arange(10.0), indexing="ij")
    return torch.stack((columns, rows)).expand(50, 2, 20, 10)


def test_no_alteration_is_the_identity_and_a_sure_flip_the_mirror_image() -> None:
    images = torch.rand(3, 3, 12, 12, generator=generator("images"))
    same = augment(images, generator("a"), shift=0.0, degrees=0.0, flip=0.0)
    assert torch.allclose(same, images, atol=1e-5)
    mirrored = augment(images, generator("a"), shift=0.0, degrees=0.0, flip=1.0)
    assert torch.allclose(mirrored, images.flip(3), atol=1e-5)


def test_shifts_stay_in_their_range_and_vary() -> None:
    moved = augment(ramp(), generator("shift"), shift=0.1, degrees=0.0, flip=0.0)
    across, down = (moved - ramp())[:, 0, 10, 5], (moved - ramp())[:, 1, 10, 5]
    assert float(across.abs().max()) <= 1.0 + 1e-4  # a tenth of 10 columns
    assert 1.0 < float(down.abs().max()) <= 2.0 + 1e-4  # of 20 rows
    assert float(across.std()) == pytest.approx(1 / 3**0.5, rel=0.25)


def test_rotation_turns_about_the_centre_and_keeps_lengths() -> None:
    turned = augment(ramp(), generator("turn"), shift=0.0, degrees=10.0, flip=0.0)
    inner = turned[:, :, 8:12, 4:6]
    assert torch.allclose(inner.mean(dim=(2, 3)), torch.tensor([4.5, 9.5]).expand(50, 2), atol=1e-3)
    right = inner[:, :, 1, 1] - inner[:, :, 1, 0]  # one pixel to the right, in source pixels
    assert torch.allclose(right.norm(dim=1), torch.ones(50), atol=1e-3)
    degrees = torch.rad2deg(torch.atan2(right[:, 1], right[:, 0]))
    assert 8.0 < float(degrees.abs().max()) <= 10.0 + 1e-3


# Tables


def test_darknet_is_cleaned_and_standardised(tmp_path: Path) -> None:
    tiny.write_darknet(tmp_path / "Darknet.CSV")
    train, test = prepared("darknet", tmp_path)
    # 700 rows less one NaN and one infinity; of 6 numeric columns two are constant
    assert (train.x.shape, len(test.x)) == ((558, 4), 140)
    np.testing.assert_allclose(train.x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.x.std(axis=0), 1, rtol=1e-5)
    assert (np.bincount(train.y) + np.bincount(test.y)).tolist() == [298, 100, 220, 80]
    assert prepared("darknet", tmp_path, endpoints=False)[0].x.shape[1] == 2
    with pytest.raises(InputError, match="has 700 rows and 12 columns, expected 141530 and 85"):
        prepared("darknet", tmp_path, expect_full=True)


def test_the_papers_split_sizes_of_darknet() -> None:
    # the release's counts less 47 rows with NaN and 2 infinite ones
    y = np.repeat(np.arange(4), [93356 - 49, 23863, 1392, 22919])
    (train, y_train), (test, y_test) = interspersed(np.arange(len(y)), y, 0)
    assert (len(train), len(test)) == (113184, 28297)
    assert len(np.union1d(train, test)) == len(y)
    tor = DARKNET_CLASSES.index("Tor")
    # Tor is spread evenly and keeps its order
    assert (y_train == tor).sum() == pytest.approx(0.8 * 1392, abs=8)
    assert (np.diff(np.concatenate([train[y_train == tor], test[y_test == tor]])) > 0).all()


@pytest.mark.parametrize("compressed", [False, True])
def test_adult(tmp_path: Path, compressed: bool) -> None:
    tiny.write_adult(tmp_path, compressed)
    parsed = parse_adult({path.name: path for path in tmp_path.iterdir()}, Options())
    (train, y_train), (test, y_test) = parsed.train, parsed.test
    # 6 continuous columns, then 2 + 2 + 1 + 1 + 2 + 2 + 2 + 2 categories
    assert train.shape == (2, 20)
    assert [*train[:, 0], test[0, 0]] == pytest.approx([30 / 80, 50 / 80, 80 / 80])
    assert train[:, 3].tolist() == [0, 0]
    assert [row.tolist() for row in (*train[:, 6:8], test[0, 6:8])] == [[1, 0], [0, 0], [0, 1]]
    assert (y_train.tolist(), y_test.tolist()) == ([0, 1], [1])


def write_part_of_credit(folder: Path) -> None:
    tiny.write_credit(folder / "creditcard.csv")
    text = (folder / "creditcard.csv").read_bytes()
    (folder / "creditcard_subset.csv.xz").write_bytes(lzma.compress(text))
    (folder / "part_u8.bin").write_bytes(bytes(1 if k % 20 == 0 else 2 + k % 2 for k in range(200)))


def test_a_part_of_credit_has_all_frauds_and_the_uniform_sample(tmp_path: Path) -> None:
    write_part_of_credit(tmp_path)
    train, test = prepared("creditcard_55k", tmp_path)
    assert len(train.y) + len(test.y) == 10 + 90  # 10 frauds, and the even rows of the others
    assert train.y.sum() + test.y.sum() == 10
    (tmp_path / "part_u8.bin").write_bytes(b"\1")
    with pytest.raises(InputError, match="has 1 bytes, expected one for each of the 200 rows"):
        prepared("creditcard_55k", tmp_path)


def test_a_part_of_darknet_has_its_numbers_and_the_applications_for_classes(tmp_path: Path) -> None:
    rows = {
        "Label.1": ["Browsing", *["P2P"] * 3] * 10,
        "Timestamp": "2016",
        "a": range(40),
        "b": 1.0,
        "Label": "Darknet",
    }
    path = tmp_path / "darknet2020_sample5000.csv.xz"
    pd.DataFrame(rows | {f"c{k}": range(k, 40 + k) for k in range(7)}).to_csv(path, index=False)
    train, test = prepared("darknet_5k", tmp_path)
    assert (train.x.shape, test.x.shape) == ((32, 9), (8, 9))
    assert np.bincount(train.y).tolist() == [0, 8, 0, 0, 0, 24]
    np.testing.assert_allclose(train.x.mean(axis=0), 0, atol=1e-5)
    pd.DataFrame(rows | {"Label.1": "Tor"}).to_csv(path, index=False)
    with pytest.raises(InputError, match="has the label 'Tor', allowed are Audio-Streaming, Browsing, "):
        prepared("darknet_5k", tmp_path)


def test_credit_is_standardised_with_training_statistics(tmp_path: Path) -> None:
    tiny.write_credit(tmp_path / "creditcard.csv")
    train, test = prepared("credit", tmp_path)
    assert (train.x.shape, test.x.shape, train.x.dtype) == ((140, 28), (60, 28), np.float32)
    assert (train.y.sum(), test.y.sum()) == (7, 3)
    np.testing.assert_allclose(train.x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.x.std(axis=0), 1, rtol=1e-5)
    assert abs(test.x.mean(axis=0)).max() > 1e-3
    assert (train.metadata["low"], train.metadata["high"]) == ("-inf", "inf")


NUMBERED: list[Any] = ["", *map(float, range(1, 22)), ""]
NAMED: list[Any] = ["b", *(f"c{k}" for k in range(1, 22)), "NSP"]
RECORDS: list[Any] = [[0.0, *(float(row * k) for k in range(1, 21)), 5.0, float(row % 3 + 1)] for row in range(60)]


def test_ctg_columns_fill_their_training_range() -> None:
    sums: list[Any] = [[""] * 23, [564.0] * 22 + [""]]
    parsed = ctg_table([NUMBERED, NAMED, *RECORDS, *sums], Path("CTG.xls"), 0)
    (train, y_train), (test, y_test) = parsed.train, parsed.test
    assert (train.shape, test.shape, train.dtype) == ((48, 21), (12, 21), np.float32)
    assert (train[:, :20].min(axis=0).tolist(), train[:, :20].max(axis=0).tolist()) == ([-1.0] * 20, [1.0] * 20)
    assert not train[:, 20].any()
    assert abs(test).max() <= 1
    assert (np.bincount(y_train).tolist(), np.bincount(y_test).tolist()) == ([16] * 3, [4] * 3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([NUMBERED, NUMBERED, *RECORDS], "must have the column NSP"),
        ([NAMED, NAMED, *RECORDS], "must number the columns 1 to 21"),
        ([NUMBERED, NAMED, *RECORDS, [0.0, "much", *RECORDS[0][2:]]], "must hold numbers"),
    ],
)
def test_ctg_mistakes(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ctg_table(rows, Path("CTG.xls"), 0)


# Texts


def test_tokens_are_spacys_and_words_are_by_count_then_alphabet() -> None:
    strings, rows = tokenise(["It isn't  Great!<br /><br />A film.", ""])
    assert [strings[int(key)] for key in rows[0]] == ["it", "is", "n't", "great", "!", "a", "film", "."]
    assert len(rows[1]) == 0
    assert frequent(["b", "a", "c", "unseen"], np.array([2, 2, 5, 0]), 2) == {"c": 1, "a": 2}


def test_reviews_are_rows_of_words_of_the_training_vocabulary(tmp_path: Path) -> None:
    tiny.write_imdb(tmp_path / ARCHIVE)
    train, test = prepared("imdb", tmp_path)
    assert (train.x.shape, train.x.dtype) == ((6, LENGTH), np.int32)
    assert train.y.tolist() == test.y.tolist() == [0, 1, 0, 1, 0, 1]
    # the second review of a class is longer than 500 tokens, the others are padded at the end
    assert (train.x[:, -1] > 0).tolist() == [False, False, True, True, False, False]
    assert train.x.max() == int(train.metadata["high"]) == int(train.metadata["vocabulary"]) - 1
    assert train.metadata["words"] == "training reviews"
    assert "no guarantee covers" in train.metadata["deviation"]
    assert len(set(train.x[train.y == 0, 3])) == 1  # 'awful' and 'great' are the fourth token
    assert train.x[0, 3] != train.x[1, 3]
    assert not (tmp_path / "out" / "embedding.safetensors").exists()
    assert len(prepared("imdb", tmp_path, expect_full=True, limit=1)[0].x) == 2
    with pytest.raises(InputError, match="limit must be a whole number of at least 1"):
        prepared("imdb", tmp_path, limit=0)
    with pytest.raises(InputError, match="limit is for reviews"):
        prepare("digits", None, tmp_path / "out", limit=5)


def test_no_private_text_influences_the_public_index_of_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorldp_papers.data.text.PUBLIC_TEXTS", 2)
    monkeypatch.setattr("tensorldp_papers.data.text.VOCABULARY", 4)

    def indexed(*private: str) -> list[NDArray[Any]]:
        """What `prepare` makes of training and test reviews, the same ones, of which the last two are public."""
        tiny.write_reviews(tmp_path / ARCHIVE, [*private, "good good film", "bad film"])
        own = prepared("imdb", tmp_path)[0].x
        words = (read_arrays(tmp_path / "out" / f"{split}_public_words.safetensors")[0] for split in ("train", "test"))
        return [own, *(found["weight"] for found in words)]

    own, train, test = indexed("bad story", "good one")
    other_own, other_train, other_test = indexed("plot plot plot story story", "plot story acting")
    assert train[2:, :3].tolist() == [[2, 2, 1], [3, 1, 0]]  # film, good and bad by count
    assert np.array_equal(train[2:], other_train[2:])
    assert np.array_equal(test[2:], other_test[2:])
    assert other_train[:2].max() == 0  # words that no public text has
    assert not np.array_equal(own[2:], other_own[2:])  # the studies' own index is of all training texts


@pytest.mark.parametrize("zipped", [False, True])
def test_glove(tmp_path: Path, zipped: bool) -> None:
    tiny.write_imdb(tmp_path / ARCHIVE)
    lines = "".join(f"{word} " + " ".join([str(k / 2)] * 100) + "\n" for k, word in enumerate(["film", "n't", "awful"]))
    if zipped:
        with zipfile.ZipFile(tmp_path / "glove.6B.zip", "w") as archive:
            archive.writestr("glove.6B.100d.txt", lines)
    else:
        (tmp_path / "glove.6B.100d.txt").write_text(lines)
    train, _ = prepared("imdb", tmp_path)
    assert train.x[0, :8].tolist() == [0, 0, 2, 3, 0, 0, 1, 0]
    assert (train.metadata["vocabulary"], train.metadata["high"]) == ("4", "3")
    weight = read_arrays(tmp_path / "out" / "embedding.safetensors")[0]["weight"]
    assert (weight[:, 0].tolist(), weight.shape) == ([0, 0, 0.5, 1], (4, 100))
    assert not (tmp_path / "out" / "train_public_words.safetensors").exists()  # GloVe's words are public
    with pytest.raises(InputError, match="has 3 words, expected 400000"):
        prepared("imdb", tmp_path, expect_full=True, limit=1)


def write_part_of_glove(path: Path, words: list[str]) -> None:
    lines = "".join(f"{word} " + " ".join([str(k / 2)] * 50) + "\n" for k, word in enumerate(words))
    path.write_bytes(lzma.compress(lines.encode()))


def test_reviews_with_a_part_of_glove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorldp_papers.data.text.SHORT_TEST", 4)
    tiny.write_imdb(tmp_path / ARCHIVE)
    write_part_of_glove(tmp_path / PART, ["film", "\u0085", "n't", "padding", "1"])
    long, short = (prepared(name, tmp_path) for name in ("imdb_glove", "imdb_glove_short"))
    for train, test in (long, short):
        assert train.y.tolist() == [0, 1, 0, 1, 0, 1]
        assert train.x[0, :11].tolist() == [0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0]  # as many tokens as there are
        assert (train.metadata["vocabulary"], train.metadata["high"]) == ("6", "5")
        assert train.metadata["words"] == "GloVe 6B 50d"
        assert "100,000 most frequent of 400,000 words" in train.metadata["deviation"]
        assert np.array_equal(test.x, train.x[: len(test.x)])
    assert (long[0].x.shape, long[1].x.shape, long[0].x.dtype) == ((6, LENGTH), (6, LENGTH), np.int32)
    assert (short[0].x.shape, short[1].x.shape, short[1].y.tolist()) == ((6, 50), (4, 50), [0, 1, 0, 1])
    # of 'It is n't awful ! A film no . 1' and 600 times 'padding' the beginning, and the end
    assert long[0].x[2, :11].tolist() == [0, 0, 3, 0, 0, 0, 1, 0, 0, 5, 4]
    assert (short[0].x[2] == 4).all()
    weight = read_arrays(tmp_path / "out" / "embedding.safetensors")[0]["weight"]
    assert (weight[:, 0].tolist(), weight.shape) == ([0, 0, 0.5, 1, 1.5, 2], (6, 50))
    assert not (tmp_path / "out" / "train_public_words.safetensors").exists()
    assert len(prepared("imdb_glove", tmp_path, limit=1)[0].x) == 2
    with pytest.raises(InputError, match="has 5 words, expected 100000"):
        prepared("imdb_glove", tmp_path, expect_full=True, limit=1)


# Damage


def swapped(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old, new)


def of(content: bytes) -> Callable[[bytes], bytes]:
    return lambda _: content


IMAGES, LABELS, SVHN = "train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", "test_32x32.mat"
XLS = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 broken"
GREY = np.zeros((32, 32, 3, 2), np.uint8)
OUTSIDE = tiny.tar({"aclImdb/train/pos/../../../../x_1.txt": b"x"}, "w:xz")
LINK = tiny.tar({}, "w:xz", link="aclImdb/train/pos/9_9.txt")
DAMAGES: list[tuple[str, str, Callable[[bytes], bytes], str]] = [
    (
        "mnist",
        "train-images-idx3-ubyte.gz",
        lambda whole: whole[:100],
        r"images-idx3-ubyte\.gz is truncated or damaged",
    ),
    ("mnist", LABELS, of(gzip.compress(b"\0\0\x08\x01\0\0\0\x05abc")), "holds 3 values, its header says 5"),
    ("mnist", LABELS, of(gzip.compress(b"\0\0\x08\x04" + b"\xff" * 16)), "holds 0 values, its header says"),
    ("mnist", LABELS, of(gzip.compress(b"\0\0\x0d\x01\0\0\0\x00")), "not an IDX file of unsigned bytes"),
    ("mnist", LABELS, of(gzip.compress(b"")), "not an IDX file"),
    ("mnist", LABELS, of(gzip.compress(b"\0\0\x08\x03\0")), "truncated in its header"),
    (
        "mnist",
        LABELS,
        of(gzip.compress(b"\0\0\x08\x01\0\0\0\x05" + b"\x0a" * 5)),
        r"mnist must lie in 0 \.\. 9",
    ),
    (
        "cifar10",
        CIFAR,
        of(tiny.tar({"cifar-10-batches-py/data_batch_1": b""})),
        r"no member .*data_batch_1\.bin",
    ),
    ("svhn", SVHN, lambda whole: whole[:2000], r"test_32x32\.mat (is truncated|must hold)"),
    ("svhn", SVHN, of(b""), r"test_32x32\.mat (is truncated|must hold)"),
    ("svhn", SVHN, of(b"no matlab" * 50), r"test_32x32\.mat (is truncated|must hold)"),
    ("svhn", SVHN, of(mat(GREY.astype(float), [1, 2])), "must hold X, 32 x 32 x 3 x N unsigned bytes"),
    ("svhn", SVHN, of(mat(GREY, [1, 12])), r"must lie in 1 \.\. 10"),
    ("darknet", "Darknet.CSV", swapped(b"Non-Tor", b"Onion"), "has the label 'Onion', allowed are Non-Tor, NonVPN"),
    ("darknet", "Darknet.CSV", swapped(b"PM,1,", b"PM,long,"), "column 'Flow Duration' of .* must hold only numbers"),
    ("darknet", "Darknet.CSV", of(b"Flow ID,Src IP\n1,2\n"), "lacks the column 'Dst IP'"),
    ("adult", "adult.data", swapped(b"Private", b"Pirate"), "'workclass' of .* holds 'Pirate'"),
    ("adult", "adult.data", swapped(b"<=50K", b"50"), "<=50K or >50K"),
    ("adult", "adult.data", swapped(b"30,", b"thirty,"), "'age' of .* must hold only numbers"),
    ("adult", "adult.names", of(b"nothing"), "describes no columns"),
    ("credit", "creditcard.csv", swapped(b"V7", b"W7"), "lacks the column 'V7'"),
    ("credit", "creditcard.csv", swapped(b",0\n", b",2\n"), "must hold only 0 and 1"),
    ("credit", "creditcard.csv", swapped(b"Time,V1", b"Time;V1"), "lacks the column 'V1'|not the expected CSV"),
    ("credit", "creditcard.csv", of(b""), r"creditcard\.csv is not the expected CSV table"),
    (
        "ctg",
        "CTG.xls",
        of(XLS),
        r"CTG\.xls is not the expected Excel 97 workbook",
    ),
    ("imdb", "glove.6B.100d.txt", of(b"film 1 2 3\n"), r"line 1 of .* must be a word and 100 numbers"),
    ("imdb_glove", PART, of(lzma.compress(b"film 1 2\n")), r"line 1 of .* must be a word and 50 numbers"),
    ("imdb_glove", PART, of(lzma.compress(b"film " * 99)[:-9]), "is truncated or damaged"),
    ("imdb_glove", PART, of(lzma.compress(b"\xff 1\n")), "is missing or damaged"),
    ("imdb", ARCHIVE, of(OUTSIDE), "are refused"),
    ("imdb", ARCHIVE, of(LINK), "is a link or a device"),
    ("imdb", ARCHIVE, of(tiny.tar({}, "w:xz")), "has no review aclImdb/train/neg"),
]


@pytest.mark.parametrize(("name", "file", "damage", "message"), DAMAGES)
def test_damage_is_one_sentence_and_nothing_is_written(
    tmp_path: Path, name: str, file: str, damage: Callable[[bytes], bytes], message: str
) -> None:
    WRITERS[name](tmp_path)
    path = tmp_path / file
    path.write_bytes(damage(path.read_bytes() if path.exists() else b""))
    with pytest.raises(InputError, match=message):
        prepared(name, tmp_path)
    assert not (tmp_path / "out").exists()


# Archives


def write_zip(path: Path, content: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.txt", content)
    return path


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "a/../../b", "..\\b", "C:\\b"])
def test_unsafe_names_are_refused(tmp_path: Path, name: str) -> None:
    tiny.write_tar(tmp_path / "a.tar.gz", {name: b"x"})
    with pytest.raises(InputError, match=r"absolute names and names with .* are refused"):
        list(tar_members(tmp_path / "a.tar.gz", lambda name: True))


def test_what_is_truncated_missing_or_no_archive_is_named(tmp_path: Path) -> None:
    tar = tmp_path / "a.tar.xz"
    tiny.write_tar(tar, {"good": bytes(range(256)) * 40}, "w:xz")
    whole = tar.read_bytes()
    for keep in (0, 30, 120):
        tar.write_bytes(whole[:keep])
        with pytest.raises(InputError, match=r"a\.tar\.xz is truncated or damaged"):
            list(tar_members(tar, lambda name: True))
    assert list(zip_lines(write_zip(tmp_path / "a.zip", "one\ntwo\n"), "words.txt")) == ["one", "two"]
    with pytest.raises(InputError, match="has no member other"):
        list(zip_lines(tmp_path / "a.zip", "other"))
    (tmp_path / "b.zip").write_bytes(b"PK no")
    with pytest.raises(InputError, match=r"b\.zip is truncated or damaged"):
        list(zip_lines(tmp_path / "b.zip", "words.txt"))
    with pytest.raises(InputError, match=r"x\.gz is missing"):
        decompressed(tmp_path / "x.gz")


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST_UNPACKED", 1000)
    (tmp_path / "small.gz").write_bytes(gzip.compress(bytes(1000)))
    assert len(decompressed(tmp_path / "small.gz")) == 1000
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(1001)))
    (tmp_path / "bomb.xz").write_bytes(lzma.compress(bytes(1001)))
    tiny.write_tar(tmp_path / "bomb.tar.gz", {"a": bytes(600), "b": bytes(600)})
    write_zip(tmp_path / "bomb.zip", bytes(1001))
    for read in (
        lambda: decompressed(tmp_path / "bomb.gz"),
        lambda: decompressed(tmp_path / "bomb.xz"),
        lambda: list(tar_members(tmp_path / "bomb.tar.gz", lambda name: False)),
        lambda: list(zip_lines(tmp_path / "bomb.zip", "words.txt")),
    ):
        with pytest.raises(InputError, match=r"bomb.* unpacks to more than 1,000 bytes, which is refused"):
            read()


# Splits


@pytest.mark.parametrize(
    ("name", "shape", "dtype"), [("digits", (8, 8), np.uint8), ("breast_cancer", (30,), np.float32)]
)
def test_embedded_sets(tmp_path: Path, name: str, shape: tuple[int, ...], dtype: type) -> None:
    prepare(name, None, tmp_path)
    train, test = (load(tmp_path / f"{split}.safetensors") for split in ("train", "test"))
    assert (train.x.shape[1:], train.x.dtype) == (shape, dtype)
    share = np.bincount(train.y) / (np.bincount(train.y) + np.bincount(test.y))
    np.testing.assert_allclose(share, 0.8, atol=0.02)
    keys = {"dataset", "kind", "classes", "low", "high", "source", "deviation", "split"}
    assert keys <= train.metadata.keys()
    assert (train.metadata["split"], test.metadata["split"]) == ("train", "test")
    prepare(name, None, tmp_path / "other", seed=1)
    assert (load(tmp_path / "other" / "test.safetensors").y != test.y).any()


def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    tiny.write_credit(tmp_path / "creditcard.csv")
    imports = "from pathlib import Path; from tensorldp_papers.data.prepare import prepare"
    code = f"{imports}; prepare('credit', Path(), Path('there'), expect_full=False)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    prepare("credit", tmp_path, tmp_path / "here", expect_full=False)
    for split in ("train", "test"):
        assert len({(tmp_path / run / f"{split}.safetensors").read_bytes() for run in ("here", "there")}) == 1


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mnist needs the folder of its files"):
        prepare("mnist", None, tmp_path)
    with pytest.raises(InputError, match="none with the files of mnist does not exist"):
        prepare("mnist", tmp_path / "none", tmp_path)
    with pytest.raises(InputError, match=r"lacks files of svhn, expected train_32x32\.mat, test_32x32\.mat"):
        prepare("svhn", tmp_path, tmp_path)


def test_a_file_that_changed_after_it_was_fetched(tmp_path: Path) -> None:
    tiny.write_credit(tmp_path / "mirror" / "credit" / "creditcard.csv")
    fetch("credit", tmp_path / "src", mirror=tmp_path / "mirror")
    prepare("credit", tmp_path / "src", tmp_path / "out", expect_full=False)
    assert load(tmp_path / "out" / "train.safetensors").metadata["source"] == "publisher"
    with pytest.raises(InputError, match="holds the files of credit, not of darknet"):
        prepare("darknet", tmp_path / "src", tmp_path / "out")
    tiny.write_credit(tmp_path / "src" / "creditcard.csv", 100)
    with pytest.raises(InputError, match=r"creditcard\.csv has changed since it was fetched"):
        prepare("credit", tmp_path / "src", tmp_path / "out", expect_full=False)
    (tmp_path / "src" / "creditcard.csv").unlink()
    with pytest.raises(InputError, match=r"creditcard\.csv cannot be read"):
        prepare("credit", tmp_path / "src", tmp_path / "out", expect_full=False)


MADE_UP = Dataset("made_up", "tabular", 2, (3,), 0, 1, (4, 4), "https://example.org", "", embedded=True)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (np.zeros((4, 3)), [0.0, 1.0, 0.5, 1.0], "whole numbers, found 0.5"),
        (np.zeros((4, 3)), [0.0, 1.0, np.nan, 1.0], "whole numbers, found nan"),
        (np.zeros((4, 3)), ["0", "1", "0", "1"], "must be numbers"),
        (np.zeros((4, 3)), [0, 1], "a record for each label"),
        (np.zeros((4, 3)), [[0, 1, 0, 1]], "a record for each label"),
        (np.zeros((4, 3), complex), [0, 1, 0, 1], "of complex128"),
        (np.zeros((4, 3), object), [0, 1, 0, 1], "of object"),
    ],
)
def test_what_a_parser_returns_is_checked_before_it_is_written(tmp_path: Path, x: Any, y: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        write_splits(MADE_UP, Parsed((x, np.array(y)), (x, np.array(y))), "here", tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("low", "high"), [(1_700_000_000, 1_700_000_100), (52.3, 52.7), (0, 1e300), (0, 1e-44)])
def test_a_range_that_float32_does_not_resolve_is_refused_for_a_data_set_with_code(low: float, high: float) -> None:
    with pytest.raises(InputError, match=r"made_up has the range .* scale them in float64"):
        replace(MADE_UP, low=low, high=high)
