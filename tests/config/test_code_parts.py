"""What a process has found out about the package's code serves the next one, or is found out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorldp_papers.run import code_digest
from tensorldp_papers.run.code_digest import HOMES, _Earlier, _parts


def keep(folder: Path, parts: dict[str, tuple[code_digest.Part, ...]]) -> Path:
    (folder / ".snakemake").mkdir()
    earlier = _Earlier()
    earlier.parts, earlier.grown = parts, True
    earlier.keep()
    return earlier.path


@pytest.mark.slow
def test_parts_of_all_files_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = {str(path): _parts(path) for home in HOMES for path in sorted(home.rglob("*.py"))}
    keep(tmp_path, found)
    assert _Earlier().parts == found


@pytest.mark.parametrize("damage", ["", "{", "[]", json.dumps({"version": "another", "parts": {"a": []}})])
def test_what_is_damaged_or_of_other_code_is_found_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = keep(tmp_path, {"a": ()})
    assert _Earlier().parts == {"a": ()}
    path.write_text(damage)
    assert _Earlier().parts == {}


def test_nothing_is_kept_where_snakemake_has_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    earlier = _Earlier()
    earlier.grown = True
    earlier.keep()
    assert not list(tmp_path.iterdir())
