"""Files from a mirror or an address: checked, whole or absent, and known by their content."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tiny

from tensorldp.errors import InputError
from tensorldp_papers.data import catalogue
from tensorldp_papers.data import fetch as fetching
from tensorldp_papers.data.at_hand import at_hand
from tensorldp_papers.data.catalogue import File
from tensorldp_papers.data.fetch import (
    NoNetworkError,
    _Redirects,
    content_digest,
    digest,
    download,
    fetch,
    get_weights_file,
    matches,
)

FILES = [f"{split}-{kind}-ubyte.gz" for split in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
CONTENT = bytes(range(256)) * 40
Pin = Callable[..., None]


def flip(path: Path, position: int = -1) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(bytes(content))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder of a data set's small files in a mirror, and one file more."""
    folder = tmp_path / "mirror" / "mnist"
    tiny.write_mnist(folder)
    (folder / "file").write_bytes(CONTENT)
    return folder


@pytest.fixture
def pin(files: Path, monkeypatch: pytest.MonkeyPatch) -> Pin:
    """Makes small files the data set that the catalogue has, pinned to what they are."""

    def pinned(*more: File, names: list[str] = FILES, address: str = "") -> None:
        entry = tiny.pinned("mnist", files, names, *more, address=address)
        monkeypatch.setattr(catalogue, "find", lambda name: entry)

    return pinned


# From a mirror


def test_copies_from_the_mirror_and_repeats_to_the_byte(files: Path, tmp_path: Path, pin: Pin) -> None:
    pin()
    out, other, mirror = tmp_path / "out", tmp_path / "other", files.parent
    found = fetch("mnist", out, mirror=mirror, offline=True)
    assert (found.source, sorted(file.name for file in found.files)) == ("publisher", sorted(FILES))
    first = (out / "source.json").read_bytes()
    assert json.loads(first)["files"][0]["size"] == (files / FILES[0]).stat().st_size
    flip(out / FILES[0])  # a damaged copy is replaced
    assert fetch("mnist", out, mirror=mirror) == found
    assert (out / FILES[0]).read_bytes() == (files / FILES[0]).read_bytes()
    assert fetch("mnist", out, offline=True) == found  # from what is there
    fetch("mnist", other, mirror=mirror, offline=True)
    assert first == (out / "source.json").read_bytes() == (other / "source.json").read_bytes()


def test_data_are_at_hand_if_they_are_embedded_or_wholly_in_the_mirror(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TENSORLDP_MIRROR", raising=False)
    assert at_hand("digits")
    assert not at_hand("mnist")
    monkeypatch.setenv("TENSORLDP_MIRROR", str(files.parent))
    assert at_hand("mnist")
    (files / FILES[0]).unlink()
    assert not at_hand("mnist")
    assert not at_hand("efficientnet_lite2")


def test_a_flipped_byte_is_named_and_not_kept(files: Path, tmp_path: Path, pin: Pin) -> None:
    pin()
    flip(files / FILES[2])
    with pytest.raises(InputError, match=r"t10k-images.*has the SHA-256 [0-9a-f]{64}, expected the SHA-256"):
        fetch("mnist", tmp_path / "out", mirror=files.parent, offline=True)
    assert (files / FILES[2]).is_file()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES[:2])


@pytest.mark.parametrize("with_mirror", [False, True])
def test_offline_without_the_files_says_what_to_do(tmp_path: Path, with_mirror: bool) -> None:
    with pytest.raises(InputError) as caught:
        fetch("svhn", tmp_path / "out", mirror=tmp_path if with_mirror else None, offline=True)
    missing = f"{tmp_path} does not hold it" if with_mirror else "no mirror folder"
    told = ("svhn/train_32x32.mat", "svhn/test_32x32.mat", "http://ufldl.stanford.edu", "TENSORLDP_MIRROR", missing)
    assert all(part in str(caught.value) for part in told)
    assert "\n" not in str(caught.value)


def test_a_supplied_file_is_recorded_and_held_to_it(tmp_path: Path) -> None:
    mirror, out = tmp_path / "mirror", tmp_path / "out"
    tiny.write_darknet(mirror / "darknet" / "Darknet.CSV")
    (found,) = fetch("darknet", out, mirror=mirror).files
    assert found.checked == "recorded at first use"
    assert (out / "Darknet.CSV.sha256").read_text() == f"{found.sha256}  Darknet.CSV\n"
    before = (out / "source.json").read_bytes()
    fetch("darknet", out, mirror=mirror)  # its own copy is enough, with and without the mirror
    fetch("darknet", out, offline=True)
    assert (out / "source.json").read_bytes() == before
    flip(mirror / "darknet" / "Darknet.CSV", 500)
    with pytest.raises(InputError, match=r"Darknet\.CSV has the SHA-256 .* changed since its first use"):
        fetch("darknet", out, mirror=mirror)
    assert (out / "Darknet.CSV").is_file()
    flip(out / "Darknet.CSV", 500)
    with pytest.raises(InputError, match="changed since its first use"):
        fetch("darknet", out)
    with pytest.raises(InputError, match=r"put darknet/Darknet.CSV \(from https://www.unb.ca"):
        fetch("darknet", tmp_path / "elsewhere")


def test_a_hash_beside_a_supplied_file_counts(tmp_path: Path) -> None:
    tiny.write_credit(tmp_path / "credit" / "creditcard.csv")
    for text, words in (("0" * 64 + "  creditcard.csv\n", "the SHA-256 0000"), ("abc\n", "64 hexadecimal digits")):
        (tmp_path / "credit" / "creditcard.csv.sha256").write_text(text)
        with pytest.raises(InputError, match=words):
            fetch("credit", tmp_path / "out", mirror=tmp_path)


def test_an_optional_file_comes_along_if_it_is_there(files: Path, tmp_path: Path, pin: Pin) -> None:
    pin(File("glove/extra.txt", None, optional=True))
    assert len(fetch("mnist", tmp_path / "out", mirror=files.parent).files) == 4
    (files.parent / "glove").mkdir()
    (files.parent / "glove" / "extra.txt").write_text("words")
    assert fetch("mnist", tmp_path / "out", mirror=files.parent).files[4].name == "extra.txt"
    assert len(fetch("mnist", tmp_path / "out").files) == 5  # once it is there it belongs to the data set


def test_folders_that_are_missing_or_hold_something_else_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mirror folder .*nowhere does not exist"):
        fetch("mnist", tmp_path / "out", mirror=tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"source\.json is missing"):
        get_weights_file(tmp_path)
    assert fetch("digits", tmp_path, offline=True).files == ()  # embedded sets need nothing
    with pytest.raises(InputError, match="holds no pretrained weights"):
        get_weights_file(tmp_path)


# From an address


class Server:
    """A server of a folder that sends `most` bytes a connection, and remembers where each began."""

    def __init__(self, folder: Path) -> None:
        self.most, self.ranges, self.starts = 1 << 20, True, list[int]()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                path = folder / self.path[1:]
                if not path.is_file():
                    return self.send_error(404)
                content, asked = path.read_bytes(), self.headers.get("Range", "bytes=0-")
                start = int(asked.removeprefix("bytes=").rstrip("-")) if server.ranges else 0
                server.starts.append(start)
                if start >= len(content):
                    return self.send_error(416)
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                self.wfile.write(content[start : start + server.most])

        self.listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.listening.server_port}"
        self.url = f"{self.address}/file"


@pytest.fixture
def server(files: Path) -> Iterator[Server]:
    made = Server(files)
    with made.listening as listening:
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        listening.shutdown()


def test_downloads_and_verifies(files: Path, tmp_path: Path, pin: Pin, server: Server) -> None:
    pin(address=server.address)
    fetch("mnist", tmp_path / "out")
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (files / name).read_bytes()
    flip(files / FILES[0])
    with pytest.raises(InputError, match=f"{FILES[0]} from {server.address}.* has the SHA-256"):
        fetch("mnist", tmp_path / "second")
    assert not (tmp_path / "second" / FILES[0]).exists()
    (files / FILES[0]).unlink()
    with pytest.raises(InputError, match="answered 404"):
        fetch("mnist", tmp_path / "third")
    pin(names=FILES[1:], address="http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"mnist cannot be fetched: no mirror .*127\.0\.0\.1:9/.* cannot be reached"):
        fetch("mnist", tmp_path / "fourth")


@pytest.mark.parametrize(
    ("there", "most", "ranges", "starts"),
    [
        (b"", 4000, True, [0, 4000, 8000]),  # it breaks off
        (b"x" * 77, 1 << 20, False, [0]),
        (CONTENT + b"more", 1 << 20, True, [10244, 0]),
    ],
)
def test_a_download_goes_on_from_its_first_part(
    server: Server, tmp_path: Path, there: bytes, most: int, ranges: bool, starts: list[int]
) -> None:
    server.most, server.ranges = most, ranges
    (tmp_path / "file").write_bytes(there)
    download(server.url, tmp_path / "file", resume=True)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.starts == starts


def test_what_cannot_be_checked_starts_anew_and_time_is_bounded(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.most = 4000
    with pytest.raises(NoNetworkError, match="broke off after 4000 of 10240 bytes"):
        download(server.url, tmp_path / "file", resume=False)
    server.most = len(CONTENT)
    download(server.url, tmp_path / "file", resume=False)
    assert server.starts == [0, 0]
    monkeypatch.setattr(fetching, "LONGEST", -1.0)
    with pytest.raises(NoNetworkError, match="took longer than -1 seconds"):
        download(server.url, tmp_path / "another", resume=True)
    assert server.starts == [0, 0, 0]


def test_the_next_run_goes_on_and_checks_the_whole(server: Server, tmp_path: Path, pin: Pin) -> None:
    pin(names=["file"], address=server.address)
    server.most = 1000
    with pytest.raises(InputError, match="broke off after 4000 of 10240 bytes"):
        fetch("set", tmp_path / "out")
    assert not (tmp_path / "out" / "file").exists()
    server.most = len(CONTENT)
    fetch("set", tmp_path / "out")
    assert server.starts[-1] == 4000
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["file", "source.json"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file.partial").write_bytes(b"x" * 100)  # a first part of something else does not pass
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


# Digests


def test_three_kinds_of_checksum(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a cannot be read"):
        digest(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"content")
    found = digest(tmp_path / "a")
    sha256, md5 = hashlib.sha256(b"content").hexdigest(), hashlib.md5(b"content").hexdigest()
    assert (found.size, found.sha256, found.md5) == (7, sha256, md5)
    for right in (f"sha256:{sha256}", f"md5:{md5}", f"sha256-prefix:{sha256[:8]}"):
        assert matches(right, found)
        assert not matches(right[:-1] + ("0" if right[-1] != "0" else "1"), found)


def write(folder: Path, texts: dict[str, str]) -> list[str]:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [str(folder / name) for name in texts]


def test_times_and_places_do_not_count_but_words_and_names_in_a_folder_do(tmp_path: Path) -> None:
    images = {"cat/1.png": "a", "dog/1.png": "b", "caf\udce9/2.png": "c"}  # the last one's name is not UTF-8
    known = tmp_path / "own.json"
    first = content_digest(write(tmp_path / "a", images), known)
    copied = write(tmp_path / "b", images)
    os.utime(copied[0], (1.0, 1.0))
    assert content_digest(copied, known) == first
    for changed in ({**images, "cat/1.png": "b"}, {**images, "dog/2.png": "c"}, {"dog/1.png": "a", "cat/1.png": "b"}):
        assert content_digest(write(tmp_path / str(changed), changed), known) != first
    one, other = (content_digest(write(tmp_path, {name: "1"}), known) for name in ("x.csv", "y.csv"))
    assert one == other


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def sha256(path: Path) -> str:
        read.append(path)
        return path.read_text()

    monkeypatch.setattr(fetching, "sha256", sha256)
    (path,) = write(tmp_path, {"x.csv": "1"})
    known = tmp_path / "own.json"
    known.write_text("no JSON")
    first = content_digest([path], known, keep=False)
    assert known.read_text() == "no JSON"
    assert content_digest([path], known) == content_digest([path], known) == first
    assert len(read) == 2
    Path(path).write_text("22")
    assert content_digest([path], known) != first
    times = Path(path).stat()
    time.sleep(0.05)  # some systems note times in steps of milliseconds
    Path(path).write_text("33")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert content_digest([path], known) not in {first, content_digest(write(tmp_path / "o", {"x.csv": "22"}), known)}
    with pytest.raises(InputError, match=r"the file .*z\.csv cannot be read: No such file"):
        content_digest([str(tmp_path / "z.csv")], known)
