from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
import tiny
from scipy.io import savemat
from tiny import load

from tensorldp.errors import InputError
from tensorldp_papers.data.images import read_idx
from tensorldp_papers.data.prepare import prepare


def test_idx_files(tmp_path: Path) -> None:
    tiny.write_mnist(tmp_path / "src")
    prepare("mnist", tmp_path / "src", tmp_path / "out", expect_full=False)
    train, test = (load(tmp_path / "out" / f"{split}.safetensors") for split in ("train", "test"))
    assert (train.x.shape, train.x.dtype, test.x.shape) == ((12, 28, 28), np.uint8, (5, 28, 28))
    assert (train.y.tolist(), train.y.dtype) == ([*range(10), 0, 1], np.int64)
    assert train.metadata["dataset"] == "mnist"
    assert (train.metadata["low"], train.metadata["high"]) == ("0", "255")
    with pytest.raises(InputError, match="12 training and 5 test records, expected 60000 and 10000"):
        prepare("mnist", tmp_path / "src", tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0\0\x08\x01\0\0\0\x05abc", "holds 3 values, its header says 5"),
        (b"\0\0\x08\x04" + b"\xff" * 16, "holds 0 values, its header says"),
        (b"\0\0\x0d\x01\0\0\0\x00", "not an IDX file of unsigned bytes"),
        (b"", "not an IDX file"),
        (b"\0\0\x08\x03\0", "truncated in its header"),
    ],
)
def test_damaged_idx(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x-idx.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match=message):
        read_idx(path)


def test_truncated_gzip(tmp_path: Path) -> None:
    tiny.write_mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte\.gz is truncated or damaged"):
        prepare("mnist", tmp_path, tmp_path / "out", expect_full=False)


def test_cifar_archive(tmp_path: Path) -> None:
    rows = tiny.write_cifar(tmp_path / "src" / "cifar-10-binary.tar.gz")
    prepare("cifar10", tmp_path / "src", tmp_path / "out", expect_full=False)
    train, test = (load(tmp_path / "out" / f"{split}.safetensors") for split in ("train", "test"))
    assert (train.x.shape, test.x.shape) == ((20, 32, 32, 3), (4, 32, 32, 3))
    # the second image of the third batch: red, green and blue planes in turn
    assert (train.x[9, 5, 7] == rows[2, 1, 1:].reshape(3, 32, 32)[:, 5, 7]).all()
    assert test.y.tolist() == rows[5, :, 0].tolist()


def test_cifar_recoding_agrees_with_the_archive(tmp_path: Path) -> None:
    rows = tiny.write_cifar(tmp_path / "archive" / "cifar-10-binary.tar.gz")
    (tmp_path / "raw").mkdir()
    for batch, part in enumerate(rows, start=1):
        pixels = part[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).tobytes()
        stem = "test_batch" if batch == 6 else f"data_batch_{batch}"
        (tmp_path / "raw" / f"{stem}_images_u8_10000x32x32x3.bin.xz").write_bytes(lzma.compress(pixels))
    (tmp_path / "raw" / "train_labels_u8_50000.bin").write_bytes(rows[:5, :, 0].tobytes())
    (tmp_path / "raw" / "test_labels_u8_10000.bin").write_bytes(rows[5, :, 0].tobytes())
    for folder in ("archive", "raw"):
        prepare("cifar10", tmp_path / folder, tmp_path / folder / "out", expect_full=False)
    for split in ("train", "test"):
        one, other = (load(tmp_path / folder / "out" / f"{split}.safetensors") for folder in ("archive", "raw"))
        assert (one.x == other.x).all()
        assert (one.y == other.y).all()
    assert "JPEG" in other.metadata["deviation"]
    (tmp_path / "raw" / "test_labels_u8_10000.bin").write_bytes(b"\0")
    with pytest.raises(InputError, match="bytes for 1 labels"):
        prepare("cifar10", tmp_path / "raw", tmp_path / "out", expect_full=False)


def test_cifar_archive_without_a_batch(tmp_path: Path) -> None:
    tiny.write_tar(tmp_path / "cifar-10-binary.tar.gz", {"cifar-10-batches-py/data_batch_1": b"pickle"})
    with pytest.raises(InputError, match=r"has no member cifar-10-batches-bin/data_batch_1\.bin"):
        prepare("cifar10", tmp_path, tmp_path / "out")


def write_svhn(folder: Path, train: int = 11, test: int = 3) -> None:
    for split, count in (("train", train), ("test", test)):
        pixels = np.random.default_rng(count).integers(0, 256, (32, 32, 3, count), np.uint8)
        labels = (np.arange(count)[:, None] % 10 + 1).astype(np.uint8)
        savemat(folder / f"{split}_32x32.mat", {"X": pixels, "y": labels})


def test_svhn(tmp_path: Path) -> None:
    write_svhn(tmp_path)
    prepare("svhn", tmp_path, tmp_path / "out", expect_full=False)
    train = load(tmp_path / "out" / "train.safetensors")
    assert train.x.shape == (11, 32, 32, 3)
    assert train.y.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    expected = np.random.default_rng(11).integers(0, 256, (32, 32, 3, 11), np.uint8)
    assert (train.x[4] == expected[:, :, :, 4]).all()


def test_damaged_svhn(tmp_path: Path) -> None:
    write_svhn(tmp_path)
    path = tmp_path / "test_32x32.mat"
    whole = path.read_bytes()
    for content in (whole[:2000], b"", b"no matlab" * 50):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"test_32x32\.mat (is truncated|must hold)"):
            prepare("svhn", tmp_path, tmp_path / "out", expect_full=False)
    savemat(path, {"X": np.zeros((32, 32, 3, 2)), "y": np.array([[1], [2]])})
    with pytest.raises(InputError, match="must hold X, 32 x 32 x 3 x N unsigned bytes"):
        prepare("svhn", tmp_path, tmp_path / "out", expect_full=False)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.array([[1], [12]])})
    with pytest.raises(InputError, match=r"must lie in 1 \.\. 10"):
        prepare("svhn", tmp_path, tmp_path / "out", expect_full=False)
