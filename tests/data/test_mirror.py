"""The real files, where a mirror holds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny import Split, load

from tensorldp_papers.data.fetch import fetch, get_weights_file
from tensorldp_papers.data.prepare import prepare

pytestmark = [pytest.mark.mirror, pytest.mark.slow]


def prepared(name: str, mirror: Path, folder: Path, limit: int | None = None) -> tuple[Split, Split]:
    fetch(name, folder / "src", mirror=mirror, offline=True)
    prepare(name, folder / "src", folder / "out", limit=limit)
    return load(folder / "out" / "train.safetensors"), load(folder / "out" / "test.safetensors")


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_mnist(mirror: Path, tmp_path: Path, name: str) -> None:
    train, test = prepared(name, mirror, tmp_path)
    assert (train.x.shape, test.x.shape) == ((60000, 28, 28), (10000, 28, 28))
    assert (train.x.min(), train.x.max()) == (0, 255)
    if name == "mnist":
        assert np.bincount(train.y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
        assert train.y[:5].tolist() == [5, 0, 4, 1, 9]
    else:
        assert np.bincount(train.y).tolist() == [6000] * 10


def test_cifar10(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("cifar10", mirror, tmp_path)
    assert (train.x.shape, test.x.shape) == ((50000, 32, 32, 3), (10000, 32, 32, 3))
    assert np.bincount(train.y).tolist() == [5000] * 10
    assert np.bincount(test.y).tolist() == [1000] * 10
    # the publisher's first ten labels, and the channel means that everybody standardises with
    assert train.y[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    np.testing.assert_allclose(train.x.mean(axis=(0, 1, 2)) / 255, [0.4914, 0.4822, 0.4465], atol=2e-4)


def test_adult(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("adult", mirror, tmp_path)
    assert (train.x.shape, test.x.shape) == ((32561, 105), (16281, 105))
    assert (train.y.sum(), test.y.sum()) == (7841, 3846)
    np.testing.assert_allclose(train.x[:, :6].mean(axis=0, dtype=np.float64), 0.5, rtol=1e-6)
    assert set(np.unique(train.x[:, 6:])) == {0, 1}


def test_ctg(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("ctg", mirror, tmp_path)
    assert (train.x.shape, test.x.shape) == ((1700, 21), (426, 21))
    assert (np.bincount(train.y) + np.bincount(test.y)).tolist() == [1655, 295, 176]


def test_imdb(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("imdb", mirror, tmp_path, limit=200)
    assert train.x.shape == test.x.shape == (400, 500)
    assert np.bincount(train.y).tolist() == [200, 200]
    # the mean review has some 230 words, most of them cut or padded to 500
    assert 180 < (train.x > 0).sum(axis=1).mean() < 300
    vocabulary = int(train.metadata["vocabulary"])
    assert 5000 < vocabulary <= 20001
    assert test.x.max() < vocabulary


def test_mobilenet_weights(mirror: Path, tmp_path: Path) -> None:
    fetch("mobilenet_v2", tmp_path, mirror=mirror, offline=True)
    path = get_weights_file(tmp_path / "source.json")
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["features.0.0.weight"].shape == (32, 3, 3, 3)
