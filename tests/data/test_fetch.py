from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from tensorldp.errors import InputError
from tensorldp_papers.data import catalogue
from tensorldp_papers.data.catalogue import Dataset, File, Source
from tensorldp_papers.data.fetch import fetch, get_weights_file

FILES = [f"{split}-{kind}-ubyte.gz" for split in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]


@pytest.fixture
def mirror_folder(tmp_path: Path) -> Path:
    tiny.write_mnist(tmp_path / "mirror" / "mnist")
    return tmp_path / "mirror"


def use(monkeypatch: pytest.MonkeyPatch, dataset: Dataset) -> None:
    monkeypatch.setattr(catalogue, "find", lambda name: dataset)


def flip(path: Path, position: int = -1) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(bytes(content))


def test_copies_from_the_mirror_and_repeats_to_the_byte(
    mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, tiny.pinned("mnist", mirror_folder / "mnist", FILES))
    found = fetch("mnist", tmp_path / "out", mirror=mirror_folder, offline=True)
    assert found.source == "publisher"
    assert sorted(file.name for file in found.files) == sorted(FILES)
    first = (tmp_path / "out" / "source.json").read_bytes()
    assert json.loads(first)["files"][0]["size"] == (mirror_folder / "mnist" / FILES[0]).stat().st_size
    # a second time from what is there, a third time elsewhere
    assert fetch("mnist", tmp_path / "out", offline=True) == found
    fetch("mnist", tmp_path / "other", mirror=mirror_folder, offline=True)
    assert first == (tmp_path / "out" / "source.json").read_bytes() == (tmp_path / "other" / "source.json").read_bytes()


def test_flipped_byte_is_named_and_not_kept(
    mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = tiny.pinned("mnist", mirror_folder / "mnist", FILES)
    use(monkeypatch, dataset)
    bad = mirror_folder / "mnist" / FILES[2]
    flip(bad)
    with pytest.raises(InputError, match=r"t10k-images.*has the SHA-256 [0-9a-f]{64}, expected the SHA-256"):
        fetch("mnist", tmp_path / "out", mirror=mirror_folder, offline=True)
    assert bad.is_file()
    assert not (tmp_path / "out" / FILES[2]).exists()
    assert not (tmp_path / "out" / "source.json").exists()
    assert not list((tmp_path / "out").glob("*.part"))


def test_damaged_copy_is_replaced(mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, tiny.pinned("mnist", mirror_folder / "mnist", FILES))
    fetch("mnist", tmp_path / "out", mirror=mirror_folder)
    flip(tmp_path / "out" / FILES[0])
    fetch("mnist", tmp_path / "out", mirror=mirror_folder)
    assert (tmp_path / "out" / FILES[0]).read_bytes() == (mirror_folder / "mnist" / FILES[0]).read_bytes()


def test_missing_mirror(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mirror folder .*nowhere does not exist"):
        fetch("mnist", tmp_path / "out", mirror=tmp_path / "nowhere")


@pytest.mark.parametrize("with_mirror", [False, True])
def test_offline_without_the_files_says_what_to_do(tmp_path: Path, with_mirror: bool) -> None:
    mirror = tmp_path if with_mirror else None
    with pytest.raises(InputError) as error:
        fetch("svhn", tmp_path / "out", mirror=mirror, offline=True)
    sentence = str(error.value)
    for part in (
        "svhn/train_32x32.mat",
        "svhn/test_32x32.mat",
        "http://ufldl.stanford.edu",
        "TENSORLDP_MIRROR",
        f"{tmp_path} does not hold it" if with_mirror else "no mirror folder",
    ):
        assert part in sentence
    assert "\n" not in sentence


def test_a_supplied_file_is_recorded_and_held_to_it(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    tiny.write_darknet(mirror / "darknet" / "Darknet.CSV")
    found = fetch("darknet", tmp_path / "out", mirror=mirror)
    assert found.files[0].checked == "recorded at first use"
    sidecar = tmp_path / "out" / "Darknet.CSV.sha256"
    assert sidecar.read_text() == f"{found.files[0].sha256}  Darknet.CSV\n"
    before = (tmp_path / "out" / "source.json").read_bytes()
    # its own copy is enough, with and without the mirror
    fetch("darknet", tmp_path / "out", mirror=mirror)
    fetch("darknet", tmp_path / "out", offline=True)
    assert (tmp_path / "out" / "source.json").read_bytes() == before
    flip(mirror / "darknet" / "Darknet.CSV", 500)
    with pytest.raises(InputError, match=r"Darknet\.CSV has the SHA-256 .* changed since its first use"):
        fetch("darknet", tmp_path / "out", mirror=mirror)
    assert (tmp_path / "out" / "Darknet.CSV").is_file()
    flip(tmp_path / "out" / "Darknet.CSV", 500)
    with pytest.raises(InputError, match="changed since its first use"):
        fetch("darknet", tmp_path / "out")


def test_a_hash_beside_a_supplied_file_counts(tmp_path: Path) -> None:
    tiny.write_credit(tmp_path / "credit" / "creditcard.csv")
    (tmp_path / "credit" / "creditcard.csv.sha256").write_text("0" * 64 + "  creditcard.csv\n")
    with pytest.raises(InputError, match="expected the SHA-256 0000"):
        fetch("credit", tmp_path / "out", mirror=tmp_path)
    (tmp_path / "credit" / "creditcard.csv.sha256").write_text("abc\n")
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        fetch("credit", tmp_path / "out", mirror=tmp_path)


def test_a_set_that_is_never_offered_to_programs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"put darknet/Darknet.CSV \(from https://www.unb.ca"):
        fetch("darknet", tmp_path / "out")


def test_embedded_sets_need_nothing(tmp_path: Path) -> None:
    assert fetch("digits", tmp_path / "out", offline=True).files == ()


@pytest.fixture
def server(mirror_folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(mirror_folder / "mnist"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


def test_downloads_and_verifies(
    mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    use(monkeypatch, tiny.pinned("mnist", mirror_folder / "mnist", FILES, address=server))
    fetch("mnist", tmp_path / "out")
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (mirror_folder / "mnist" / name).read_bytes()
    flip(mirror_folder / "mnist" / FILES[0])
    with pytest.raises(InputError, match=f"{FILES[0]} from {server}.* has the SHA-256"):
        fetch("mnist", tmp_path / "second")
    assert not (tmp_path / "second" / FILES[0]).exists()
    (mirror_folder / "mnist" / FILES[0]).unlink()
    with pytest.raises(InputError, match="answered 404"):
        fetch("mnist", tmp_path / "third")


def test_an_address_that_does_not_answer(mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, tiny.pinned("mnist", mirror_folder / "mnist", FILES, address="http://127.0.0.1:9"))
    with pytest.raises(InputError, match=r"mnist cannot be fetched: no mirror .*127\.0\.0\.1:9/.* cannot be reached"):
        fetch("mnist", tmp_path / "out")


def test_an_optional_file_comes_along_if_it_is_there(
    mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tiny.pinned("mnist", mirror_folder / "mnist", FILES)
    files = (*entry.sources[0].files, File("glove/extra.txt", None, optional=True))
    use(monkeypatch, replace(entry, sources=(Source("publisher", files),)))
    assert len(fetch("mnist", tmp_path / "out", mirror=mirror_folder).files) == 4
    (mirror_folder / "glove").mkdir()
    (mirror_folder / "glove" / "extra.txt").write_text("words")
    assert fetch("mnist", tmp_path / "out", mirror=mirror_folder).files[4].name == "extra.txt"
    # once it is there it belongs to the data set, mirror or not
    assert len(fetch("mnist", tmp_path / "out").files) == 5


def test_weights_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"source\.json is missing"):
        get_weights_file(tmp_path)
    fetch("digits", tmp_path)
    with pytest.raises(InputError, match="holds no pretrained weights"):
        get_weights_file(tmp_path)
