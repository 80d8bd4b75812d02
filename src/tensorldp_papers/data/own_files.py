"""A user's own file or folder of images as the splits of a data set."""

from __future__ import annotations

import json
import math
import re
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageOps
from safetensors import safe_open

from tensorldp.errors import InputError, described, shown, unknown
from tensorldp_papers.data.catalogue import Copies, Dataset
from tensorldp_papers.data.fetch import digest
from tensorldp_papers.data.own import OwnDataset, origin
from tensorldp_papers.data.prepare import write_splits
from tensorldp_papers.data.split import Arrays, Parsed, stratified
from tensorldp_papers.data.tabular import read_csv

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
FINE = 1e-3  # the share of a column's interquartile range that float32 must resolve where it merges values
CHANGE_UNITS = "count the data from another zero, or in larger units"

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?", re.ASCII)  # an exponent is a measurement's, which no float holds in full
_INDEX = re.compile(r"unnamed: \d+|level_\d+|index|row|(.*[ _])?id", re.IGNORECASE)
_UNNAMED = re.compile(r"Unnamed: \d+")  # what pandas calls a column whose name is empty, and an entry too
_ABSENT = re.compile(r"|\?|n/?a|nan|null|none|<na>", re.IGNORECASE)  # what a cell without a value may hold
_COMMA = re.compile(r"[+-]?\d[\d., '’]*")  # a number with a decimal comma, or with marks between thousands
_DEEP = re.compile(r"'((?!BGR)\w+;16\w*)'")  # 16 bits a channel, in what Pillow says of how an image is stored


@dataclass(frozen=True)
class Content:
    """What a file or a folder holds.

    Attributes:
        x: records, as stored; those of a table are float64.
        labels: their classes, whole numbers or text.
        place: what a message calls a record, by its position.
        columns: the names of the elements of a record; only for a table.
        titles: what a message calls these.
        untyped: whether numbers among the labels are text because the format has nothing else.
        warnings: what the user should know.
    """

    x: NDArray[Any]
    labels: NDArray[Any]
    place: Callable[[int], str]
    columns: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    untyped: bool = False
    warnings: list[str] = field(default_factory=list)

    def element(self, place: tuple[int, ...]) -> str:
        """Returns what a message calls an element of a record."""
        return self.titles[place[0]] if self.titles else f"element {place}"


def prepare_own(name: str, entry: OwnDataset, out_dir: Path) -> tuple[Copies, list[str]]:
    """Writes the splits of a user's own data as `prepare` does, with the names of the classes in the metadata.

    Images of unsigned bytes stay so, all else becomes float32, after float64 has scaled columns with ranges of their
    own to [0, 1]. Where float32 does not resolve a millionth of the one range, elements are counted from its lower
    end. Records of one dimension are a table, of two or three dimensions images, (height, width) or (height, width,
    channels). Gives the copies of records, and warnings, one sentence each.
    """
    path, where = Path(entry.path), f"own_datasets.{name}"
    content = _content(entry, where)
    source = f"{path.name}, " + (f"{len(content.x)} images" if path.is_dir() else f"sha256:{digest(path).sha256}")
    y, classes = _classes(content, f"{where}: {path}")
    x, low, high, told = _stored(content, entry, where)
    x = _shaped(x, entry, where)
    train, test = _split(x, y, classes, entry, where)
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
        deviation=f"stratified split, {entry.test:g} for testing, seed {entry.seed}; {told}",
        embedded=True,
    )
    copies = write_splits(dataset, Parsed(train, test, {"class_names": json.dumps(classes)}), source, out_dir)
    if copies.seen:
        content.warnings.append(f"{copies}: leave out what is one owner's record twice")
    return copies, [f"{where}: {warning}" for warning in content.warnings]


def observed_range(name: str, entry: OwnDataset) -> list[float] | dict[str, list[float]]:
    """Returns a range where none is public: of bytes 0 to 255, else from the least to the largest that records hold.

    It is one of each column of a table, by its name. It gives records away, which no guarantee covers: this is for
    whoever has all records and asks what a mechanism would make of them.
    """
    content = _content(entry, f"own_datasets.{name}")
    if content.x.dtype == np.uint8:
        return [0.0, 255.0]
    if not entry.is_table:
        return _ends(content.x)
    return {column: _ends(content.x[:, k]) for k, column in enumerate(content.columns)}


def _ends(values: NDArray[Any]) -> list[float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return [low, high if high > low else low + 1.0]


def _content(entry: OwnDataset, where: str) -> Content:
    """Reads a file or a folder; what is missing is NaN, where the entry allows it."""
    path = Path(entry.path)
    if path.is_dir():
        return _folder(path, where)
    read = {".csv": _csv, ".parquet": _parquet, ".npz": _npz, ".safetensors": _safetensors}[path.suffix.casefold()]
    content = read(path, entry, where)
    return content if entry.missing == "refuse" else _labelled(content, path, where)


def _labelled(content: Content, path: Path, where: str) -> Content:
    """Returns the records that have a label, and counts in the warnings what is missing."""
    x, labels, place, told = content.x, content.labels, content.place, list(content.warnings)
    kept = np.flatnonzero([not (pd.isna(label) or str(label).strip() == "") for label in labels])
    if not len(kept):
        raise InputError(f"{where}: no record of {path} has a label")
    if len(kept) < len(x):
        told.append(f"{len(x) - len(kept):,} of {len(x):,} records have no label and are left out")
        x, labels = x[kept], labels[kept]
    if labels.dtype == object:  # pandas' type of what stood beside missing labels
        kinds = {isinstance(label, str) for label in labels}
        if len(kinds) > 1:
            raise InputError(f"{where}: the labels of {path} must be whole numbers or words, found both")
        labels = labels.astype(str if True in kinds else np.float64)
    gaps = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
    if len(empty := np.argwhere(gaps.all(axis=0))):
        element = content.element(tuple(int(k) for k in empty[0]))
        raise InputError(f"{where}: {element} of {path} has no value in any record: leave it out")
    if gaps.any():
        rows = int(gaps.reshape(len(x), -1).any(axis=1).sum())
        told.append(
            f"{int(gaps.sum()):,} values are missing, in {rows:,} of {len(x):,} records: each becomes the middle of "
            "its public range"
        )
    return replace(content, x=x, labels=labels, place=lambda row: place(int(kept[row])), warnings=told)


def _filled(x: NDArray[Any], middle: Any) -> NDArray[Any]:
    """Returns values with the middle of their range where one is missing."""
    return np.where(np.isnan(x), np.asarray(middle, x.dtype), x) if x.dtype.kind == "f" else x


def _stored(content: Content, entry: OwnDataset, where: str) -> tuple[NDArray[Any], float, float, str]:
    """Returns records as they are kept, the range of an element of them, and what was done; adds to the warnings."""
    x, told = content.x, "public range as the user states"
    if isinstance(entry.range, dict):
        zeros, tops = _by_column(content.columns, entry.range, where)
        for k, column in enumerate(content.columns):
            _check_range(content, (..., k), zeros[k], tops[k], f"{where}.range.{column}")
        widths, ends = tops - zeros, (0.0, 1.0)
        x = _filled(x, zeros + widths / 2)
    else:
        low, high = entry.range
        _check_range(content, ..., low, high, f"{where}.range")
        x = _filled(x, low + (high - low) / 2)
        zero = origin([low, high], f"{where}.range")
        if zero == 0 and np.can_cast(x.dtype, np.float32):
            return x if x.dtype == np.uint8 else x.astype(np.float32), low, high, told
        if zero != 0:
            told += f", elements counted from {_text(zero)}"
        zeros, widths, ends = np.full(x[0].size, zero), np.ones(x[0].size), (low - zero, high - zero)
    flat = x.reshape(len(x), -1)
    stored = np.empty(flat.shape, np.float32)
    merged = []
    for k, (zero, width) in enumerate(zip(zeros, widths, strict=True)):
        stored[:, k] = _kept(flat[:, k], zero, width)
        element = content.element(tuple(int(n) for n in np.unravel_index(k, x.shape[1:])))
        if pair := _merged(flat[:, k], zero, width, f"{where}: {element} of {entry.path}"):
            merged.append(f"{_text(pair[0])} and {_text(pair[1])} in {element}")
    if merged:
        more = f", and others in {len(merged) - 1} more" if len(merged) > 1 else ""
        content.warnings.append(f"float32 makes one number of some whole numbers, such as {merged[0]}{more}")
    return stored.reshape(x.shape), *ends, told


def _kept(values: NDArray[Any], zero: float, width: float) -> NDArray[np.float32]:
    return np.asarray((values.astype(np.float64) - zero) / width, np.float32)


def _merged(values: NDArray[Any], zero: float, width: float, what: str) -> tuple[float, float] | None:
    """Finds two whole numbers that become one, if any; refuses values that float32 is too coarse for where most lie."""
    distinct = np.unique(values).astype(np.float64)
    kept = _kept(distinct, zero, width)
    same = np.flatnonzero(kept[1:] == kept[:-1])
    if not len(same):
        return None
    pair = float(distinct[same[0]]), float(distinct[same[0] + 1])
    step = width * float(np.spacing(np.abs(kept[len(kept) // 2])))
    if step > FINE * np.subtract(*np.percentile(distinct, [75, 25])):
        raise InputError(
            f"{what} holds {_text(pair[0])} and {_text(pair[1])}, which are one number in float32 on so wide a range: "
            "state the public range that the records need, or leave it out"
        )
    whole = distinct % 1 == 0
    distinct, kept = distinct[whole], kept[whole]
    same = np.flatnonzero(kept[1:] == kept[:-1])
    return (float(distinct[same[0]]), float(distinct[same[0] + 1])) if len(same) else None


def _by_column(
    columns: list[str], ranges: dict[str, list[float]], where: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Computes the lower and the upper ends of the columns' own ranges."""
    for column in ranges:
        if column not in columns:
            raise unknown(f"column {where}.range", column, columns)
    for column in columns:
        if column not in ranges:
            raise InputError(f"{where}.range lacks the column {column!r}: each column needs its public range")
    low, high = np.array([ranges[column] for column in columns], np.float64).T
    return low, high


def _check_range(content: Content, part: Any, low: float, high: float, key: str) -> None:
    x = content.x[part]
    outside = np.argwhere((x < low) | (x > high))
    if len(outside):
        row, *place = (int(k) for k in outside[0])
        element = f", {content.element(tuple(place))}" if place else ""
        way = "clip the data to it, or leave the column out" if content.columns else "or clip the data to it"
        raise InputError(
            f"{key} = [{_text(low)}, {_text(high)}] does not hold {_text(x[tuple(outside[0])])} in "
            f"{content.place(row)}{element}: state the public range that every record must lie in, {way}"
        )


def _text(number: Any) -> str:
    """Returns a number in full, as a person would write it."""
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def _shaped(x: NDArray[Any], entry: OwnDataset, where: str) -> NDArray[Any]:
    channels_first = x.ndim == 4 and x.shape[1] in (1, 3) and x.shape[3] != 3
    if entry.shape is not None:
        if math.prod(entry.shape) != math.prod(x.shape[1:]):
            raise InputError(
                f"{where}.shape = {entry.shape} has {math.prod(entry.shape)} elements, a record of {entry.path} has "
                f"{math.prod(x.shape[1:])}"
            )
        stored, stated = ([n for n in shape if n != 1] for shape in (x.shape[1:], entry.shape))
        if len(stored) > 1 and len(stated) > 1 and stored != stated:  # reshaping keeps the order of elements, not axes
            remedy = "move the channels last" if channels_first else "store the records in that shape"
            raise InputError(
                f"{where}.shape = {entry.shape} would scramble the records of {entry.path}, whose shape is "
                f"{x.shape[1:]}: {remedy} in the file, and leave shape out"
            )
        x = x.reshape(len(x), *entry.shape)
    if x.ndim == 4 and x.shape[3] == 1:
        x = x[..., 0]
    if not 2 <= x.ndim <= 4 or (x.ndim == 4 and x.shape[3] != 3):
        raise InputError(
            f"{where}: a record must be (elements,), (height, width) or (height, width, 3), got the shape "
            f"{x.shape[1:]} in {entry.path}; {'move the channels last' if channels_first else 'state another as shape'}"
        )
    return x


def _split(
    x: NDArray[Any], y: NDArray[np.int64], classes: list[str], entry: OwnDataset, where: str
) -> tuple[Arrays, Arrays]:
    """Returns both splits, each with records of every class."""
    try:
        splits = stratified(x, y, entry.test, entry.seed)
    except InputError:  # a split of fewer records than there are classes
        splits = None
    if splits is None or any(len(np.unique(labels)) < len(classes) for _, labels in splits):
        counts = np.bincount(y)
        rarest = int(counts.argmin())
        raise InputError(
            f"{where}.test = {entry.test:g}: both splits need a record of each class, and the rarest, "
            f"{shown(classes[rarest])}, has {counts[rarest]} of the {len(y)} records: choose a share nearer to 0.5, or "
            "leave that class out"
        )
    return splits


def _classes(content: Content, where: str) -> tuple[NDArray[np.int64], list[str]]:
    """Returns class indices, and the classes as text: numbers in their order, words in that of the alphabet."""
    labels, place = content.labels, content.place
    if (missing := np.flatnonzero(pd.isna(labels))).size:
        raise InputError(f"{where}: the label of {place(int(missing[0]))} is missing")
    if labels.dtype.kind == "f":
        if (strange := np.flatnonzero((np.floor(labels) != labels) | (np.abs(labels) > 2**53))).size:
            raise InputError(f"{where}: labels must be whole numbers or words, found {labels[strange[0]]:g}")
        labels = labels.astype(np.int64)
    found, first, y, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    classes = [str(label) for label in found]
    meanings: dict[str | Decimal, int] = {}
    for k, text in enumerate(classes):
        if (meaning := _meaning(text)) == "":
            raise InputError(f"{where}: the label of {place(int(first[k]))} is missing")
        if len(text.splitlines()) > 1:  # of a table, records that a stray quote has swallowed
            raise InputError(
                f"{where}: the label of {place(int(first[k]))} has a line break, {shown(text)}: write a label on one "
                "line, and close each quote in the row that opens it"
            )
        if (twin := meanings.setdefault(meaning, k)) != k:
            raise InputError(
                f"{where}: the label {shown(classes[twin])} of {place(int(first[twin]))} and {shown(text)} of "
                f"{place(int(first[k]))} differ only in spaces, case, a last full stop or the form of a number: write "
                "each class in one way, and make the words of two classes differ in more than that"
            )
    numbers = [meaning for meaning in meanings if isinstance(meaning, Decimal)]
    if content.untyped and len(numbers) == len(classes):
        for text, number in zip(classes, numbers, strict=True):
            if number != number.to_integral_value():
                raise InputError(f"{where}: labels must be whole numbers or words, found {text}")
        order = sorted(range(len(classes)), key=numbers.__getitem__)
        classes, counts, y = [classes[k] for k in order], counts[order], np.argsort(order)[y]
    if len(classes) < 2:
        raise InputError(f"{where} has only one class, {shown(classes[0]) if classes else 'none'}: two are needed")
    if counts.min() < 2:
        lone = classes[int(counts.argmin())]
        raise InputError(f"{where} has only one record of the class {shown(lone)}: both splits need one")
    return y.astype(np.int64), classes


def _meaning(text: str) -> str | Decimal:
    """Returns what labels share that a reader takes for one: a number, or a word without spaces, case, last stop."""
    plain = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    plain = plain.removesuffix(".") or plain
    return Decimal(plain) if _NUMBER.fullmatch(plain) else plain


def _csv(path: Path, entry: OwnDataset, where: str) -> Content:
    """Reads a CSV file: its labels are text exactly as in the file."""
    options: dict[str, Any] = {"na_filter": False, "index_col": False, "low_memory": False}
    header = read_csv(path, header=None, nrows=1, dtype=str, **options).iloc[0].tolist()
    if any("\0" in name for name in header):
        raise InputError(f"{where}: {path} is not UTF-8 text: save it as UTF-8")
    if len(header) == 1 and (other := re.search(r"[;\t|]", header[0])):
        raise InputError(f"{where}: the columns of {path} must be separated by commas, found {other.group()!r}")
    _check_once([name for name in header if name], f"{where}: {path}")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", pd.errors.ParserWarning)
        table = read_csv(path, dtype={entry.label: str}, **options)
    if any(issubclass(warning.category, pd.errors.ParserWarning) for warning in told):  # pandas drops the fields
        raise InputError(
            f"{where}: {path} has rows with more fields than its header: name every column, and quote text with commas"
        )
    floats = table.select_dtypes("float")  # among decimals pandas has rounded whole numbers already
    large = ((floats.abs() >= 2**53) & np.isfinite(floats)).any()
    if rounded := [str(name) for name in floats.columns[large]]:
        table[rounded] = read_csv(path, usecols=rounded, dtype=str, **options)[rounded]
    return _table(table, path, entry, where, untyped=True)


def _parquet(path: Path, entry: OwnDataset, where: str) -> Content:
    """Reads a Parquet table; an index that has a name is a column, which it may be already."""
    try:
        table = pd.read_parquet(path)
    except Exception as error:  # pyarrow lets several kinds through on damaged files
        raise InputError(f"{where}: {path} is not a Parquet table ({described(error)})") from None
    named = [name for name in table.index.names if name is not None and name not in table.columns]
    for level, name in enumerate(table.index.names):
        if name in table.columns and not table.index.get_level_values(level).equals(pd.Index(table[name])):
            raise InputError(
                f"{where}: {path} has an index and a column {str(name)!r} that differ: give each its own name"
            )
    table = table.reset_index(level=named) if named else table
    _check_once([str(column) for column in table.columns], f"{where}: {path}")
    return _table(table, path, entry, where, untyped=False)


def _check_once(columns: list[str], what: str) -> None:
    if twice := [column for k, column in enumerate(columns) if column in columns[:k]]:
        raise InputError(f"{what} has two columns {twice[0]!r}: each name may stand once")


def _table(table: pd.DataFrame, path: Path, entry: OwnDataset, where: str, *, untyped: bool) -> Content:
    table.columns = pd.Index([str(column) for column in table.columns])
    columns = list(table.columns)
    if entry.label not in columns:
        raise unknown(f"column {where}.label of {path}", entry.label, columns)
    others = [column for column in columns if column != entry.label]
    for key in ("values", "drop"):
        named = getattr(entry, key)
        _check_once(named, f"{where}.{key}")
        for column in named:
            if column not in others:
                raise unknown(f"column {where}.{key} of {path}", column, others)
    chosen = entry.values or [column for column in others if column not in entry.drop]
    if not chosen:
        raise InputError(f"{where}: {path} has no column other than the label {entry.label!r}")
    if not len(table):
        raise InputError(f"{where}: {path} has no rows")
    labels = _labels(table[entry.label], path, where)
    if untyped and all(map(_NUMBER.fullmatch, chosen)) and not _counted(columns) and entry.label in set(labels):
        raise InputError(
            f"{where}: the first row of {path} looks like a record, as {entry.label!r} is also a label below it and "
            "the other names are numbers: put a row with the names of the columns before it"
        )
    titles = [_title(column, columns.index(column)) for column in chosen]
    holes = entry.missing == "middle"
    if words := [title for column, title in zip(chosen, titles, strict=True) if _is_words(table[column], holes)]:
        first = table[chosen[titles.index(words[0])]]
        found = next((text for text in map(str, first) if not _ABSENT.fullmatch(text.strip())), "")
        which, them, one = ("the", "it", "it") if len(words) == 1 else (f"{len(words)} columns,", "them", "one")
        raise InputError(
            f"{where}: {which} {', '.join(words)} of {path} must hold numbers, found {shown(found)}: leave {them} out "
            f"under drop, or make {one} the label"
        )
    x = np.column_stack(
        [_column(table[column], title, path, where, holes) for column, title in zip(chosen, titles, strict=True)]
    )
    content = Content(x, labels, lambda row: f"row {row + 1}", chosen, titles, untyped)
    _check_finite(content, path, entry, where)
    if not entry.values:
        content.warnings.extend(
            f"the {title} of {path} looks like an index of the rows, and is taken as private data: leave it "
            f"out with drop: [{column!r}], or name the columns of a record under values"
            for column, title, values in zip(chosen, titles, x.T, strict=True)
            if _is_index(column, values)
        )
    return content


def _title(column: str, place: int) -> str:
    """Returns what a message calls a column."""
    return f"column {place + 1} without a name ({column!r})" if _UNNAMED.fullmatch(column) else f"column {column!r}"


def _counted(columns: list[str]) -> bool:
    """Returns whether names that are numbers count from 0 or 1, as tools name columns, and so are no record."""
    numbers = set(filter(_NUMBER.fullmatch, columns))
    return any(numbers == set(map(str, range(start, start + len(numbers)))) for start in (0, 1))


def _is_index(name: str, values: NDArray[np.float64]) -> bool:
    """Returns whether all values are different whole numbers, and the name is an index's or no number is left out."""
    ordered = np.unique(values)
    if len(ordered) < len(values) or (ordered % 1 != 0).any():
        return False
    return _INDEX.fullmatch(name) is not None or ordered[-1] - ordered[0] == len(ordered) - 1


def _labels(column: pd.Series[Any], path: Path, where: str) -> NDArray[Any]:
    """Returns the labels of a table: numbers, or text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if column.isna().any():
        return column.to_numpy(object)
    if pd.api.types.is_numeric_dtype(column):
        return _plain(column)
    labels = column.to_numpy(object)
    if strange := [label for label in labels if not isinstance(label, str)]:
        raise InputError(f"{where}: the labels of {path} must be whole numbers or words, found {shown(strange[0])}")
    return labels


def _plain(column: pd.Series[Any]) -> NDArray[Any]:
    """Returns a column of numbers with none missing as NumPy's own type: pandas has others."""
    kinds = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}
    return column.to_numpy(kinds[column.dtype.kind])


def _is_words(column: pd.Series[Any], holes: bool) -> bool:
    """Returns whether a column holds words and no number; where `holes` may be, words for these do not count."""
    if pd.api.types.is_numeric_dtype(column):
        return False
    texts = [text for text in (str(value).strip() for value in column) if not (holes and _ABSENT.fullmatch(text))]
    return bool(texts) and not _COMMA.fullmatch(texts[0]) and not any(map(_NUMBER.fullmatch, texts))


def _column(column: pd.Series[Any], title: str, path: Path, where: str, holes: bool) -> NDArray[np.float64]:
    """Returns a column as float64, booleans as 0 and 1, and where there may be `holes` what is missing as NaN."""

    def at(row: int) -> str:
        return f"{where}: row {row + 1}, {title} of {path}"

    if pd.api.types.is_numeric_dtype(column):
        present = np.flatnonzero(column.notna())
        if len(present) < len(column) and not holes:
            raise InputError(f"{at(int(np.flatnonzero(column.isna())[0]))} is missing: every value must be a number")
        numbers = _plain(column.iloc[present])
        _check_exact(numbers, lambda place: at(int(present[place[0]])))
        values = np.full(len(column), np.nan)
        values[present] = numbers
        return values
    texts = ["nan" if holes and _ABSENT.fullmatch(text) else text for text in (str(value).strip() for value in column)]
    strange = [row for row, text in enumerate(texts) if not (_NUMBER.fullmatch(text) or (holes and text == "nan"))]
    if not strange:  # whole numbers of more than 53 bits, or text of another format than CSV
        for row, text in enumerate(texts):
            if _WHOLE.fullmatch(text) and Decimal(float(text)) != Decimal(text):
                raise InputError(f"{at(row)} is {text}, which float64 cannot hold: {CHANGE_UNITS}")
        return np.array(texts, np.float64)
    row = strange[0]
    comma = _COMMA.fullmatch(texts[row])
    if not texts[row]:
        raise InputError(f"{at(row)} is empty: every value must be a number")
    rule = "write decimals with a point and thousands without a mark" if comma else "every value must be a number"
    raise InputError(f"{at(row)} is {shown(texts[row])}: {rule}")


def _check_exact(x: NDArray[Any], place: Callable[[tuple[int, ...]], str]) -> None:
    """Refuses whole numbers that float64 does not hold."""
    if x.dtype.kind not in "iuf" or x.dtype.itemsize < 8 or x.dtype == np.float64:
        return
    with np.errstate(invalid="ignore", over="ignore"):  # what rounds up to beyond the last integer; infinity
        near = x.astype(np.float64)
        if x.dtype.kind == "f":  # wider ones: beyond 2^64 their whole numbers are measurements, rounded already
            rounded = (near.astype(x.dtype) != x) & (x % 1 == 0) & (np.abs(x) <= 2.0**64)
        else:
            rounded = (near >= float(np.iinfo(x.dtype).max)) | (near.astype(x.dtype) != x)
    bad = np.argwhere(rounded)
    if len(bad):
        raise InputError(
            f"{place(tuple(int(k) for k in bad[0]))} is {x[tuple(bad[0])]!s}, which float64 cannot hold: {CHANGE_UNITS}"
        )


def _check_finite(content: Content, path: Path, entry: OwnDataset, where: str) -> None:
    bad = np.argwhere(~np.isfinite(content.x) if entry.missing == "refuse" else np.isinf(content.x))
    if len(bad):
        row, *place = (int(k) for k in bad[0])
        raise InputError(
            f"{where}: {content.place(row)}, {content.element(tuple(place))} of {path} is {content.x[tuple(bad[0])]}: "
            "every value must be a finite number"
        )


def _arrays(arrays: dict[str, NDArray[Any]], path: Path, entry: OwnDataset, where: str) -> Content:
    if entry.label not in arrays:
        raise unknown(f"array {where}.label of {path}", entry.label, arrays)
    others = entry.values or [name for name in arrays if name != entry.label]
    if len(others) != 1:
        raise InputError(f"{where}.values must name one array of {path}, which has {', '.join(sorted(arrays))}")
    if others[0] not in arrays:
        raise unknown(f"array {where}.values of {path}", others[0], arrays)
    x, labels = arrays[others[0]], arrays[entry.label]
    if x.dtype.kind not in "buif" or x.ndim < 2 or x.size == 0:
        raise InputError(
            f"{where}: the array {others[0]!r} of {path} must hold numbers in the shape (records, elements) or that of "
            f"images, got {x.shape} of {x.dtype}"
        )
    if labels.size != len(x):
        raise InputError(
            f"{where}: the labels {entry.label!r} of {path} must have the shape ({len(x)},), a class for each record "
            f"of {others[0]!r}, got {labels.shape}"
        )
    if labels.dtype.kind == "S":
        try:
            labels = np.char.decode(labels, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{where}: the labels of {path} are not UTF-8 text: save them as text") from None
    if labels.dtype.kind not in "buifU":
        raise InputError(f"{where}: the labels of {path} must be whole numbers or words, got {labels.dtype}")
    content = Content(x, labels.reshape(-1), lambda row: f"record {row}")
    _check_exact(x, lambda place: f"{where}: record {place[0]}, {content.element(place[1:])} of {path}")
    _check_finite(content, path, entry, where)
    return content


def _npz(path: Path, entry: OwnDataset, where: str) -> Content:
    try:
        with np.load(path, allow_pickle=False) as source:
            arrays = {name: source[name] for name in source.files}
    except Exception as error:  # NumPy and zipfile let many kinds through on damaged files
        raise InputError(f"{where}: {path} is not an NPZ file of plain arrays ({described(error)})") from None
    return _arrays(arrays, path, entry, where)


def _safetensors(path: Path, entry: OwnDataset, where: str) -> Content:
    """Reads arrays of any type of numbers; those that NumPy lacks, bfloat16 and float8, are exact in float32."""
    import torch  # here, as it takes a second to load

    arrays = {}
    try:
        with safe_open(path, framework="pt") as source:
            for name in source.keys():  # noqa: SIM118
                tensor = source.get_tensor(name)
                try:
                    arrays[name] = tensor.numpy()
                except TypeError:
                    arrays[name] = tensor.to(torch.float32).numpy()
    except Exception as error:  # safetensors and PyTorch raise many kinds on damaged files and types of their own
        raise InputError(f"{where}: {path} cannot be read as safetensors ({described(error)})") from None
    return _arrays(arrays, path, entry, where)


def _folder(path: Path, where: str) -> Content:
    """Reads the images of a folder, grey where all are grey and RGB otherwise; a class is a folder."""
    visible = [file for file in sorted(path.iterdir()) if not file.name.startswith(".")]
    files, rest = [], [file for file in visible if not file.is_dir()]
    for folder in (file for file in visible if file.is_dir()):
        inside = [file for file in sorted(folder.iterdir()) if not file.name.startswith(".")]
        images = [file for file in inside if file.suffix.casefold() in IMAGE_ENDINGS and not file.is_dir()]
        files += images
        rest += [file for file in inside if file not in images] if images else [folder]
    if not files:
        raise InputError(
            f"{where}.path = {str(path)!r} must have one folder for each class with images ending in "
            f"{', '.join(IMAGE_ENDINGS)}"
        )
    pictures = [_picture(file, where) for file in files]
    first = pictures[0].shape[:2]
    for file, picture in zip(files, pictures, strict=True):
        if picture.shape[:2] != first:
            raise InputError(
                f"{where}: all images must have one size, {files[0]} has {first[1]} x {first[0]} pixels and {file} "
                f"has {picture.shape[1]} x {picture.shape[0]}"
            )
    if any(picture.ndim == 3 for picture in pictures):
        pictures = [np.repeat(p[..., None], 3, axis=2) if p.ndim == 2 else p for p in pictures]
    content = Content(
        np.stack(pictures), np.array([file.parent.name for file in files]), lambda row: f"the image {files[row]}"
    )
    if rest:
        content.warnings.append(
            f"{len(rest)} files or folders in {path} are not images of a class and are left out, the first is {rest[0]}"
        )
    return content


def _picture(path: Path, where: str) -> NDArray[np.uint8]:
    """Reads one image of unsigned bytes, (H, W) or (H, W, 3), turned as its EXIF data say."""
    try:
        with Image.open(path) as image:
            if strange := _strange(image):
                raise InputError(f"{where}: the image {path} {strange}")
            grey = image.mode in ("L", "1", "LA")
            return np.asarray(ImageOps.exif_transpose(image).convert("L" if grey else "RGB"))
    except InputError:
        raise
    except Exception:  # Pillow raises many kinds on damaged files
        raise InputError(f"{where}: the image {path} cannot be read: repair it or remove it") from None


def _strange(image: Image.Image) -> str:
    """Returns what an image, not yet loaded, would lose in 8 bits of grey or of red, green and blue."""
    deep = _DEEP.search(str(getattr(image, "tile", "")))
    if deep or image.mode not in ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX"):
        return f"must be grey or RGB with 8 bits in each channel, it is {deep.group(1) if deep else image.mode}"
    frames = getattr(image, "n_frames", 1)
    if frames > 1 and image.format != "MPO":  # a photograph and its previews
        return f"has {frames} pictures: keep one"
    clear = image.mode not in ("1", "L", "RGB", "RGBX") or "transparency" in image.info
    if clear and image.convert("RGBA").getchannel("A").getextrema()[0] != 255:
        return "is transparent in places: lay it on a ground"
    return ""
