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
from collections.abc import Callable
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
CSV, PARQUET, NPZ, TENSORS = (f"t.{suffix}" for suffix in ("csv", "parquet", "npz", "safetensors"))
PROPERTY = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BYTE: dict[str, Any] = {"range": [0, 255]}


def warned(folder: Path, path: str = CSV, *, name: str = "mine", **entry: Any) -> list[str]:
    """What an entry of config.yaml that succeeds warns of."""
    whole = {"path": str(folder / path), "range": [0, 16], **({} if path == "trees" else {"label": "tree"}), **entry}
    own = parse_settings({"studies": ["tldp_type1"], "own_datasets": {name: whole}}).own_datasets
    check_own(own, ["digits"])
    return prepare_own(name, own[name], folder / "out")[1]


def prepared(folder: Path, path: str = CSV, **entry: Any) -> Any:
    """Both splits of an entry."""
    warned(folder, path, **entry)
    return [load(folder / "out" / f"{split}.safetensors") for split in ("train", "test")]


def refusal(folder: Path, path: str = CSV, **entry: Any) -> str:
    """The sentence that an entry ends with, and nothing beside it, such as a warning of NumPy's."""
    with np.errstate(all="raise", under="ignore"), pytest.raises(InputError) as caught:
        prepared(folder, path, **entry)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def put(folder: Path, content: Any = None, name: str = CSV) -> Path:
    """Write a table, the usual one with changed columns, or bytes as they are; an NPZ file gets arrays."""
    table = content if isinstance(content, pd.DataFrame) else TABLE
    if isinstance(content, bytes):
        (folder / name).write_bytes(content)
    elif name == NPZ:
        x, tree = table.drop(columns="tree").to_numpy(), table["tree"].to_numpy("U")
        np.savez(folder / name, **{"x": x, "tree": tree, **(content if isinstance(content, dict) else {})})
    else:
        table = table.assign(**content) if isinstance(content, dict) else table
        table.to_parquet(folder / name) if name == PARQUET else table.to_csv(folder / name, index=False)
    return folder


def pictures(folder: Path, sizes: tuple[int, int] = (6, 6), mode: str = "L") -> Path:
    """A folder of images, six of each of two classes."""
    for k, number in itertools.product(range(2), range(6)):
        path = folder / "trees" / ("elm", "oak")[k] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((6, sizes[k]), 40 * k + number, np.uint8)).convert(mode).save(path)
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
    assert [train.metadata[key] for key in ("kind", "low", "high")] == ["tabular", "0.0", "16.0"]
    assert classes([train]) == ["elm", "oak"]
    assert np.bincount(test.y).tolist() == [5, 5]


NUMBERS = ["bool", "uint8", "int8", "uint16", "int16", "int64", "uint64", "float16", "float64"]
NOT_IN_NUMPY = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]


@pytest.mark.parametrize("dtype", [*NUMBERS, *NOT_IN_NUMPY])
def test_every_kind_of_file_holds_the_same_records_exactly(tmp_path: Path, dtype: str) -> None:
    x = torch.tensor(X % 2 if dtype == "bool" else X).to(getattr(torch, dtype))
    save_file({"x": x.reshape(40, 2, 2), "tree": torch.tensor(Y == "oak")}, tmp_path / TENSORS)
    splits = prepared(tmp_path, TENSORS)
    assert splits[0].metadata["kind"] == "image"
    assert rows(splits) == stated(x.float().numpy())
    for name in (NPZ, CSV, PARQUET) if dtype in NUMBERS else ():
        table = pd.DataFrame(x.numpy(), columns=list("abcd")).assign(tree=Y)
        if (dtype, name) != ("float16", PARQUET):
            assert rows(prepared(put(tmp_path, table, name), name)) == stated(x.numpy()), name


def test_numbers_that_are_text_are_numbers_and_truth_values_1_and_0(tmp_path: Path) -> None:
    kinds: list[Any] = [str, Decimal]
    for kind in kinds:
        put(tmp_path, {"a": [kind(value) for value in TABLE["a"]]}, PARQUET)
        assert rows(prepared(tmp_path, PARQUET)) == stated(X)
    for words in (("True", "False"), ("TRUE", "false")):
        splits = prepared(put(tmp_path, {"a": np.array(words)[np.arange(40) % 2]}))
        assert sorted(np.concatenate([part.x[:, 0] for part in splits])) == [0.0] * 20 + [1.0] * 20


def test_large_numbers_that_float64_holds_or_measures_are_taken(tmp_path: Path) -> None:
    large = [0.5, 2.0**53, f"{2**60}.0", 1e23, "1.000000000000000055e17", *range(35)]
    splits = prepared(put(tmp_path, {"a": large}), range=[0, 1e24])
    assert sorted(row[1] for row in rows(splits)) == sorted(float(np.float32(value)) for value in large)


def test_columns_with_ranges_of_their_own_are_scaled_to_0_and_1(tmp_path: Path) -> None:
    splits = prepared(put(tmp_path), values=["a", "b"], range={"a": [0, 16], "b": [-16, 16]})
    assert (splits[0].metadata["low"], splits[0].metadata["high"]) == ("0.0", "1.0")
    np.testing.assert_allclose(rows(splits), stated(np.stack([X[:, 0] / 16, (X[:, 1] + 16) / 32], axis=1)), atol=1e-7)


@pytest.mark.parametrize("path", [CSV, PARQUET, NPZ])
def test_what_is_missing_is_the_middle_of_its_range_where_the_entry_says_so(tmp_path: Path, path: str) -> None:
    table = pd.DataFrame({"a": np.arange(40.0) % 4, "b": 2.0}).assign(tree=Y)
    table.loc[3, "b"] = np.nan
    if path == NPZ:
        np.savez(tmp_path / path, x=table[["a", "b"]].to_numpy(), tree=Y)
    else:
        table.loc[[5, 6], "tree"] = None
        table.to_csv(tmp_path / path, index=False) if path == CSV else table.to_parquet(tmp_path / path)
    told = warned(tmp_path, path, missing="middle")
    splits = [load(tmp_path / "out" / f"{split}.safetensors") for split in ("train", "test")]
    values = np.concatenate([split.x[:, 1] for split in splits])
    assert sorted(values) == [2.0] * (len(values) - 1) + [8.0]
    assert len(values) == (40 if path == NPZ else 38)
    assert any("1 values are missing, in 1 of" in text for text in told)
    assert "row 4" in refusal(tmp_path, path) or "record 3" in refusal(tmp_path, path)
    table.assign(b=np.nan).to_csv(tmp_path / CSV, index=False)
    assert "column 'b' of" in (message := refusal(tmp_path, CSV, missing="middle"))
    assert "has no value in any record" in message


def test_a_path_in_the_users_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    entry = {"path": f"~/{CSV}", "range": [0, 16], "label": "tree"}
    own = parse_settings({"studies": ["tldp_type1"], "own_datasets": {"mine": entry}}).own_datasets
    check_own(own, [])
    assert own["mine"].path == str(tmp_path / CSV)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_split(tmp_path: Path) -> None:
    found = []
    for seed in (0, 0, 1):
        prepared(put(tmp_path), seed=seed)
        found.append((tmp_path / "out" / "test.safetensors").read_bytes())
    assert found[0] == found[1] != found[2]


# Mistakes in an entry, and in a file


WORDS = st.text("abxyz -", min_size=1, max_size=9)
END = st.integers(-9, 9)
NO_INTERVAL = st.tuples(END, END).map(lambda ends: sorted(ends, reverse=True)) | st.lists(END, max_size=1)
NOT_FINITE = st.tuples(END, st.sampled_from([np.inf, -np.inf, np.nan, True, "x"])).map(list)
PUBLIC = "two finite numbers known without looking at the data, the lower first"
WRONG: list[tuple[str, st.SearchStrategy[Any], str]] = [
    ("range", WORDS | NO_INTERVAL | NOT_FINITE, PUBLIC),
    ("test", st.floats().filter(lambda share: not 0 < share < 1) | WORDS, ""),
    ("seed", st.integers(max_value=-1) | st.integers(2**31) | st.floats() | WORDS | st.booleans(), ""),
    ("shape", WORDS | st.just([]) | st.just([2] * 4), "list"),
    ("shape.0", st.integers(max_value=0) | st.floats() | WORDS, ""),
    ("values", WORDS, "list"),
    ("drop", WORDS, "list"),
    ("label", st.floats(allow_nan=False) | st.booleans(), "string"),
]


@pytest.mark.parametrize(("key", "values", "allowed"), WRONG)
@given(data=st.data())
@PROPERTY
def test_any_wrong_value_of_an_entry_is_one_sentence_that_names_both(
    key: str, values: st.SearchStrategy[Any], allowed: str, data: st.DataObject
) -> None:
    value = data.draw(values)
    entry: dict[str, Any] = {key.split(".")[0]: [value] if "." in key else value}
    told = refusal(Path(), **entry)
    assert told.startswith(f"config: own_datasets.mine.{key} = {shown(value)} is not valid: "), told
    assert allowed in told


def broken(column: str, value: object) -> dict[str, Any]:
    """A column of the table with another value in row 8."""
    values = TABLE[column].astype(str) if isinstance(value, str) else TABLE[column]
    return {column: [*values[:7], value, *values[8:]]}


RARE = ["ash"] * 2 + ["elm", "oak"] * 19
FAR, MISSING = 1_700_000_000, [None, *range(39)]
TENS = [FAR, FAR + 10]
WHOLE_FLOATS = {"range": [-(2.0**64), 2.0**64]}
H = "a,tree\n1,h\u00eatre\n2,oak\n"
REFUSED: list[tuple[str, Any, dict[str, Any], list[str]]] = [
    (CSV, {}, {"label": "tre"}, ["own_datasets.mine.label", "'tre'", "did you mean 'tree'"]),
    (CSV, {}, {"label": ""}, ["own_datasets.mine.label is missing"]),
    (CSV, {}, {"label": "a"}, ["'tree'", "must hold numbers"]),
    (CSV, {}, {"values": ["e"]}, ["own_datasets.mine.values", "'e'", "a, b, c, d"]),
    (CSV, {}, {"values": ["b", "b"]}, ["own_datasets.mine.values has two columns 'b'"]),
    (CSV, {}, {"drop": ["e"]}, ["own_datasets.mine.drop"]),
    (CSV, {}, {"drop": ["tree"]}, ["own_datasets.mine.drop"]),
    (CSV, {}, {"drop": ["a"], "values": ["b"]}, ["both values and drop"]),
    (CSV, {}, {"range": [0, 10]}, ["own_datasets.mine.range = [0, 10] does not hold 1"]),
    (CSV, {}, {"range": {"a": [0, 16]}}, ["own_datasets.mine.range", "'b'"]),
    (CSV, {}, {"range": [0, 1e300]}, ["beyond float32"]),
    (CSV, dict.fromkeys("abcd", 0.0), {"range": [0, 1e-42]}, ["beyond float32"]),
    (CSV, {}, {"range": [2**60, 2**60 + 100]}, ["same number in float64"]),
    (CSV, {}, {"values": ["b"], "range": {"b": [16, 20]}}, ["own_datasets.mine.range.b = [16, 20] does not hold"]),
    (CSV, {"a": FAR + np.arange(40)}, {"values": ["a"], "range": TENS}, ["not hold 1700000011 in row 12, column 'a'"]),
    (CSV, {}, {"shape": [3, 3]}, ["own_datasets.mine.shape = [3, 3] has 9", "4"]),
    (CSV, {}, {"sed": 1}, ["'sed'", "did you mean"]),
    (CSV, {}, {"name": "digits"}, ["own_datasets.digits", "already"]),
    (CSV, {}, {"name": "My Trees"}, ["'My Trees'", "small letters"]),
    # labels
    (CSV, {"tree": "oak"}, {}, ["only one class, 'oak'"]),
    (CSV, broken("tree", ""), {}, ["the label of row 8 is missing"]),
    (CSV, broken("tree", "  "), {}, ["the label of row 8 is missing"]),
    (CSV, b'a,tree\n1,oak\n2,""\n', {}, ["the label of row 2 is missing"]),
    (
        CSV,
        b'a,tree\n1,oak\n2,"elm\n3,elm\n4,elm"\n5,oak\n',
        {},
        ["t.csv: the label of row 2 has a line break, 'elm\\n3"],
    ),
    (CSV, broken("tree", "ash"), {}, ["only one record", "'ash'"]),
    (CSV, {"tree": np.arange(40) / 4}, {}, ["whole numbers or words", "0.25"]),
    (PARQUET, {"tree": [b"oak", b"elm"] * 20}, {}, ["found b'oak'"]),
    (PARQUET, {"tree": [None, "elm"] * 20}, {}, ["the label of row 1 is missing"]),
    (PARQUET, {"tree": [1.5, 2.0] * 20}, {}, ["found 1.5"]),
    (PARQUET, {"tree": [1e300, 2.0] * 20}, {}, ["found 1e+300"]),
    (NPZ, {"tree": np.array([np.inf, 2.0] * 20)}, {}, ["found inf"]),
    (NPZ, {"tree": np.array([b"h\xeatre", b"oak"] * 20)}, {}, ["labels"]),
    # cells
    (CSV, {"b": "1,5"}, {}, ["row 1, column 'b' of ", "'1,5'"]),
    (CSV, {"b": "2020-01-01"}, {}, ["the column 'b'", "'2020-01-01'"]),
    (CSV, broken("b", ""), {}, ["row 8, column 'b' of ", "t.csv is empty"]),
    (CSV, broken("b", "NA"), {}, ["row 8, column 'b' of ", "t.csv is 'NA'"]),
    (CSV, broken("b", "1,5"), {}, ["is '1,5': write decimals with a point"]),
    (CSV, broken("b", "1,000.5"), {}, ["thousands without a mark"]),
    (CSV, broken("b", "1_000"), {}, ["is '1_000'"]),
    (CSV, broken("b", "0x1F"), {}, ["is '0x1F'"]),
    (CSV, broken("b", "2020-01-01"), {}, ["is '2020-01-01': every value must be a number"]),
    (CSV, broken("b", "True"), {}, ["is 'True'"]),
    (CSV, broken("b", "inf"), {}, ["row 8, column 'b'", "is inf: every value must be a finite number"]),
    (CSV, broken("b", "1e999"), {}, ["is inf"]),
    (PARQUET, {"a": pd.array(MISSING, "Int64")}, {"range": [0, 40]}, ["row 1, column 'a'"]),
    (PARQUET, {"a": MISSING}, {"range": [0, 40]}, ["row 1, column 'a'"]),
    (PARQUET, {"a": pd.array([None] + [True] * 39)}, {}, ["row 1, column 'a'"]),
    *(
        (CSV, {"a": [*range(39), value]}, WHOLE_FLOATS, ["row 40, column 'a' of ", f"t.csv is {value}, which float64"])
        for value in (2**53 + 1, 2**63 - 1, -(2**60) - 1, 10**30, 10**400)
    ),
    *(
        (CSV, {"a": ["0.5"] * 39 + [str(value)]}, WHOLE_FLOATS, ["row 40, column 'a' of ", f"t.csv is {value}, which"])
        for value in (2**53 + 1, f"-{2**53 + 1}.0", 2**63 - 1)
    ),
    (PARQUET, {"a": ["0.5"] * 39 + [f"{2**53 + 1}.00"]}, WHOLE_FLOATS, ["row 40, column 'a' of ", f"{2**53 + 1}.00"]),
    *(
        (NPZ, {"x": np.array([*range(39), value])[:, None]}, WHOLE_FLOATS, ["record 39, element (0,)", str(value)])
        for value in (2**53 + 1, 2**63 - 1, -(2**60) - 1)
    ),
    *(
        (
            NPZ,
            {"x": np.array([0.1, *range(38), wide(2**60) + 1])[:, None]},
            WHOLE_FLOATS,
            ["record 39", "606846977e+18"],
        )
        for wide in ([np.longdouble] if np.finfo(np.longdouble).nmant > 60 else [])
    ),
    # rows and columns
    (CSV, b"a,tree\n1,oak,7\n2,elm,7\n", {}, ["rows with more fields"]),  # pandas would take the first for an index
    (CSV, b"a,tree\n1,oak\n2,elm,7\n", {}, ["Expected 2 fields"]),
    (CSV, b"a,b,tree\n1,2,oak\n2,elm\n", {}, ["row 2, column 'b'"]),
    (
        CSV,
        b"a,,tree\n1,99,oak\n2,3,elm\n1,2,oak\n2,3,elm\n",
        {},
        ["not hold 99 in row 1, column 2 without a name ('Unnamed: 1')"],
    ),
    (CSV, b"a,,tree\n1,x,oak\n2,y,elm\n", {}, ["the column 2 without a name ('Unnamed: 1') of "]),
    (CSV, b"a,a,tree\n1,2,oak\n2,3,elm\n", {}, ["two columns 'a'"]),
    (CSV, b"a;tree\n1,5;oak\n", {}, ["separated by commas, found ';'"]),
    (CSV, b"a\ttree\n1\toak\n", {}, [r"found '\t'"]),
    (CSV, b"", {}, ["not the expected CSV table"]),
    (CSV, b"a,tree\n", {}, ["no rows"]),
    *((CSV, H.encode(other), {}, ["not UTF-8 text: save it as UTF-8"]) for other in ("latin-1", "utf-16", "utf-16-le")),
    (CSV, TABLE.rename(columns={"a": "two\nlines"}), {"label": "tre"}, [r"'two\nlines'"]),
    # other files
    ("n" * 300 + ".csv", None, {}, ["own_datasets.mine.path", "no such file or folder"]),
    ("nowhere.csv", None, {}, ["own_datasets.mine.path", "no such file or folder"]),
    ("t.txt", b"a", {}, ["own_datasets.mine.path", ".csv, .parquet, .npz, .safetensors"]),
    (NPZ, {}, {"test": 0.01}, ["own_datasets.mine.test = 0.01", "has 20 of the 40 records: choose"]),
    (CSV, {"tree": RARE}, {"test": 0.1}, ["own_datasets.mine.test = 0.1", "the rarest, 'ash', has 2 of the 40"]),
    (NPZ, {"x": np.arange(40.0)}, {}, ["(records, elements)", "got (40,) of float64"]),
    (
        NPZ,
        {"tree": np.eye(2)[np.arange(40) % 2]},
        {},
        ["'tree' of ", "have the shape (40,), a class for each", "(40, 2)"],
    ),
    (NPZ, {"y": X}, {}, ["own_datasets.mine.values must name one array", "tree, x, y"]),
    (NPZ, {}, {"drop": ["a"]}, ["own_datasets.mine.drop"]),
    (NPZ, b"no zip", {}, ["not an NPZ file"]),
    (TENSORS, b"no", {}, ["cannot be read as safetensors"]),
]


@pytest.mark.parametrize(("name", "content", "entry", "words"), REFUSED)
def test_a_mistake_is_one_sentence(tmp_path: Path, name: str, content: Any, entry: Any, words: list[str]) -> None:
    if content is not None:
        put(tmp_path, content, name)
    message = refusal(tmp_path, name, **entry)
    assert all(word in message for word in words), message
    assert "delete" not in message  # as of a file that was downloaded


FIRST, LAST = X.repeat(3, axis=1).reshape(40, 3, 2, 2), X.repeat(3, axis=1).reshape(40, 2, 2, 3)


@pytest.mark.parametrize("name", [NPZ, TENSORS])
def test_a_shape_never_scrambles_records_that_have_one(tmp_path: Path, name: str) -> None:
    def store(x: Any) -> None:
        if name == NPZ:
            put(tmp_path, {"x": x}, NPZ)
        else:
            save_file({"x": torch.tensor(x), "tree": torch.tensor(Y == "oak")}, tmp_path / TENSORS)

    store(FIRST)
    for entry in ({"shape": [2, 2, 3]}, {"shape": [3, 2, 2]}, {}):
        assert "move the channels last" in refusal(tmp_path, name, **entry)
    store(LAST)
    assert "mine.shape = [3, 4] would scramble" in refusal(tmp_path, name, shape=[3, 4])
    assert "store the records in that shape" in refusal(tmp_path, name, shape=[3, 2, 2])
    for shape in ([2, 2, 3], [12]):
        assert rows(prepared(tmp_path, name, shape=shape)) == stated(LAST)
    store(X.reshape(40, 1, 2, 2))
    assert "move the channels last" in refusal(tmp_path, name)
    for shape in ([2, 2], [2, 2, 1], [4]):
        assert rows(prepared(tmp_path, name, shape=shape)) == stated(X)


def test_mistakes_around_folders_and_arrays(tmp_path: Path) -> None:
    raw: dict[str, Any] = {"studies": ["s"], "own_datasets": {"mine": {"path": "t.csv", "label": "y"}}}
    with pytest.raises(InputError, match=f"own_datasets.mine .* range is missing, it must be {PUBLIC}"):
        parse_settings(raw)
    raw["own_datasets"]["mine"]["rang"] = [0, 1]
    with pytest.raises(InputError, match=r"unknown key in config own_datasets\.mine 'rang': did you mean 'range'"):
        parse_settings(raw)
    (tmp_path / "empty").mkdir()
    assert "one folder for each class" in refusal(tmp_path, "empty", label="")
    pictures(tmp_path, sizes=(6, 5))
    assert "own_datasets.mine.label = 'tree' does not apply to a folder" in refusal(tmp_path, "trees", label="tree")
    message = refusal(tmp_path, "trees", **BYTE)
    assert all(word in message for word in ("one size", "6 x 6", "5 x 6"))
    save_file({"x": torch.zeros(40, 2, dtype=torch.complex64), "tree": torch.arange(40)}, tmp_path / TENSORS)
    assert "must hold numbers" in refusal(tmp_path, TENSORS)
    assert len(refusal(put(tmp_path, pd.DataFrame(np.zeros((4, 5000)))))) < 2000


@pytest.mark.parametrize("name", [NPZ, PARQUET, TENSORS])
@given(data=st.data())
@settings(PROPERTY, max_examples=50)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, name: str, data: st.DataObject) -> None:
    put(tmp_path, name=name)
    if name == TENSORS:
        save_file({"x": torch.tensor(X), "tree": torch.arange(40) % 2}, tmp_path / name)
    whole = bytearray((tmp_path / name).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[place] = data.draw(st.integers(0, 255))
    (tmp_path / name).write_bytes(whole[: data.draw(st.sampled_from([None, None, None, len(whole) // 2]))])
    with contextlib.suppress(InputError):  # and nothing else
        prepared(tmp_path, name)


# Numbers in float32


UNIX_TIME, DEGREES = (1_700_000_000, 1.0), (52.3, 1e-6)
ZEROS = [UNIX_TIME, DEGREES, (-122.5, 1e-6), (2**31 - 150, 1.0), (2**24, 1.0), (2**52, 1.0), (-(2.0**40), 0.25)]


@pytest.mark.parametrize(("low", "step"), ZEROS)
def test_values_far_from_0_are_as_different_as_they_were(tmp_path: Path, low: float, step: float) -> None:
    values = np.float64(low) + step * np.arange(100)
    ends = [low, low + 100 * step]
    table = pd.DataFrame({"a": values, "b": values[::-1], "tree": Y[np.arange(100) % 40]})
    for path in (PARQUET, NPZ):
        splits = prepared(put(tmp_path, table, path), path, range=ends)
        x, told = np.concatenate([part.x for part in splits]), splits[0].metadata
        assert [len(np.unique(column)) for column in x.T] == [100, 100]
        np.testing.assert_allclose(np.sort(x[:, 0]), values - low, rtol=1e-6)
        assert (float(told["low"]), float(told["high"])) == (0.0, ends[1] - low)
        assert "elements counted from" in told["deviation"]
        assert x.min() >= 0.0
    scaled = np.concatenate([part.x for part in prepared(tmp_path, PARQUET, range={"a": ends, "b": ends})])
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
    message = refusal(put(tmp_path, {"a": values}, PARQUET), PARQUET, values=["a"], range={"a": ends})
    assert "column 'a'" in message
    assert "one number in float32" in message
    if ends[1] < 1e30:
        assert "element (0,)" in refusal(put(tmp_path, {"x": values[:, None]}, NPZ), NPZ, range=ends)


def test_numbers_that_merge_here_and_there_give_a_warning_where_they_are_whole(tmp_path: Path) -> None:
    put(tmp_path, {"a": [*np.arange(38) * 1_000_000, 2**25, 2**25 + 1]})
    (found,) = warned(tmp_path, values=["a", "b"], range=[0, 1e8])
    assert "33554432 and 33554433 in column 'a'" in found
    put(tmp_path, {"a": [0.5, 2**25 + 0.5, *np.arange(36) * 1_000_000, 2**25, 2**25 + 1]})  # others have a fraction
    (found,) = warned(tmp_path, values=["a", "b"], range=[0, 1e8])
    assert "33554432 and 33554433 in column 'a'" in found
    assert not any("float32" in warning for warning in warned(tmp_path, values=["b"]))
    put(tmp_path, {"a": np.append(np.linspace(0, 1, 39), np.nextafter(1.0, 0.0))})  # two of them become one
    assert warned(tmp_path, values=["a", "b"]) == []


# Labels and columns


def labelled(folder: Path, one: str, other: str) -> Path:
    """A CSV file whose label column has two texts in turns."""
    lines = ["a,tree", *(f"{k % 16},{(one, other)[k % 2]}" for k in range(40))]
    return put(folder, "\n".join([*lines, ""]).encode())


LIKE_NOTHING = [("NA", "None"), ("null", "nan"), ("N/A", "x"), ("-", "?"), ("True", "False"), ("yes", "no")]
LIKE_NUMBERS = [("0x10", "16"), ("1e3", "x"), ("1" * 40, "2" * 40), ("1e99", "1e999"), ("v1.0", "v1")]


@pytest.mark.parametrize(("one", "other"), [*LIKE_NOTHING, *LIKE_NUMBERS, ("2020-01-01", "2020-01-02")])
def test_a_label_of_a_csv_file_is_the_text_that_stands_there(tmp_path: Path, one: str, other: str) -> None:
    assert classes(prepared(labelled(tmp_path, one, other))) == sorted((one, other))


TWINS: dict[str, list[Callable[[str], str]]] = {  # of a word or a number, what a reader would take for the same
    r"[a-cêå]{1,5} oak": [str.upper, " {}".format, lambda word: word.replace(" ", "  ")],
    r"[a-c]*[êåü]": [lambda word: unicodedata.normalize("NFD", word)],
    r"[0-9]{1,6}": ["0{}".format, "+{}".format, "{}.0".format, "{}e0".format, "{}0e-1".format],
    "0": ["-0".format],
    r"[<>][0-9]{2}K": ["{}.".format],  # as the two files of one census have them
}


@given(st.data())
@settings(PROPERTY, max_examples=40)
def test_labels_that_a_reader_would_take_for_one_are_refused(tmp_path: Path, data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(sorted(TWINS)))
    one = data.draw(st.from_regex(pattern, fullmatch=True).filter(str.isprintable))
    other = data.draw(st.sampled_from(TWINS[pattern]))(one)
    put(labelled(tmp_path, one, other), {"tree": np.array([one, other] * 20)}, NPZ)
    for path, places in ((CSV, ("row 1 ", "row 2 ")), (NPZ, ("record 0 ", "record 1 "))):
        message = refusal(tmp_path, path)
        assert all(word in message for word in (repr(one), repr(other), *places)), message


def test_classes_that_are_numbers_are_in_their_order_and_words_in_that_of_the_alphabet(tmp_path: Path) -> None:
    numbers = np.arange(40) % 12 - 1
    for labels in (numbers, numbers.astype(float)):
        splits = prepared(put(tmp_path, {"tree": labels}), test=0.5)
        assert classes(splits) == [str(n) for n in np.unique(labels)]
        found = sorted((x, y - 1) for y, *x in rows(splits))
        assert found == sorted((x.tolist(), n) for x, n in zip(X, numbers, strict=True))
    kinds: list[Any] = [numbers, numbers.astype(float), pd.array(numbers, "Int64"), pd.Categorical(numbers)]
    for kind in kinds:
        put(tmp_path, {"tree": kind}, PARQUET)
        assert classes(prepared(tmp_path, PARQUET, test=0.5)) == [str(n) for n in range(-1, 11)]
    for path in (NPZ, PARQUET):  # which hold numbers as text only where they are words
        put(tmp_path, {"tree": (numbers + 1).astype(str)}, path)
        assert classes(prepared(tmp_path, path, test=0.5)) == sorted(str(n) for n in range(12))


COUNT = np.arange(40)
INDICES = [("", COUNT), ("", COUNT * 3), ("plant_id", COUNT * 3), ("number", COUNT[::-1])]


@pytest.mark.parametrize(("name", "values"), INDICES)
def test_an_index_gives_a_warning_that_says_how_to_drop_it(tmp_path: Path, name: str, values: Any) -> None:
    put(tmp_path, pd.concat([pd.Series(values, name=name), TABLE], axis=1))
    named = name or "Unnamed: 0"
    (found,) = warned(tmp_path, range=[0, 120])
    assert ("the column 1 without a name ('Unnamed: 0') of " in found) == (not name)
    assert f"drop: [{named!r}]" in found
    assert warned(tmp_path, range=[0, 120], drop=[named]) == []
    assert rows(prepared(tmp_path, drop=[named])) == stated(X)


def test_the_index_of_a_parquet_file_is_a_column_where_it_has_a_name(tmp_path: Path) -> None:
    for table in (TABLE.set_index("a"), TABLE.set_index("a", drop=False), TABLE.iloc[::-1]):
        assert rows(prepared(put(tmp_path, table, PARQUET), PARQUET)) == stated(X)
    put(tmp_path, TABLE.set_index(pd.Index(TABLE["b"], name="a")), PARQUET)
    assert "t.parquet has an index and a column 'a' that differ" in refusal(tmp_path, PARQUET)


def test_a_csv_file_without_a_header_does_not_lose_its_first_record(tmp_path: Path) -> None:
    lines = [f"{k / 2},{k + 1},-1e-{k},{('oak', 'elm')[k % 2]}" for k in range(16)]
    put(tmp_path, "\n".join(["", *lines]).encode())
    assert "the first row of " in (message := refusal(tmp_path, label="oak"))
    assert "looks like a record, as 'oak' is also a label" in message
    put(tmp_path, "\n".join(["x,y,z,oak", *lines]).encode())  # a name that is also one of the labels
    assert len(rows(prepared(tmp_path, label="oak", range=[-1, 16]))) == 16
    put(tmp_path, "\n".join(["0.5,1,7,tree", *lines]).encode())  # as wavelengths
    assert len(rows(prepared(tmp_path, range=[-1, 16]))) == 16
    for start in (0, 1):  # as pandas counts columns: the label's name may be one of the labels
        table = pd.DataFrame(np.arange(44).reshape(4, 11).T % 3 + 2, columns=range(start, start + 4))
        put(tmp_path, table.to_csv().encode())
        assert len(rows(prepared(tmp_path, label=start + 3, drop=["Unnamed: 0"]))) == 11


def test_names_of_columns_are_taken_as_written_without_a_byte_order_mark(tmp_path: Path) -> None:
    put(tmp_path, TABLE.rename(columns={"a": "01", "b": "1e3", "tree": "true"}))
    ranges = {"01": [0, 16], "1e3": ["0", "16"]}
    assert prepared(tmp_path, label="true", values=["01", "1e3"], range=ranges)[0].x.shape[1] == 2
    put(tmp_path, TABLE.to_csv(index=False).encode("utf-8-sig"))
    assert prepared(tmp_path, values=["a"])[0].x.shape[1] == 1


# Images


def read_picture(folder: Path, image: Image.Image, name: str, **options: Any) -> Any:
    """What becomes of one image, which is twice in each of two classes."""
    for tree, number in itertools.product(("elm", "oak"), range(2)):
        path = folder / "trees" / tree / f"{number}_{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path, **options)
    try:
        return prepared(folder, "trees", test=0.5, **BYTE)[0].x[0]
    finally:
        shutil.rmtree(folder / "trees")


def refuse_picture(folder: Path, words: str, image: Image.Image, name: str, **options: Any) -> None:
    with pytest.raises(InputError, match=f"elm/0_{name}.*{words}"):
        read_picture(folder, image, name, **options)


@pytest.mark.parametrize(("mode", "shape"), [("L", (6, 6)), ("RGB", (6, 6, 3))])
def test_a_folder_of_images_has_the_classes_of_its_folders(tmp_path: Path, mode: str, shape: tuple[int, ...]) -> None:
    train, test = prepared(pictures(tmp_path, mode=mode), "trees", test=0.34, **BYTE)
    assert (train.x.dtype, train.x.shape[1:]) == (np.uint8, shape)
    expected = [(k, 40 * k + number) for k in range(2) for number in range(6)]
    assert [row[:2] for row in rows([train, test])] == expected


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tiff", "a.webp"])
def test_an_image_is_turned_as_its_exif_data_say(tmp_path: Path, name: str) -> None:
    upright = np.zeros((8, 8), np.uint8)
    upright[:4, :4], upright[:4, 4:] = 240, 120
    for orientation, undone in enumerate((1, 2, 3, 4, 5, 8, 7, 6), start=1):
        turned, exif = Image.fromarray(upright), Image.Exif()
        turned.getexif()[0x0112], exif[0x0112] = undone, orientation
        found = read_picture(tmp_path, ImageOps.exif_transpose(turned), name, exif=exif)
        grey = found if found.ndim == 2 else found[..., 0]
        assert np.abs(grey.astype(int) - upright).max() <= 24, orientation  # of JPEG and WebP


def test_an_image_of_more_than_8_bits_of_grey_or_rgb_or_of_several_pictures_is_refused(tmp_path: Path) -> None:
    for mode, name in (("CMYK", "a.jpg"), ("I;16", "a.png"), ("F", "a.tiff"), ("LAB", "a.tiff")):
        refuse_picture(tmp_path, mode, Image.new(mode, (6, 6)), name)
    for mode, name in (("RGBA", "a.png"), ("LA", "a.png"), ("PA", "a.tiff")):
        refuse_picture(tmp_path, "transparent", Image.new(mode, (6, 6)), name)
    red, blue = (Image.new("RGB", (6, 6), colour) for colour in ("red", "blue"))
    for name in ("a.gif", "a.tiff", "a.webp", "a.png"):
        refuse_picture(tmp_path, "has 2 pictures", red, name, save_all=True, append_images=[blue])
    found = read_picture(tmp_path, red, "a.jpg", format="MPO", save_all=True, append_images=[blue])
    assert found[0, 0].argmax() == 0  # a photograph with a preview is the photograph


def test_colours_of_16_bits_are_refused(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress((b"\0" + bytes(6 * 6)) * 6)
    head = struct.pack(">IIBBBBB", 6, 6, 16, 2, 0, 0, 0)  # 16 bits of each of three colours
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    (pictures(tmp_path) / "trees" / "elm" / "a.png").write_bytes(b"".join(parts))
    assert "RGB;16B" in refusal(tmp_path, "trees", **BYTE)


def test_palettes_and_opaque_images_keep_their_colours(tmp_path: Path) -> None:
    colours = np.arange(108, dtype=np.uint8).reshape(6, 6, 3)
    image = Image.fromarray(colours)
    for changed in (image.quantize(256), image.convert("RGBA"), image):
        np.testing.assert_array_equal(read_picture(tmp_path, changed, "a.png"), colours)
    refuse_picture(tmp_path, "transparent", image, "a.png", transparency=(0, 1, 2))  # a colour that means: nothing here


def test_what_is_no_image_of_a_class_is_left_out_with_a_warning(tmp_path: Path) -> None:
    trees = pictures(tmp_path) / "trees"
    (trees / "elm" / ".DS_Store").write_text("")
    assert warned(tmp_path, "trees", **BYTE) == []
    (trees / "elm" / "a.heic").write_text("")
    (trees / "notes").mkdir()
    (trees / "top.png").write_text("")
    (found,) = warned(tmp_path, "trees", **BYTE)
    assert "3 files or folders" in found


def test_names_of_folders_and_files_that_cannot_be_carried_or_told_apart_are_refused(tmp_path: Path) -> None:
    trees = pictures(tmp_path) / "trees"
    for name in (b"h\xeatre", b"o{a}k", b"oak\nx"):
        folder = trees / os.fsdecode(name)
        folder.mkdir()
        assert "rename it" in refusal(tmp_path, "trees", **BYTE)
        folder.rmdir()
    strange = trees / "elm" / os.fsdecode(b"\xea.png")
    strange.write_text("")
    assert "not UTF-8" in refusal(tmp_path, "trees", **BYTE)
    strange.unlink()
    (trees / "oak").rename(trees / "Elm")
    message = refusal(tmp_path, "trees", **BYTE)
    assert all(word in message for word in ("'Elm'", "'elm'", "Elm/0.png"))


@pytest.mark.parametrize(
    ("name", "most", "words"),
    [
        (CSV, 50, "warning: own_datasets.mine: the column 'id'"),
        (CSV, 5, "error: own_"),
        ("t.txt", 50, "error: own_datasets.mine.path = "),
    ],
)
def test_the_script_says_one_sentence_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, most: int, words: str
) -> None:
    put(tmp_path, {"id": np.arange(40)}, name)
    script = runpy.run_path(str(Path(__file__).parents[2] / "workflow" / "scripts" / "prepare_own.py"))
    entry = {"path": str(tmp_path / name), "label": "tree", "range": [0, most]}
    with contextlib.suppress(SystemExit) if words.startswith("warning") else pytest.raises(SystemExit, match="1"):
        run(script["main"], ["--dataset", "mine", "--entry", json.dumps(entry), "--out", str(tmp_path / "out")])
    said = capsys.readouterr()
    copies = (
        "mine: test records that are also in training: 0 (only with another label: 0); training records that repeat"
    )
    assert said.out == (f"{copies} another: 0\n" if words.startswith("warning") else "")
    assert said.err.startswith(words)
    assert said.err.count("\n") == 1
