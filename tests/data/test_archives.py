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


def write_zip(path: Path, content: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.txt", content)
    return path


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "a/../../b", "..\\b", "C:\\b"])
def test_unsafe_names_are_refused(tmp_path: Path, name: str) -> None:
    tiny.write_tar(tmp_path / "a.tar.gz", {name: b"x"})
    with pytest.raises(InputError, match=r"absolute names and names with .* are refused"):
        list(tar_members(tmp_path / "a.tar.gz", lambda name: True))


def test_links_are_refused(tmp_path: Path) -> None:
    tiny.write_tar(tmp_path / "a.tar.gz", {"good": b"x"}, link="bad")
    with pytest.raises(InputError, match="'bad', which is a link or a device"):
        list(tar_members(tmp_path / "a.tar.gz", lambda name: name == "bad"))


def test_what_is_truncated_missing_or_no_archive_is_named(tmp_path: Path) -> None:
    tar = tmp_path / "a.tar.xz"
    tiny.write_tar(tar, {"good": bytes(range(256)) * 40}, "w:xz")
    whole = tar.read_bytes()
    for keep in (0, 30, 120):
        tar.write_bytes(whole[:keep])
        with pytest.raises(InputError, match=r"a\.tar\.xz is truncated or damaged"):
            list(tar_members(tar, lambda name: True))
    assert list(zip_lines(write_zip(tmp_path / "a.zip", "one\ntwo\n"), "words.txt")) == ["one", "two"]
    with pytest.raises(InputError, match="has no member other"):
        list(zip_lines(tmp_path / "a.zip", "other"))
    (tmp_path / "b.zip").write_bytes(b"PK no")
    with pytest.raises(InputError, match=r"b\.zip is truncated or damaged"):
        list(zip_lines(tmp_path / "b.zip", "words.txt"))
    with pytest.raises(InputError, match=r"x\.gz is missing"):
        decompressed(tmp_path / "x.gz")


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST", 1000)
    (tmp_path / "small.gz").write_bytes(gzip.compress(bytes(1000)))
    assert len(decompressed(tmp_path / "small.gz")) == 1000
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(1001)))
    (tmp_path / "bomb.xz").write_bytes(lzma.compress(bytes(1001)))
    tiny.write_tar(tmp_path / "bomb.tar.gz", {"a": bytes(600), "b": bytes(600)})
    write_zip(tmp_path / "bomb.zip", bytes(1001))
    for read in (
        lambda: decompressed(tmp_path / "bomb.gz"),
        lambda: decompressed(tmp_path / "bomb.xz"),
        lambda: list(tar_members(tmp_path / "bomb.tar.gz", lambda name: False)),
        lambda: list(zip_lines(tmp_path / "bomb.zip", "words.txt")),
    ):
        with pytest.raises(InputError, match=r"bomb.* unpacks to more than 1,000 bytes, which is refused"):
            read()
