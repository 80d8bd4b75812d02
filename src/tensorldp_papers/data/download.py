"""One file over the network: bounded in time, and resumed where an earlier attempt broke off."""

from __future__ import annotations

import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from tensorldp_papers.data.checksum import CHUNK
from tensorldp_papers.run.progress import track

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
    """Write what is behind an address to `target`.

    A file that is there is taken for the first part, if `resume`; whoever allows this checks the whole by a checksum.
    What has come before a failure stays in `target`.

    Args:
        url: the address, http or https.
        target: the file, in a folder that exists.
        resume: whether to go on where `target` ends, in this call and after an earlier one.
        label: names the file in the progress shown; none is shown without it.

    Raises:
        NoNetworkError: if the address does not answer, breaks off and brings nothing more, or takes longer than
            `LONGEST` seconds.
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
    """One connection: the rest of the file from `start` on, or all of it where the server sends all."""
    headers = {"Range": f"bytes={start}-"} if start else {}
    try:
        with closing(_OPENER.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)) as response:
            if response.status != 206 or not _starts_at(response.headers.get("Content-Range", ""), start):
                start = 0
            length = response.headers.get("Content-Length", "")
            expected = int(length) if length.isdigit() else None
            received = 0
            with target.open("r+b" if start else "wb") as sink:
                sink.seek(start)
                for part in _parts(response, expected, label):
                    sink.write(part)
                    received += len(part)
                    if time.monotonic() > deadline:
                        raise NoNetworkError(f"{url} took longer than {LONGEST:g} seconds")
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:  # what is there is no part of the file
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


def _starts_at(content_range: str, start: int) -> bool:
    found = re.match(r"bytes (\d+)-", content_range)
    return bool(found and int(found[1]) == start)


def _parts(response: IO[bytes], expected: int | None, label: str | None) -> Iterator[bytes]:
    total = None if expected is None else -(-expected // CHUNK)
    parts = iter(lambda: response.read1(CHUNK), b"")  # type: ignore[attr-defined]
    return track(parts, f"{label} (MiB)", total=total) if label else parts
