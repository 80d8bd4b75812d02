"""What config.yaml says about a user's own data set; light, as the workflow reads it at every start."""

from __future__ import annotations

import math
import os.path
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from tensorldp.errors import InputError, check_real, shown
from tensorldp_papers.data.catalogue import float32_resolves
from tensorldp_papers.strict import Strict

TABLE_ENDINGS = (".csv", ".parquet")
ARRAY_ENDINGS = (".npz", ".safetensors")
NAME_KEYS = ("path", "label", "values", "drop")
"""Keys whose values are names, as they are written: a column `01` is not the number 1."""
PUBLIC = (
    "two finite numbers known without looking at the data, the lower first, as [0, 255]; "
    "a range taken from the records would be a release of its own that no guarantee covers"
)
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def _interval(value: object) -> list[float]:
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(f"must be {PUBLIC}")
    try:
        low, high = (check_real("an end of the range", end) for end in value)
    except InputError:
        raise InputError(f"must be {PUBLIC}") from None
    if low == high and value[0] != value[1]:
        raise InputError("has ends that are the same number in float64: count the data from another zero first")
    if not (low < high and math.isfinite(high - low)):
        raise InputError(f"must be {PUBLIC}")
    return [low, high]


Interval = Annotated[list[float], BeforeValidator(_interval), Field(min_length=2, max_length=2)]


def _ranges(value: object) -> object:
    """Reads one interval, or one for each column by its name."""
    return {str(key): _interval(own) for key, own in value.items()} if isinstance(value, dict) else _interval(value)


def _text(value: object) -> object:
    """Returns the name of a column as text: one that is a number comes as a number from YAML."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Place = Annotated[str, AfterValidator(os.path.expanduser)]
"""A path, in which a leading ~ is the user's folder: YAML and `--config` have no shell that would replace it."""


class OwnDataset(Strict):
    """An entry of `own_datasets`: a file, or a folder with one folder of images for each class."""

    path: Annotated[Place, Field(min_length=1)] = Field(
        description="a .csv, .parquet, .npz or .safetensors file, or a folder with one folder of images for each class"
    )
    range: Annotated[Interval | dict[str, Interval], BeforeValidator(_ranges)] = Field(
        description="the public range [low, high] of an element, known without looking at the data; of a table also "
        "one for each column by its name, then each column is scaled to [0, 1]"
    )
    label: Annotated[str, BeforeValidator(_text)] = Field(
        "", description="the column or array of the classes; of a folder, its folders' names are the classes"
    )
    values: list[Annotated[str, BeforeValidator(_text)]] = Field(
        default_factory=list, description="the columns of a record, or its array; empty: all but the label"
    )
    drop: list[Annotated[str, BeforeValidator(_text)]] = Field(
        default_factory=list, description="the columns of a table to leave out, such as an index"
    )
    shape: list[Annotated[int, Field(ge=1)]] | None = Field(
        None,
        min_length=1,
        max_length=3,
        description="the shape of one record, where it is not as stored: [8, 8] for 64 columns",
    )
    missing: Literal["refuse", "middle"] = Field(
        "refuse",
        description="what a missing value does: `refuse` ends the run; `middle` puts the middle of its public range, "
        "as its owner can, and leaves out records without a label",
    )
    test: Annotated[float, Field(gt=0, lt=1)] = Field(0.2, description="the share of test records in each class")
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = Field(0, description="of the split")

    @property
    def is_table(self) -> bool:
        """Returns whether its records are rows of columns with names, and no images."""
        return Path(self.path).suffix.casefold() in TABLE_ENDINGS and self.shape is None

    @model_validator(mode="before")
    @classmethod
    def _stated(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "range" not in raw and raw.keys() <= cls.model_fields.keys():
            raise InputError(f"range is missing, it must be {PUBLIC}")
        return raw


def origin(ends: list[float], key: str) -> float:
    """Returns where elements count from, 0 or the lower end of their range, so that float32 resolves the range."""
    low, high = ends
    for zero in (0.0, low):
        if float32_resolves(low - zero, high - zero):
            return zero
    raise InputError(
        f"{key} = [{low!r}, {high!r}] is beyond float32, in which records are kept: give the data in other units"
    )


def check_own(own: Mapping[str, OwnDataset], known: Iterable[str]) -> None:
    """Finds the mistakes in a config's entries that show without reading a file; the `known` names may not be taken.

    Raises:
        InputError: if a name is taken or not plain, a file is missing or of another kind, or its entry does not fit
            that kind.
    """
    taken = set(known)
    for name, entry in own.items():
        where, path = f"own_datasets.{name}", Path(entry.path)
        if not NAME.fullmatch(name):
            raise InputError(
                f"the name {shown(name)} under own_datasets must be at most 40 small letters, digits and _, "
                "a letter first"
            )
        if name in taken:
            raise InputError(f"{where}: there is a data set of that name already, choose another")
        suffix = path.suffix.casefold()
        if not _exists(path):
            raise InputError(f"{where}.path = {entry.path!r}: there is no such file or folder in {Path.cwd()}")
        _check_names(path, where)
        if path.is_dir():
            for key in ("label", "values", "drop", "shape"):
                if getattr(entry, key):
                    raise InputError(
                        f"{where}.{key} = {shown(getattr(entry, key))} does not apply to a folder, where the "
                        "folders' names are the classes and the images are the records: leave it out"
                    )
        elif suffix not in (*TABLE_ENDINGS, *ARRAY_ENDINGS):
            raise InputError(
                f"{where}.path = {entry.path!r} must be a folder of images by class or end in "
                f"{', '.join((*TABLE_ENDINGS, *ARRAY_ENDINGS))}"
            )
        elif not entry.label:
            raise InputError(f"{where}.label is missing: name the column or array of the classes in {entry.path}")
        if isinstance(entry.range, list):
            origin(entry.range, f"{where}.range")
        if suffix not in TABLE_ENDINGS or path.is_dir():
            if isinstance(entry.range, dict):
                raise InputError(f"{where}.range: only a table's columns have ranges by name, else it must be {PUBLIC}")
            if entry.drop:
                raise InputError(f"{where}.drop = {shown(entry.drop)} applies only to a table's columns: leave it out")
        if entry.values and entry.drop:
            raise InputError(f"{where} has both values and drop: name the columns to take or those to leave out")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have, or a folder that may not be entered
        return False


def _check_names(path: Path, where: str) -> None:
    """Refuses names that Snakemake cannot write down, or takes for patterns."""
    for file in (path, *path.glob("*"), *path.glob("*/*")):
        name = str(file)
        try:
            name.encode()
        except UnicodeEncodeError:
            name = name.encode(errors="surrogateescape").decode(errors="replace")
            raise InputError(f"{where}.path: the name {shown(name)} is not UTF-8 text: rename it") from None
        if any(mark in name for mark in "{}\n\r"):
            raise InputError(f"{where}.path: the name {shown(name)} has a brace or a line break: rename it")
