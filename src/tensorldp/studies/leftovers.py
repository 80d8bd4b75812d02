"""What a killed run leaves behind that Snakemake would take for a result."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from tensorldp.config.cell import AnyCell
from tensorldp.studies.seeds import to_compute

MODELS, RELEASES = Path("results/models"), Path("results/perturbed")


def clear_partial_folders(
    cells: Iterable[AnyCell], base: Path, scored: Callable[[AnyCell], Collection[int]]
) -> list[Path]:
    """Remove folders of releases and models in which the file of a seed is missing, unless a run is going on.

    A temporary folder is whole with the seeds that have no scores yet, or all where all have; one of models that cells
    share is whole with those that have scores, as Snakemake knows which are still to come.

    A run that is killed while Snakemake deletes such a temporary folder leaves a part of it. Snakemake judges a folder
    by its time, so the next run would score a cell again with models that are not there.

    Args:
        cells: the plan's cells.
        base: the folder of the workflow, with results/ and .snakemake/.
        scored: gives the seeds of a cell that have scores made as they would be made now.

    Returns:
        The removed folders.
    """
    found = (
        path
        for cell in cells
        for folder in (MODELS, RELEASES)
        if (path := base / folder / cell.path).is_dir()
        and not _whole(path, cell, scored(cell), kept=folder == MODELS and cell.plan.shares_models)
    )
    partial = list(found)
    # looked at after the folders: a run that was writing one of them has had its lock before
    if any((base / ".snakemake" / "locks").glob("*.lock")):
        return []
    for path in partial:
        shutil.rmtree(path)
    return partial


def clear_backups(base: Path) -> None:
    """Remove the copies that Snakemake made of files which a killed run was updating, unless a run is going on.

    They are not needed, as files appear whole, and Snakemake stumbles over that of a folder.

    Args:
        base: the folder of the workflow, with .snakemake/.
    """
    if not any((base / ".snakemake" / "locks").glob("*.lock")):
        shutil.rmtree(base / ".snakemake" / "backups", ignore_errors=True)


def _whole(path: Path, cell: AnyCell, scored: Collection[int], *, kept: bool) -> bool:
    present = {file.name for file in path.iterdir()}
    wanted = scored if kept else to_compute(cell.seeds, scored)
    return bool(present) and all(f"seed~{seed}.safetensors" in present for seed in wanted)


def clear_spent_folders(cells: Iterable[AnyCell], base: Path, asked: Collection[Path] = ()) -> list[Path]:
    """Remove temporary releases and models that are older than the scores computed from them.

    A run that is killed between the end of a scoring job and the deletion of what it read leaves that whole, and
    Snakemake, which deletes a temporary folder after a job that reads it, has no such job any more. Folders that are
    newer than the scores were asked for by an earlier run and stay; so do models that several cells share.

    Args:
        cells: the plan's cells.
        base: the folder of the workflow, with results/.
        asked: folders that this run was asked for, relative to base; they stay.

    Returns:
        The removed folders.
    """
    spent = []
    for cell in cells:
        scores = base / "results" / "metrics" / f"{cell.path}.json"
        temporary = (RELEASES,) if cell.plan.shares_models else (MODELS, RELEASES)
        for path in (folder / cell.path for folder in temporary):
            if (
                path not in asked
                and (base / path).is_dir()
                and scores.exists()
                and (base / path).stat().st_mtime < scores.stat().st_mtime
            ):
                spent.append(base / path)
    for path in spent:
        shutil.rmtree(path)
    return spent
