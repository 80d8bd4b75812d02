"""The table that every figure, claim and reader starts from."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tensorldp.errors import InputError

KEY = ["study", "dataset", "variant", "release", "mechanism", "epsilon", "delta", "seed", "metric"]
GUARANTEE = [
    "guarantee_unit",
    "guarantee_epsilon",
    "guarantee_delta",
    "guarantee_pure_epsilon",
    "guarantee_atom",
    "guarantee_exact",
]
FIXED = [*KEY, "value", *GUARANTEE, "scale", "seconds", "peak_mb", "device", "commit"]
SERIES = ["round", "epoch", "client"]  # which value of a series a row is; empty in other rows
COLUMNS = [*FIXED, *SERIES]


def metrics_table(cells: list[tuple[dict[str, Any], dict[str, Any]]], scale: str) -> pd.DataFrame:
    """One row per (study, dataset, variant, mechanism, epsilon, seed, metric) and, in a series, round, epoch or client.

    Args:
        cells: for each cell what `evaluate` and `guarantee` wrote.
        scale: quick, desk or paper.

    Sorted by that key. `epsilon` and the guarantee's numbers are floats, infinite where there is none.
    `guarantee_pure_epsilon` is with the atom removed, whose mass is `guarantee_atom`. `seconds` and `peak_mb` are of
    the training of the seed.

    Raises:
        InputError: if there are no cells or a cell lacks a key.
    """
    if not cells:
        raise InputError("there are no cells to collect: choose at least one study")
    rows = []
    for metrics, guarantee in cells:
        try:
            cell = metrics["cell"]
            shared = {key: cell[key] for key in ("study", "dataset", "variant", "release", "mechanism", "delta")}
            shared["epsilon"] = float(cell["epsilon"])
            for key in GUARANTEE:
                value = guarantee[key.removeprefix("guarantee_")]
                shared[key] = float(value) if key.endswith(("epsilon", "atom", "delta")) else value
            for row in metrics["rows"]:
                run = metrics["runs"][str(row["seed"])]
                rows.append(
                    {
                        **shared,
                        **row,
                        "scale": scale,
                        "seconds": run["seconds"],
                        "peak_mb": run["peak_mb"],
                        "device": run["device"],
                        "commit": run["commit"],
                    }
                )
        except KeyError as error:
            raise InputError(f"the metrics of a cell lack {error}: delete the file and run again") from None
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(SERIES, "Int64"))
    return table.sort_values([*KEY, *SERIES], ignore_index=True)
