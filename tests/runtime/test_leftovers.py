"""Folders that a kill left half deleted."""

from pathlib import Path

from tensorldp.config.grid import Cell
from tensorldp.runtime.leftovers import clear_partial_folders

CELL = Cell("s", "d", "base", "m", "1", seeds=(0, 1))


def folder(base: Path, kind: str, *seeds: int) -> Path:
    path = base / "results" / kind / CELL.path
    path.mkdir(parents=True)
    for seed in seeds:
        (path / f"seed~{seed}.safetensors").touch()
    return path


def test_a_folder_without_one_of_its_seeds_is_removed(tmp_path: Path) -> None:
    models, released = folder(tmp_path, "models", 0), folder(tmp_path, "perturbed")
    assert clear_partial_folders([CELL], tmp_path) == [models, released]
    assert not models.exists()
    assert not released.exists()


def test_a_whole_folder_and_those_of_other_plans_stay(tmp_path: Path) -> None:
    models = folder(tmp_path, "models", 0, 1)
    other = tmp_path / "results" / "models" / "other"
    other.mkdir()
    assert clear_partial_folders([CELL], tmp_path) == []
    assert models.exists()
    assert other.exists()


def test_nothing_is_removed_beside_a_run(tmp_path: Path) -> None:
    models = folder(tmp_path, "models", 0)
    lock = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    assert clear_partial_folders([CELL], tmp_path) == []
    assert models.exists()
    lock.unlink()
    assert clear_partial_folders([CELL], tmp_path) == [models]
