"""A user's files are known by what they hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.data import fetch as contents
from tensorldp_papers.data.fetch import content_digest


def write(folder: Path, texts: dict[str, str]) -> list[str]:
    paths = [folder / os.fsdecode(os.fsencode(name)) for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(path) for path in paths]


IMAGES = {"cat/1.png": "a", "dog/1.png": "b", "caf\udce9/2.png": "c"}  # the last one's name is not UTF-8


def test_times_and_places_do_not_count_but_words_and_names_in_a_folder_do(tmp_path: Path) -> None:
    known = tmp_path / "own.json"
    first = content_digest(write(tmp_path / "a", IMAGES), known)
    copied = write(tmp_path / "b", IMAGES)
    os.utime(copied[0], (1.0, 1.0))
    assert content_digest(copied, known) == first
    for changed in ({**IMAGES, "cat/1.png": "b"}, {**IMAGES, "dog/2.png": "c"}, {"dog/1.png": "a", "cat/1.png": "b"}):
        assert content_digest(write(tmp_path / str(changed), changed), known) != first
    assert content_digest(write(tmp_path, {"x.csv": "1"}), known) == content_digest(
        write(tmp_path, {"y.csv": "1"}), known
    )


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def sha256(path: Path) -> str:
        read.append(path)
        return path.read_text()

    monkeypatch.setattr(contents, "sha256", sha256)
    (path,) = write(tmp_path, {"x.csv": "1"})
    known = tmp_path / "own.json"
    known.write_text("no JSON")
    first = content_digest([path], known, keep=False)
    assert known.read_text() == "no JSON"
    assert content_digest([path], known) == content_digest([path], known) == first
    assert len(read) == 2
    Path(path).write_text("22")
    assert content_digest([path], known) != first


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file .*x\.csv cannot be read: No such file"):
        content_digest([str(tmp_path / "x.csv")], tmp_path / "own.json")
