"""YAML that a person has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run.settings import read_yaml


def test_merged_keys_and_anchors_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("base: &base {a: 1, b: 2}\nown: {<<: *base, b: 3}\n")
    assert read_yaml(path, "the file") == {"base": {"a": 1, "b": 2}, "own": {"a": 1, "b": 3}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: a occurs twice"),
        ("a:\n  b: 1\n  b: 2\n", "line 3: b occurs twice"),
        ("a: [1\nb: 2\n", "not valid YAML at line 2"),
        ("a: !!python/object/apply:os.system [x]\n", "not valid YAML at line 1"),
    ],
)
def test_a_mistake_has_a_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(InputError, match=f"the file .*a.yaml is .*{message}"):
        read_yaml(tmp_path / "a.yaml", "the file")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml", "the file")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_in_another_encoding_is_named_with_its_line(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\nb: h\u00eatre\n", encoding=encoding)
    line = 2 if encoding == "latin-1" else 1
    with pytest.raises(InputError, match=f"the file .*a.yaml is not UTF-8 text at line {line}: save it as UTF-8"):
        read_yaml(tmp_path / "a.yaml", "the file")


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: h\u00eatre\n", encoding="utf-8-sig")
    assert read_yaml(tmp_path / "a.yaml", "the file") == {"a": "h\u00eatre"}
