"""Records that a data set holds more than once are counted whenever it is prepared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tensorldp.files import read_json
from tensorldp_papers.data import catalogue
from tensorldp_papers.data.catalogue import Copies
from tensorldp_papers.data.copies import count_copies, count_public
from tensorldp_papers.data.own import OwnDataset
from tensorldp_papers.data.own_files import prepare_own
from tensorldp_papers.data.prepare import prepare


def records(*values: float, dtype: type = np.float32) -> Any:
    """One record of two rows for each value."""
    return np.repeat(np.array(values, dtype), 2).reshape(-1, 2, 1)


def test_copies_are_equal_in_every_element_and_those_with_another_label_are_told_apart() -> None:
    train = records(0.0, 1.0, 1.0, 1.0, 2.0, 3.0), np.array([0, 0, 0, 1, 0, 0])
    # -0 equals 0; 1 stands in training with both labels, 2 only with another; 4 is new
    test = records(-0.0, 1.0, 2.0, 2.0, 4.0), np.array([0, 1, 1, 0, 0])
    assert count_copies(train, test) == Copies(seen=4, relabelled=1, repeated=2)
    near = np.nextafter(records(3.0), np.float32(4.0))
    near[0, 1] = 3.0  # one of two elements is the next number
    assert count_copies(train, (near, np.array([0]))) == Copies(0, 0, 2)
    assert count_copies(train, (records(3, dtype=np.uint8), np.array([0]))) == Copies(1, 0, 2)


def test_private_and_test_records_that_equal_public_ones_are_counted() -> None:
    train = records(1.0, 2.0, 2.0, 3.0, 2.0, 1.0, 5.0)  # the last three are public
    assert count_public(train, records(1.0, 5.0, 5.0, 3.0), 3) == {"private": 3, "test": 3}


@pytest.mark.parametrize("name", ["digits", "breast_cancer"])
def test_the_embedded_sets_have_none(tmp_path: Path, name: str) -> None:
    assert prepare(name, None, tmp_path) == catalogue.get(name).copies == Copies(0, 0, 0)
    assert read_json(tmp_path / "copies.json") == {"seen": 0, "relabelled": 0, "repeated": 0}


def planted(folder: Path, suffix: str) -> Path:
    """Forty records in one of the ways in which a user keeps them: twenty of each class, all the same in a class."""
    label = np.arange(40) % 2
    x, words = np.stack([label, 5 * label, 7 + label], axis=1), np.array(["elm", "oak"])[label]
    path = folder / f"trees{suffix}"
    if suffix == ".npz":
        np.savez(path, x=x, tree=words)
    elif suffix:
        table = pd.DataFrame(x, columns=list("abc")).assign(tree=words)
        table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, index=False)
    else:
        for k, (row, word) in enumerate(zip(x, words, strict=True)):
            (path / word).mkdir(parents=True, exist_ok=True)
            Image.fromarray(row[None].astype(np.uint8)).save(path / word / f"{k}.png")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ""])
def test_copies_in_a_users_own_data_are_counted_and_warned_of(tmp_path: Path, suffix: str) -> None:
    path = planted(tmp_path, suffix)
    entry = OwnDataset(path=str(path), range=[0.0, 16.0], label="tree" if suffix else "", test=0.25)
    copies, (warning,) = prepare_own("mine", entry, tmp_path / "out")
    assert copies == Copies(seen=10, relabelled=0, repeated=28)  # of 30 training records two are different
    assert "own_datasets.mine: test records that are also in training: 10 (" in warning
    assert read_json(tmp_path / "out" / "copies.json") == {"seen": 10, "relabelled": 0, "repeated": 28}
