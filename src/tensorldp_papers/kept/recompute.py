"""Compute some kept runs anew and compare: the evidence that kept numbers are those of today's versions."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    VERSIONS,
    among,
    as_trained,
    cells_as_planned,
    described,
    names,
    noted_training,
    read_table,
    with_origins,
)
from tensorldp_papers.run.cell import variant_factors
from tensorldp_papers.run.provenance import commit
from tensorldp_papers.run.table import CELL, SERIES, read_rows, write_table

RECOMPUTED = "recomputed.csv"
GROUP = ["study", "dataset", "override"]  # of which one seed is drawn, so that shared models are trained once
TOLERANCE = 0.01  # relative, on another kind of processor; set before looking: 162 of 167 drawn runs stay within it
Compute = Callable[[dict[str, Any], list[str]], list[dict[str, Any]]]
ComputeThen = Callable[[str, dict[str, Any]], pd.DataFrame]


def snakemake(workflow: Path, cores: int) -> Compute:
    """Returns what computes cells by Snakemake in a folder of its own, with the data of the working directory."""

    def compute(config: dict[str, Any], cells: list[str]) -> list[dict[str, Any]]:
        resources = Path("resources").absolute()
        resources.mkdir(exist_ok=True)
        with TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "resources").symlink_to(resources)
            (folder / "config.yaml").write_text(yaml.safe_dump(config))
            targets = [f"results/metrics/{cell}.json" for cell in cells]
            command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "rules", "progress"]
            command += ["-s", str(workflow / "Snakefile"), "--directory", name, "--", *targets]
            if subprocess.run(command, check=False).returncode:
                raise InputError("the drawn runs could not be computed, so nothing was compared; Snakemake says why")
            return [read_json(folder / target) for target in targets]

    return compute


def snakemake_then(repository: Path, cores: int) -> ComputeThen:
    """Returns what computes a config by the code of an earlier commit, with the data of the working directory."""

    def compute(earlier: str, config: dict[str, Any]) -> pd.DataFrame:
        downloads = Path("resources", "downloads").absolute()
        with TemporaryDirectory() as name:
            code, folder = Path(name, "code"), Path(name, "run")
            (folder / "resources").mkdir(parents=True)
            (folder / "resources" / "downloads").symlink_to(downloads)
            (folder / "config.yaml").write_text(yaml.safe_dump(config))
            git = ["git", "-C", str(repository), "worktree"]
            subprocess.run([*git, "add", "--quiet", "--detach", str(code), earlier], check=True)
            try:
                command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "rules", "progress"]
                command += ["-s", str(code / "Snakefile"), "--directory", str(folder), "--", "results/metrics.parquet"]
                environment = os.environ | {"PYTHONPATH": str(code / "src")}
                if subprocess.run(command, env=environment, check=False).returncode:
                    raise InputError(f"the code of {earlier} could not compute a kept run; Snakemake says why")
                return pd.read_parquet(folder / "results" / "metrics.parquet")
            finally:
                subprocess.run([*git, "remove", "--force", str(code)], check=False)

    return compute


def draw(reference: Path, by: int, most_seconds: float) -> pd.DataFrame:
    """Draws kept runs to compute anew: one for each study, data set, way of training and mechanism.

    Args:
        reference: the folder that holds the kept results.
        by: the seed of the draw.
        most_seconds: longer runs are not drawn; a mechanism that has no others is left out.

    Returns:
        The runs with today's settings that were drawn, with `cell` and with `override`, the config's `training` where
        it is not the study's.
    """
    if not (reference / METRICS).exists():
        raise InputError(f"{reference} has no {METRICS}: merge a run first")
    rows = read_rows(reference / METRICS)
    runs = with_origins(rows, reference).merge(_as_kept(rows, reference), on=[*CELL, "settings"])
    runs = runs[runs["seconds"] <= most_seconds].sort_values(SEEDED)
    chance, drawn = random.Random(by), []
    for _, alike in runs.groupby(GROUP, observed=True, sort=True):
        seed = chance.choice(sorted(set(alike["seed"])))
        for _, candidates in alike.groupby("mechanism", observed=True, sort=True):
            same = candidates[candidates["seed"] == seed]
            place = same if len(same) else candidates
            drawn.append(place.iloc[chance.randrange(len(place))])
    return pd.DataFrame(drawn, columns=runs.columns)


def recompute(reference: Path, drawn: pd.DataFrame, compute: Compute, by: int) -> Iterator[str]:
    """Computes drawn runs that are not noted yet, and notes how they compare with the kept values in recomputed.csv.

    Args:
        reference: the folder that holds the kept results.
        drawn: what `draw` returns.
        compute: gives what `results/metrics/<cell>.json` says about cells, for a config and their paths.
        by: the seed of the draw, which is noted.

    Yields:
        A sentence for each run.
    """
    rows = read_rows(reference / METRICS)
    earlier = read_table(reference / RECOMPUTED)
    left = drawn if earlier is None else drawn[~among(drawn, earlier, [*SEEDED, "settings"])]
    for _, alike in left.groupby([*GROUP, "seed"], observed=True, sort=False):
        found = compute(_config(alike), [cell.path for cell in alike["cell"]])
        noted = []
        for (_, row), made in zip(alike.iterrows(), found, strict=True):
            run = {str(name): value for name, value in row.items()}
            kept = rows[among(rows, pd.DataFrame([run]), SEEDED)]
            noted.append(_compared(run, _values(kept.to_dict("records")), made, by))
            yield f"{run['cell'].path}, seed {run['seed']}: largest difference {noted[-1]['largest_difference']:g}"
        now = pd.DataFrame(noted)
        earlier = now if earlier is None else pd.concat([earlier, now], ignore_index=True)
        write_table(reference / RECOMPUTED, earlier, sealed=False)


def compare_with_then(reference: Path, tolerance: float, compute: ComputeThen) -> Iterator[str]:
    """Compute what differs from kept values by the code of their own commits, and note that in recomputed.csv.

    A chaotic training takes last bits to another result, so that no tolerance tells a processor from a change. But
    where the code of then gives on this machine what that of today gives here, the code has not changed the numbers.

    Args:
        reference: the folder that holds the kept results and recomputed.csv.
        tolerance: as of `equal`; what is within it is not computed.
        compute: gives the metrics of a config by the code of a commit.

    Yields:
        A sentence for each run.
    """
    found = read_table(reference / RECOMPUTED)
    if found is None:
        raise InputError(f"{reference} has no {RECOMPUTED}: compute some runs anew first")
    for number in found.index[~equal(found, tolerance) & (found["kept_on"] != found["computed_on"])]:
        row = found.loc[number]
        if pd.notna(row["then_value"]):
            continue
        metrics = compute(str(row["kept_commit"]).rstrip("+"), _config_then(row))
        place = pd.Series(True, index=metrics.index)
        for column in [*CELL, "seed"]:
            place &= metrics[column].astype(str) == str(row[column])
        name, *mark = str(row["of"]).split(" ")
        for key, value in zip(mark[::2], mark[1::2], strict=True):
            place &= metrics[key].astype(float) == float(value)
        (value,) = metrics[place & (metrics["metric"] == name)]["value"]
        found.loc[number, "then_value"] = float(value)
        write_table(reference / RECOMPUTED, found, sealed=False)
        cell = " ".join(str(row[column]) for column in [*CELL, "seed"])
        yield f"{cell}: {row['of']} was {value} by the code of then and is {row['computed_value']} by today's"


def _config_then(row: pd.Series) -> dict[str, Any]:
    """The configuration of one noted run, for an earlier commit."""
    study, training = str(row["study"]), json.loads(row["training"])
    factors = {key: [value] for key, value in variant_factors(row["variant"]).items() if key in ("model", "backbone")}
    config = {
        "scale": row["scale"],
        "studies": [study],
        "datasets": {study: [row["dataset"]]},
        "mechanisms": {study: [row["mechanism"]]},
        "factors": {study: factors} if factors else {},
        "training": {study: training} if training else {},
        "seeds": [int(row["seed"])],
    }
    return config | ({"epsilons": {study: [float(row["epsilon"])]}} if math.isfinite(row["epsilon"]) else {})


def equal(recomputed: pd.DataFrame, tolerance: float) -> pd.Series:
    """Returns for each line of recomputed.csv whether today's code computes what the kept commit's did.

    Args:
        recomputed: the table.
        tolerance: the largest relative difference that another kind of processor explains; on the same kind there is
            to be none. What differs by more is equal only if the code of then gives the same as today's on one machine.
    """
    same = recomputed["kept_on"] == recomputed["computed_on"]
    within = recomputed["largest_difference"] <= (~same).astype(float) * tolerance
    return within | (~same & (recomputed["then_value"] == recomputed["computed_value"]))


def give_versions(reference: Path, tolerance: float) -> pd.DataFrame:
    """Gives kept runs whose versions are not known those of the code that computed runs like them anew and equal.

    Runs are alike if study, data set, mechanism and training are the same. Those that were not drawn, because they
    are long, are judged by the study's other data sets. If any run of theirs differs, none of the alike gets a version.

    Args:
        reference: the folder that holds the kept results.
        tolerance: as of `equal`.

    Returns:
        The lines of recomputed.csv that differ.
    """
    found, noted = read_table(reference / RECOMPUTED), read_table(reference / PROVENANCE)
    if found is None or noted is None:
        raise InputError(
            f"{reference} has no {RECOMPUTED if found is None else PROVENANCE}: compute some runs anew first"
        )
    found["equal"] = equal(found, tolerance)
    alike = ["study", "dataset", "mechanism", "training"]
    exact = found.groupby(alike)["equal"].all().to_dict()
    wide = found.groupby(["study", "mechanism"])["equal"].all().to_dict()
    versions = found.drop_duplicates(["study", "mechanism"]).set_index(["study", "mechanism"])[VERSIONS]
    today = _as_kept(read_rows(reference / METRICS), reference)
    planned = set(names(today, [*CELL, "settings"]))
    for number, row in noted.iterrows():
        pair = row["study"], row["mechanism"]
        known = exact.get(tuple(row[alike]), wide.get(pair, False))
        if row[VERSIONS[0]] == 0 and known and tuple(row[[*CELL, "settings"]]) in planned:
            noted.loc[number, VERSIONS] = versions.loc[pair].to_list()
    write_table(reference / PROVENANCE, noted, sealed=False)
    summarise(reference)
    return found[~found["equal"]].drop(columns="equal")


def _as_kept(rows: pd.DataFrame, reference: Path) -> pd.DataFrame:
    """Returns the planned cells, trained as noted; `override` is the config's `training` where the plan differs."""
    noted, found = noted_training(reference), []
    for planned in cells_as_planned(rows)["cell"]:
        cell = as_trained(planned, noted)
        as_planned = cell.training == planned.training
        override = "" if as_planned else json.dumps(cell.training.model_dump(mode="json"), sort_keys=True)
        found.append({**described(cell), "override": override})
    return pd.DataFrame(found, columns=[*CELL, "settings", "cell", "override"]).astype({"epsilon": float})


def _config(drawn: pd.DataFrame) -> dict[str, Any]:
    """Builds the configuration that plans drawn runs, which are of a study, a data set, a training and a seed."""
    epsilons = sorted(epsilon for epsilon in set(drawn["epsilon"]) if math.isfinite(epsilon))
    ((study, dataset, training, seed),) = set(drawn[[*GROUP, "seed"]].itertuples(index=False, name=None))
    return {
        "scale": drawn["scale"].iloc[0],
        "studies": [study],
        "datasets": {study: [dataset]},
        "epsilons": {study: epsilons} if epsilons else {},
        "training": {study: json.loads(training)} if training else {},
        "seeds": [int(seed)],
        "precision": min(set(drawn["precision"]) - {"float32"}, default="float32"),
        "device": "cpu" if set(drawn["device"]) == {"cpu"} else "auto",
    }


def _compared(run: dict[str, Any], before: dict[str, float], made: dict[str, Any], by: int) -> dict[str, Any]:
    """Returns the line of recomputed.csv about one run."""
    after, machine = _values(made["rows"]), made["runs"][str(run["seed"])]
    names = before.keys() | after.keys()
    different = {name: _difference(before.get(name), after.get(name)) for name in names}
    worst = max(sorted(different), key=lambda name: different[name])
    return {
        **{column: run[column] for column in [*SEEDED, "settings", "training"]},
        **run["cell"].versions,
        "scale": run["scale"],
        "drawn_by": by,
        "kept_commit": run["commit"],
        "commit": commit(),
        "kept_on": _machine(run),
        "computed_on": _machine(machine),
        "values": len(names),
        "different": sum(value != 0 for value in different.values()),
        "largest_difference": different[worst],
        "of": worst if different[worst] else "",
        "kept_value": before.get(worst),
        "computed_value": after.get(worst),
        "then_value": math.nan,
        "seconds": machine["seconds"],
    }


def _machine(facts: Mapping[Any, Any]) -> str:
    return " ".join(str(facts[key] or "unknown") for key in MACHINE)


def _difference(old: float | None, new: float | None) -> float:
    """Computes the difference relative to the larger one; infinite where only one is present and finite."""
    if old is None or new is None:
        return math.inf
    if old == new or (math.isnan(old) and math.isnan(new)):
        return 0.0
    if not (math.isfinite(old) and math.isfinite(new)):
        return math.inf
    return abs(old - new) / max(abs(old), abs(new))


def _values(rows: Iterable[Mapping[Any, Any]]) -> dict[str, float]:
    """Returns the values by metric, with the round, epoch and client where it has some."""
    found = {}
    for row in rows:
        places = [f"{name} {row[name]}" for name in SERIES if pd.notna(row.get(name))]
        found[" ".join([row["metric"], *places])] = float(row["value"])
    return found
