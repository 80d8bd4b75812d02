"""The words of the catalogue: a file, a source that offers files, a data set and a set of weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import PurePosixPath

from tensorldp.errors import InputError, check_whole, unknown

KINDS = ("image", "tabular", "text")
RESOLVED = 1e-6


def float32_resolves(low: float, high: float) -> bool:
    """Whether float32, in which records are kept, resolves a millionth of a range of elements."""
    largest = max(abs(low), abs(high))
    step = math.ldexp(1.0, max(math.frexp(largest)[1] - 24, -149))  # between neighbours
    return largest < 2.0**127 and step <= RESOLVED * (high - low)


@dataclass(frozen=True)
class File:
    """One file as its publisher or a mirror offers it.

    Attributes:
        path: where a mirror folder holds it, `folder/name`.
        checksum: `sha256:<hex>`, `md5:<hex>` or `sha256-prefix:<hex>`; None where neither bytes nor a published hash
            exist, then the user supplies the file and its SHA-256 is recorded at first use.
        urls: the publisher's addresses, tried in order; none if the user has to supply the file.
        optional: the data set can be prepared without it.
    """

    path: str
    checksum: str | None
    urls: tuple[str, ...] = ()
    optional: bool = False

    @property
    def name(self) -> str:
        """The file name without its folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Source:
    """A set of files that is enough for a data set.

    Attributes:
        label: the name of the source in source.json and in the metadata of prepared files.
        files: all of them are needed but the optional ones.
        deviation: how the bytes differ from the publisher's release; empty if they do not.
    """

    label: str
    files: tuple[File, ...]
    deviation: str = ""

    @property
    def required(self) -> tuple[File, ...]:
        """The files without which the source is of no use."""
        return tuple(file for file in self.files if not file.optional)

    @property
    def downloadable(self) -> bool:
        """Whether every required file has an address."""
        return all(file.urls for file in self.required)


@dataclass(frozen=True)
class Dataset:
    """One data set and what `prepare` makes of it.

    Attributes:
        name: the key in config and folders.
        kind: image, tabular or text.
        classes: number of classes; labels are 0 .. classes - 1.
        shape: of one record; of `darknet` an upper bound, because columns that are constant in training are dropped.
        low, high: public range of one element; infinite where standardising leaves none.
        sizes: records in train and test.
        homepage: the publisher's page.
        note: licence and citation.
        deviation: how the prepared tensors differ from the release or from the papers' preparation.
        sources: where the files come from, the best first; empty if embedded.
        embedded: it comes inside a library that is installed, nothing is fetched.

    Raises:
        InputError: if a value is out of range.
    """

    name: str
    kind: str
    classes: int
    shape: tuple[int, ...]
    low: float
    high: float
    sizes: tuple[int, int]
    homepage: str
    note: str
    deviation: str = ""
    sources: tuple[Source, ...] = ()
    embedded: bool = False

    def __post_init__(self) -> None:
        what = f"the data set {self.name}"
        if self.kind not in KINDS:
            raise unknown(f"kind of {what}", self.kind, KINDS)
        check_whole(f"classes of {what}", self.classes, low=2)
        for size in (*self.shape, *self.sizes):
            check_whole(f"shape and sizes of {what}", size, low=1)
        if not self.shape or len(self.sizes) != 2:
            raise InputError(f"{what} needs the shape of a record and two sizes, got {self.shape} and {self.sizes}")
        if not self.low < self.high:
            raise InputError(f"{what} needs low < high, got low {self.low} and high {self.high}")
        if math.isfinite(self.high - self.low) and not float32_resolves(self.low, self.high):
            raise InputError(
                f"{what} has the range [{self.low}, {self.high}], which float32, in which records are kept, does not "
                "resolve: scale them in float64 before"
            )
        if self.embedded == bool(self.sources):
            raise InputError(f"{what} must either be embedded or have sources")

    @property
    def files(self) -> tuple[File, ...]:
        """The files of all sources."""
        return tuple(file for source in self.sources for file in source.files)


@dataclass(frozen=True)
class Weights:
    """Pretrained weights, fetched like a data set: one file in each source."""

    name: str
    homepage: str
    note: str
    sources: tuple[Source, ...]
    embedded: bool = False
