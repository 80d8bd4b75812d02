"""The lecture's Table 1 and attacks, decided from the runs of the study `reconstruction`.

A bound O(f) holds if the measured error grows no faster than f; fitted exponents have a tolerance of 0.15, because
three seeds and four sizes leave that much. A picture counts as recovered from 30 dB on.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tensorldp.claims.base import Finding, NotRun, claim
from tensorldp.claims.evidence import Evidence
from tensorldp.figures.attack_sweeps import BASE, attack_rows, fitted_slope

STUDY, TOLERANCE, RECOVERED = "reconstruction", 0.15, 30.0
TESTS = "tests/attacks/test_tensor_attack.py"


def _tensor(found: Evidence, defence: str, metric: str = "error") -> pd.DataFrame:
    """Rows of the tensor attack under one defence, with the sizes and strength as numbers."""
    return attack_rows(found.rows(STUDY, metric, attack="tensor", defence=defence), "tensor", metric)


def _at_base(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[np.logical_and.reduce([rows[key] == value for key, value in BASE.items()])]


def _ratios(found: Evidence, defence: str) -> pd.Series:
    """Median error over the median error without defence, by strength."""
    base = float(_at_base(_tensor(found, "none"))["value"].median())
    return _at_base(_tensor(found, defence)).groupby("strength")["value"].median() / base


@claim("L11", expected=f"a batch of one recovered at {RECOVERED:g} dB or better by minimising the objective")
def inversion(found: Evidence) -> Finding:
    rows = found.rows(STUDY, "psnr", attack="cosine", defence="none")
    best = float(rows["value"].median())
    return Finding(best >= RECOVERED, f"median PSNR {best:.1f} dB on {', '.join(sorted(set(rows['dataset'])))}",
                   "tests/attacks/test_inversion.py")


@claim("L13", expected="exponents of at most 1/2 in d, 1 in B and -1/2 in m")
def tensor_bound(found: Evidence) -> Finding:
    rows = _tensor(found, "none")
    slopes = {}
    for size in ("m", "d", "B"):
        fixed = {key: value for key, value in BASE.items() if key != size}
        part = rows[np.logical_and.reduce([rows[key] == value for key, value in fixed.items()])]
        medians = part.groupby(size)["value"].median()
        if len(medians) < 3:
            raise NotRun(f"needs three values of {size} in {STUDY}")
        slopes[size] = fitted_slope(medians.index, medians)
    printed = {"m": -0.5, "d": 0.5, "B": 1.0}
    return Finding(all(slopes[size] <= power + TOLERANCE for size, power in printed.items()),
                   f"error grows like m^{slopes['m']:.2f} d^{slopes['d']:.2f} B^{slopes['B']:.2f}", TESTS)


@claim("L14", expected="an error of at most B sqrt(d/m) at every size")
def no_defence(found: Evidence) -> Finding:
    rows = _tensor(found, "none")
    share = rows["value"] / (rows["B"] * np.sqrt(rows["d"] / rows["m"]))
    return Finding(float(share.max()) <= 1, f"error over B sqrt(d/m): {share.min():.2f} to {share.max():.2f}", TESTS)


@claim("L15", expected="at most k times the error without defence")
def local_steps(found: Evidence) -> Finding:
    ratios = _ratios(found, "local")
    return Finding(bool((ratios <= ratios.index).all()), "error over that without defence: " + ", ".join(
        f"{ratio:.2f} at k = {k:g}" for k, ratio in ratios.items()), TESTS)


@claim("L16", expected="at most linear growth in sigma once the noise dominates")
def gradient_noise(found: Evidence) -> Finding:
    ratios = _ratios(found, "noise")
    last = fitted_slope(ratios.index[-2:].tolist(), ratios.iloc[-2:].tolist())
    return Finding(last <= 1 + TOLERANCE, "error over that without defence: " + ", ".join(
        f"{ratio:.2f} at sigma = {s:g}" for s, ratio in ratios.items()) + f"; the last exponent is {last:.2f}", TESTS)


@claim("L17", expected="the same error with and without clipping")
def clipping(found: Evidence) -> Finding:
    ratios = _ratios(found, "clip")
    gap = float((ratios - 1).abs().max())
    return Finding(gap < 1e-4, f"error with over without clipping deviates from 1 by at most {gap:.1e}, for norms "
                   f"{', '.join(f'{s:g}' for s in ratios.index)}", TESTS)


@claim("L18", expected="at most linear growth in the relative noise sigma max(1, ||g||/s)")
def dp_sgd(found: Evidence) -> Finding:
    rows = _at_base(_tensor(found, "mechanism"))
    noise = found.rows(STUDY, "noise", attack="tensor", defence="mechanism").groupby("epsilon")["value"].median()
    error = rows.groupby("epsilon")["value"].median()
    at = noise.sort_values()
    errors = error.reindex(at.index).tolist()
    slope = fitted_slope(at.tolist(), errors)
    return Finding(slope <= 1 + TOLERANCE, "error " + ", ".join(
        f"{value:.3f} at noise {size:.2g}" for value, size in zip(errors, at.tolist(), strict=True))
        + f"; exponent {slope:.2f}", TESTS)


@claim("L19", expected="at most 1/sqrt p times the error without defence, within the tolerance of the exponent")
def dropout(found: Evidence) -> Finding:
    ratios = _ratios(found, "dropout")
    kept, grown = np.asarray(ratios.index, dtype=float), ratios.to_numpy(dtype=float)
    power = np.log(grown) / -np.log(kept)
    return Finding(float(power.max()) <= 0.5 + TOLERANCE, "error over that without defence: " + ", ".join(
        f"{r:.2f} at p = {p:g} (p^-{q:.2f})" for p, r, q in zip(kept, grown, power, strict=True)), TESTS)
