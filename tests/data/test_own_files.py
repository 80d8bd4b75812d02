"""A user's own files: what becomes of them, and the sentence that each mistake gives."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import runpy
import shutil
import struct
import unicodedata
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from safetensors.torch import save_file
from tiny import load

from tensorldp.errors import InputError, shown
from tensorldp_papers.data.own import check_own
from tensorldp_papers.data.own_files import prepare_own
from tensorldp_papers.run.cli import run
from tensorldp_papers.run.settings import parse_settings

X = np.random.default_rng(5).integers(0, 17, (40, 4)).astype(float)
Y = np.array(["oak", "elm"])[np.arange(40) % 2]
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(tree=Y)
PROPERTY = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def entry_of(folder: Path, path: str, **entry: Any) -> Any:
    """An entry of config.yaml, checked as the workflow does."""
    whole = {"path": str(folder / path), "range": [0, 16], **({} if path == "trees" else {"label": "tree"}), **entry}
    own = parse_settings({"studies": ["tldp_type1"], "own_datasets": {"mine": whole}}).own_datasets
    check_own(own, ["digits"])
    return own["mine"]


def warned(folder: Path, path: str = "t.csv", **entry: Any) -> list[str]:
    """What an entry that succeeds warns of."""
    return prepare_own("mine", entry_of(folder, path, **entry), folder / "out")


def prepared(folder: Path, path: str = "t.csv", **entry: Any) -> Any:
    """Both splits of an entry."""
    warned(folder, path, **entry)
    return [load(folder / "out" / f"{split}.safetensors") for split in ("train", "test")]


def refusal(folder: Path, path: str = "t.csv", **entry: Any) -> str:
    """The sentence that an entry ends with."""
    with pytest.raises(InputError) as caught:
        prepared(folder, path, **entry)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def put(folder: Path, table: pd.DataFrame = TABLE, name: str = "t.csv", **columns: Any) -> Path:
    table, path = table.assign(**columns), folder / name
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        arrays(folder, table.drop(columns="tree").to_numpy(), table["tree"].to_numpy("U"))
    return folder


def arrays(folder: Path, x: Any, tree: Any = Y) -> Path:
    np.savez(folder / "t.npz", x=x, tree=tree)
    return folder


def pictures(folder: Path, sizes: tuple[int, int] = (6, 6), mode: str = "L") -> Path:
    """A folder of images, six of each of two classes."""
    for k, tree in enumerate(("elm", "oak")):
        (folder / "trees" / tree).mkdir(parents=True)
        for number in range(6):
            grey = np.full((6, sizes[k]), 40 * k + number, np.uint8)
            Image.fromarray(grey).convert(mode).save(folder / "trees" / tree / f"{number}.png")
    return folder


def rows(splits: Any) -> list[tuple[Any, ...]]:
    """Records with their classes, in an order of their own."""
    return sorted((int(y), *x.reshape(-1).tolist()) for split in splits for x, y in zip(split.x, split.y, strict=True))


def stated(x: Any) -> list[tuple[Any, ...]]:
    """What `rows` gives where nothing is lost."""
    return sorted((int(y == "oak"), *map(float, row.reshape(-1))) for row, y in zip(x, Y, strict=True))


def classes(splits: Any) -> list[str]:
    return list(json.loads(splits[0].metadata["class_names"]))


# Records


def test_a_table_keeps_its_records_and_its_classes_in_sorted_order(tmp_path: Path) -> None:
    train, test = prepared(put(tmp_path), test=0.25, seed=3)
    assert (train.x.dtype, len(train.x), len(test.x)) == (np.float32, 30, 10)
    assert rows([train, test]) == stated(X)
    told = train.metadata
    assert (told["kind"], told["low"], told["high"]) == ("tabular", "0.0", "16.0")
    assert classes([train]) == ["elm", "oak"]
    assert np.bincount(test.y).tolist() == [5, 5]


NUMBERS: list[Any] = ["bool", "uint8", "int8", "uint16", "int16", "int64", "uint64", "float16", "float64"]
TORCH: list[Any] = [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]  # NumPy lacks them


@pytest.mark.parametrize("dtype", [*NUMBERS, *TORCH], ids=str)
def test_every_kind_of_file_holds_the_same_records_exactly(tmp_path: Path, dtype: Any) -> None:
    stored = (
        torch.tensor(X).to(dtype) if dtype in TORCH else torch.tensor((X % 2 if dtype == "bool" else X).astype(dtype))
    )
    save_file({"x": stored.reshape(40, 2, 2), "tree": torch.tensor(Y == "oak")}, tmp_path / "t.safetensors")
    splits = prepared(tmp_path, "t.safetensors")
    assert splits[0].metadata["kind"] == "image"
    assert rows(splits) == stated(stored.float().numpy())
    if dtype not in TORCH:
        table = pd.DataFrame(stored.numpy(), columns=list("abcd")).assign(tree=Y)
        for name in ("t.csv", "t.parquet", "t.npz"):
            if name == "t.npz" or dtype != "float16":  # which Parquet cannot hold
                assert rows(prepared(put(tmp_path, table, name), name)) == stated(stored.numpy()), name


def test_numbers_that_are_text_in_a_parquet_file_are_numbers_and_truth_values_1_and_0(tmp_path: Path) -> None:
    kinds: list[Any] = [str, Decimal]
    for kind in kinds:
        put(tmp_path, name="t.parquet", a=[kind(value) for value in TABLE["a"]])
        assert rows(prepared(tmp_path, "t.parquet")) == stated(X)
    for words in (("True", "False"), ("TRUE", "false")):
        put(tmp_path, a=np.array(words)[np.arange(40) % 2])
        found = np.concatenate([part.x[:, 0] for part in prepared(tmp_path)])
        assert sorted(found) == [0.0] * 20 + [1.0] * 20


def test_columns_with_ranges_of_their_own_are_scaled_to_0_and_1(tmp_path: Path) -> None:
    splits = prepared(put(tmp_path), values=["a", "b"], range={"a": [0, 16], "b": [-16, 16]})
    assert (splits[0].metadata["low"], splits[0].metadata["high"]) == ("0.0", "1.0")
    np.testing.assert_allclose(rows(splits), stated(np.stack([X[:, 0] / 16, (X[:, 1] + 16) / 32], axis=1)), atol=1e-7)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_split(tmp_path: Path) -> None:
    found = []
    for seed in (0, 0, 1):
        prepared(put(tmp_path), seed=seed)
        found.append((tmp_path / "out" / "test.safetensors").read_bytes())
    assert found[0] == found[1] != found[2]


# An entry


WORDS = st.text("abxyz -", min_size=1, max_size=9)
ENDS = st.integers(-9, 9) | st.sampled_from([0.5, np.inf, -np.inf, np.nan, True])
NO_RANGE = WORDS | st.lists(ENDS, max_size=3).filter(
    lambda ends: len(ends) != 2 or True in map(bool.__instancecheck__, ends) or not -10 < ends[0] < ends[1] < 10
)
WRONG: list[tuple[str, st.SearchStrategy[Any], str]] = [
    ("range", NO_RANGE, "two finite numbers known without looking at the data, the lower first"),
    ("test", st.floats().filter(lambda share: not 0 < share < 1) | WORDS, ""),
    ("seed", st.integers(max_value=-1) | st.integers(2**31) | st.floats() | WORDS | st.booleans(), ""),
    ("shape", WORDS | st.just([]) | st.just([2] * 4), "list"),
    ("shape.0", st.integers(max_value=0) | st.floats() | WORDS, ""),
    ("values", WORDS, "list"),
    ("drop", WORDS, "list"),
    ("label", st.floats(allow_nan=False) | st.booleans(), "string"),
]


@pytest.mark.parametrize(("key", "values", "allowed"), WRONG, ids=[key for key, *_ in WRONG])
@given(data=st.data())
@PROPERTY
def test_any_wrong_value_of_an_entry_is_one_sentence_that_names_both(
    key: str, values: st.SearchStrategy[Any], allowed: str, data: st.DataObject
) -> None:
    value = data.draw(values)
    told = refusal(Path(), **{key.split(".")[0]: [value] if "." in key else value})
    assert told.startswith(f"config: own_datasets.mine.{key} = {shown(value)} is not valid: "), told
    assert allowed in told


def broken(column: str, value: object) -> dict[str, Any]:
    """A column of the table with another value in row 8."""
    return {column: [*TABLE[column][:7], value, *TABLE[column][8:]]}


@pytest.mark.parametrize(
    ("columns", "entry", "words"),
    [
        ({}, {"label": "tre"}, ["own_datasets.mine.label", "'tre'", "did you mean 'tree'"]),
        ({}, {"label": ""}, ["own_datasets.mine.label is missing"]),
        ({}, {"values": ["e"]}, ["own_datasets.mine.values", "'e'", "a, b, c, d"]),
        ({}, {"values": ["b", "b"]}, ["two columns 'b'"]),
        ({}, {"drop": ["e"]}, ["own_datasets.mine.drop"]),
        ({}, {"drop": ["tree"]}, ["own_datasets.mine.drop"]),
        ({}, {"drop": ["a"], "values": ["b"]}, ["both values and drop"]),
        ({}, {"label": "a"}, ["'tree'", "must hold numbers"]),
        ({}, {"range": [0, 10]}, ["own_datasets.mine.range = [0, 10] does not hold 1"]),
        ({}, {"range": {"a": [0, 16]}}, ["own_datasets.mine.range", "'b'"]),
        ({}, {"range": [0, 1e300]}, ["beyond float32"]),
        (dict.fromkeys("abcd", 0.0), {"range": [0, 1e-42]}, ["beyond float32"]),
        ({}, {"range": [2**60, 2**60 + 100]}, ["same number in float64"]),
        ({}, {"values": ["b"], "range": {"b": [16, 20]}}, ["own_datasets.mine.range.b = [16, 20] does not hold"]),
        (
            {"a": 1_700_000_000 + np.arange(40)},
            {"values": ["a"], "range": [1_700_000_000, 1_700_000_010]},
            ["[1700000000, 1700000010] does not hold 1700000011 in row 12, column 'a'"],
        ),
        ({}, {"shape": [3, 3]}, ["own_datasets.mine.shape = [3, 3] has 9", "4"]),
        ({}, {"sed": 1}, ["'sed'", "did you mean"]),
        ({"tree": "oak"}, {}, ["only one class, 'oak'"]),
        (broken("tree", None), {}, ["the label of row 8 is missing"]),
        (broken("tree", "ash"), {}, ["only one record", "'ash'"]),
        (broken("b", np.nan), {}, ["row 8, column 'b'", "is empty"]),
        (broken("b", np.inf), {}, ["row 8, column 'b'", "inf: every value must be a finite number"]),
        ({"tree": np.arange(40) / 4}, {}, ["whole numbers or words", "0.25"]),
        ({"b": "1,5"}, {}, ["'b'", "'1,5'"]),
        ({"b": "2020-01-01"}, {}, ["'b'", "'2020-01-01'"]),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, columns: Any, entry: dict[str, Any], words: list[str]) -> None:
    message = refusal(put(tmp_path, **columns), **entry)
    assert all(word in message for word in words), message


def test_a_range_must_be_stated() -> None:
    raw: dict[str, Any] = {"studies": ["s"], "own_datasets": {"mine": {"path": "t.csv", "label": "y"}}}
    with pytest.raises(
        InputError, match=r"own_datasets.mine .* range is missing, .* known without looking at the data"
    ):
        parse_settings(raw)


def test_mistakes_around_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", x=X, y=X, tree=Y)
    (tmp_path / "damaged.npz").write_bytes(b"no zip")
    (tmp_path / "t.txt").write_text("a")
    (tmp_path / "empty").mkdir()
    pictures(tmp_path, sizes=(6, 5))
    for path, entry, words in (
        ("n" * 300 + ".csv", {}, ["own_datasets.mine.path", "no such file or folder"]),
        ("nowhere.csv", {}, ["own_datasets.mine.path", "no such file or folder"]),
        ("t.txt", {}, ["own_datasets.mine.path", ".csv, .parquet, .npz, .safetensors"]),
        ("t.npz", {"values": ["x"], "test": 0.01}, ["own_datasets.mine.test = 0.01"]),
        ("t.npz", {}, ["own_datasets.mine.values must name one array", "tree, x, y"]),
        ("t.npz", {"values": ["x"], "drop": ["a"]}, ["own_datasets.mine.drop"]),
        ("damaged.npz", {}, ["not an NPZ file"]),
        ("empty", {"label": ""}, ["one folder for each class"]),
        ("trees", {"label": "tree"}, ["own_datasets.mine.label", "does not apply to a folder"]),
        ("trees", {"range": [0, 255]}, ["one size", "6 x 6", "5 x 6"]),
    ):
        message = refusal(tmp_path, path, **entry)
        assert all(word in message for word in words), message


def test_the_name_of_a_known_data_set_is_taken(tmp_path: Path) -> None:
    entry = {"path": str(put(tmp_path) / "t.csv"), "label": "tree", "range": [0, 16]}
    for name, words in (("digits", "already"), ("My Trees", "small letters")):
        own = parse_settings({"studies": ["tldp_type1"], "own_datasets": {name: entry}}).own_datasets
        with pytest.raises(InputError, match=words):
            check_own(own, ["digits"])


# Numbers in float32


UNIX_TIME, DEGREES = (1_700_000_000, 1.0), (52.3, 1e-6)
ZEROS = [UNIX_TIME, DEGREES, (-122.5, 1e-6), (2**31 - 150, 1.0), (2**24, 1.0), (2**52, 1.0), (-(2.0**40), 0.25)]


@pytest.mark.parametrize(("low", "step"), ZEROS)
def test_values_far_from_0_are_as_different_as_they_were(tmp_path: Path, low: float, step: float) -> None:
    values = np.float64(low) + step * np.arange(100)
    ends = [low, low + 100 * step]
    table = pd.DataFrame({"a": values, "b": values[::-1], "tree": Y[np.arange(100) % 40]})
    for path in ("t.parquet", "t.npz"):
        splits = prepared(put(tmp_path, table, path), path, range=ends)
        x = np.concatenate([part.x for part in splits])
        assert [len(np.unique(column)) for column in x.T] == [100, 100]
        np.testing.assert_allclose(np.sort(x[:, 0]), values - low, rtol=1e-6)
        told = splits[0].metadata
        assert (float(told["low"]), float(told["high"])) == (0.0, ends[1] - low)
        assert "elements counted from" in told["deviation"]
        assert x.min() >= 0.0
    scaled = np.concatenate([part.x for part in prepared(tmp_path, "t.parquet", range={"a": ends, "b": ends})])
    assert [len(np.unique(column)) for column in scaled.T] == [100, 100]


@given(st.tuples(st.integers(-1000, 0), st.integers(16, 1000)).map(list))
@PROPERTY
def test_a_range_that_float32_resolves_is_kept_as_stated(tmp_path: Path, ends: list[int]) -> None:
    told = prepared(put(tmp_path), range=ends)[0].metadata
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
        (1e-20 * np.arange(1, 41), [0, 1e30]),
    ],
)
def test_values_that_float32_makes_one_on_the_stated_range_are_refused(tmp_path: Path, values: Any, ends: Any) -> None:
    message = refusal(put(tmp_path, name="t.parquet", a=values), "t.parquet", values=["a"], range={"a": ends})
    assert "column 'a'" in message
    assert "one number in float32" in message
    if ends[1] < 1e30:
        assert "element (0,)" in refusal(arrays(tmp_path, np.reshape(values, (40, 1))), "t.npz", range=ends)


def test_numbers_that_merge_here_and_there_give_a_warning_where_they_are_whole(tmp_path: Path) -> None:
    put(tmp_path, a=[*np.arange(38) * 1_000_000, 2**25, 2**25 + 1])
    (found,) = warned(tmp_path, values=["a", "b"], range=[0, 1e8])
    assert "33554432 and 33554433 in column 'a'" in found
    assert warned(tmp_path, values=["b"]) == []
    put(tmp_path, a=np.append(np.linspace(0, 1, 39), np.nextafter(1.0, 0.0)))  # two of them become one
    assert warned(tmp_path, values=["a", "b"]) == []


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, -(2**60) - 1, 10**30, 10**400])
def test_whole_numbers_that_float64_does_not_hold_are_refused(tmp_path: Path, value: int) -> None:
    ends = [-(2.0**64), 2.0**64]
    assert f"row 40, column 'a' of {tmp_path / 't.csv'} is {value}" in refusal(
        put(tmp_path, a=[*range(39), value]), range=ends
    )
    if value < 2**63:
        message = refusal(arrays(tmp_path, np.array([*range(39), value])[:, None]), "t.npz", range=ends)
        assert f"record 39, element (0,) of {tmp_path / 't.npz'} is {value}" in message


# What is no number, and damaged files


def test_arrays_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    save_file({"x": torch.zeros(40, 2, dtype=torch.complex64), "tree": torch.arange(40)}, path)
    assert "must hold numbers" in refusal(tmp_path, path.name)
    path.write_bytes(b"no")
    message = refusal(tmp_path, path.name)
    assert "cannot be read as safetensors" in message
    assert "delete" not in message
    assert "labels" in refusal(arrays(tmp_path, X, np.array([b"h\xeatre", b"oak"] * 20)), "t.npz")


@pytest.mark.parametrize("name", ["t.npz", "t.parquet", "t.safetensors"])
@given(data=st.data())
@settings(PROPERTY, max_examples=50)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, name: str, data: st.DataObject) -> None:
    put(tmp_path, name=name) if name != "t.safetensors" else save_file(
        {"x": torch.tensor(X), "tree": torch.arange(40) % 2}, tmp_path / name
    )
    whole = bytearray((tmp_path / name).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[place] = data.draw(st.integers(0, 255))
    (tmp_path / name).write_bytes(whole[: data.draw(st.sampled_from([None, None, None, len(whole) // 2]))])
    with contextlib.suppress(InputError):  # and nothing else
        prepared(tmp_path, name)


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
    assert words.format(tmp_path / "t.csv") in refusal(
        put(tmp_path, table, b=[*table["b"][:7], value, *table["b"][8:]])
    )


def test_missing_values_of_a_parquet_file_are_named(tmp_path: Path) -> None:
    for column in (pd.array([None, *range(39)], "Int64"), [np.nan, *range(39)], pd.array([None] + [True] * 39)):
        assert "row 1, column 'a'" in refusal(put(tmp_path, name="t.parquet", a=column), "t.parquet", range=[0, 40])


# Labels


def labelled(folder: Path, one: str, other: str, encoding: str = "utf-8") -> Path:
    """A CSV file whose label column has two texts in turns."""
    lines = ["a,tree", *(f"{k % 16},{(one, other)[k % 2]}" for k in range(40))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding=encoding)
    return folder


LIKE_WORDS = [
    ("NA", "None"),
    ("null", "nan"),
    ("N/A", "x"),
    ("-", "?"),
    ("True", "False"),
    ("yes", "no"),
    ("v1.0", "v1"),
]
LIKE_NUMBERS = [("0x10", "16"), ("1e3", "x"), ("1" * 40, "2" * 40), ("1e99", "1e999"), ("2020-01-01", "2020-01-02")]


@pytest.mark.parametrize(("one", "other"), [*LIKE_WORDS, *LIKE_NUMBERS])
def test_a_label_of_a_csv_file_is_the_text_that_stands_there(tmp_path: Path, one: str, other: str) -> None:
    assert classes(prepared(labelled(tmp_path, one, other))) == sorted((one, other))


WHOLE = st.integers(0, 10**6).map(str)
TWINS: dict[str, st.SearchStrategy[tuple[str, str]]] = {
    "number": st.tuples(WHOLE, st.sampled_from(["0{}", "+{}", "{}.0", "{}e0", "{}0e-1"])).map(
        lambda drawn: (drawn[0], drawn[1].format(drawn[0]))
    ),
    "word": st.tuples(st.text("abcêå", min_size=1, max_size=5), st.sampled_from(["{} oak", "oak {}"])).map(
        lambda drawn: (drawn[1].format(drawn[0]), drawn[1].format(drawn[0]).upper())
    ),
    "spaces": st.text("ab", min_size=1).map(lambda word: (f"{word} oak", f" {word}  oak")),
    "composed": st.text("êåü", min_size=1).map(lambda word: (word, unicodedata.normalize("NFD", word))),
    "zero": st.just(("0", "-0")),
}


@pytest.mark.parametrize("kind", TWINS)
@given(data=st.data())
@settings(PROPERTY, max_examples=10)
def test_labels_that_a_reader_would_take_for_one_are_refused(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    one, other = data.draw(TWINS[kind])
    for path, places in (("t.csv", ("row 1 ", "row 2 ")), ("t.npz", ("record 0 ", "record 1 "))):
        labelled(tmp_path, one, other) if path == "t.csv" else arrays(tmp_path, X, np.array([one, other] * 20))
        message = refusal(tmp_path, path)
        assert all(word in message for word in (repr(one), repr(other), *places)), message


def test_folders_that_a_reader_would_take_for_one_class_are_refused(tmp_path: Path) -> None:
    (pictures(tmp_path) / "trees" / "oak").rename(tmp_path / "trees" / "Elm")
    message = refusal(tmp_path, "trees", range=[0, 255])
    assert all(word in message for word in ("'Elm'", "'elm'", "Elm/0.png"))


@pytest.mark.parametrize("empty", ["", "  ", '""'])
def test_an_empty_label_is_missing(tmp_path: Path, empty: str) -> None:
    assert "the label of row 2 is missing" in refusal(labelled(tmp_path, "oak", empty))


def test_classes_that_are_numbers_are_in_their_order_and_words_in_that_of_the_alphabet(tmp_path: Path) -> None:
    numbers = np.arange(40) % 12 - 1
    for labels in (numbers, numbers.astype(float)):
        splits = prepared(put(tmp_path, tree=labels), test=0.5)
        assert classes(splits) == [str(n) for n in np.unique(labels)]
        found = sorted((x, y - 1) for y, *x in rows(splits))
        assert found == sorted((x.tolist(), n) for x, n in zip(X, numbers, strict=True))
    kinds: list[Any] = [numbers, numbers.astype(float), pd.array(numbers, "Int64"), pd.Categorical(numbers)]
    for kind in kinds:
        put(tmp_path, name="t.parquet", tree=kind)
        assert classes(prepared(tmp_path, "t.parquet", test=0.5)) == [str(n) for n in range(-1, 11)]
    for path in ("t.npz", "t.parquet"):  # which hold numbers as text only where they are words
        put(tmp_path, name=path, tree=(numbers + 1).astype(str))
        assert classes(prepared(tmp_path, path, test=0.5)) == sorted(str(n) for n in range(12))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([b"oak", b"elm"], "found b'oak'"),
        ([None, "elm"], "the label of row 1 is missing"),
        ([1.5, 2.0], "found 1.5"),
        ([1e300, 2.0], "found 1e+300"),
    ],
)
def test_labels_of_a_parquet_file_are_words_or_whole_numbers(tmp_path: Path, labels: list[Any], words: str) -> None:
    assert words in refusal(put(tmp_path, name="t.parquet", tree=labels * 20), "t.parquet")


# Columns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,tree\n1,oak,7\n2,elm,7\n", "rows with more fields"),  # pandas would take the first column for an index
        ("a,tree\n1,oak\n2,elm,7\n", "Expected 2 fields"),
        ("a,b,tree\n1,2,oak\n2,elm\n", "row 2, column 'b'"),
        ("a,a,tree\n1,2,oak\n2,3,elm\n", "two columns 'a'"),
        ("a;tree\n1,5;oak\n", "separated by commas, found ';'"),
        ("a\ttree\n1\toak\n", r"found '\t'"),
        ("", "not the expected CSV table"),
        ("a,tree\n", "no rows"),
    ],
)
def test_a_table_whose_rows_and_header_differ_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert words in refusal(tmp_path)


def test_a_table_in_another_encoding_is_refused_and_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    for encoding in ("latin-1", "utf-16", "utf-16-le"):
        assert "not UTF-8 text: save it as UTF-8" in refusal(labelled(tmp_path, "h\u00eatre", "oak", encoding))
    assert len(prepared(labelled(tmp_path, "h\u00eatre", "oak", "utf-8-sig"), values=["a"])) == 2


INDICES = [
    ("", np.arange(40)),
    ("", np.arange(40) * 3),
    ("plant_id", np.arange(40) * 3),
    ("number", np.arange(40)[::-1]),
]


@pytest.mark.parametrize(("name", "values"), INDICES)
def test_an_index_gives_a_warning_that_says_how_to_drop_it(tmp_path: Path, name: str, values: Any) -> None:
    put(tmp_path, pd.concat([pd.Series(values, name=name), TABLE], axis=1))
    named = name or "Unnamed: 0"
    (found,) = warned(tmp_path, range=[0, 120])
    assert f"drop: [{named!r}]" in found
    assert warned(tmp_path, range=[0, 120], drop=[named]) == []
    assert rows(prepared(tmp_path, drop=[named])) == stated(X)


def test_the_index_of_a_parquet_file_is_a_column_where_it_has_a_name(tmp_path: Path) -> None:
    for table in (TABLE.set_index("a"), TABLE.set_index("a", drop=False), TABLE.iloc[::-1]):
        table.to_parquet(tmp_path / "t.parquet")
        assert rows(prepared(tmp_path, "t.parquet")) == stated(X)


def test_names_of_columns_are_taken_as_written_and_keep_a_message_on_one_line_of_some_length(tmp_path: Path) -> None:
    put(tmp_path, TABLE.rename(columns={"a": "01", "b": "1e3", "tree": "true"}))
    ranges = {"01": [0, 16], "1e3": ["0", "16"]}
    assert prepared(tmp_path, label="true", values=["01", "1e3"], range=ranges)[0].x.shape[1] == 2
    assert r"'two\nlines'" in refusal(put(tmp_path, TABLE.rename(columns={"a": "two\nlines"})), label="tre")
    assert len(refusal(put(tmp_path, pd.DataFrame(np.zeros((4, 5000)))))) < 2000


# Images


def read_picture(folder: Path, image: Image.Image, name: str, **options: Any) -> Any:
    """What becomes of one image, which is twice in each of two classes."""
    for tree, number in itertools.product(("elm", "oak"), range(2)):
        path = folder / "trees" / tree / f"{number}_{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path, **options)
    try:
        return prepared(folder, "trees", range=[0, 255], test=0.5)[0].x[0]
    finally:
        shutil.rmtree(folder / "trees")


def picture_refusal(folder: Path, image: Image.Image, name: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_picture(folder, image, name, **options)
    assert f"elm/0_{name}" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("mode", "shape"), [("L", (6, 6)), ("RGB", (6, 6, 3))])
def test_a_folder_of_images_has_the_classes_of_its_folders(tmp_path: Path, mode: str, shape: tuple[int, ...]) -> None:
    train, test = prepared(pictures(tmp_path, mode=mode), "trees", range=[0, 255], test=0.34)
    assert (train.x.dtype, train.x.shape[1:]) == (np.uint8, shape)
    expected = [(k, 40 * k + number) for k in range(2) for number in range(6)]
    assert [row[:2] for row in rows([train, test])] == expected


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tiff", "a.webp"])
def test_an_image_is_turned_as_its_exif_data_say(tmp_path: Path, name: str) -> None:
    upright = np.zeros((8, 8), np.uint8)
    upright[:4, :4], upright[:4, 4:] = 240, 120
    undoing = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6}
    for orientation, undone in undoing.items():
        turned, exif = Image.fromarray(upright), Image.Exif()
        turned.getexif()[0x0112], exif[0x0112] = undone, orientation
        found = read_picture(tmp_path, ImageOps.exif_transpose(turned), name, exif=exif)
        grey = found if found.ndim == 2 else found[..., 0]
        assert np.abs(grey.astype(int) - upright).max() <= 24, orientation  # of JPEG and WebP


def test_an_image_of_more_than_8_bits_of_grey_or_rgb_or_of_several_pictures_is_refused(tmp_path: Path) -> None:
    for mode, name in (("CMYK", "a.jpg"), ("I;16", "a.png"), ("F", "a.tiff"), ("LAB", "a.tiff")):
        assert mode in picture_refusal(tmp_path, Image.new(mode, (6, 6)), name)
    for mode, name in (("RGBA", "a.png"), ("LA", "a.png"), ("PA", "a.tiff")):
        assert "transparent" in picture_refusal(tmp_path, Image.new(mode, (6, 6)), name)
    red, blue = (Image.new("RGB", (6, 6), colour) for colour in ("red", "blue"))
    for name in ("a.gif", "a.tiff", "a.webp", "a.png"):
        assert "has 2 pictures" in picture_refusal(tmp_path, red, name, save_all=True, append_images=[blue])
    found = read_picture(tmp_path, red, "a.jpg", format="MPO", save_all=True, append_images=[blue])
    assert found[0, 0].argmax() == 0  # a photograph with a preview is the photograph


def test_colours_of_16_bits_are_refused(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress((b"\0" + bytes(6 * 6)) * 6)
    head = struct.pack(">IIBBBBB", 6, 6, 16, 2, 0, 0, 0)  # 16 bits of each of three colours
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    (pictures(tmp_path) / "trees" / "elm" / "a.png").write_bytes(b"".join(parts))
    assert "RGB;16B" in refusal(tmp_path, "trees", range=[0, 255])


def test_palettes_and_opaque_images_keep_their_colours(tmp_path: Path) -> None:
    colours = np.arange(108, dtype=np.uint8).reshape(6, 6, 3)
    image = Image.fromarray(colours)
    for changed in (image.quantize(256), image.convert("RGBA"), image):
        np.testing.assert_array_equal(read_picture(tmp_path, changed, "a.png"), colours)
    key = (0, 1, 2)  # a colour that means: nothing here
    assert "transparent" in picture_refusal(tmp_path, image, "a.png", transparency=key)


def test_what_is_no_image_of_a_class_is_left_out_with_a_warning(tmp_path: Path) -> None:
    trees = pictures(tmp_path) / "trees"
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
        folder = tmp_path / "trees" / os.fsdecode(name)
        folder.mkdir(parents=True)
        assert "rename it" in refusal(tmp_path, "trees", range=[0, 255])
        folder.rmdir()
    shutil.rmtree(tmp_path / "trees")
    (pictures(tmp_path) / "trees" / "elm" / os.fsdecode(b"\xea.png")).write_text("")
    assert "not UTF-8" in refusal(tmp_path, "trees", range=[0, 255])


@pytest.mark.parametrize(("most", "words"), [(50, "warning: own_datasets.mine: the column 'id'"), (5, "error: own_")])
def test_the_script_says_one_sentence_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], most: int, words: str
) -> None:
    put(tmp_path, id=np.arange(40))
    script = runpy.run_path(str(Path(__file__).parents[2] / "workflow" / "scripts" / "prepare_own.py"))
    entry = {"path": str(tmp_path / "t.csv"), "label": "tree", "range": [0, most]}
    with contextlib.suppress(SystemExit) if most == 50 else pytest.raises(SystemExit, match="1"):
        run(script["main"], ["--dataset", "mine", "--entry", json.dumps(entry), "--out", str(tmp_path / "out")])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(words)
    assert said.err.count("\n") == 1
