from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.data.fetch import digest, matches


def test_three_kinds_of_checksum(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    found = digest(tmp_path / "a")
    sha256, md5 = hashlib.sha256(b"content").hexdigest(), hashlib.md5(b"content").hexdigest()
    assert (found.size, found.sha256, found.md5) == (7, sha256, md5)
    for right in (f"sha256:{sha256}", f"md5:{md5}", f"sha256-prefix:{sha256[:8]}"):
        assert matches(right, found)
        assert not matches(right[:-1] + ("0" if right[-1] != "0" else "1"), found)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a cannot be read"):
        digest(tmp_path / "a")
