"""How a stage's script runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run.cli import run


def test_a_mistake_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def main(_: Sequence[str] | None) -> None:
        raise InputError("the key x must be 1, got 2")

    with pytest.raises(SystemExit, match="1"):
        run(main)
    assert capsys.readouterr().err == "error: the key x must be 1, got 2\n"


def test_seconds_and_memory_are_noted_where_a_benchmark_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def main(_: Sequence[str] | None) -> None:
        pass

    times = tmp_path / "times"
    run(main)
    assert not times.exists()
    monkeypatch.setenv("TENSORLDP_TIMES", str(times))
    run(main)
    run(main)
    lines = [json.loads(line) for line in times.read_text().splitlines()]
    assert [line["script"] for line in lines] == ["test_cli", "test_cli"]
    assert all(0 <= line["seconds"] < 1 and line["peak_mb"] > 1 for line in lines)
