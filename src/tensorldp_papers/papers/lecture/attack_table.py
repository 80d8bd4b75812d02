"""Privacy, utility loss and reconstruction quality of every defence and mechanism, also at equal utility loss."""

from __future__ import annotations

import math

import pandas as pd

from tensorldp.errors import InputError
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.run.cell import variant_factors

STUDY = "reconstruction"
KEYS = ["dataset", "attack", "defence", "strength", "mechanism", "epsilon"]
PRIVACY = ["guarantee_epsilon", "guarantee_pure_epsilon", "guarantee_unit"]
QUALITY = [
    "rmse",
    "psnr",
    "ssim",
    "identification",
    "identification_bound",
    "label_accuracy",
    "distortion",
    "error",
    "noise",
    "auc",
    "canary_auc",
    *(f"{kind}_at_fpr_{rate}" for rate in ("0.01", "0.1") for kind in ("tpr", "canary_tpr", "tpr_bound")),
]
SIZES = ["m", "d", "B"]
COLUMNS = [*KEYS, *SIZES, *PRIVACY, "accuracy", "utility_loss", *QUALITY, "recovered", "at_utility_loss"]
RECOVERED = 30.0  # dB: a picture with more counts as recovered
LOSSES = (0.01, 0.02, 0.05, 0.1)  # of accuracy, within each of which defences are compared


def wide_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates cells, one row each: the factors, the guarantee and the mean over seeds of every metric."""
    rows = metrics[metrics["study"] == STUDY]
    if rows.empty:
        raise InputError(f"the metrics table has no rows of study {STUDY}")
    shared = ["dataset", "variant", "mechanism", "epsilon", *PRIVACY]
    means = rows.groupby([*shared, "metric"], dropna=False)["value"].mean().unstack("metric").reset_index()
    table = pd.concat([means.drop(columns="variant"), factor_columns(means["variant"])], axis=1)
    return table.assign(defence=table["defence"].fillna("none"))


def factor_columns(variants: pd.Series) -> pd.DataFrame:
    """Returns the factors of variants as columns, strengths and sizes as numbers; missing where a variant lacks one."""
    factors = pd.DataFrame([variant_factors(v) for v in variants], index=variants.index)
    factors = factors.reindex(columns=["attack", "defence", "scaling", "strength", *SIZES])
    return factors.assign(**{key: pd.to_numeric(factors[key]) for key in ("strength", *SIZES)})


def _references(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Returns the accuracy without defence for each data set and network or release that a row is compared with."""
    plain = table[(table["defence"] == "none") & (table["mechanism"] == NO_PRIVACY) & table["accuracy"].notna()]
    return {
        (dataset, _group(attack)): float(accuracy)
        for dataset, attack, accuracy in zip(plain["dataset"], plain["attack"], plain["accuracy"], strict=True)
    }


def _group(attack: str) -> str:
    """Groups attacks whose accuracy is that of the same model: LeNet's, or the attack's own."""
    return attack if attack in ("analytic", "likelihood", "membership") else "lenet"


def attack_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tabulates each cell with an attack, then for each utility loss of `LOSSES` what each defence achieves within it.

    utility_loss is the accuracy without defence minus the accuracy with it. A row with `at_utility_loss` is the one
    of that defence or mechanism, among its strengths or epsilons whose loss is not larger, that an attacker
    reconstructs worst. `recovered` tells whether the PSNR exceeds 30 dB.
    """
    table = wide_rows(metrics)
    table = table[table["attack"] != "sensitivity"].copy()
    for column in ("accuracy", *QUALITY):
        if column not in table:
            table[column] = math.nan
    references = _references(table)
    table["utility_loss"] = [
        references.get((dataset, _group(attack)), math.nan) - accuracy
        for dataset, attack, accuracy in zip(table["dataset"], table["attack"], table["accuracy"], strict=True)
    ]
    table["recovered"] = (table["psnr"] > RECOVERED).where(table["psnr"].notna())
    table["at_utility_loss"] = math.nan
    plain = table[COLUMNS].sort_values([*KEYS, *SIZES], ignore_index=True)
    equal = [_at_loss(plain, loss) for loss in LOSSES]
    return pd.concat([plain, *[part for part in equal if len(part)]], ignore_index=True)


def _at_loss(table: pd.DataFrame, loss: float) -> pd.DataFrame:
    """Returns the best protection of each family whose utility loss is at most `loss`."""
    within = table[(table["utility_loss"] <= loss) & table["psnr"].notna()]
    places = within.groupby(["dataset", "attack", "defence", "mechanism"])["psnr"].idxmin()
    return table.loc[places].assign(at_utility_loss=loss)
