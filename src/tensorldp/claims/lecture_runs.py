"""The lecture's attacks and Table 1, decided from the runs of the study `reconstruction`.

A bound O(f) has no constants, so it holds if the measured error grows no faster than f: fitted exponents have a
tolerance of 0.15, because three seeds and four sizes leave that much, and error that noise adds must grow nearer to
linearly than to quadratically. A picture counts as recovered from 30 dB on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from tensorldp.claims.base import Finding, NotRun, cannot_be_checked, claim
from tensorldp.claims.evidence import Evidence
from tensorldp.claims.intervals import mean_interval
from tensorldp.studies.attack_table import SIZES, variant_factors
from tensorldp.studies.growth_table import slope

STUDY, TOLERANCE, LINEAR, CONSTANT, RECOVERED = "reconstruction", 0.15, 1.5, 2.0, 30.0
BASE = {"m": 20000.0, "d": 30.0, "B": 4.0}  # the sizes at which the study tries defences
PRINTED = {"m": -0.5, "d": 0.5, "B": 1.0}
VISIBLE = 1.1  # an error this many times the one without noise tells how large the noise's part is
TESTS = "tests/attacks/test_tensor_attack.py"


def _tensor(found: Evidence, defence: str, metric: str = "error") -> pd.DataFrame:
    """Rows of the tensor attack under one defence, with the sizes and the strength as numbers."""
    rows = found.rows(STUDY, metric, attack="tensor", defence=defence).reset_index(drop=True)
    factors = pd.DataFrame([variant_factors(v) for v in rows["variant"]])
    keys = [key for key in (*SIZES, "strength") if key in factors]
    return pd.concat([rows, factors[keys].astype(float)], axis=1)


def _at(rows: pd.DataFrame, sizes: dict[str, float]) -> pd.DataFrame:
    for key, value in sizes.items():
        rows = rows[rows[key] == value]
    return rows


def _without(found: Evidence) -> float:
    """The median error without defence at the sizes of the defences."""
    return float(_at(_tensor(found, "none"), BASE)["value"].median())


def _ratios(found: Evidence, defence: str) -> dict[float, float]:
    """Median error over the median error without defence, by strength."""
    medians = _at(_tensor(found, defence), BASE).groupby("strength")["value"].median() / _without(found)
    return {float(strength): float(ratio) for strength, ratio in medians.items()}  # type: ignore[arg-type]


def _words(pairs: Iterable[tuple[float, float]], name: str) -> str:
    return ", ".join(f"{ratio:.3g} at {name} = {strength:.3g}" for strength, ratio in pairs)


@claim("L11", expected=f"records recovered at a median of {RECOVERED:g} dB with one of the two distances")
def inversion(found: Evidence) -> Finding:
    medians = {name: float(found.rows(STUDY, "psnr", attack=attack, defence="none")["value"].median())
               for name, attack in (("l2", "dlg"), ("cosine", "cosine"))}
    return Finding(max(medians.values()) >= RECOVERED, "median PSNR of single records: " + ", ".join(
        f"{value:.1f} dB ({name})" for name, value in medians.items()), "tests/attacks/test_inversion.py")


@claim("L13", expected="exponents of at most -1/2 in m, 1/2 in d and 1 in B, within 0.15")
def tensor_bound(found: Evidence) -> Finding:
    rows = _tensor(found, "none")
    powers = {}
    for size in PRINTED:
        part = _at(rows, {key: value for key, value in BASE.items() if key != size})
        if part[size].nunique() < 3:
            raise NotRun(f"needs three values of {size} in {STUDY}")
        powers[size] = mean_interval([slope(own[size].tolist(), own["value"].tolist())
                                      for _, own in part.groupby("seed")])
    return Finding(all(powers[size].mean <= power + TOLERANCE for size, power in PRINTED.items()),
                   "exponents by seed: " + "; ".join(f"{size} {power}" for size, power in powers.items()), TESTS)


@claim("L14", expected=f"an error of at most {CONSTANT:g} B sqrt(d/m) at every size")
def no_defence(found: Evidence) -> Finding:
    rows = _tensor(found, "none")
    share = rows["value"] / (rows["B"] * (rows["d"] / rows["m"]) ** 0.5)
    return Finding(float(share.max()) <= CONSTANT, f"error over B sqrt(d/m): {share.min():.2f} to {share.max():.2f} in "
                   f"{len(share)} runs", TESTS)


@claim("L15", expected="at most k times the error without defence, within 0.15 of the exponent")
def local_steps(found: Evidence) -> Finding:
    ratios = _ratios(found, "local")
    return Finding(all(ratio <= k ** (1 + TOLERANCE) for k, ratio in ratios.items()),
                   f"error over that without defence: {_words(ratios.items(), 'k')}", TESTS)


def _linear(found: Evidence, defence: str, sizes: pd.Series, errors: pd.Series) -> Finding:
    """Whether the part of the error that noise adds is linear in it.

    The noise of a release and the sampling of neurons are independent, so their squared errors add.
    """
    base = _without(found)
    points = sorted((float(size), float(error)) for size, error in zip(sizes, errors, strict=True))
    added = [(size, math.sqrt(error**2 - base**2)) for size, error in points if error >= VISIBLE * base]
    if len(added) < 2:
        raise NotRun(f"needs two strengths of {defence} whose noise shows in the error")
    power = slope([size for size, _ in added], [error for _, error in added])
    unit = math.sqrt(BASE["d"] / BASE["m"])
    constants = [error / (size * unit) for size, error in added]
    return Finding(power <= LINEAR, f"error over that without defence: "
                   f"{_words([(size, error / base) for size, error in points], 'noise')}; what the noise adds grows "
                   f"with the exponent {power:.2f} and is {min(constants):.2f} to {max(constants):.2f} times noise * "
                   "sqrt(d/m)", TESTS)


@claim("L16", expected=f"added error with an exponent of 1 in sigma, below {LINEAR:g}")
def gradient_noise(found: Evidence) -> Finding:
    errors = _at(_tensor(found, "noise"), BASE).groupby("strength")["value"].median()
    return _linear(found, "noise", errors.index.to_series(), errors)


@claim("L17", expected="the same error with and without clipping")
def clipping(found: Evidence) -> Finding:
    ratios = _ratios(found, "clip")
    gap = max(abs(ratio - 1) for ratio in ratios.values())
    return Finding(gap < 1e-4, f"error with over without clipping deviates from 1 by at most {gap:.1e}, for norms "
                   f"{', '.join(f'{s:g}' for s in ratios)}", TESTS)


@claim("L18", expected=f"added error with an exponent of 1 in sigma max(1, ||g||/s), below {LINEAR:g}")
def dp_sgd(found: Evidence) -> Finding:
    errors, sizes = (_at(_tensor(found, "mechanism", metric), BASE).groupby("epsilon")["value"].median()
                     for metric in ("error", "noise"))
    return _linear(found, "DP-SGD", sizes, errors)


@claim("L19", expected="at most p^-0.5 times the error without defence, within 0.15 of the exponent")
def dropout(found: Evidence) -> Finding:
    ratios = _ratios(found, "dropout")
    powers = {p: math.log(ratio) / -math.log(p) for p, ratio in ratios.items()}
    return Finding(max(powers.values()) <= 0.5 + TOLERANCE, "error over that without defence: " + ", ".join(
        f"{ratios[p]:.2f} at p = {p:g} (p^-{power:.2f})" for p, power in powers.items())
        + "; p is the probability to keep a neuron", TESTS)


@claim("L20", expected="no bound for pruning")
def pruning(found: Evidence) -> Finding:
    ratios = _ratios(found, "prune")
    return cannot_be_checked("the lecture gives no bound for pruning to compare with; we measure an error over that "
                             f"without defence of {_words(ratios.items(), 'share')}")
