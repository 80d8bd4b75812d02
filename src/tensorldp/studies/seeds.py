"""The seeds of a cell: those that an earlier job has computed alike, those still to compute, and those of a run."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensorldp.errors import InputError
from tensorldp.runtime.environment import afresh
from tensorldp.runtime.files import read_arrays, read_json

DIGEST = "digest.json"
MADE = "made"


def add_seed_arguments(arg: argparse.ArgumentParser) -> None:
    """The arguments of a script that computes a cell seed by seed."""
    arg.add_argument("--seeds", type=int, nargs="+", default=None, help="the seeds to have; those of the cell without")
    arg.add_argument("--made", default="", help="text of the settings and code; seeds made with the same are kept")


def made_with(made: str, data: Path | None) -> str:
    """A text that changes with the settings, the code and the data that a cell's numbers come from.

    Args:
        made: of the settings and the code; empty where nothing is to be kept.
        data: the folder of the prepared data, whose `digest.json` changes with its content.

    Returns:
        The text; empty if `made` is.
    """
    if not made:
        return ""
    digest = data / DIGEST if data else None
    content = digest.read_bytes() if digest and digest.exists() else b""
    return hashlib.sha256(made.encode() + content).hexdigest()[:16]


def held(path: Path, made: str) -> dict[str, Any]:
    """What a file of scores or guarantees holds, if it was made with the same settings, code and data; else nothing.

    Nothing, too, in a run that is told to compute its cells again (`snakemake --forcerun`).

    Args:
        path: the file, which may be missing or damaged.
        made: of `made_with`.
    """
    try:
        content = read_json(path) if made and path.exists() and not afresh() else {}
    except InputError:
        return {}
    return content if content.get(MADE) == made else {}


def seeds_in(content: Mapping[str, Any]) -> set[int]:
    """The seeds that scores or guarantees are of."""
    return {int(seed) for seed in content.get("runs") or content.get("by_seed") or ()}


def seeds_of_models(folder: Path, made: str) -> set[int]:
    """The seeds whose models in a folder were made with the same settings, code and data."""
    found = set()
    for path in folder.glob("seed~*.safetensors") if made and not afresh() else ():
        try:
            same = json.loads(read_arrays(path)[1].get("record", "{}")).get(MADE) == made
        except (InputError, ValueError):
            same = False
        if same:
            found.add(int(path.stem.removeprefix("seed~")))
    return found


def to_compute(wanted: Sequence[int], have: Iterable[int]) -> tuple[int, ...]:
    """The wanted seeds that are missing; all of them where none is, as a job that runs all the same is to do it again.

    Args:
        wanted: the seeds that the result is to have.
        have: those that are held.
    """
    missing = set(wanted) - set(have)
    return tuple(seed for seed in wanted if seed in missing) if missing else tuple(wanted)


def joined(before: Mapping[str, Any], new: Mapping[str, Any], seeds: Sequence[int]) -> dict[str, Any]:
    """Scores of an earlier job beside those of this one, by seed in the order of `seeds`.

    Args:
        before: what `held` found.
        new: {"rows": ..., "runs": ...} of the seeds that were computed now.
        seeds: of the result.
    """
    runs = {**before.get("runs", {}), **new["runs"]}
    rows = [row for row in before.get("rows", ()) if str(row["seed"]) not in new["runs"]] + list(new["rows"])
    return {
        "rows": [row for seed in seeds for row in rows if row["seed"] == seed],
        "runs": {str(seed): runs[str(seed)] for seed in seeds},
    }


def scores_of(content: Mapping[str, Any], seeds: Sequence[int] | None) -> dict[str, Any]:
    """A cell's scores of some of its seeds alone.

    Args:
        content: what `evaluate` or `measure` wrote.
        seeds: of the run; None for all.

    Raises:
        InputError: if a seed is missing.
    """
    if seeds is None:
        return dict(content)
    if missing := set(seeds) - seeds_in(content):
        cell = content.get("cell", {})
        raise InputError(
            f"the metrics of {cell.get('study')} on {cell.get('dataset')} with {cell.get('mechanism')} lack seed "
            f"{min(missing)}: delete the file and run again"
        )
    kept = {str(seed): content["runs"][str(seed)] for seed in seeds}
    return {**content, "runs": kept, "rows": [row for row in content["rows"] if row["seed"] in seeds]}


def guarantee_over(content: Mapping[str, Any], seeds: Sequence[int] | None) -> dict[str, Any]:
    """A cell's guarantee over the seeds of a run: the weakest, where it depends on the seed.

    Args:
        content: what `guarantee` wrote.
        seeds: of the run; None for all.

    Raises:
        InputError: if a seed is missing.
    """
    by_seed: Mapping[str, dict[str, Any]] = content.get("by_seed", {})
    if not by_seed:
        return dict(content)
    wanted = sorted(map(int, by_seed)) if seeds is None else sorted(seeds)
    try:
        found = [by_seed[str(seed)] for seed in wanted]
    except KeyError as error:
        raise InputError(f"a guarantee lacks seed {error}: delete the file and run again") from None
    return dict(max(found, key=lambda guarantee: float(guarantee["epsilon"])))
