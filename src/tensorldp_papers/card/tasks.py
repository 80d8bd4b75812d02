"""Accuracies on standard tasks, by the pipeline: a second card finds the baselines of the first in the same folder."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.plots.means import true_epsilon

STUDY, SEEDS, SCORE = "tldp_type1", (0, 1, 2), "weighted_f1"
SNAKEFILE = "Snakefile"


@dataclass(frozen=True)
class Score:
    """A mechanism's score on one data set.

    Attributes:
        dataset, mechanism: of the cells.
        nominal: its nominal epsilon.
        true: the pure epsilon of one record, or where there is none that at delta 1e-5.
        mean, low, high: weighted F1 over the seeds.
    """

    dataset: str
    mechanism: str
    nominal: float
    true: float
    mean: float
    low: float
    high: float


def scores(
    workflow: Path,
    folder: Path,
    datasets: Sequence[str],
    mechanisms: Sequence[str],
    epsilons: Sequence[float],
    plugins: Sequence[str],
    cores: int,
) -> list[Score]:
    """The scores of mechanisms at nominal epsilons on data sets, three seeds each, of TLDP's Type I.

    Args:
        workflow: the folder with the Snakefile.
        folder: where the runs are kept.
        datasets: names of the catalogue.
        mechanisms: their keys; no privacy comes along.
        epsilons: nominal, for each of them.
        plugins: modules of the working directory that register mechanisms.
        cores: for Snakemake.

    Raises:
        InputError: if the run fails; Snakemake has said why.
    """
    config: dict[str, Any] = {
        "scale": "quick",
        "studies": [STUDY],
        "datasets": {STUDY: list(datasets)},
        "mechanisms": {STUDY: list(dict.fromkeys([NO_PRIVACY, *mechanisms]))},
        "epsilons": {STUDY: sorted(set(map(float, epsilons)))},
        "factors": {STUDY: {"model": ["small_cnn"]}},
        "seeds": list(SEEDS),
        "plugins": list(plugins),
        "device": "cpu",
    }
    rows = _run(workflow, folder, config, cores)
    rows = rows[(rows["metric"] == SCORE) & (rows["variant"] == "model=small_cnn")]
    rows = rows.assign(true=true_epsilon(rows))
    found = rows.groupby(["dataset", "mechanism", "epsilon"], observed=True).agg(
        true=("true", "first"), mean=("value", "mean"), low=("value", "min"), high=("value", "max")
    )
    table = found.reset_index().rename(columns={"epsilon": "nominal"})
    return [Score(*row) for row in table[list(Score.__dataclass_fields__)].itertuples(index=False, name=None)]


def _run(workflow: Path, folder: Path, config: dict[str, Any], cores: int) -> pd.DataFrame:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "all"]
    command += ["-s", str(workflow / SNAKEFILE), "--directory", str(folder), "--", "results/metrics.parquet"]
    path = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
    with (folder / "held").open("w") as held:  # cards share the folder, and Snakemake lets one run into it
        fcntl.flock(held, fcntl.LOCK_EX)
        write_text(folder / "config.yaml", json.dumps(config))  # JSON is YAML
        failed = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": path}).returncode
        table = None if failed else pd.read_parquet(folder / "results" / "metrics.parquet")
    if table is None:
        raise InputError(f"the tasks could not be run in {folder}; Snakemake says why")
    return table
