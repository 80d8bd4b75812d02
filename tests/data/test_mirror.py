"""The real files, where a mirror holds them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tiny import Split, load

from tensorldp.files import read_arrays
from tensorldp_papers.data import catalogue
from tensorldp_papers.data.catalogue import NO_COPIES
from tensorldp_papers.data.copies import count_public
from tensorldp_papers.data.fetch import fetch, get_weights_file
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.data.text import PUBLIC_TEXTS

pytestmark = [pytest.mark.mirror, pytest.mark.slow]


@pytest.fixture
def mirror() -> Path:
    """The folder of real data files, if there is one."""
    beside = Path(__file__).parents[2].parent / "shared" / "data"
    for folder in filter(None, [os.environ.get("TENSORLDP_MIRROR"), str(beside)]):
        if Path(folder).is_dir():
            return Path(folder)
    pytest.skip("no mirror folder: set TENSORLDP_MIRROR to a folder with the data sets' files")


def prepared(name: str, mirror: Path, folder: Path, limit: int | None = None) -> tuple[Split, Split]:
    fetch(name, folder / "src", mirror=mirror, offline=True)
    copies = prepare(name, folder / "src", folder / "out", limit=limit)
    assert limit or copies == catalogue.get(name).copies
    return load(folder / "out" / "train.safetensors"), load(folder / "out" / "test.safetensors")


MNIST = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


@pytest.mark.parametrize(
    ("name", "shapes", "counts"),
    [
        ("mnist", ((60000, 28, 28), (10000, 28, 28)), MNIST),
        ("fashion_mnist", ((60000, 28, 28), (10000, 28, 28)), [6000] * 10),
        pytest.param("cifar10", ((50000, 32, 32, 3), (10000, 32, 32, 3)), [5000] * 10, marks=pytest.mark.weekly),
        ("adult", ((32561, 105), (16281, 105)), [24720, 7841]),
        ("ctg", ((1700, 21), (426, 21)), [1324, 236, 140]),
    ],
)
def test_the_real_files_are_what_the_papers_had(
    mirror: Path, tmp_path: Path, name: str, shapes: tuple[tuple[int, ...], ...], counts: list[int]
) -> None:
    train, test = prepared(name, mirror, tmp_path)
    assert (train.x.shape, test.x.shape) == shapes
    np.testing.assert_allclose(np.bincount(train.y), counts, atol=1 if name == "ctg" else 0)
    if name == "mnist":
        assert (train.x.min(), train.x.max(), train.y[:5].tolist()) == (0, 255, [5, 0, 4, 1, 9])
    elif name == "cifar10":
        # the publisher's first ten labels, and the channel means that everybody standardises with
        assert train.y[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
        np.testing.assert_allclose(train.x[::10].mean(axis=(0, 1, 2)) / 255, [0.4914, 0.4822, 0.4465], atol=5e-3)
    elif name == "adult":
        np.testing.assert_allclose(train.x[:, :6].mean(axis=0, dtype=np.float64), 0.5, rtol=1e-6)
        assert set(np.unique(train.x[:, 6:])) == {0, 1}
        assert test.y.sum() == 3846
    elif name == "ctg":
        assert (np.bincount(train.y) + np.bincount(test.y)).tolist() == [1655, 295, 176]


@pytest.mark.parametrize("name", ["darknet_5k", "creditcard_55k"])  # as `prepared` finds of the others above
def test_the_catalogue_names_the_copies_that_preparing_counts(mirror: Path, tmp_path: Path, name: str) -> None:
    prepared(name, mirror, tmp_path)
    assert catalogue.get(name).copies != NO_COPIES


@pytest.mark.weekly
def test_some_private_and_test_reviews_of_imdb_are_public_ones(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("imdb", mirror, tmp_path)  # its 123 test and 99 training copies too
    assert count_public(train.x, test.x, PUBLIC_TEXTS) == {"private": 20, "test": 40}


@pytest.mark.weekly
def test_imdb(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("imdb", mirror, tmp_path, limit=200)
    assert train.x.shape == test.x.shape == (400, 500)
    assert np.bincount(train.y).tolist() == [200, 200]
    # the mean review has some 230 words, most of them cut or padded to 500
    assert 180 < (train.x > 0).sum(axis=1).mean() < 300
    assert 5000 < int(train.metadata["vocabulary"]) <= 20001
    assert test.x.max() < int(train.metadata["vocabulary"])


@pytest.mark.weekly
def test_imdb_with_a_part_of_glove(mirror: Path, tmp_path: Path) -> None:
    train, test = prepared("imdb_glove_short", mirror, tmp_path, limit=200)
    assert train.x.shape == test.x.shape == (400, 50)
    # nearly all of the reviews have fifty tokens, and GloVe nearly all of their words
    assert (train.x > 0).mean() > 0.9
    assert 0 < test.x.max() <= 100_000
    weight = read_arrays(tmp_path / "out" / "embedding.safetensors")[0]["weight"]
    assert weight.shape == (100_001, 50)
    np.testing.assert_allclose(weight[1, :2], [0.418, 0.24968])  # of 'the', the first line


def test_mobilenet_weights(mirror: Path, tmp_path: Path) -> None:
    fetch("mobilenet_v2", tmp_path, mirror=mirror, offline=True)
    with np.load(get_weights_file(tmp_path / "source.json"), allow_pickle=False) as arrays:
        assert arrays["features.0.0.weight"].shape == (32, 3, 3, 3)
