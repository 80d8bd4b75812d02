"""Files of a data set, from a mirror folder or their publisher, checked by their checksums before they are kept."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from tensorldp.errors import InputError
from tensorldp.files import read_json, replacing, sha256, write_json, write_text
from tensorldp_papers.data import catalogue
from tensorldp_papers.data.catalogue import Dataset, File, Source, Weights
from tensorldp_papers.progress import track


def content_digest(files: Sequence[str], known: Path, *, keep: bool = True) -> str:
    """Computes a digest of files and of the last two parts of their names, a class and a file in a folder of images.

    A file is read again only if its times or its size differ from those in `known`, a JSON file {path: [time of the
    content, time of any change, size, SHA-256]}, which may be missing or damaged; with `keep` what was read now is
    written there. The first time can be set, so that it alone would hide a changed file.
    """
    try:
        found = read_json(known) if known.exists() else {}
    except InputError:
        found = {}
    before = dict(found)
    try:
        for path in files:
            state = os.stat(path)  # noqa: PTH116
            seen = [state.st_mtime_ns, state.st_ctime_ns, state.st_size]
            if found.get(path, [])[:3] != seen:
                found[path] = [*seen, sha256(Path(path))]
    except OSError as error:
        raise InputError(f"the file {path} cannot be read: {error.strerror or error}") from None
    if keep and found != before:
        write_json(known, found)
    lines = [f"{'/'.join(Path(path).parts[-2:]) if len(files) > 1 else ''} {found[path][3]}" for path in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]


CHUNK = 1 << 20  # bytes that are held at once


@dataclass(frozen=True)
class Digest:
    """The size of a file in bytes, and its hashes in hexadecimal."""

    size: int
    sha256: str
    md5: str


def digest(path: Path) -> Digest:
    """Computes the size and the hashes of a file."""
    sha, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    try:
        with path.open("rb") as source:
            while part := source.read(CHUNK):
                sha.update(part)
                md5.update(part)
                size += len(part)
    except OSError as error:
        raise InputError(f"the file {path} cannot be read: {error.strerror or error}") from None
    return Digest(size, sha.hexdigest(), md5.hexdigest())


def matches(expected: str, found: Digest) -> bool:
    """Returns whether a file is what a checksum says."""
    algorithm, value = expected.split(":")
    return (found.md5 if algorithm == "md5" else found.sha256[: len(value)]) == value


def mismatch(what: str, expected: str, found: Digest, pinned: bool) -> InputError:
    """Builds the error for a file whose hash differs from the expected one."""
    algorithm, value = expected.split(":")
    got = found.md5 if algorithm == "md5" else found.sha256
    label = {"md5": "MD5", "sha256": "SHA-256"}.get(algorithm, "SHA-256 beginning with")
    advice = (
        "it is damaged or another release"
        if pinned
        else "it has changed since its first use; delete the .sha256 file if that is intended"
    )
    return InputError(f"{what} has the {label.split()[0]} {got}, expected the {label} {value}: {advice}")


TIMEOUT = 60.0
"""Seconds without a byte after which a connection is given up."""
LONGEST = 3600.0
"""Seconds after which the download of one file is given up, however slowly bytes come."""
ATTEMPTS = 4
"""Connections that are opened for one file, as long as each brings bytes."""


class NoNetworkError(Exception):
    """An address that did not answer, or broke off."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but none from https to anything else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.type == "https" and not newurl.startswith("https:"):
            raise urllib.error.URLError(f"it redirects to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def download(url: str, target: Path, *, resume: bool, label: str | None = None) -> None:
    """Writes what is behind an address to `target`.

    A file that is there is taken for the first part, if `resume`, in this call and after an earlier one; whoever allows
    this checks the whole by a checksum. What has come before a failure stays in `target`. Progress is shown under a
    `label`, if there is one.
    """
    deadline = time.monotonic() + LONGEST
    if not resume:
        target.unlink(missing_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        before = _size(target)
        try:
            return _connect(url, target, before, deadline, label)
        except NoNetworkError:
            if not resume or attempt == ATTEMPTS or _size(target) == before or time.monotonic() > deadline:
                raise


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _connect(url: str, target: Path, start: int, deadline: float, label: str | None) -> None:
    """Makes one connection: for the rest of the file from `start` on, or for all of it where the server sends all."""
    headers = {"Range": f"bytes={start}-"} if start else {}
    try:
        with closing(_OPENER.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)) as response:
            begins = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
            if response.status != 206 or begins is None or int(begins[1]) != start:
                start = 0
            length = response.headers.get("Content-Length", "")
            expected = int(length) if length.isdigit() else None
            parts = iter(lambda: response.read1(CHUNK), b"")
            if label:
                parts = track(parts, f"{label} (MiB)", total=None if expected is None else -(-expected // CHUNK))
            received = 0
            with target.open("r+b" if start else "wb") as sink:
                sink.seek(start)
                for part in parts:
                    sink.write(part)
                    received += len(part)
                    if time.monotonic() > deadline:
                        raise NoNetworkError(f"{url} took longer than {LONGEST:g} seconds")
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:  # what is there is not part of the file
            target.unlink()
            return _connect(url, target, 0, deadline, label)
        raise NoNetworkError(f"{url} answered {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise NoNetworkError(f"{url} cannot be reached ({error.reason})") from None
    except (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as error:
        raise NoNetworkError(f"{url} broke off ({error})") from None
    if expected is not None and received != expected:
        raise NoNetworkError(f"{url} broke off after {start + received} of {start + expected} bytes")
    return None


@dataclass(frozen=True)
class FileRecord:
    """One fetched file: name, size in bytes, SHA-256, and what it was held to (`recorded at first use` if nothing)."""

    name: str
    size: int
    sha256: str
    checked: str


@dataclass(frozen=True)
class FetchRecord:
    """What `fetch` put into a folder; source.json holds the same."""

    name: str  # of the data set or weights
    source: str  # the label of the source that the files are from
    deviation: str  # from the publisher's release, empty if there is none
    files: tuple[FileRecord, ...]


def fetch(
    name: str, destination: Path, *, mirror: Path | None = None, offline: bool = False, progress: bool = True
) -> FetchRecord:
    """Puts the files of a data set (or of weights) into a folder, with source.json beside them.

    A file that is already there and right stays. Otherwise the mirror's files are copied, or, where the mirror has no
    complete source, the publisher's are downloaded. The best source that is complete wins (see `catalogue`). A file
    without a pinned checksum is the user's to supply through the mirror; its SHA-256 is kept in `<name>.sha256` at
    first use (one that lies beside it in the mirror counts before that) and is required from then on.

    Args:
        name: a data set or weights of the catalogue.
        destination: folder, made if need be.
        mirror: folder with the files as the catalogue's paths say.
        offline: do not try the network.
        progress: show how far a download is.

    Raises:
        InputError: if the name is unknown, the mirror does not exist, a file is not what its checksum says (the bad
            copy is not kept), or the files are neither in the mirror nor downloadable.
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
    """Reads what `fetch` wrote into a folder."""
    path = folder / "source.json"
    content = read_json(path)
    try:
        files = tuple(FileRecord(**file) for file in content["files"])
        return FetchRecord(content["name"], content["source"], content["deviation"], files)
    except (KeyError, TypeError):
        raise InputError(f"the file {path} is not a record of a download: delete it and run again") from None


def get_weights_file(source: Path) -> Path:
    """Finds the weights that `fetch` put into a folder, given the folder or its source.json."""
    folder = source.parent if source.name == "source.json" else source
    found = read_record(folder)
    path = folder / found.files[0].name if found.files else folder
    if found.name not in catalogue.weights_names() or not path.is_file():
        raise InputError(
            f"the folder {folder} holds no pretrained weights: download "
            f"{' or '.join(catalogue.weights_names())} into it"
        )
    if sha256(path) != found.files[0].sha256:
        raise InputError(
            f"the file {path} is not the one that was downloaded: delete the folder {folder} and run again"
        )
    return path


def _fetch(entry: Dataset | Weights, folder: _Folder, offline: bool) -> FetchRecord:
    if entry.embedded:
        return FetchRecord(entry.name, "scikit-learn", "", ())
    source = next((source for source in entry.sources if all(map(folder.reachable, source.required))), None)
    if source is None:
        source = next((source for source in entry.sources if source.downloadable), None)
        if source is None:
            reason = "its publisher does not offer it to programs"
            raise _unavailable(entry, entry.sources[0], folder.mirror, reason)
        if offline:
            raise _unavailable(entry, source, folder.mirror, "the network is not to be used")
    try:
        files = [folder.take(file) for file in source.files]
    except NoNetworkError as error:
        raise _unavailable(entry, source, folder.mirror, str(error)) from None
    return FetchRecord(entry.name, source.label, source.deviation, tuple(file for file in files if file))


def _unavailable(entry: Dataset | Weights, source: Source, mirror: Path | None, reason: str) -> InputError:
    wanted = ", ".join(file.path for file in source.required)
    where = "no mirror folder is given" if mirror is None else f"the mirror folder {mirror} does not hold it"
    return InputError(
        f"the data set {entry.name} cannot be fetched: {where} and {reason}; put {wanted} (from "
        f"{entry.homepage}) into a folder and name that folder as `mirror` in config.yaml or in "
        "TENSORLDP_MIRROR"
    )


class _Folder:
    """The destination and the mirror of one fetch."""

    def __init__(self, destination: Path, mirror: Path | None, progress: bool) -> None:
        self.destination, self.mirror, self.progress = destination, mirror, progress
        self._right: dict[str, FileRecord | None] = {}

    def reachable(self, file: File) -> bool:
        """Returns whether the file is available without the network."""
        return self._in_mirror(file) is not None or self._present(file) is not None

    def take(self, file: File) -> FileRecord | None:
        """Takes the file into the destination, checked; returns None for an optional one that is not available."""
        if (present := self._present(file)) is not None:
            return present
        if (origin := self._in_mirror(file)) is not None:
            try:
                with replacing(self.destination / file.name) as temporary:
                    shutil.copyfile(origin, temporary)
                    return self._checked(file, temporary, f"the mirror's file {origin}")
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
                found = self._checked(file, partial, f"the file {file.name} from {url}")
                partial.replace(self.destination / file.name)
                return found
            finally:
                partial.unlink(missing_ok=True)
        raise NoNetworkError("; ".join(failures))

    def _in_mirror(self, file: File) -> Path | None:
        path = self.mirror / file.path if self.mirror is not None else None
        return path if path is not None and path.is_file() else None

    def _expected(self, file: File) -> str | None:
        """Returns the checksum to hold a file to: the pinned one, else that in a `<name>.sha256` in either folder."""
        if file.checksum is not None:
            return file.checksum
        in_mirror = [] if self.mirror is None else [(self.mirror / file.path).parent]
        for folder in (*in_mirror, self.destination):
            sidecar = folder / f"{file.name}.sha256"
            if sidecar.is_file():
                words = sidecar.read_text(errors="replace").split()
                if not words or not re.fullmatch(r"[0-9a-f]{64}", words[0]):
                    raise InputError(
                        f"the file {sidecar} must hold a SHA-256 of 64 hexadecimal digits and the file name"
                    )
                return f"sha256:{words[0]}"
        return None

    def _present(self, file: File) -> FileRecord | None:
        """Returns the record of the destination's own file, if it is there and right."""
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

    def _checked(self, file: File, path: Path, what: str) -> FileRecord:
        """Makes the record of a file that is about to take its place; its SHA-256 is kept where none is pinned."""
        expected, found = self._expected(file), digest(path)
        if expected is not None and not matches(expected, found):
            if file.checksum is not None:
                (self.destination / file.name).unlink(missing_ok=True)
            raise mismatch(what, expected, found, pinned=file.checksum is not None)
        if file.checksum is None:  # in the form that `sha256sum -c` reads
            write_text(self.destination / f"{file.name}.sha256", f"{found.sha256}  {file.name}\n")
        return _file_record(file, found)


def _file_record(file: File, found: Digest) -> FileRecord:
    return FileRecord(file.name, found.size, found.sha256, file.checksum or "recorded at first use")
