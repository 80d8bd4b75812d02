"""What a killed run leaves behind that Snakemake would take for a result."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

from tensorldp.config.cell import AnyCell

MODELS, RELEASES = Path("results/models"), Path("results/perturbed")


def clear_partial_folders(cells: Iterable[AnyCell], base: Path) -> list[Path]:
    """Remove folders of releases and models in which the file of a seed is missing, unless a run is going on.

    A run that is killed while Snakemake deletes such a temporary folder leaves a part of it. Snakemake judges a folder
    by its time, so the next run would score a cell again with models that are not there.

    Args:
        cells: the plan's cells.
        base: the folder of the workflow, with results/ and .snakemake/.

    Returns:
        The removed folders.
    """
    found = (
        path
        for cell in cells
        for folder in (MODELS, RELEASES)
        if (path := base / folder / cell.path).is_dir()
        and not all((path / f"seed~{seed}.safetensors").exists() for seed in cell.seeds)
    )
    partial = list(found)
    # looked at after the folders: a run that was writing one of them has had its lock before
    if any((base / ".snakemake" / "locks").glob("*.lock")):
        return []
    for path in partial:
        shutil.rmtree(path)
    return partial


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
