from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from tiny import load

from tensorldp.errors import InputError
from tensorldp_papers.data.catalogue import Dataset
from tensorldp_papers.data.fetch import fetch
from tensorldp_papers.data.prepare import prepare, write_splits
from tensorldp_papers.data.split import Parsed


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
