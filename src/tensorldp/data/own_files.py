"""A user's own file or folder of images as the splits of a data set."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from tensorldp.data.checksum import digest
from tensorldp.data.own import TABLES, OwnDataset
from tensorldp.data.prepare import write_splits
from tensorldp.data.source import Dataset
from tensorldp.data.split import Parsed, stratified
from tensorldp.data.tabular import read_csv
from tensorldp.errors import InputError, shown, unknown
from tensorldp.runtime.files import read_arrays

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
Content = tuple[NDArray[Any], NDArray[Any]]
"""Records as stored, and their classes as stored."""


def prepare_own(name: str, entry: OwnDataset, out_dir: Path) -> None:
    """Write the splits of a user's own data as `prepare` does, with the names of the classes in the metadata.

    Images of unsigned bytes stay so, all else becomes float32. Records of one dimension are a table, of two or three
    dimensions images, (height, width) or (height, width, channels).

    Args:
        name: the data set's.
        entry: what config.yaml says of it.
        out_dir: folder to write, made if need be.

    Raises:
        InputError: if the file cannot be read, a column or array is missing, a value is not a finite number or lies
            outside the stated range, or the classes cannot be split.
    """
    path, where = Path(entry.path), f"own_datasets.{name}"
    if path.is_dir():
        x, labels = _folder(path, where)
        source = f"{path.name}, {len(x)} images"
    else:
        read = _table if path.suffix.casefold() in TABLES else _arrays
        x, labels = read(path, entry, where)
        source = f"{path.name}, sha256:{digest(path).sha256}"
    x = _shaped(x, entry, where)
    y, classes = _classes(labels, f"{where}: {path}")
    (low, high) = (0.0, 1.0) if isinstance(entry.range, dict) else entry.range
    _check_range(x, low, high, f"{where}.range")
    if x.dtype != np.uint8:
        x = x.astype(np.float32)
    train, test = stratified(x, y, entry.test, entry.seed)
    dataset = Dataset(
        name=name,
        kind="tabular" if x.ndim == 2 else "image",
        classes=len(classes),
        shape=x.shape[1:],
        low=low,
        high=high,
        sizes=(len(train[0]), len(test[0])),
        homepage="",
        note="the user's own",
        deviation=f"stratified split, {entry.test:g} for testing, seed {entry.seed}; public range as the user states",
        embedded=True,
    )
    write_splits(dataset, Parsed(train, test, {"class_names": json.dumps(classes)}), source, out_dir)


def _table(path: Path, entry: OwnDataset, where: str) -> Content:
    """The rows of a table; columns with ranges of their own are scaled to [0, 1]."""
    if path.suffix.casefold() == ".csv":
        table = read_csv(path)
    else:
        try:
            table = pd.read_parquet(path)
        except Exception as error:  # pyarrow lets several kinds through on damaged files
            raise InputError(f"{where}: {path} is not a Parquet table ({str(error).splitlines()[0]})") from None
    table.columns = [str(column) for column in table.columns]
    columns = list(table.columns)
    if entry.label not in columns:
        raise unknown(f"column {where}.label of {path}", entry.label, columns)
    chosen = entry.values or [column for column in columns if column != entry.label]
    for column in chosen:
        if column not in columns or column == entry.label:
            raise unknown(f"column {where}.values of {path}", column, [c for c in columns if c != entry.label])
        if not pd.api.types.is_numeric_dtype(table[column]):
            raise InputError(
                f"{where}: the column {column!r} of {path} must hold numbers: leave it out by naming the others "
                "under values, or make it the label"
            )
    if not chosen:
        raise InputError(f"{where}: {path} has no column but the label {entry.label!r}")
    x = table[chosen].to_numpy(np.float64)
    _check_finite(x, lambda row, place: f"{where}: row {row + 1}, column {chosen[place[0]]!r} of {path}")
    if isinstance(entry.range, dict):
        x = _scaled(x, chosen, entry.range, where)
    return x, table[entry.label].to_numpy()


def _scaled(x: NDArray[Any], columns: list[str], ranges: dict[str, list[float]], where: str) -> NDArray[Any]:
    """Each column from its own public range to [0, 1]."""
    for column in ranges:
        if column not in columns:
            raise unknown(f"column {where}.range", column, columns)
    for column in columns:
        if column not in ranges:
            raise InputError(f"{where}.range lacks the column {column!r}: each column needs its public range")
    low, high = np.array([ranges[column] for column in columns]).T
    for k, column in enumerate(columns):
        _check_range(x[:, k], low[k], high[k], f"{where}.range.{column}")
    return np.asarray((x - low) / (high - low)).clip(0, 1)


def _arrays(path: Path, entry: OwnDataset, where: str) -> Content:
    arrays = _npz(path, where) if path.suffix.casefold() == ".npz" else read_arrays(path)[0]
    if entry.label not in arrays:
        raise unknown(f"array {where}.label of {path}", entry.label, arrays)
    others = entry.values or [name for name in arrays if name != entry.label]
    if len(others) != 1:
        raise InputError(f"{where}.values must name one array of {path}, which has {', '.join(sorted(arrays))}")
    if others[0] not in arrays:
        raise unknown(f"array {where}.values of {path}", others[0], arrays)
    x, labels = arrays[others[0]], arrays[entry.label]
    if x.dtype.kind not in "uif" or x.ndim < 2 or x.shape[0] != labels.size or x.size == 0:
        raise InputError(
            f"{where}: the array {others[0]!r} of {path} must hold numbers, one record for each of the {labels.size} "
            f"labels, got the shape {x.shape} of {x.dtype}"
        )
    _check_finite(x, lambda row, place: f"{where}: record {row}, element {place} of {path}")
    return x, labels.reshape(-1)


def _npz(path: Path, where: str) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as source:
            return {name: source[name] for name in source.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise InputError(f"{where}: {path} is not an NPZ file of plain arrays ({str(error).splitlines()[0]})") from None


def _folder(path: Path, where: str) -> Content:
    """The images of a folder, grey where all are grey and RGB otherwise; a class is a folder."""
    files = [
        (file, folder.name)
        for folder in sorted(path.iterdir())
        if folder.is_dir() and not folder.name.startswith(".")
        for file in sorted(folder.iterdir())
        if file.suffix.casefold() in PICTURES and not file.name.startswith(".")
    ]
    if not files:
        raise InputError(
            f"{where}.path = {str(path)!r} must have one folder for each class with images ending in "
            f"{', '.join(PICTURES)}"
        )
    pictures = [_picture(file, where) for file, _ in files]
    first = pictures[0].shape[:2]
    for (file, _), picture in zip(files, pictures, strict=True):
        if picture.shape[:2] != first:
            raise InputError(
                f"{where}: all images must have one size, {files[0][0]} has {first[1]} x {first[0]} pixels and {file} "
                f"has {picture.shape[1]} x {picture.shape[0]}"
            )
    if any(picture.ndim == 3 for picture in pictures):
        pictures = [np.repeat(p[..., None], 3, axis=2) if p.ndim == 2 else p for p in pictures]
    return np.stack(pictures), np.array([label for _, label in files])


def _picture(path: Path, where: str) -> NDArray[np.uint8]:
    """One image of unsigned bytes, (H, W) or (H, W, 3)."""
    try:
        with Image.open(path) as image:
            if image.mode.startswith(("I", "F")):
                raise InputError(
                    f"{where}: the image {path} must have 8 bits in each channel, its mode is {image.mode}"
                )
            return np.asarray(image.convert("L" if image.mode in ("L", "1", "LA") else "RGB"))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, SyntaxError):
        raise InputError(f"{where}: the image {path} cannot be read: repair it or take it away") from None


def _shaped(x: NDArray[Any], entry: OwnDataset, where: str) -> NDArray[Any]:
    if entry.shape is not None:
        if math.prod(entry.shape) != math.prod(x.shape[1:]):
            raise InputError(
                f"{where}.shape = {entry.shape} has {math.prod(entry.shape)} elements, a record of {entry.path} has "
                f"{math.prod(x.shape[1:])}"
            )
        x = x.reshape(len(x), *entry.shape)
    if x.ndim == 4 and x.shape[3] == 1:
        x = x[..., 0]
    if not 2 <= x.ndim <= 4 or (x.ndim == 4 and x.shape[3] != 3):
        raise InputError(
            f"{where}: a record must be (elements,), (height, width) or (height, width, 3), got the shape "
            f"{x.shape[1:]} in {entry.path}; state another as shape"
        )
    return x


def _classes(labels: NDArray[Any], where: str) -> tuple[NDArray[np.int64], list[str]]:
    """Class indices in the sorted order of the labels, and the labels as text."""
    series = pd.Series(labels)
    if series.isna().any():
        raise InputError(f"{where}: the label of record {int(np.flatnonzero(series.isna())[0]) + 1} is missing")
    if series.dtype.kind == "f":
        if (series % 1 != 0).any():
            fraction = series[series % 1 != 0].iloc[0]
            raise InputError(f"{where}: labels must be whole numbers or words, found is {fraction:g}")
        series = series.astype(np.int64)
    elif series.dtype.kind not in "iub":
        series = series.astype(str)
    found, y, counts = np.unique(series.to_numpy(), return_inverse=True, return_counts=True)
    classes = [str(label) for label in found]
    if len(classes) < 2:
        raise InputError(f"{where} has one class alone, {shown(classes[0]) if classes else 'none'}: two are needed")
    if counts.min() < 2:
        lone = classes[int(counts.argmin())]
        raise InputError(f"{where} has one record alone of the class {shown(lone)}: both splits need one")
    return y.astype(np.int64), classes


def _check_finite(x: NDArray[Any], place: Any) -> None:
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        row, *rest = (int(k) for k in bad[0])
        raise InputError(f"{place(row, tuple(rest))} is {x[tuple(bad[0])]}: every value must be a finite number")


def _check_range(x: NDArray[Any], low: float, high: float, key: str) -> None:
    outside = x[(x < low) | (x > high)]
    if outside.size:
        raise InputError(
            f"{key} = [{low:g}, {high:g}] does not hold {outside[0]:g}: state the public range that every record "
            "must lie in, or clip the data to it"
        )
