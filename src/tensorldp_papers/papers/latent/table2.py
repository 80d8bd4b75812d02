"""LATENT's Table 2 with our numbers beside the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import pandas as pd

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.plots.curves import factors

CLAIMED_TEST = {"mnist": {0.5: 0.9626, 2.0: 0.9634}, "cifar10": {0.5: 0.9147, 2.0: 0.9173}}


@dataclass(frozen=True)
class Printed:
    """One column of the printed table: training and test accuracy, NaN where it says N/A."""

    dataset: str
    method: str
    epsilon: float
    training: float
    testing: float


NAN = math.nan
PRINTED = (
    Printed("mnist", "NPCNN", math.inf, 0.9925, 0.9816),
    Printed("cifar10", "NPCNN", math.inf, 0.7332, 0.7875),
    Printed("mnist", "SS15", NAN, NAN, 0.98),
    Printed("mnist", "ACG+16", 2.0, 0.95, 0.95),
    Printed("mnist", "ACG+16", 0.5, 0.89, 0.90),
    Printed("cifar10", "ACG+16", 2.0, 0.68, 0.67),
    Printed("mnist", "LATENT", 2.0, 0.9923, CLAIMED_TEST["mnist"][2.0]),
    Printed("mnist", "LATENT", 0.5, 0.9942, CLAIMED_TEST["mnist"][0.5]),
    Printed("cifar10", "LATENT", 2.0, 0.9562, CLAIMED_TEST["cifar10"][2.0]),
    Printed("cifar10", "LATENT", 0.5, 0.9577, CLAIMED_TEST["cifar10"][0.5]),
)
EPSILONS = (0.5, 2.0, math.inf)
MEASURED = {
    "train_accuracy": "training",
    "accuracy": "test_clean",
    "accuracy_perturbed_test": "test_released",
    "train_records": "train_records",
}
COLUMNS = [
    "dataset",
    "method",
    "epsilon",
    "paper_training",
    "paper_test",
    "training",
    "test_clean",
    "test_released",
    "train_records",
    "guarantee_epsilon",
    "guarantee_pure_epsilon",
    "guarantee_delta",
]


def _method(variant: str, mechanism: str) -> str:
    """The method's name in the table: LATENT's comes with the reading, others with the model."""
    own = factors(variant)
    if own.get("model") == "cnn":
        return "NPCNN"
    altered = ", altered images" if "augment" in own else ", permuted labels" if "labels" in own else ""
    if mechanism == "latent":
        return f"LATENT, reading {own['reading']}{altered}"
    if own.get("model") == "ann":
        return f"LATENT, p = 1{altered}"
    where = f"{own.get('features', '64')} projections"
    return f"class means of {where}, no privacy" if mechanism == NO_PRIVACY else f"{mechanism} on {where}"


def table2(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row per data set, method and epsilon: the paper's training and test accuracy and ours, means over seeds.

    Ours are on clean and on released test records; the guarantee is of the whole record. What the paper prints of a
    method that was not run stands without numbers of ours.
    """
    rows = metrics[
        (metrics["study"] == "latent") & metrics["metric"].isin(list(MEASURED)) & metrics["epsilon"].isin(EPSILONS)
    ]
    rows = rows.assign(method=[_method(v, m) for v, m in zip(rows["variant"], rows["mechanism"], strict=True)])
    keys = ["dataset", "method", "epsilon"]
    found: dict[tuple[str, str, float], dict[str, float]] = {}
    for key, part in rows.groupby([*keys, "metric"]):
        dataset, method, epsilon, metric = cast(tuple[str, str, float, str], key)
        entry = found.setdefault((dataset, method, epsilon), {})
        entry[MEASURED[metric]] = float(part["value"].mean())
        entry.update({column: float(part[column].iloc[0]) for column in COLUMNS[-3:]})
    printed = {(p.dataset, p.method, p.epsilon): p for p in PRINTED}
    table = []
    for (dataset, method, epsilon), entry in found.items():
        paper = printed.get((dataset, method.split(",")[0], epsilon))
        printed_pair = (paper.training, paper.testing) if paper else (NAN, NAN)
        table.append(
            {
                "dataset": dataset,
                "method": method,
                "epsilon": epsilon,
                **entry,
                "paper_training": printed_pair[0],
                "paper_test": printed_pair[1],
            }
        )
    datasets = {dataset for dataset, _, _ in found}
    table += [
        {
            "dataset": p.dataset,
            "method": p.method,
            "epsilon": p.epsilon,
            "paper_training": p.training,
            "paper_test": p.testing,
        }
        for p in PRINTED
        if p.dataset in datasets and p.method in ("SS15", "ACG+16")
    ]
    return pd.DataFrame(table, columns=COLUMNS).sort_values(keys, ignore_index=True, na_position="last")
