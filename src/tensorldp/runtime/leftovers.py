"""What a killed run leaves behind that Snakemake would take for a result."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from tensorldp.config.grid import Cell

FOLDERS = ("results/models", "results/perturbed")


def clear_partial_folders(cells: Iterable[Cell], base: Path) -> list[Path]:
    """Remove folders of releases and models in which the file of a seed is missing, unless a run is going on.

    A run that is killed while Snakemake deletes such a temporary folder leaves a part of it. Snakemake judges a folder
    by its time, so the next run would score a cell again with models that are not there.

    Args:
        cells: the plan's cells.
        base: the folder of the workflow, with results/ and .snakemake/.

    Returns:
        The removed folders.
    """
    found = (path for cell in cells for folder in FOLDERS if (path := base / folder / cell.path).is_dir()
             and not all((path / f"seed~{seed}.safetensors").exists() for seed in cell.seeds))
    partial = list(found)
    # looked at after the folders: a run that was writing one of them has had its lock before
    if any((base / ".snakemake" / "locks").glob("*.lock")):
        return []
    for path in partial:
        shutil.rmtree(path)
    return partial
