"""A user's own files: what becomes of them, and the sentence that each mistake gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tiny import load

from tensorldp.config.settings import parse_settings
from tensorldp.data.own import check_own
from tensorldp.data.own_files import prepare_own
from tensorldp.errors import InputError
from tensorldp.runtime.files import write_arrays

RNG = np.random.default_rng(5)
X = RNG.integers(0, 17, (40, 4)).astype(float)
Y = np.array(["oak", "elm"])[np.arange(40) % 2]
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(tree=Y)


def prepared(folder: Path, path: str, **entry: Any) -> Any:
    """Both splits of an entry, as config.yaml would state it."""
    whole = {"path": str(folder / path), "range": [0, 16], **entry}
    settings = parse_settings({"studies": ["tldp_type1"], "own_datasets": {"mine": whole}})
    check_own(settings.own_datasets, ["digits"])
    prepare_own("mine", settings.own_datasets["mine"], folder / "out")
    return [load(folder / "out" / f"{split}.safetensors") for split in ("train", "test")]


def put(folder: Path, table: pd.DataFrame = TABLE, name: str = "t.csv") -> Path:
    table.to_csv(folder / name, index=False)
    return folder


def pictures(folder: Path, sizes: tuple[int, int] = (6, 6), modes: str = "L") -> Path:
    for k, tree in enumerate(("elm", "oak")):
        (folder / "trees" / tree).mkdir(parents=True)
        for number in range(6):
            grey = np.full((6, sizes[k]), 40 * k + number, np.uint8)
            Image.fromarray(grey).convert(modes).save(folder / "trees" / tree / f"{number}.png")
    return folder


def rows(splits: Any) -> list[tuple[Any, ...]]:
    """Records with their classes, in an order of their own."""
    return sorted((int(y), *x.reshape(-1).tolist()) for split in splits for x, y in zip(split.x, split.y, strict=True))


def test_a_table_keeps_its_records_and_its_classes_in_sorted_order(tmp_path: Path) -> None:
    train, test = prepared(put(tmp_path), "t.csv", label="tree", test=0.25, seed=3)
    assert (train.x.dtype, len(train.x), len(test.x)) == (np.float32, 30, 10)
    assert rows([train, test]) == sorted((int(y == "oak"), *x.tolist()) for x, y in zip(X, Y, strict=True))
    told = train.metadata
    assert (told["kind"], told["low"], told["high"], told["class_names"]) == (
        "tabular",
        "0.0",
        "16.0",
        '["elm", "oak"]',
    )
    assert sorted(np.bincount(test.y).tolist()) == [5, 5]


def test_every_kind_of_file_holds_the_same_records(tmp_path: Path) -> None:
    expected = rows(prepared(put(tmp_path), "t.csv", label="tree", shape=[2, 2]))
    TABLE.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", x=X.reshape(40, 2, 2), tree=Y)
    write_arrays(tmp_path / "t.safetensors", {"x": X.reshape(40, 2, 2), "tree": (Y == "oak").astype(np.int64)})
    assert rows(prepared(tmp_path, "t.parquet", label="tree", shape=[2, 2])) == expected
    for name in ("t.npz", "t.safetensors"):
        splits = prepared(tmp_path, name, label="tree")
        assert rows(splits) == expected
        assert splits[0].metadata["kind"] == "image"


@pytest.mark.parametrize(("mode", "shape"), [("L", (6, 6)), ("RGB", (6, 6, 3))])
def test_a_folder_of_images_has_the_classes_of_its_folders(tmp_path: Path, mode: str, shape: tuple[int, ...]) -> None:
    train, test = prepared(pictures(tmp_path, modes=mode), "trees", range=[0, 255], test=0.34)
    assert train.x.dtype == np.uint8
    assert train.x.shape[1:] == shape
    assert sorted((int(y), int(x.flat[0])) for part in (train, test) for x, y in zip(part.x, part.y, strict=True)) == [
        (k, 40 * k + number) for k in range(2) for number in range(6)
    ]


def test_columns_with_ranges_of_their_own_are_scaled_to_0_and_1(tmp_path: Path) -> None:
    ranges = {"a": [0, 16], "b": [-16, 16]}
    splits = prepared(put(tmp_path), "t.csv", label="tree", values=["a", "b"], range=ranges)
    assert (splits[0].metadata["low"], splits[0].metadata["high"]) == ("0.0", "1.0")
    expected = sorted((int(y == "oak"), x[0] / 16, (x[1] + 16) / 32) for x, y in zip(X, Y, strict=True))
    np.testing.assert_allclose(rows(splits), expected, atol=1e-7)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_split(tmp_path: Path) -> None:
    found = []
    for seed in (0, 0, 1):
        prepared(put(tmp_path), "t.csv", label="tree", seed=seed)
        found.append((tmp_path / "out" / "test.safetensors").read_bytes())
    assert found[0] == found[1]
    assert found[0] != found[2]


def broken(column: str, value: object) -> pd.DataFrame:
    """The table with another value in row 8."""
    return TABLE.assign(**{column: [*TABLE[column][:7], value, *TABLE[column][8:]]})


@pytest.mark.parametrize(
    ("table", "entry", "words"),
    [
        (TABLE, {"label": "tre"}, ["own_datasets.mine.label", "'tre'", "did you mean 'tree'"]),
        (TABLE, {}, ["own_datasets.mine.label is missing"]),
        (TABLE, {"label": "tree", "values": ["e"]}, ["own_datasets.mine.values", "'e'", "a, b, c, d"]),
        (TABLE, {"label": "a"}, ["'tree'", "must hold numbers"]),
        (TABLE, {"label": "tree", "range": [0, 10]}, ["own_datasets.mine.range = [0, 10] does not hold 1"]),
        (TABLE, {"label": "tree", "range": {"a": [0, 16]}}, ["own_datasets.mine.range", "'b'"]),
        (TABLE, {"label": "tree", "range": "auto"}, ["range", "'auto'", "without looking at the data"]),
        (TABLE, {"label": "tree", "range": [16, 0]}, ["range", "[16, 0]", "the lower first"]),
        (TABLE, {"label": "tree", "range": [0, np.inf]}, ["range", "inf", "two finite numbers"]),
        (TABLE, {"label": "tree", "shape": [3, 3]}, ["own_datasets.mine.shape = [3, 3] has 9", "4"]),
        (TABLE, {"label": "tree", "test": 1.5}, ["own_datasets.mine.test = 1.5", "less than 1"]),
        (TABLE, {"label": "tree", "sed": 1}, ["'sed'", "did you mean"]),
        (TABLE.assign(tree="oak"), {"label": "tree"}, ["one class alone, 'oak'"]),
        (broken("tree", None), {"label": "tree"}, ["the label of record 8 is missing"]),
        (broken("tree", "ash"), {"label": "tree"}, ["one record alone", "'ash'"]),
        (broken("b", np.nan), {"label": "tree"}, ["row 8, column 'b'", "nan"]),
        (broken("b", np.inf), {"label": "tree"}, ["row 8, column 'b'", "inf"]),
        (TABLE.assign(tree=np.arange(40) / 4), {"label": "tree"}, ["whole numbers or words", "0.25"]),
    ],
)
def test_a_mistake_is_one_sentence(
    tmp_path: Path, table: pd.DataFrame, entry: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        prepared(put(tmp_path, table), "t.csv", **entry)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_a_range_must_be_stated() -> None:
    with pytest.raises(
        InputError, match=r"own_datasets.mine .* range is missing, .* known without looking at the data"
    ):
        parse_settings({"studies": ["tldp_type1"], "own_datasets": {"mine": {"path": "t.csv", "label": "y"}}})


def test_mistakes_around_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", x=X, y=X, tree=Y)
    (tmp_path / "damaged.npz").write_bytes(b"no zip")
    (tmp_path / "t.txt").write_text("a")
    (tmp_path / "empty").mkdir()
    pictures(tmp_path, sizes=(6, 5))
    for path, entry, words in (
        ("nowhere.csv", {"label": "y"}, ["own_datasets.mine.path", "no such file or folder"]),
        ("t.txt", {"label": "y"}, ["own_datasets.mine.path", ".csv, .parquet, .npz, .safetensors"]),
        ("t.npz", {"label": "tree"}, ["own_datasets.mine.values must name one array", "tree, x, y"]),
        ("damaged.npz", {"label": "tree"}, ["not an NPZ file"]),
        ("empty", {}, ["one folder for each class"]),
        ("trees", {"label": "tree"}, ["own_datasets.mine.label", "not for a folder"]),
        ("trees", {"range": [0, 255]}, ["one size", "6 x 6", "5 x 6"]),
    ):
        with pytest.raises(InputError) as caught:
            prepared(tmp_path, path, **entry)
        assert all(word in str(caught.value) for word in words), str(caught.value)


def test_the_name_of_a_known_data_set_is_taken(tmp_path: Path) -> None:
    put(tmp_path)
    entry = {"path": str(tmp_path / "t.csv"), "label": "tree", "range": [0, 16]}
    for name, words in (("digits", "already"), ("My Trees", "small letters")):
        settings = parse_settings({"studies": ["tldp_type1"], "own_datasets": {name: entry}})
        with pytest.raises(InputError, match=words):
            check_own(settings.own_datasets, ["digits"])
