"""Parsers of the tabular data sets: float32 rows, scaled with only the training split."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tensorldp.errors import InputError, described
from tensorldp_papers.data.archives import decompressed
from tensorldp_papers.data.split import Arrays, Options, Parsed, parser, stratified

CTG_COLUMNS = 21  # features, which the first row numbers


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """Reads a CSV file, decompressed by its suffix."""
    try:
        table: pd.DataFrame = pd.read_csv(path, **options)
        return table
    except FileNotFoundError:
        raise InputError(f"the file {path} is missing") from None
    except UnicodeDecodeError:
        raise InputError(f"the file {path} is not UTF-8 text: save it as UTF-8") from None
    except Exception as error:  # pandas passes on whatever its parser and the decompressor raise
        raise InputError(f"the file {path} is not the expected CSV table ({described(error)})") from None


def standardise(train: NDArray[Any], test: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Computes both splits less the mean and over the deviation of the training columns; constant columns become 0."""
    train, test = train.astype(np.float64), test.astype(np.float64)
    mean, std = train.mean(axis=0), train.std(axis=0)
    std = np.where(std > 0, std, 1.0)
    return ((train - mean) / std).astype(np.float32), ((test - mean) / std).astype(np.float32)


def numbers(table: pd.DataFrame, path: Path) -> NDArray[np.float64]:
    """Returns the columns of a table as float64."""
    for name in table.columns:
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise InputError(f"the column {name!r} of {path} must hold only numbers")
    return table.to_numpy(np.float64)


@parser("credit")
def parse_credit(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads credit card fraud: x (N, 28) standardised V1 to V28, y 1 for fraud; stratified 70/30 split."""
    return _standardised(*_credit_rows(files["creditcard.csv"]), 0.3, options.seed)


FRAUD, ANY_TIME = 1, 2
"""What part_u8.bin says of a row of the partial table: a fraud, or from samples of all rows without fraud."""


@parser("creditcard_55k")
def parse_creditcard_55k(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads the partial table as `parse_credit` the whole: all frauds, and a near uniform sample of the other rows."""
    path, parts = files["creditcard_subset.csv.xz"], files["part_u8.bin"]
    x, y = _credit_rows(path)
    part = np.frombuffer(decompressed(parts), np.uint8)
    if len(part) != len(y):
        raise InputError(
            f"the file {parts} has {len(part)} bytes, expected one for each of the {len(y)} rows of {path}"
        )
    taken = np.isin(part, (FRAUD, ANY_TIME))
    return _standardised(x[taken], y[taken], 0.3, options.seed)


def _credit_rows(path: Path) -> Arrays:
    table = read_csv(path)
    columns = [f"V{k}" for k in range(1, 29)]
    if missing := [name for name in [*columns, "Class"] if name not in table.columns]:
        raise InputError(f"the file {path} lacks the column {missing[0]!r}")
    x, y = numbers(table[columns], path), table["Class"].to_numpy()
    if not np.isin(y, (0, 1)).all():
        raise InputError(f"the column 'Class' of {path} must hold only 0 and 1")
    return x, y


def _standardised(x: NDArray[Any], y: NDArray[Any], test_size: float, seed: int) -> Parsed:
    (train, y_train), (test, y_test) = stratified(x, y, test_size, seed)
    train, test = standardise(train, test)
    return Parsed((train, y_train), (test, y_test))


@parser("adult")
def parse_adult(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads Adult: x (N, 105): 6 continuous columns over twice their training mean, one-hot categories; y 1 if >50K.

    The categories are those of adult.names, so the columns do not depend on the rows; '?' is all zero.
    """
    columns = _adult_columns(files["adult.names"])
    paths = [
        next(path for name, path in files.items() if name.startswith(stem)) for stem in ("adult.data", "adult.test")
    ]
    (train, y_train), (test, y_test) = (_adult_rows(path, columns) for path in paths)
    continuous = sum(values is None for values in columns.values())
    mean = train[:, :continuous].mean(axis=0)
    scale = np.ones(train.shape[1])
    scale[:continuous] = 2 * np.where(mean > 0, mean, 0.5)
    return Parsed(((train / scale).astype(np.float32), y_train), ((test / scale).astype(np.float32), y_test))


def _adult_columns(path: Path) -> dict[str, list[str] | None]:
    """Reads the column names of adult.names in order, each with its categories, or None if it is continuous."""
    text = decompressed(path).decode("utf-8", errors="replace")
    columns: dict[str, list[str] | None] = {}
    for name, values in re.findall(r"^([a-z-]+): (.+)\.\s*$", text, re.MULTILINE):
        columns[name] = None if values == "continuous" else [value.strip() for value in values.split(",")]
    if not columns:
        raise InputError(f"the file {path} describes no columns, expected lines such as 'sex: Female, Male.'")
    return columns


def _adult_rows(path: Path, columns: Mapping[str, list[str] | None]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    # the first line of adult.test is a remark that begins with a bar
    table = read_csv(
        path,
        header=None,
        names=[*columns, "label"],
        skipinitialspace=True,
        comment="|",
        na_filter=False,
        index_col=False,
    )
    x = [numbers(table[[name for name, values in columns.items() if values is None]], path)]
    for name, values in columns.items():
        if values is None:
            continue
        codes = pd.Categorical(table[name], categories=values).codes
        strange = table[name][(codes < 0) & (table[name] != "?").to_numpy()]
        if len(strange):
            raise InputError(f"the column {name!r} of {path} holds {strange.iloc[0]!r}, which adult.names lacks")
        x.append(np.eye(len(values) + 1)[codes, :-1])
    label = table["label"].str.rstrip(".")
    if not label.isin(("<=50K", ">50K")).all():
        raise InputError(f"the labels in {path} must be <=50K or >50K")
    return np.hstack(x), (label == ">50K").to_numpy().astype(np.int64)


@parser("ctg")
def parse_ctg(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads Cardiotocography: x (N, 21) in [-1, 1], y the fetal state NSP less 1; stratified 80/20 split."""
    import xlrd

    path = files["CTG.xls"]

    try:
        # xlrd by itself, because pandas is giving up its xlrd engine
        sheet = xlrd.open_workbook(str(path), logfile=io.StringIO()).sheet_by_name("Data")
        rows = [sheet.row_values(k) for k in range(sheet.nrows)]
    except FileNotFoundError:
        raise InputError(f"the file {path} is missing") from None
    except Exception as error:  # xlrd lets many kinds through on damaged input
        raise InputError(f"the file {path} is not the expected Excel 97 workbook ({error})") from None
    return ctg_table(rows, path, options.seed)


def ctg_table(rows: Sequence[Sequence[Any]], path: Path, seed: int) -> Parsed:
    """Returns the rows of the sheet `Data` as `parse_ctg` gives them; its first row numbers the columns 1 to 21."""
    if len(rows) < 3 or "NSP" not in rows[1]:
        raise InputError(f"the sheet 'Data' of {path} must have the column NSP in its second row")
    try:
        columns = [list(rows[0]).index(float(k)) for k in range(1, CTG_COLUMNS + 1)]
    except ValueError:
        raise InputError(f"the first row of the sheet 'Data' of {path} must number the columns 1 to 21") from None
    state = list(rows[1]).index("NSP")
    # below the records are sums without a state
    records = [row for row in rows[2:] if row[state] in (1.0, 2.0, 3.0)]
    try:
        x = np.array([[float(row[k]) for k in columns] for row in records])
    except ValueError as error:
        raise InputError(f"the sheet 'Data' of {path} must hold numbers in the columns 1 to 21 ({error})") from None
    y = np.array([int(row[state]) - 1 for row in records])
    (train, y_train), (test, y_test) = stratified(x, y, 0.2, seed)
    low, high = train.min(axis=0), train.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    train, test = (
        np.clip(np.where(high > low, 2 * (part - low) / width - 1, 0.0), -1, 1).astype(np.float32)
        for part in (train, test)
    )
    return Parsed((train, y_train), (test, y_test))


DARKNET_CLASSES = ("Non-Tor", "NonVPN", "Tor", "VPN")
RAW_SHAPE = (141530, 85)
CLEAN_ROWS = 141481
SEGMENTS = 200  # into which the records of Tor and the others are each cut, before they alternate

_TEXT = ("Flow ID", "Src IP", "Dst IP", "Timestamp", "Label", "Label.1")
_ENDPOINTS = ("Src Port", "Dst Port", "Protocol")


@parser("darknet")
def parse_darknet(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads Darknet.CSV: x (N, at most 79) standardised, y one of `DARKNET_CLASSES`.

    The second label, the application, is dropped with the other text columns, because it would give the class away.
    Rows with NaN or infinite values are dropped, duplicates are kept. Columns that are constant in training are
    dropped. `expect_full` insists on the row and column counts of the release that the paper used; `endpoints` keeps
    the ports and the protocol among the features; `seed` is for the shuffle in the split.
    """
    path = files["Darknet.CSV"]
    table = read_csv(path, low_memory=False)
    if options.expect_full and table.shape != RAW_SHAPE:
        raise InputError(
            f"the file {path} has {table.shape[0]} rows and {table.shape[1]} columns, expected "
            f"{RAW_SHAPE[0]} and {RAW_SHAPE[1]}: it must be the release of CIC-Darknet2020 with that size"
        )
    for name in (*_TEXT, *_ENDPOINTS):
        if name not in table.columns:
            raise InputError(f"the file {path} lacks the column {name!r}")
    label = table["Label"].astype("string").str.strip()
    if strange := sorted(set(label.dropna()) - set(DARKNET_CLASSES)):
        raise InputError(f"the file {path} has the label {strange[0]!r}, allowed are {', '.join(DARKNET_CLASSES)}")
    x = numbers(table.drop(columns=[*_TEXT, *(() if options.endpoints else _ENDPOINTS)]), path)
    y = label.map({name: index for index, name in enumerate(DARKNET_CLASSES)}).fillna(-1).to_numpy(np.int64)
    clean = np.isfinite(x).all(axis=1) & (y >= 0)
    if options.expect_full and clean.sum() != CLEAN_ROWS:
        raise InputError(
            f"the file {path} has {clean.sum()} rows without NaN and infinite values, expected {CLEAN_ROWS}"
        )
    (train, y_train), (test, y_test) = interspersed(x[clean], y[clean], options.seed)
    if not len(train) or not len(test):
        raise InputError(f"the file {path} has {clean.sum()} usable rows, too few for two splits")
    varying = train.min(axis=0) < train.max(axis=0)
    train, test = standardise(train[:, varying], test[:, varying])
    return Parsed((train, y_train), (test, y_test), {"features": str(train.shape[1])})


APPLICATIONS = (
    "Audio-Streaming",
    "Browsing",
    "Chat",
    "Email",
    "File-Transfer",
    "P2P",
    "VOIP",
    "Video-Streaming",
)


@parser("darknet_5k")
def parse_darknet_5k(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads the partial table: x (N, 9) standardised, y an index of APPLICATIONS; stratified 80/20 split."""
    path = files["darknet2020_sample5000.csv.xz"]
    table = read_csv(path)
    if missing := [name for name in ("Label", "Label.1", "Timestamp") if name not in table.columns]:
        raise InputError(f"the file {path} lacks the column {missing[0]!r}")
    if strange := sorted(set(table["Label.1"].astype(str)) - set(APPLICATIONS)):
        raise InputError(f"the file {path} has the label {strange[0]!r}, allowed are {', '.join(APPLICATIONS)}")
    x = numbers(table.drop(columns=["Label", "Label.1", "Timestamp"]), path)
    y = table["Label.1"].map(APPLICATIONS.index).to_numpy(np.int64)
    return _standardised(x, y, 0.2, options.seed)


def interspersed(x: NDArray[Any], y: NDArray[Any], seed: int) -> tuple[Arrays, Arrays]:
    """Returns the paper's split, as far as it is described: training and test records with their classes.

    Tor, in order, is cut into 200 segments that alternate with 200 segments of the shuffled rest; the first 80 %
    (rounded down) are for training, the others for testing.
    """
    tor = y == DARKNET_CLASSES.index("Tor")
    rest = np.random.default_rng(seed).permutation(np.flatnonzero(~tor))
    segments = zip(np.array_split(np.flatnonzero(tor), SEGMENTS), np.array_split(rest, SEGMENTS), strict=True)
    order = np.concatenate([part for pair in segments for part in pair])
    cut = len(order) * 8 // 10
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])
