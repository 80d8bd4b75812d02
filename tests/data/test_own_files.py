"""A user's own files: what becomes of them, and the sentence that each mistake gives."""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import shutil
import struct
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image, ImageOps
from safetensors.torch import save_file
from tiny import load

from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp_papers.data.own import check_own
from tensorldp_papers.data.own_files import _picture, prepare_own
from tensorldp_papers.run.cli import run
from tensorldp_papers.run.settings import parse_settings

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
        (TABLE.assign(tree="oak"), {"label": "tree"}, ["only one class, 'oak'"]),
        (broken("tree", None), {"label": "tree"}, ["the label of row 8 is missing"]),
        (broken("tree", "ash"), {"label": "tree"}, ["only one record", "'ash'"]),
        (broken("b", np.nan), {"label": "tree"}, ["row 8, column 'b'", "is empty"]),
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
        ("n" * 300 + ".csv", {"label": "y"}, ["own_datasets.mine.path", "no such file or folder"]),
        ("t.npz", {"label": "tree", "values": ["x"], "test": 0.01}, ["own_datasets.mine.test = 0.01"]),
        ("nowhere.csv", {"label": "y"}, ["own_datasets.mine.path", "no such file or folder"]),
        ("t.txt", {"label": "y"}, ["own_datasets.mine.path", ".csv, .parquet, .npz, .safetensors"]),
        ("t.npz", {"label": "tree"}, ["own_datasets.mine.values must name one array", "tree, x, y"]),
        ("damaged.npz", {"label": "tree"}, ["not an NPZ file"]),
        ("empty", {}, ["one folder for each class"]),
        ("trees", {"label": "tree"}, ["own_datasets.mine.label", "does not apply to a folder"]),
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


def refusal(folder: Path, path: str, **entry: Any) -> str:
    """The sentence that an entry ends with."""
    with pytest.raises(InputError) as caught:
        prepared(folder, path, **entry)
    message = str(caught.value)
    assert "\n" not in message
    return message


def warned(folder: Path, path: str, **entry: Any) -> list[str]:
    """What an entry that succeeds warns of."""
    whole = parse_settings(
        {"studies": ["x"], "own_datasets": {"mine": {"path": str(folder / path), "range": [0, 16], **entry}}}
    )
    return prepare_own("mine", whole.own_datasets["mine"], folder / "out")


# Numbers


@pytest.mark.parametrize(
    ("low", "step"),
    [
        (1_700_000_000, 1.0),  # seconds of Unix time
        (2**31 - 150, 1.0),
        (2**24, 1.0),
        (2**52, 1.0),
        (52.3, 1e-6),  # degrees, a tenth of a metre apart
        (-122.5, 1e-6),
        (-(2.0**40), 0.25),
    ],
)
def test_values_far_from_0_are_as_different_as_they_were(tmp_path: Path, low: float, step: float) -> None:
    values = np.float64(low) + step * np.arange(100)
    ranges = [low, low + 100 * step]
    table = pd.DataFrame({"a": values, "b": values[::-1], "tree": Y[np.arange(100) % 40]})
    table.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", x=table[["a", "b"]].to_numpy(), tree=table["tree"].to_numpy("U"))
    for path in ("t.parquet", "t.npz"):
        splits = prepared(tmp_path, path, label="tree", range=ranges)
        x = np.concatenate([part.x for part in splits])
        assert [len(np.unique(column)) for column in x.T] == [100, 100]
        np.testing.assert_allclose(np.sort(x[:, 0]), values - low, rtol=1e-6)
        told = splits[0].metadata
        assert (float(told["low"]), float(told["high"])) == (0.0, ranges[1] - low)
        assert "elements counted from" in told["deviation"]
        assert x.min() >= 0.0
    both = {"a": ranges, "b": ranges}
    scaled = np.concatenate([part.x for part in prepared(tmp_path, "t.parquet", label="tree", range=both)])
    assert [len(np.unique(column)) for column in scaled.T] == [100, 100]


def test_a_range_that_float32_resolves_is_kept_as_stated(tmp_path: Path) -> None:
    for ends in ([0, 16], [-1, 16], [-180, 180], [-1000, 40]):
        told = prepared(put(tmp_path), "t.csv", label="tree", range=ends)[0].metadata
        assert [float(told["low"]), float(told["high"])] == ends
        assert "counted" not in told["deviation"]


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        (1_700_000_000 + np.arange(40.0), [0, 2e9]),
        (2**31 - 50 + np.arange(40), [-(2**31), 2**31]),
        (2**24 + np.arange(40), [0, 2**25]),
        (13.4 + 1e-7 * np.arange(40), [-180, 180]),
        (np.append(1_700_000_000 + np.arange(39.0) / 2, 0.0), [0, 2e9]),  # but for one
    ],
)
def test_values_that_float32_makes_one_on_the_stated_range_are_refused(
    tmp_path: Path, values: Any, ends: list[float]
) -> None:
    TABLE.assign(a=values).to_parquet(tmp_path / "t.parquet")
    message = refusal(tmp_path, "t.parquet", label="tree", values=["a"], range={"a": ends})
    assert all(word in message for word in ("column 'a'", "one number in float32")), message
    np.savez(tmp_path / "t.npz", x=np.asarray(values).reshape(40, 1), tree=Y)
    assert "element (0,)" in refusal(tmp_path, "t.npz", label="tree", range=ends)
    TABLE.assign(a=1e-20 * np.arange(1, 41)).to_parquet(tmp_path / "t.parquet")
    assert "column 'a'" in refusal(tmp_path, "t.parquet", label="tree", values=["a"], range={"a": [0, 1e30]})


def test_whole_numbers_that_merge_here_and_there_give_a_warning(tmp_path: Path) -> None:
    values = [*np.arange(38) * 1_000_000, 2**25, 2**25 + 1]
    put(tmp_path, TABLE.assign(a=values))
    found = warned(tmp_path, "t.csv", label="tree", values=["a", "b"], range=[0, 1e8])
    assert len(found) == 1
    assert "33554432 and 33554433 in column 'a'" in found[0]
    assert warned(tmp_path, "t.csv", label="tree", values=["b"]) == []


def test_real_numbers_may_be_rounded_to_float32(tmp_path: Path) -> None:
    close = np.append(np.linspace(0, 1, 39), np.nextafter(1.0, 0.0))  # two of them become one
    put(tmp_path, TABLE.assign(a=close))
    assert warned(tmp_path, "t.csv", label="tree", values=["a", "b"]) == []


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, -(2**60) - 1])
def test_whole_numbers_that_float64_does_not_hold_are_refused(tmp_path: Path, value: int) -> None:
    values = [*range(39), value]
    ends = [-(2.0**64), 2.0**64]
    put(tmp_path, TABLE.assign(a=values))
    for path, words in (("t.csv", "row 40, column 'a'"), ("t.npz", "record 39, element (0,)")):
        np.savez(tmp_path / "t.npz", x=np.array(values)[:, None], tree=Y)
        message = refusal(tmp_path, path, label="tree", range=ends)
        assert words in message
        assert str(value) in message
    for digits in (30, 400):
        put(tmp_path, TABLE.assign(a=[*range(39), 10**digits]))
        words = f"row 40, column 'a' of {tmp_path / 't.csv'} is 1{digits * '0'}"
        assert words in refusal(tmp_path, "t.csv", label="tree", range=ends)


def test_a_range_must_suit_floats(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    assert "beyond float32" in refusal(tmp_path, "t.csv", label="tree", range=[0, 1e300])
    put(tmp_path, TABLE.assign(a=0.0, b=0.0, c=0.0, d=0.0))
    assert "beyond float32" in refusal(tmp_path, "t.csv", label="tree", range=[0, 1e-42])
    assert "same number in float64" in refusal(tmp_path, "t.csv", label="tree", range=[2**60, 2**60 + 100])


def test_a_value_outside_is_told_in_full_with_its_place(tmp_path: Path) -> None:
    put(tmp_path, TABLE.assign(a=1_700_000_000 + np.arange(40)))
    message = refusal(tmp_path, "t.csv", label="tree", values=["a"], range=[1_700_000_000, 1_700_000_010])
    assert "[1700000000, 1700000010] does not hold 1700000011 in row 12, column 'a'" in message
    message = refusal(tmp_path, "t.csv", label="tree", values=["b"], range={"b": [16, 20]})
    assert "own_datasets.mine.range.b = [16, 20] does not hold" in message


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int16", "int64", "uint64", "float16", "float64"])
def test_arrays_of_every_type_of_numbers_are_read_exactly(tmp_path: Path, dtype: str) -> None:
    x = (X % 2 if dtype == "bool" else X).astype(dtype)
    np.savez(tmp_path / "t.npz", x=x, tree=Y)
    write_arrays(tmp_path / "t.safetensors", {"x": x, "tree": (Y == "oak").astype(np.uint8)})
    expected = sorted((int(y == "oak"), *map(float, row)) for row, y in zip(x, Y, strict=True))
    for path in ("t.npz", "t.safetensors"):
        assert rows(prepared(tmp_path, path, label="tree")) == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_types_that_numpy_lacks_are_read_exactly(tmp_path: Path, dtype: torch.dtype) -> None:
    x = torch.tensor(X).to(dtype)
    save_file({"x": x, "tree": torch.tensor(Y == "oak")}, tmp_path / "t.safetensors")
    expected = sorted((int(y == "oak"), *row) for row, y in zip(x.float().tolist(), Y, strict=True))
    assert rows(prepared(tmp_path, "t.safetensors", label="tree")) == expected


def test_arrays_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    save_file({"x": torch.zeros(40, 2, dtype=torch.complex64), "y": torch.arange(40)}, tmp_path / "t.safetensors")
    assert "must hold numbers" in refusal(tmp_path, "t.safetensors", label="y")
    (tmp_path / "t.safetensors").write_bytes(b"no")
    message = refusal(tmp_path, "t.safetensors", label="y")
    assert "cannot be read as safetensors" in message
    assert "delete" not in message
    np.savez(tmp_path / "t.npz", x=X, tree=np.array([b"h\xeatre", b"oak"] * 20))
    assert "labels" in refusal(tmp_path, "t.npz", label="tree")


def test_numbers_that_are_text_in_a_parquet_file_are_numbers(tmp_path: Path) -> None:
    expected = rows(prepared(put(tmp_path), "t.csv", label="tree"))
    kinds: list[Any] = [str, Decimal]
    for kind in kinds:
        TABLE.assign(a=[kind(value) for value in TABLE["a"]]).to_parquet(tmp_path / "t.parquet")
        assert rows(prepared(tmp_path, "t.parquet", label="tree")) == expected


@pytest.mark.parametrize("name", ["t.npz", "t.parquet", "t.safetensors"])
def test_a_damaged_file_is_a_sentence(tmp_path: Path, name: str) -> None:
    TABLE.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", x=X, tree=Y)
    write_arrays(tmp_path / "t.safetensors", {"x": X, "tree": np.arange(40) % 2})
    whole, rng = (tmp_path / name).read_bytes(), np.random.default_rng(0)
    for _ in range(100):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 4):
            damaged[place] = rng.integers(0, 256)
        (tmp_path / name).write_bytes(damaged if rng.random() < 0.8 else damaged[: len(damaged) // 2])
        with contextlib.suppress(InputError):  # and nothing else
            prepared(tmp_path, name, label="tree")


# Labels


def labelled(folder: Path, one: str, other: str, column: str = "tree") -> Path:
    """A CSV file whose label column has two texts, the second from row 2 on in every other row."""
    lines = [f"a,{column}", *(f"{k % 16},{(one, other)[k % 2]}" for k in range(40))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NA", "None"),
        ("null", "nan"),
        ("N/A", "x"),
        ("-", "?"),
        ("True", "False"),
        ("yes", "no"),
        ("0x10", "16"),
        ("1e3", "x"),
        ("v1.0", "v1"),
        ("1" * 40, "2" * 40),
        ("1e99", "1e999"),
        ("2020-01-01", "2020-01-02"),
    ],
)
def test_a_label_of_a_csv_file_is_the_text_that_stands_there(tmp_path: Path, one: str, other: str) -> None:
    splits = prepared(labelled(tmp_path, one, other), "t.csv", label="tree")
    assert splits[0].metadata["class_names"] == json.dumps(sorted((one, other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("01", "1"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("+2", "2"),
        ("TRUE", "True"),
        ("oak", "Oak"),
        ("oak", " oak"),
        ("red oak", "red  oak"),
        ("h\u00eatre", "he\u0302tre"),
    ],
)
def test_labels_that_a_reader_would_take_for_one_are_refused(tmp_path: Path, one: str, other: str) -> None:
    message = refusal(labelled(tmp_path, one, other), "t.csv", label="tree")
    assert all(word in message for word in (repr(one), repr(other), "row 1 ", "row 2 "))
    np.savez(tmp_path / "t.npz", x=X, tree=np.array([one, other] * 20))
    message = refusal(tmp_path, "t.npz", label="tree")
    assert all(word in message for word in (repr(one), repr(other), "record 0 ", "record 1 "))


def test_folders_that_a_reader_would_take_for_one_class_are_refused(tmp_path: Path) -> None:
    pictures(tmp_path)
    (tmp_path / "trees" / "oak").rename(tmp_path / "trees" / "Elm")
    message = refusal(tmp_path, "trees", range=[0, 255])
    assert all(word in message for word in ("'Elm'", "'elm'", "Elm/0.png"))


@pytest.mark.parametrize("empty", ["", "  ", '""'])
def test_an_empty_label_is_missing(tmp_path: Path, empty: str) -> None:
    assert "the label of row 2 is missing" in refusal(labelled(tmp_path, "oak", empty), "t.csv", label="tree")


def test_classes_that_are_numbers_are_in_their_order(tmp_path: Path) -> None:
    numbers = np.arange(40) % 12 - 1
    for name, labels in (("t.csv", numbers), ("u.csv", numbers.astype(float))):
        put(tmp_path, TABLE.assign(tree=labels), name)
        splits = prepared(tmp_path, name, label="tree", test=0.5)
        assert json.loads(splits[0].metadata["class_names"]) == [str(n) for n in np.unique(labels)]
        found = sorted((x, y + 1) for y, *x in rows(splits))
        assert found == sorted((x.tolist(), n + 2) for x, n in zip(X, numbers, strict=True))
    table = TABLE.assign(tree=numbers)
    kinds: list[Any] = [numbers, numbers.astype(float), pd.array(numbers, "Int64"), pd.Categorical(numbers)]
    for kind in kinds:
        table.assign(tree=kind).to_parquet(tmp_path / "t.parquet")
        told = prepared(tmp_path, "t.parquet", label="tree", test=0.5)[0].metadata
        assert json.loads(told["class_names"]) == [str(n) for n in range(-1, 11)]


def test_numbers_that_a_file_holds_as_text_are_words(tmp_path: Path) -> None:
    words = np.array([str(n) for n in range(12)])[np.arange(40) % 12]
    np.savez(tmp_path / "t.npz", x=X, tree=words)
    TABLE.assign(tree=words).to_parquet(tmp_path / "t.parquet")
    for path in ("t.npz", "t.parquet"):
        told = prepared(tmp_path, path, label="tree", test=0.5)[0].metadata
        assert json.loads(told["class_names"]) == sorted(str(n) for n in range(12))


def test_labels_of_a_parquet_file_are_words_or_whole_numbers(tmp_path: Path) -> None:
    cases: list[tuple[list[Any], str]] = [
        ([b"oak", b"elm"], "found b'oak'"),
        ([None, "elm"], "the label of row 1 is missing"),
        ([1.5, 2.0], "found 1.5"),
        ([1e300, 2.0], "found 1e+300"),
    ]
    for labels, words in cases:
        TABLE.assign(tree=labels * 20).to_parquet(tmp_path / "t.parquet")
        assert words in refusal(tmp_path, "t.parquet", label="tree")


# Columns


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "row 8, column 'b' of {} is empty"),
        ("NA", "row 8, column 'b' of {} is 'NA'"),
        ("1,5", "is '1,5': write decimals with a point"),
        ("1,000.5", "thousands without a mark"),
        ("1_000", "is '1_000'"),
        ("0x1F", "is '0x1F'"),
        ("2020-01-01", "is '2020-01-01': every value must be a number"),
        ("True", "is 'True'"),
        ("inf", "is inf: every value must be a finite number"),
        ("1e999", "is inf"),
    ],
)
def test_a_cell_that_is_no_number_is_named(tmp_path: Path, value: str, words: str) -> None:
    table = TABLE.astype({"b": str})
    table.loc[7, "b"] = value
    message = refusal(put(tmp_path, table), "t.csv", label="tree")
    assert words.format(tmp_path / "t.csv") in message


@pytest.mark.parametrize("value", ["1,5", "2020-01-01", "x"])
def test_a_column_without_numbers_is_named(tmp_path: Path, value: str) -> None:
    message = refusal(put(tmp_path, TABLE.assign(b=value)), "t.csv", label="tree")
    assert "'b'" in message
    assert repr(value) in message


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "false")])
def test_truth_values_are_1_and_0(tmp_path: Path, words: tuple[str, str]) -> None:
    put(tmp_path, TABLE.assign(a=np.array(words)[np.arange(40) % 2]))
    found = np.concatenate([part.x[:, 0] for part in prepared(tmp_path, "t.csv", label="tree", range=[0, 16])])
    assert sorted(found) == [0.0] * 20 + [1.0] * 20


def test_missing_values_of_a_parquet_file_are_named(tmp_path: Path) -> None:
    for column in (pd.array([None, *range(39)], "Int64"), [np.nan, *range(39)], pd.array([None] + [True] * 39)):
        TABLE.assign(a=column).to_parquet(tmp_path / "t.parquet")
        assert "row 1, column 'a'" in refusal(tmp_path, "t.parquet", label="tree", range=[0, 40])


def test_a_table_whose_rows_and_header_differ_is_refused(tmp_path: Path) -> None:
    for text, words in (
        ("a,tree\n1,oak,7\n2,elm,7\n", "rows with more fields"),  # pandas would take the first column for an index
        ("a,tree\n1,oak\n2,elm,7\n", "Expected 2 fields"),
        ("a,b,tree\n1,2,oak\n2,elm\n", "row 2, column 'b'"),
        ("a,a,tree\n1,2,oak\n2,3,elm\n", "two columns 'a'"),
        ("a;tree\n1,5;oak\n", "separated by commas, found ';'"),
        ("a\ttree\n1\toak\n", r"found '\t'"),
        ("", "not the expected CSV table"),
        ("a,tree\n", "no rows"),
    ):
        (tmp_path / "t.csv").write_text(text)
        assert words in refusal(tmp_path, "t.csv", label="tree"), text


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le"])
def test_a_table_in_another_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    text = labelled(tmp_path, "h\u00eatre", "oak").joinpath("t.csv").read_text(encoding="utf-8")
    (tmp_path / "t.csv").write_text(text, encoding=encoding)
    assert "not UTF-8 text: save it as UTF-8" in refusal(tmp_path, "t.csv", label="tree")


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    text = labelled(tmp_path, "h\u00eatre", "oak").joinpath("t.csv").read_text(encoding="utf-8")
    (tmp_path / "t.csv").write_text(text, encoding="utf-8-sig")
    assert len(prepared(tmp_path, "t.csv", label="tree", values=["a"])) == 2


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("", np.arange(40)),
        ("", np.arange(40) * 3),
        ("plant_id", np.arange(40) * 3),
        ("number", np.arange(1, 41)),
        ("number", np.arange(40)[::-1]),
    ],
)
def test_an_index_among_the_columns_gives_a_warning_that_says_how_to_drop_it(
    tmp_path: Path, name: str, values: Any
) -> None:
    table = pd.concat([pd.Series(values, name=name), TABLE], axis=1)
    put(tmp_path, table)
    named = name or "Unnamed: 0"
    (found,) = warned(tmp_path, "t.csv", label="tree", range=[0, 120])
    assert f"drop: [{named!r}]" in found
    assert warned(tmp_path, "t.csv", label="tree", range=[0, 120], drop=[named]) == []
    assert rows(prepared(tmp_path, "t.csv", label="tree", drop=[named])) == rows(
        prepared(put(tmp_path), "t.csv", label="tree")
    )


def test_the_index_of_a_parquet_file_is_a_column_where_it_has_a_name(tmp_path: Path) -> None:
    expected = rows(prepared(put(tmp_path), "t.csv", label="tree"))
    TABLE.set_index("a").to_parquet(tmp_path / "t.parquet")
    assert rows(prepared(tmp_path, "t.parquet", label="tree")) == expected
    TABLE.set_index("a", drop=False).to_parquet(tmp_path / "t.parquet")
    assert rows(prepared(tmp_path, "t.parquet", label="tree")) == expected
    TABLE.iloc[::-1].to_parquet(tmp_path / "t.parquet")
    assert rows(prepared(tmp_path, "t.parquet", label="tree")) == expected


def test_names_of_columns_keep_a_message_on_one_line_of_some_length(tmp_path: Path) -> None:
    put(tmp_path, TABLE.rename(columns={"a": "two\nlines"}))
    assert r"'two\nlines'" in refusal(tmp_path, "t.csv", label="tre")
    put(tmp_path, pd.DataFrame(np.zeros((4, 5000))))
    assert len(refusal(tmp_path, "t.csv", label="tree")) < 2000


def test_columns_to_drop_must_be_there(tmp_path: Path) -> None:
    put(tmp_path)
    assert "own_datasets.mine.drop" in refusal(tmp_path, "t.csv", label="tree", drop=["e"])
    assert "own_datasets.mine.drop" in refusal(tmp_path, "t.csv", label="tree", drop=["tree"])
    assert "both values and drop" in refusal(tmp_path, "t.csv", label="tree", drop=["a"], values=["b"])
    assert "two columns 'b'" in refusal(tmp_path, "t.csv", label="tree", values=["b", "b"])
    np.savez(tmp_path / "t.npz", x=X, tree=Y)
    assert "own_datasets.mine.drop" in refusal(tmp_path, "t.npz", label="tree", drop=["a"])


def test_names_of_columns_are_taken_as_they_are_written(tmp_path: Path) -> None:
    put(tmp_path, TABLE.rename(columns={"a": "01", "b": "1e3", "tree": "true"}))
    entry = {"label": "true", "values": ["01", "1e3"], "range": {"01": [0, 16], "1e3": ["0", "16"]}}
    assert prepared(tmp_path, "t.csv", **entry)[0].x.shape[1] == 2


# Images


def one_picture(folder: Path, image: Image.Image, name: str, **options: Any) -> Path:
    """A folder of images, the first of which is this one."""
    pictures(folder)
    image.save(folder / "trees" / "elm" / name, **options)
    return folder


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tiff", "a.webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_image_is_turned_as_its_exif_data_say(tmp_path: Path, name: str, orientation: int) -> None:
    upright = np.zeros((8, 8), np.uint8)
    upright[:4, :4], upright[:4, 4:] = 240, 120
    back = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6}  # what undoes each
    turned = Image.fromarray(upright)
    turned.getexif()[0x0112] = back[orientation]
    stored = ImageOps.exif_transpose(turned)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / name, exif=exif)
    found = _picture(tmp_path / name, "own_datasets.mine")
    grey = found if found.ndim == 2 else found[..., 0]
    assert np.abs(grey.astype(int) - upright).max() <= 24  # of JPEG and WebP


@pytest.mark.parametrize(
    ("mode", "name", "words"),
    [
        ("CMYK", "a.jpg", "CMYK"),
        ("I;16", "a.png", "I;16"),
        ("F", "a.tiff", "F"),
        ("LAB", "a.tiff", "LAB"),
        ("RGBA", "a.png", "transparent"),
        ("LA", "a.png", "transparent"),
        ("PA", "a.tiff", "transparent"),
    ],
)
def test_an_image_of_more_than_8_bits_of_grey_or_rgb_is_refused(
    tmp_path: Path, mode: str, name: str, words: str
) -> None:
    one_picture(tmp_path, Image.new(mode, (6, 6)), name)
    message = refusal(tmp_path, "trees", range=[0, 255])
    assert all(word in message for word in ("elm/a", words)), message


def test_colours_of_16_bits_are_refused(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress((b"\0" + bytes(6 * 6)) * 6)
    head = struct.pack(">IIBBBBB", 6, 6, 16, 2, 0, 0, 0)  # 16 bits of each of three colours
    pictures(tmp_path)
    (tmp_path / "trees" / "elm" / "a.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )
    assert "RGB;16B" in refusal(tmp_path, "trees", range=[0, 255])


@pytest.mark.parametrize("name", ["a.gif", "a.tiff", "a.webp", "a.png"])
def test_an_image_of_several_pictures_is_refused(tmp_path: Path, name: str) -> None:
    frames = [Image.new("RGB", (6, 6), colour) for colour in ("red", "blue")]
    one_picture(tmp_path, frames[0], name, save_all=True, append_images=frames[1:])
    assert "has 2 pictures" in refusal(tmp_path, "trees", range=[0, 255])


def test_palettes_and_opaque_images_keep_their_colours(tmp_path: Path) -> None:
    colours = np.arange(108, dtype=np.uint8).reshape(6, 6, 3)
    image = Image.fromarray(colours)
    for k, changed in enumerate((image.quantize(256), image.convert("RGBA"), image)):
        changed.save(tmp_path / f"{k}.png")
        np.testing.assert_array_equal(_picture(tmp_path / f"{k}.png", "x"), colours)
    image.save(tmp_path / "key.png", transparency=(0, 1, 2))  # a colour that means: nothing here
    with pytest.raises(InputError, match="transparent"):
        _picture(tmp_path / "key.png", "x")


def test_what_is_no_image_of_a_class_is_left_out_with_a_warning(tmp_path: Path) -> None:
    pictures(tmp_path)
    trees = tmp_path / "trees"
    assert warned(tmp_path, "trees", range=[0, 255]) == []
    (trees / "elm" / ".DS_Store").write_text("")
    assert warned(tmp_path, "trees", range=[0, 255]) == []
    (trees / "elm" / "a.heic").write_text("")
    (trees / "notes").mkdir()
    (trees / "top.png").write_text("")
    (found,) = warned(tmp_path, "trees", range=[0, 255])
    assert "3 files or folders" in found


def test_names_that_the_workflow_cannot_carry_are_refused(tmp_path: Path) -> None:
    for name in (b"h\xeatre", b"o{a}k", b"oak\nx"):
        folder = tmp_path / "trees"
        folder.mkdir()
        (folder / os.fsdecode(name)).mkdir()
        assert "rename it" in refusal(tmp_path, "trees", range=[0, 255])
        shutil.rmtree(folder)
    pictures(tmp_path)
    (tmp_path / "trees" / "elm" / os.fsdecode(b"\xea.png")).write_text("")
    assert "not UTF-8" in refusal(tmp_path, "trees", range=[0, 255])


def test_a_photograph_with_a_preview_is_the_photograph(tmp_path: Path) -> None:
    red, blue = (Image.new("RGB", (8, 8), colour) for colour in ("red", "blue"))
    red.save(tmp_path / "a.jpg", "MPO", save_all=True, append_images=[blue])
    assert _picture(tmp_path / "a.jpg", "x")[0, 0].argmax() == 0


# The script


@pytest.mark.parametrize(("most", "words"), [(50, "warning: own_datasets.mine: the column 'id'"), (5, "error: own_")])
def test_the_script_says_one_sentence_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], most: int, words: str
) -> None:
    put(tmp_path, TABLE.assign(id=np.arange(40)))
    script = runpy.run_path(str(Path(__file__).parents[2] / "workflow" / "scripts" / "prepare_own.py"))
    entry = {"path": str(tmp_path / "t.csv"), "label": "tree", "range": [0, most]}
    with contextlib.suppress(SystemExit) if most == 50 else pytest.raises(SystemExit, match="1"):
        run(script["main"], ["--dataset", "mine", "--entry", json.dumps(entry), "--out", str(tmp_path / "out")])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(words)
    assert said.err.count("\n") == 1
