"""The script that runs a piece, with a Snakemake that only writes down how it was called."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CALL = """#!/bin/sh
echo "$@" >> calls
exit ${CODE:-0}
"""


def called(folder: Path, name: str, *minutes: str, **environment: str) -> tuple[int, list[str]]:
    """The exit code of a piece's script, and its calls but for the one that unlocks."""
    program = folder / "bin" / "snakemake"
    program.parent.mkdir(exist_ok=True)
    program.write_text(CALL)
    program.chmod(0o755)
    paths = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / "workflow" / "piece.sh", name, *minutes],
        cwd=folder,
        env={**os.environ, "PATH": paths, **environment},
        capture_output=True,
    )
    calls = folder / "calls"
    lines = calls.read_text().splitlines() if calls.exists() else []
    return done.returncode, [line for line in lines if "--unlock" not in line]


def test_a_piece_runs_one_seed_after_the_other(tmp_path: Path) -> None:
    code, calls = called(tmp_path, "mobile", SLOTS="13")
    assert code == 0
    seeds = yaml.safe_load((ROOT / "workflow" / "pieces" / "mobile.yaml").read_text())["seeds"]
    lists = [",".join(map(str, seeds[: count + 1])) for count in range(len(seeds))]
    assert all(f"--config seeds=[{one}] " in call for one, call in zip(lists, calls, strict=True))
    assert all("--resources gpu=13 " in call for call in calls)
    assert (tmp_path / "pieces" / "mobile" / "config.yaml").is_file()


def test_every_piece_names_its_seeds() -> None:
    for path in (ROOT / "workflow" / "pieces").glob("*.yaml"):
        (line,) = re.findall(r"^seeds: \[(.+)\]$", path.read_text(), re.MULTILINE)
        assert yaml.safe_load(path.read_text())["seeds"] == [int(seed) for seed in line.split(",")], path.name


@pytest.mark.parametrize("code", [1, 124])
def test_a_piece_stops_with_the_code_of_its_first_failure(tmp_path: Path, code: int) -> None:
    found, calls = called(tmp_path, "mobile", "5", CODE=str(code))
    assert (found, len(calls)) == (code, 1)


def test_an_unknown_piece_is_one_sentence(tmp_path: Path) -> None:
    assert called(tmp_path, "nothing") == (2, [])
