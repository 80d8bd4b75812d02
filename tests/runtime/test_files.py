"""Files are whole or absent."""

from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensorldp.errors import InputError
from tensorldp.files import read_arrays, read_json, replacing, write_arrays, write_json
from tensorldp_papers.run.sealed import read_sealed_arrays, write_sealed_arrays

PROPERTY = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


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


@given(JSON)
@PROPERTY
def test_json_round_trip(tmp_path: Path, content: Any) -> None:
    write_json(tmp_path / "a.json", content)
    assert read_json(tmp_path / "a.json") == content


def test_json_has_infinity_as_a_word_and_what_is_broken_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"b": [1, math.inf, -math.inf], "a": None})
    assert read_json(path) == {"a": None, "b": [1, "inf", "-inf"]}
    with pytest.raises(ValueError, match="Out of range"):
        write_json(path, {"b": math.nan})
    path.write_text(json.dumps({"a": 1})[:-1])
    with pytest.raises(InputError, match=r"a\.json is not valid JSON"):
        read_json(path)


def test_arrays_round_trip_and_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1]}, {"k": "v"})
    arrays, metadata = read_arrays(path)
    assert (arrays["x"].tolist(), metadata) == ([[2, 1, 0], [5, 4, 3]], {"k": "v"})
    whole = path.read_bytes()
    for keep in (0, 5, 40, len(whole) - 1):
        path.write_bytes(whole[:keep])
        with pytest.raises(InputError, match=r"x\.safetensors is truncated"):
            read_arrays(path)
    with pytest.raises(InputError, match=r"none\.safetensors is missing"):
        read_arrays(tmp_path / "none.safetensors")


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_sealed_arrays_of_any_shape_and_layout_come_back_as_they_were(shape: tuple[int, ...], tmp_path: Path) -> None:
    path, x = tmp_path / "x.safetensors", np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    write_sealed_arrays(path, given := {"x": x, "turned": x.T}, "its name")
    found, _ = read_sealed_arrays(path, "its name")
    assert {key: (value.shape, value.tolist()) for key, value in found.items()} == {
        key: (value.shape, value.tolist()) for key, value in given.items()
    }


def test_the_same_content_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    code = (
        "import numpy as np, sys; from pathlib import Path; from tensorldp.files import write_arrays; "
        "write_arrays(Path('x'), {'x': np.zeros(3), 'a': np.ones(2)}, {k: k * 3 for k in 'qwertyuiop'})"
    )
    found = set()
    for seed in ("1", "2"):  # of the order in which sets have texts
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env=environment)
        found.add((tmp_path / "x").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022, 0o002], ids=oct)
def test_files_and_their_folders_have_the_modes_that_the_umask_allows(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "made" / "for it"
    before = os.umask(mask)
    try:
        write_json(folder / "a.json", {})
        write_arrays(folder / "x.safetensors", {"x": np.zeros(2)}, {"k": "v"})
        write_arrays(folder / "y.safetensors", {"x": np.zeros(2)})
        with replacing(folder / "table.parquet") as temporary:
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o666 & ~mask  # while it is written, too
            pd.DataFrame({"a": [1]}).to_parquet(temporary)
    finally:
        os.umask(before)
    for path in (folder, folder.parent, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o777 if path.is_dir() else 0o666) & ~mask, path.name


LARGER = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from tensorldp.errors import InputError
from tensorldp.files import write_arrays, write_json
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
for write in (lambda p: write_json(p, [0] * 99_999), lambda p: write_arrays(p, {"x": np.zeros(99_999)})):
    try:
        write(Path(sys.argv[1]))
    except InputError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_a_file_larger_than_the_system_allows_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LARGER, str(tmp_path / "it")], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout.splitlines() == [f"{tmp_path / 'it'} would be larger than files may be here: see `ulimit -f`"] * 2
    )
    assert not list(tmp_path.iterdir())
