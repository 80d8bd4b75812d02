"""Files of a data set, from a mirror folder or their publisher, checked before they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from tensorldp.errors import InputError
from tensorldp.files import read_json, replacing, write_json
from tensorldp_papers.data import catalogue
from tensorldp_papers.data.checksum import CHUNK, Digest, Hasher, digest, matches, mismatch, record, recorded
from tensorldp_papers.data.download import NoNetworkError, download
from tensorldp_papers.data.source import Dataset, File, Source, Weights


@dataclass(frozen=True)
class FileRecord:
    """One fetched file: name, size in bytes, SHA-256, and what it was held to (`recorded at first use` if nothing)."""

    name: str
    size: int
    sha256: str
    checked: str


@dataclass(frozen=True)
class FetchRecord:
    """What `fetch` put into a folder; source.json holds the same.

    Attributes:
        name: of the data set or weights.
        source: the label of the source that the files are from.
        deviation: how they differ from the publisher's release, empty if they do not.
        files: one record each.
    """

    name: str
    source: str
    deviation: str
    files: tuple[FileRecord, ...]


def fetch(
    name: str, destination: Path, *, mirror: Path | None = None, offline: bool = False, progress: bool = True
) -> FetchRecord:
    """Put the files of a data set (or of weights) into a folder, with source.json beside them.

    A file that is already there and right stays. Otherwise the mirror's files are copied, or, where the mirror has no
    complete source, the publisher's are downloaded. The best source that is complete wins (see `catalogue`). A file
    without a pinned checksum is the user's to supply through the mirror; its SHA-256 is kept in `<name>.sha256` at
    first use (one that lies beside it in the mirror counts before that) and it is held to it ever after.

    Args:
        name: a data set or weights of the catalogue.
        destination: folder, made if need be.
        mirror: folder with the files as the catalogue's paths say.
        offline: do not try the network.
        progress: show how far a download is.

    Raises:
        InputError: if the name is unknown, the mirror does not exist, a file is not what its checksum says (the bad
            copy is not kept), or the files are neither in the mirror nor to be downloaded.
    """
    entry = catalogue.find(name)
    if mirror is not None and not mirror.is_dir():
        raise InputError(f"the mirror folder {mirror} does not exist")
    try:
        found = _fetch(entry, _Folder(destination, mirror, progress), offline)
        write_json(destination / "source.json", asdict(found))
    except OSError as error:
        raise InputError(f"the folder {destination} cannot be written: {error.strerror or error}") from None
    return found


def read_record(folder: Path) -> FetchRecord:
    """What `fetch` wrote into a folder.

    Raises:
        InputError: if there is no source.json or it is not one.
    """
    path = folder / "source.json"
    content = read_json(path)
    try:
        files = tuple(FileRecord(**file) for file in content["files"])
        return FetchRecord(content["name"], content["source"], content["deviation"], files)
    except (KeyError, TypeError):
        raise InputError(f"the file {path} is not a record of a download: delete it and run again") from None


def get_weights_file(source: Path) -> Path:
    """The weights that `fetch` put into a folder, given the folder or its source.json.

    Raises:
        InputError: if they are not there.
    """
    folder = source.parent if source.name == "source.json" else source
    found = read_record(folder)
    path = folder / found.files[0].name if found.files else folder
    if found.name not in catalogue.weights_names() or not path.is_file():
        raise InputError(
            f"the folder {folder} holds no pretrained weights: download "
            f"{' or '.join(catalogue.weights_names())} into it"
        )
    return path


def _fetch(entry: Dataset | Weights, folder: _Folder, offline: bool) -> FetchRecord:
    if entry.embedded:
        return FetchRecord(entry.name, "scikit-learn", "", ())
    source = next((source for source in entry.sources if all(map(folder.reachable, source.required))), None)
    if source is None:
        source = _downloadable(entry, folder.mirror, "the network is not to be used" if offline else None)
    try:
        files = [folder.take(file) for file in source.files]
    except NoNetworkError as error:
        raise _unavailable(entry, source, folder.mirror, str(error)) from None
    return FetchRecord(entry.name, source.label, source.deviation, tuple(file for file in files if file))


class _Folder:
    """The destination and the mirror of one fetch."""

    def __init__(self, destination: Path, mirror: Path | None, progress: bool) -> None:
        self.destination, self.mirror, self.progress = destination, mirror, progress
        self._right: dict[str, FileRecord | None] = {}

    def reachable(self, file: File) -> bool:
        """Whether the file is to be had without the network."""
        return self._in_mirror(file) is not None or self._present(file) is not None

    def take(self, file: File) -> FileRecord | None:
        """The file in the destination, checked; None for an optional one that is not to be had."""
        if (present := self._present(file)) is not None:
            return present
        target, origin = self.destination / file.name, self._in_mirror(file)
        if origin is not None:
            try:
                with origin.open("rb") as stream:
                    return self._keep(file, _read(stream), target, f"the mirror's file {origin}")
            except OSError as error:
                raise InputError(f"the mirror's file {origin} cannot be copied: {error.strerror or error}") from None
        if file.optional:
            return None
        failures = []
        for url in file.urls:
            partial = self.destination / f"{file.name}.partial"  # stays after a failure, for the next run to go on
            partial.parent.mkdir(parents=True, exist_ok=True)
            try:
                download(url, partial, resume=file.checksum is not None, label=file.name if self.progress else None)
            except NoNetworkError as error:
                failures.append(str(error))
                continue
            try:
                with partial.open("rb") as stream:
                    return self._keep(file, _read(stream), target, f"the file {file.name} from {url}")
            finally:
                partial.unlink()
        raise NoNetworkError("; ".join(failures))

    def _in_mirror(self, file: File) -> Path | None:
        path = self.mirror / file.path if self.mirror is not None else None
        return path if path is not None and path.is_file() else None

    def _expected(self, file: File) -> str | None:
        in_mirror = [] if self.mirror is None else [(self.mirror / file.path).parent]
        return recorded(file, [*in_mirror, self.destination])

    def _present(self, file: File) -> FileRecord | None:
        """The record of the destination's own file, if it is there and right."""
        target = self.destination / file.name
        if file.name not in self._right:
            self._right[file.name] = None
            expected = self._expected(file)
            # a supplied file in the mirror is compared each time, so that a change there is noticed
            if target.is_file() and expected and (file.checksum or not self._in_mirror(file)):
                found = digest(target)
                if matches(expected, found):
                    self._right[file.name] = _file_record(file, found)
                elif file.checksum is None:
                    raise mismatch(f"the file {target}", expected, found, pinned=False)
        return self._right[file.name]

    def _keep(self, file: File, parts: Iterator[bytes], target: Path, what: str) -> FileRecord:
        hasher, expected = Hasher(), self._expected(file)
        with replacing(target) as temporary:
            with temporary.open("wb") as sink:
                for part in parts:
                    hasher.update(part)
                    sink.write(part)
            found = hasher.digest()
            if expected is not None and not matches(expected, found):
                if file.checksum is not None:
                    target.unlink(missing_ok=True)
                raise mismatch(what, expected, found, pinned=file.checksum is not None)
        if file.checksum is None:
            record(file, self.destination, found)
        return _file_record(file, found)


def _file_record(file: File, found: Digest) -> FileRecord:
    return FileRecord(file.name, found.size, found.sha256, file.checksum or "recorded at first use")


def _read(stream: IO[bytes]) -> Iterator[bytes]:
    while part := stream.read(CHUNK):
        yield part


def _downloadable(entry: Dataset | Weights, mirror: Path | None, forbidden: str | None) -> Source:
    source = next((source for source in entry.sources if source.downloadable), None)
    if source is None:
        raise _unavailable(entry, entry.sources[0], mirror, "its publisher does not offer it to programs")
    if forbidden:
        raise _unavailable(entry, source, mirror, forbidden)
    return source


def _unavailable(entry: Dataset | Weights, source: Source, mirror: Path | None, reason: str) -> InputError:
    wanted = ", ".join(file.path for file in source.required)
    where = "no mirror folder is given" if mirror is None else f"the mirror folder {mirror} does not hold it"
    return InputError(
        f"the data set {entry.name} cannot be fetched: {where} and {reason}; put {wanted} (from "
        f"{entry.homepage}) into a folder and name that folder as `mirror` in config.yaml or in "
        "TENSORLDP_MIRROR"
    )
