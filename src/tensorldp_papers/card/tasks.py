"""Accuracies on standard tasks, by the pipeline: a second card finds the baselines of the first in the same folder."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pandas as pd

from tensorldp.calibration import true_epsilon as true_epsilon_of
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp_papers.data.at_hand import at_hand
from tensorldp_papers.data.catalogue import get
from tensorldp_papers.plots.means import true_epsilon
from tensorldp_papers.run.at_work import unlock
from tensorldp_papers.run.grid import WITHOUT
from tensorldp_papers.run.records import matrix_shape
from tensorldp_papers.run.table import read_table

STUDY, SEEDS, SCORE = "tldp_type1", (0, 1, 2), "weighted_f1"
TASKS = ("digits", "mnist", "fashion_mnist", "cifar10")
SMALL = "digits"  # at the scale quick, the others at desk, whose small network learns from all images
PRIVUNIT = "privunit"
BASELINES = ("laplace", PRIVUNIT)
FRONTIER, NETWORKS = "frontier", {"cifar10": ("mobilenet_v2", "efficientnet_lite2")}  # weights of public features
# only its arm without these factors: other learners, controls, and private labels, tests and clients
PLAIN = {factor: [WITHOUT] for factor in ("learner", "control", "private")}
IMAGES, FEATURES = "images", "public features"  # what is released
SNAKEFILE = "Snakefile"
ERROR = re.compile(r"\w+(?:Error|Exception)\b.*:$")  # the first line of an error that Snakemake tells


@dataclass(frozen=True)
class Score:
    """A mechanism's score on one data set.

    Attributes:
        dataset, mechanism: of the cells.
        nominal: its nominal epsilon.
        true: the pure epsilon of one record, or where there is none that at delta 1e-5.
        mean, low, high: over the seeds: weighted F1 of a network, or the frontier's accuracy.
        released: what is released, `IMAGES` or `FEATURES`.
    """

    dataset: str
    mechanism: str
    nominal: float
    true: float
    mean: float
    low: float
    high: float
    released: str = IMAGES


def scores(
    workflow: Path, folder: Path, dataset: str, mechanism: Mechanism, plugins: Sequence[str], cores: int
) -> list[Score]:
    """Computes scores on a data set of releases by a mechanism and by `BASELINES`, three seeds each, of TLDP's Type I.

    `BASELINES` have its nominal epsilon and the true one that it has on these images. The frontier comes along, unless
    it takes weights that are not at hand: PrivUnit on public features whose true epsilon is the nominal one.

    Args:
        workflow: the folder with the Snakefile.
        folder: where the runs are kept.
        dataset: its name in the catalogue.
        mechanism: a registered one, on any domain.
        plugins: modules of the working directory that register mechanisms.
        cores: for Snakemake.

    Raises:
        InputError: if the run fails, with the reason.
    """
    about, nominal = get(dataset), float(mechanism.epsilon)
    images = Box(about.low, about.high, matrix_shape(about.shape))
    true = float(f"{true_epsilon_of(make(mechanism.name, epsilon=nominal, domain=images), REPORT_DELTA):.6g}")
    own = {STUDY: ([mechanism.name], [nominal])}
    beside = {STUDY: ([NO_PRIVACY, *BASELINES], sorted({nominal, true}))}
    if not missing_weights(dataset):
        beside[FRONTIER] = ([PRIVUNIT], [nominal])
    found: dict[tuple[str, float, str], Score] = {}
    for grid in (beside, own):
        rows = _run(workflow, folder, _config(dataset, grid, plugins), cores)
        for score in (*_found(rows, STUDY, SCORE, IMAGES), *_found(rows, FRONTIER, "accuracy", FEATURES)):
            found[score.mechanism, score.nominal, score.released] = score
    return list(found.values())


def missing_weights(dataset: str) -> list[str]:
    """Returns the weights of the networks of its public features that are not at hand."""
    return [name for name in NETWORKS.get(dataset, ()) if not at_hand(name)]


def _config(
    dataset: str, grid: Mapping[str, tuple[Sequence[str], Sequence[float]]], plugins: Sequence[str]
) -> dict[str, Any]:
    """Builds the config of a run of some mechanisms at some epsilons, by study."""
    factors = {STUDY: {"model": ["small_cnn"]}, FRONTIER: PLAIN}
    return {
        "scale": "quick" if dataset == SMALL else "desk",
        "studies": list(grid),
        "datasets": {study: [dataset] for study in grid},
        "mechanisms": {study: mechanisms for study, (mechanisms, _) in grid.items()},
        "epsilons": {study: epsilons for study, (_, epsilons) in grid.items()},
        "factors": {study: factors[study] for study in grid},
        "seeds": list(SEEDS),
        "plugins": list(plugins),
        "device": "cpu",
    }


def _found(rows: pd.DataFrame, study: str, metric: str, released: str) -> Iterator[Score]:
    plain = ~rows["variant"].str.contains(",")  # of no factor but the network or the features
    rows = rows[(rows["study"] == study) & (rows["metric"] == metric) & plain]
    rows = rows.assign(true=true_epsilon(rows))
    keys = ["dataset", "mechanism", "epsilon"]
    for (dataset, mechanism, nominal), part in cast(Any, rows.groupby(keys, observed=True)):
        value = part["value"]
        mean, low, high = float(value.mean()), float(value.min()), float(value.max())
        yield Score(dataset, mechanism, float(nominal), float(part["true"].iloc[0]), mean, low, high, released)


def _run(workflow: Path, folder: Path, config: dict[str, Any], cores: int) -> pd.DataFrame:
    folder.mkdir(parents=True, exist_ok=True)
    place = ["-s", str(workflow / SNAKEFILE), "--directory", str(folder)]
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "rules", "progress", *place]
    path = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    with (folder / "held").open("w") as held:  # cards share the folder, and Snakemake lets one run into it
        fcntl.flock(held, fcntl.LOCK_EX)
        write_text(folder / "config.yaml", json.dumps(config))  # JSON is YAML
        unlock(folder, place)
        done = subprocess.run(
            [*command, "--", "results/metrics.parquet"],
            check=False,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode:
            raise InputError(f"they could not be run in {folder}: {_reason(done.stdout)}")
        return read_table(folder / "results" / "metrics.parquet")


def _reason(said: str) -> str:
    """Returns why Snakemake failed, by all that it said: our sentences, else its own error, else its last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["Snakemake said nothing"]
    if own := [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]:
        return "; ".join(own)
    errors = [place for place, line in enumerate(lines) if ERROR.match(line)]
    return " ".join(lines[errors[-1] :]) if errors else lines[-1]
