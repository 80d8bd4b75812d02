from __future__ import annotations

import gzip
import lzma
import zipfile
from pathlib import Path

import pytest
import tiny

from tensorldp.errors import InputError
from tensorldp_papers.data import archives
from tensorldp_papers.data.archives import decompressed, tar_members, zip_lines


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "a/../../b", "..\\b", "C:\\b"])
def test_unsafe_names_are_refused(tmp_path: Path, name: str) -> None:
    tiny.write_tar(tmp_path / "a.tar.gz", {name: b"x"})
    with pytest.raises(InputError, match=r"absolute names and names with .* are refused"):
        list(tar_members(tmp_path / "a.tar.gz", lambda name: True))


def test_links_are_refused(tmp_path: Path) -> None:
    tiny.write_tar(tmp_path / "a.tar.gz", {"good": b"x"}, link="bad")
    with pytest.raises(InputError, match="'bad', which is a link or a device"):
        list(tar_members(tmp_path / "a.tar.gz", lambda name: name == "bad"))


@pytest.mark.parametrize("keep", [0, 30, 120])
def test_truncated_tar(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.tar.xz"
    tiny.write_tar(path, {"good": bytes(range(256)) * 40}, "w:xz")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"a\.tar\.xz is truncated or damaged"):
        list(tar_members(path, lambda name: True))


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST", 1000)
    (tmp_path / "small.gz").write_bytes(gzip.compress(bytes(1000)))
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(1001)))
    (tmp_path / "bomb.xz").write_bytes(lzma.compress(bytes(1001)))
    tiny.write_tar(tmp_path / "bomb.tar.gz", {"a": bytes(600), "b": bytes(600)})
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.txt", bytes(1001))
    assert len(decompressed(tmp_path / "small.gz")) == 1000
    for read in (
        lambda: decompressed(tmp_path / "bomb.gz"),
        lambda: decompressed(tmp_path / "bomb.xz"),
        lambda: list(tar_members(tmp_path / "bomb.tar.gz", lambda name: False)),
        lambda: list(zip_lines(tmp_path / "bomb.zip", "words.txt")),
    ):
        with pytest.raises(InputError, match=r"bomb.* unpacks to more than 1,000 bytes, which is refused"):
            read()


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.gz is missing"):
        decompressed(tmp_path / "x.gz")


def test_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("words.txt", "one\ntwo\n")
    assert list(zip_lines(tmp_path / "a.zip", "words.txt")) == ["one", "two"]
    with pytest.raises(InputError, match="has no member other"):
        list(zip_lines(tmp_path / "a.zip", "other"))
    (tmp_path / "b.zip").write_bytes(b"PK no")
    with pytest.raises(InputError, match=r"b\.zip is truncated or damaged"):
        list(zip_lines(tmp_path / "b.zip", "words.txt"))
