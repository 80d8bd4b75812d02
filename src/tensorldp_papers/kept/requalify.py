"""Requalify kept rows: a few are drawn and computed anew, and if they are equal, all get the digest of today's code."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import yaml

from tensorldp.errors import InputError
from tensorldp.files import read_json
from tensorldp_papers.kept.merge import MACHINE, summarise
from tensorldp_papers.kept.provenance import (
    METRICS,
    PROVENANCE,
    SEEDED,
    as_trained,
    cells_as_planned,
    described,
    names,
    noted_training,
    read_table,
    with_origins,
)
from tensorldp_papers.run.code_digest import code_of_cell
from tensorldp_papers.run.provenance import commit
from tensorldp_papers.run.table import CELL, SERIES, read_rows, write_table

REQUALIFIED = "requalified.csv"
Compute = Callable[[dict[str, Any], list[str]], list[dict[str, Any]]]


def snakemake(workflow: Path, cores: int) -> Compute:
    """What computes cells by Snakemake in a folder of its own, with the data in resources/ of the working directory."""

    def compute(config: dict[str, Any], cells: list[str]) -> list[dict[str, Any]]:
        resources = Path("resources").absolute()
        resources.mkdir(exist_ok=True)
        with TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "resources").symlink_to(resources)
            (folder / "config.yaml").write_text(yaml.safe_dump(config))
            targets = [f"results/metrics/{cell}.json" for cell in cells]
            command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "rules"]
            command += ["-s", str(workflow / "Snakefile"), "--directory", name, "--", *targets]
            if subprocess.run(command, check=False).returncode:
                raise InputError("the drawn cells could not be computed, so nothing was compared; Snakemake says why")
            return [read_json(folder / target) for target in targets]

    return compute


def requalify(
    reference: Path,
    workflow: Path,
    piece: tuple[str, str],
    compute: Compute,
    count: int,
    drawn_by: int,
    tolerance: float,
) -> str:
    """Compute some cells of a kept study on a data set anew, and give all the digest of today's code if they are equal.

    Only rows with today's settings get the digest; what was trained otherwise is trained so again. For each way of
    training, a seed and cells that are kept with it are drawn. All rows keep their commits. requalified.csv says what
    was drawn and how it was compared.

    Args:
        reference: the folder that holds the kept results.
        workflow: the folder with scripts/.
        piece: a study and a data set.
        compute: gives what `results/metrics/<cell>.json` says about cells, for a config and their paths.
        count: how many cells to draw for each way of training, fewer where fewer are kept.
        drawn_by: the seed of the draw.
        tolerance: largest difference, relative or absolute, to values that were kept on another kind of processor, or
            where that was not noted; on the same kind they are to be equal to the last bit.

    Returns:
        What was done, in a sentence.

    Raises:
        InputError: if nothing is kept with today's settings, or a value differs. Nothing is written then.
    """
    if count < 1 or not 0 <= tolerance < math.inf:
        raise InputError("give at least one cell to draw, and a tolerance that is finite and not negative")
    if not (reference / METRICS).exists():
        raise InputError(f"{reference} has no {METRICS}: merge a run first")
    rows = read_rows(reference / METRICS)
    rows = rows[(rows["study"] == piece[0]) & (rows["dataset"] == piece[1])]
    runs, cells = with_origins(rows, reference), _as_kept(rows, reference)
    todays = runs.merge(cells, on=[*CELL, "settings"])
    if todays.empty:
        raise InputError(f"nothing is kept for {' on '.join(piece)} with the settings in today's files: run it")
    draw, facts, told = random.Random(drawn_by), [], []
    for trained, alike in todays.groupby("override", sort=True):
        seed = draw.choice(sorted(set(alike["seed"])))
        candidates = alike[alike["seed"] == seed].sort_values(CELL)
        drawn = candidates.iloc[draw.sample(range(len(candidates)), min(count, len(candidates)))]
        found = compute(_config(piece, drawn, str(trained)), [cell.path for cell in drawn["cell"]])
        pairs = zip(drawn.to_dict("records"), found, strict=True)
        same = [_is_equal(rows, run, made, tolerance) for run, made in pairs]
        how = "equal to the last bit" if all(same) else f"within {tolerance:g}, on another kind of processor"
        paths = " ".join(cell.path.split("/", 2)[2] for cell in drawn["cell"])
        facts.append([*piece, drawn_by, paths, seed, commit(), how, len(alike), len(runs) - len(todays)])
        told.append(
            f"{len(drawn)} cells of {' on '.join(piece)}, drawn by seed {drawn_by} and computed with seed {seed}, "
            f"are {how}: {paths}. {len(alike)} kept runs have today's code"
        )
    columns = ["study", "dataset", "drawn_by", "cells", "seed", "commit", "compared", "runs", "other_runs"]
    earlier, now = read_table(reference / REQUALIFIED), pd.DataFrame(facts, columns=columns)
    codes = [code_of_cell(cell, workflow / "scripts") for cell in todays["cell"]]
    noted = pd.read_parquet(reference / PROVENANCE)
    today = noted[SEEDED].merge(todays[SEEDED].assign(code=codes), on=SEEDED, how="left")["code"]
    write_table(reference / PROVENANCE, noted.assign(source=today.fillna(noted["source"])), sealed=False)
    both = now if earlier is None else pd.concat([earlier, now])
    write_table(reference / REQUALIFIED, both, sealed=False)
    summarise(reference)
    return f"{'; '.join(told)}; {len(runs) - len(todays)} have other settings"


def _as_kept(rows: pd.DataFrame, reference: Path) -> pd.DataFrame:
    """The planned cells, trained as is noted; `override` is the config's `training` where the plan's is another."""
    noted, found = noted_training(reference), []
    for planned in cells_as_planned(rows)["cell"]:
        cell = as_trained(planned, noted)
        as_planned = cell.training == planned.training
        override = "" if as_planned else json.dumps(cell.training.model_dump(mode="json"), sort_keys=True)
        found.append({**described(cell), "override": override})
    return pd.DataFrame(found, columns=[*CELL, "settings", "cell", "override"]).astype({"epsilon": float})


def _config(piece: tuple[str, str], drawn: pd.DataFrame, training: str) -> dict[str, Any]:
    """The configuration that plans the drawn runs, which have one seed."""
    study, dataset = piece
    return {
        "scale": drawn["scale"].iloc[0],
        "studies": [study],
        "datasets": {study: [dataset]},
        "epsilons": {study: sorted(set(drawn["epsilon"]))},
        "training": {study: json.loads(training)} if training else {},
        "seeds": [int(drawn["seed"].iloc[0])],
        "precision": min(set(drawn["precision"]) - {"float32"}, default="float32"),
        "device": "cpu" if set(drawn["device"]) == {"cpu"} else "auto",
    }


def _is_equal(kept: pd.DataFrame, run: dict[str, Any], made: dict[str, Any], tolerance: float) -> bool:
    """Whether the values of a run are equal to the last bit; if not, they are within the tolerance."""
    name = tuple(run[column] for column in SEEDED)
    own = [other == name for other in names(kept, SEEDED)]
    before = _values(kept[own].to_dict("records"))
    after, machine = _values(made["rows"]), made["runs"][str(run["seed"])]
    then, now = (" ".join(str(facts[key] or "unknown") for key in MACHINE) for facts in (run, machine))
    allowed = 0.0 if then == now else tolerance
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, "absent"), after.get(key, "absent")
        if old != new and (
            "absent" in (old, new) or not math.isclose(float(old), float(new), rel_tol=allowed, abs_tol=allowed)
        ):
            raise InputError(
                f"{key} of {run['cell'].path}, seed {run['seed']}, is kept as {old!r} and now {new!r} (then on {then}, "
                f"now on {now}): the kept rows do not come from today's code, so nothing was written"
            )
    return before == after


def _values(rows: Iterable[Mapping[Any, Any]]) -> dict[str, float]:
    """The values by metric, with the round, epoch and client where it has some."""
    found = {}
    for row in rows:
        places = [f"{name} {row[name]}" for name in SERIES if pd.notna(row.get(name))]
        found[" ".join([row["metric"], *places])] = float(row["value"])
    return found
