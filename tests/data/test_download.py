"""Downloads go on where they broke off, end in bounded time, and never leave encryption."""

from __future__ import annotations

import http.server
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny

from tensorldp.errors import InputError
from tensorldp_papers.data import catalogue
from tensorldp_papers.data import fetch as download
from tensorldp_papers.data.fetch import NoNetworkError, _Redirects, fetch

CONTENT = bytes(range(256)) * 40


class Server:
    """A server of one file that sends `most` bytes a connection, and remembers where each began."""

    def __init__(self) -> None:
        self.most, self.ranges, self.starts = len(CONTENT), True, list[int]()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                asked = self.headers.get("Range", "bytes=0-")
                start = int(asked.removeprefix("bytes=").rstrip("-")) if server.ranges else 0
                server.starts.append(start)
                if start >= len(CONTENT):
                    return self.send_error(416)
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
                self.send_header("Content-Length", str(len(CONTENT) - start))
                self.end_headers()
                self.wfile.write(CONTENT[start : start + server.most])

        self.listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listening.server_port}/file"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with made.listening as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield made
        listening.shutdown()


def test_a_download_that_breaks_off_goes_on(server: Server, tmp_path: Path) -> None:
    server.most = 4000
    download.download(server.url, tmp_path / "file", resume=True)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.starts == [0, 4000, 8000]


def test_a_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    (tmp_path / "file").write_bytes(b"x" * 77)
    download.download(server.url, tmp_path / "file", resume=True)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_what_cannot_be_checked_starts_anew(server: Server, tmp_path: Path) -> None:
    server.most = 4000
    with pytest.raises(NoNetworkError, match="broke off after 4000 of 10240 bytes"):
        download.download(server.url, tmp_path / "file", resume=False)
    server.most = len(CONTENT)
    download.download(server.url, tmp_path / "file", resume=False)
    assert server.starts == [0, 0]


def test_more_than_the_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT + b"more")
    download.download(server.url, tmp_path / "file", resume=True)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_time_is_bounded(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "LONGEST", -1.0)
    with pytest.raises(NoNetworkError, match="took longer than -1 seconds"):
        download.download(server.url, tmp_path / "file", resume=True)
    assert server.starts == [0]


def test_the_next_run_goes_on_and_checks_the_whole(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "origin").mkdir()
    (tmp_path / "origin" / "file").write_bytes(CONTENT)
    entry = tiny.pinned("set", tmp_path / "origin", ["file"], address=server.url.removesuffix("/file"))
    monkeypatch.setattr(catalogue, "find", lambda name: entry)
    server.most = 1000
    with pytest.raises(InputError, match="broke off after 4000 of 10240 bytes"):
        fetch("set", tmp_path / "out")
    assert not (tmp_path / "out" / "file").exists()
    server.most = len(CONTENT)
    fetch("set", tmp_path / "out")
    assert server.starts[-1] == 4000
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["file", "source.json"]
    # a first part of something else does not pass
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file.partial").write_bytes(b"x" * 100)
    with pytest.raises(InputError, match="has the SHA-256"):
        fetch("set", tmp_path / "other")
    assert not list((tmp_path / "other").glob("file*"))


def test_https_is_not_left() -> None:
    def redirected(start: str, to: str) -> object:
        request = urllib.request.Request(start)
        return _Redirects().redirect_request(request, None, 302, "Found", {}, to)  # type: ignore[arg-type]

    with pytest.raises(urllib.error.URLError, match="not encrypted"):
        redirected("https://example.org/a", "http://example.org/a")
    for start, to in (("https://a.org/x", "https://b.org/x"), ("http://a.org/x", "https://b.org/x")):
        assert redirected(start, to) is not None
