"""Files are whole or absent."""

import json
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.files import read_arrays, read_json, replacing, write_arrays, write_json


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_json_round_trip_with_infinity_as_a_word(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": [1, math.inf, -math.inf], "a": None})
    assert read_json(tmp_path / "a.json") == {"a": None, "b": [1, "inf", "-inf"]}
    with pytest.raises(ValueError, match="Out of range"):
        write_json(tmp_path / "b.json", {"b": math.nan})


def test_arrays_round_trip_and_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1]}, {"k": "v"})
    arrays, metadata = read_arrays(path)
    assert arrays["x"].tolist() == [[2, 1, 0], [5, 4, 3]]
    assert metadata == {"k": "v"}
    whole = path.read_bytes()
    for keep in (0, 5, 40, len(whole) - 1):
        path.write_bytes(whole[:keep])
        with pytest.raises(InputError, match=r"x\.safetensors is truncated"):
            read_arrays(path)
    with pytest.raises(InputError, match=r"none\.safetensors is missing"):
        read_arrays(tmp_path / "none.safetensors")


def test_broken_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"a": 1})[:-1])
    with pytest.raises(InputError, match=r"a\.json is not valid JSON"):
        read_json(tmp_path / "a.json")


def test_the_same_content_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import numpy as np, sys; from pathlib import Path; from tensorldp.files import write_arrays; "
        "write_arrays(Path(sys.argv[1]), {'x': np.zeros(3), 'a': np.ones(2)}, {k: k * 3 for k in 'qwertyuiop'})"
    )
    for name in ("a", "b", "c"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=True)
    assert len({(tmp_path / name).read_bytes() for name in ("a", "b", "c")}) == 1


@pytest.fixture(params=[0o077, 0o027, 0o022, 0o002], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """What the user takes away from the rights of others."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_files_and_their_folders_have_the_modes_that_the_umask_allows(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "made" / "for it"
    write_json(folder / "a.json", {})
    write_arrays(folder / "x.safetensors", {"x": np.zeros(2)}, {"k": "v"})
    write_arrays(folder / "y.safetensors", {"x": np.zeros(2)})
    with replacing(folder / "table.parquet") as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o666 & ~umask  # while it is written, too
        pd.DataFrame({"a": [1]}).to_parquet(temporary)
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask, path.name
    for path in (folder, folder.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o777 & ~umask
