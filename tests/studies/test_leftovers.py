"""Folders that a kill left whole or half deleted."""

import os
from dataclasses import replace
from pathlib import Path

from tensorldp.config.cell import AnyCell, Cell
from tensorldp.config.methods.learning import LearningFactors, LearningTraining
from tensorldp.studies.leftovers import clear_backups, clear_partial_folders, clear_spent_folders

CELL = Cell(
    study="s",
    dataset="d",
    variant="base",
    mechanism="m",
    epsilon="1",
    release="data",
    method="learning",
    delta=1e-5,
    training=LearningTraining(),
    factors=LearningFactors(model="linear"),
    seeds=(0, 1),
)


def folder(base: Path, kind: str, *seeds: int) -> Path:
    path = base / "results" / kind / CELL.path
    path.mkdir(parents=True)
    for seed in seeds:
        (path / f"seed~{seed}.safetensors").touch()
    return path


def nothing(cell: AnyCell) -> set[int]:
    """Seeds with scores."""
    return set()


def test_a_folder_without_one_of_its_seeds_is_removed(tmp_path: Path) -> None:
    models, released = folder(tmp_path, "models", 0), folder(tmp_path, "perturbed")
    assert clear_partial_folders([CELL], tmp_path, nothing) == [models, released]
    assert not models.exists()
    assert not released.exists()


def test_a_whole_folder_and_those_of_other_plans_stay(tmp_path: Path) -> None:
    models = folder(tmp_path, "models", 0, 1)
    other = tmp_path / "results" / "models" / "other"
    other.mkdir()
    assert clear_partial_folders([CELL], tmp_path, nothing) == []
    assert models.exists()
    assert other.exists()


def test_seeds_with_scores_need_no_releases_while_others_are_to_come(tmp_path: Path) -> None:
    models, released = folder(tmp_path, "models", 1), folder(tmp_path, "perturbed", 0)
    assert clear_partial_folders([CELL], tmp_path, lambda cell: {0}) == [released]
    assert models.exists()
    assert clear_partial_folders([CELL], tmp_path, lambda cell: {0, 1}) == [models]  # all are to come again


def test_shared_models_are_whole_with_the_seeds_that_have_scores(tmp_path: Path) -> None:
    shared = replace(CELL, method="testing", mechanism="none", epsilon="inf")
    models = tmp_path / "results" / "models" / shared.path
    models.mkdir(parents=True)
    (models / "seed~0.safetensors").touch()
    assert clear_partial_folders([shared], tmp_path, lambda cell: {0}) == []
    assert clear_partial_folders([shared], tmp_path, lambda cell: {0, 1}) == [models]


def test_backups_of_a_killed_run_are_removed_and_those_of_a_run_stay(tmp_path: Path) -> None:
    backup = tmp_path / ".snakemake" / "backups" / "results" / "models"
    backup.mkdir(parents=True)
    lock = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    lock.parent.mkdir()
    lock.touch()
    clear_backups(tmp_path)
    assert backup.exists()
    lock.unlink()
    clear_backups(tmp_path)
    assert not backup.exists()


def test_nothing_is_removed_beside_a_run(tmp_path: Path) -> None:
    models = folder(tmp_path, "models", 0)
    lock = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    assert clear_partial_folders([CELL], tmp_path, nothing) == []
    assert models.exists()
    lock.unlink()
    assert clear_partial_folders([CELL], tmp_path, nothing) == [models]


def scores(base: Path, age: float) -> Path:
    """The metrics of the cell, so many seconds older than its folders."""
    path = base / "results" / "metrics" / f"{CELL.path}.json"
    path.parent.mkdir(parents=True)
    path.touch()
    now = (base / "results" / "models" / CELL.path).stat().st_mtime
    os.utime(path, (now - age, now - age))
    return path


def test_folders_older_than_the_scores_are_removed(tmp_path: Path) -> None:
    models, released = folder(tmp_path, "models", 0, 1), folder(tmp_path, "perturbed", 0, 1)
    assert clear_spent_folders([CELL], tmp_path) == []  # there are no scores yet
    assert scores(tmp_path, age=-10).exists()
    assert clear_spent_folders([CELL], tmp_path) == [models, released]
    assert not models.exists()
    assert not released.exists()


def test_folders_that_were_made_after_the_scores_stay(tmp_path: Path) -> None:
    models = folder(tmp_path, "models", 0, 1)
    scores(tmp_path, age=10)
    assert clear_spent_folders([CELL], tmp_path) == []
    assert models.exists()


def test_folders_that_the_run_was_asked_for_stay(tmp_path: Path) -> None:
    models, released = folder(tmp_path, "models", 0, 1), folder(tmp_path, "perturbed", 0, 1)
    scores(tmp_path, age=-10)
    assert clear_spent_folders([CELL], tmp_path, {models.relative_to(tmp_path)}) == [released]
    assert models.exists()


def test_models_that_cells_share_stay(tmp_path: Path) -> None:
    models, released = folder(tmp_path, "models", 0, 1), folder(tmp_path, "perturbed", 0, 1)
    scores(tmp_path, age=-10)
    assert clear_spent_folders([replace(CELL, method="testing")], tmp_path) == [released]
    assert models.exists()
