"""What source files said is kept by their content."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from tensorldp.config.syntax import Syntax, _read
from tensorldp.config.syntax_kept import KeptSyntax, from_json, to_json

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "src" / "tensorldp" / "mechanisms").glob("*.py")),
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]


def never() -> Syntax:
    pytest.fail("this content was read before")


def test_what_comes_back_is_what_was_said(tmp_path: Path) -> None:
    said = {path: _read(path, path.read_bytes()) for path in FILES}
    assert all(from_json(json.loads(json.dumps(to_json(one)))) == one for one in said.values())
    first = KeptSyntax(tmp_path / "kept.json")
    for path, one in said.items():
        assert first.look_up(path.suffix, path.read_bytes(), lambda one=one: one) == one  # type: ignore[misc]
    first.write()
    second = KeptSyntax(tmp_path / "kept.json")
    for path, one in said.items():
        assert second.look_up(path.suffix, path.read_bytes(), never) == one


def test_another_content_or_suffix_is_read(tmp_path: Path) -> None:
    kept = KeptSyntax(tmp_path / "kept.json")
    for suffix, content, digest in ((".py", b"a = 1", b"1"), (".py", b"a = 2", b"2"), (".txt", b"a = 1", b"3")):
        assert kept.look_up(suffix, content, lambda digest=digest: Syntax(digest)).digest == digest  # type: ignore[misc]
    kept.write()
    again = KeptSyntax(tmp_path / "kept.json")
    assert again.look_up(".py", b"a = 2", never).digest == b"2"
    assert again.look_up(".py", b"a = 3", lambda: Syntax(b"4")).digest == b"4"


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[]", b"\xff\xfe"])
def test_a_damaged_file_is_done_without_and_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(content)
    kept = KeptSyntax(path)
    assert kept.look_up(".py", b"", lambda: Syntax(b"1")).digest == b"1"
    kept.write()
    assert KeptSyntax(path).look_up(".py", b"", never).digest == b"1"


def test_a_damaged_entry_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    kept = KeptSyntax(path)
    kept.look_up(".py", b"", lambda: Syntax(b"1"))
    kept.write()
    path.write_text(json.dumps({key: {"digest": "zz"} for key in json.loads(path.read_text())}))
    assert KeptSyntax(path).look_up(".py", b"", lambda: Syntax(b"2")).digest == b"2"


def test_a_full_disk_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    kept = KeptSyntax(tmp_path / "kept.json")
    kept.look_up(".py", b"", lambda: Syntax(b"1"))
    monkeypatch.setattr(Path, "replace", full)
    kept.write()
    assert list(tmp_path.iterdir()) == []
