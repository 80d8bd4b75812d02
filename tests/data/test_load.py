from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tensorldp.data.load import load
from tensorldp.errors import InputError
from tensorldp.runtime.files import write_arrays


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([0, 1, 2])
    write_arrays(path, {"x": x, "y": y}, {"b": "2", "a": 'quote " and \\'})
    found = load(path)
    assert (found.x == x).all()
    assert (found.y == y).all()
    assert found.metadata == {"a": 'quote " and \\', "b": "2"}


def test_missing_and_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    with pytest.raises(InputError, match=r"a\.safetensors is missing"):
        load(path)
    write_arrays(path, {"x": np.zeros((9, 9)), "y": np.zeros(9)}, {"a": "b"})
    whole = path.read_bytes()
    for keep in (0, 5, 40, len(whole) - 1):
        path.write_bytes(whole[:keep])
        with pytest.raises(InputError, match=r"a\.safetensors is truncated"):
            load(path)


def test_not_a_split(tmp_path: Path) -> None:
    for arrays in ({"x": np.zeros(3)}, {"x": np.zeros((3, 2)), "y": np.zeros(2)}):
        write_arrays(tmp_path / "a.safetensors", arrays, {})
        with pytest.raises(InputError, match="is not a prepared split"):
            load(tmp_path / "a.safetensors")
