from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import tiny

from tensorldp.data.archives import decompressed, tar_members, zip_lines
from tensorldp.errors import InputError


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
