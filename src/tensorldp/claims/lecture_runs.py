"""The lecture's attacks and Table 1, decided from the runs of the study `reconstruction`.

A bound O(f) has no constants. Its growth is checked by fitted exponents, with a tolerance of 0.15, because three seeds
and four sizes leave that much. Each row of Table 1 is checked with one constant: error <= C f, C = 1.5, which is the
largest that lets every point exceed it before the attack fails, as it has at an error of 0.7 (records have norm 1, and
three local steps f = 0.465). Points beyond 0.7 say nothing on growth and are left out. These statements are theorems:
an interval over seeds wholly beyond the bound refutes them. A picture counts as recovered from 30 dB on.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from tensorldp.claims.base import Finding, NotRun, cannot_be_checked, claim
from tensorldp.claims.evidence import Evidence
from tensorldp.claims.intervals import Interval, mean_interval, over_seeds
from tensorldp.config.cell import variant_factors
from tensorldp.studies.attack_table import SIZES
from tensorldp.studies.growth_table import slope

STUDY, TOLERANCE, CONSTANT, SATURATED, RECOVERED = "reconstruction", 0.15, 1.5, 0.7, 30.0
BASE = {"m": 20000.0, "d": 30.0, "B": 4.0}  # the sizes at which the study tries defences
PRINTED = {"m": -0.5, "d": 0.5, "B": 1.0}
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


def _pairs(found: Evidence, defence: str) -> pd.DataFrame:
    """Rows at the sizes of the defences, with the error over that of the same seed without defence as `value`."""
    plain = _at(_tensor(found, "none"), BASE).groupby("seed")["value"].median()
    rows = _at(_tensor(found, defence), BASE)
    return rows.assign(value=rows["value"] / rows["seed"].map(plain)).dropna(subset=["value"])


def _ratios(found: Evidence, defence: str) -> dict[float, Interval]:
    """Error over the error without defence, by strength."""
    return {
        float(strength): over_seeds(own, lambda rows: float(rows["value"].mean()))  # type: ignore[arg-type]
        for strength, own in _pairs(found, defence).groupby("strength")
    }


def _words(ratios: Iterable[tuple[float, Interval]], name: str) -> str:
    return ", ".join(f"{ratio} at {name} = {strength:.3g}" for strength, ratio in ratios)


def _row(found: Evidence, own: pd.DataFrame, factor: pd.Series) -> Finding:
    """Whether errors are within CONSTANT * factor * sqrt(d/m), where the factor is the row's own.

    The point without defence at the same sizes counts too: it is each row's for no noise, one step or all neurons.
    """
    plain = _at(_tensor(found, "none"), BASE)
    rows = pd.concat([own.assign(factor=factor), plain.assign(factor=plain["B"])]).drop_duplicates(
        ["variant", "epsilon", "seed"]
    )
    rows = rows.assign(share=rows["value"] / (rows["factor"] * (rows["d"] / rows["m"]) ** 0.5))
    points = [point for _, point in rows.groupby(["variant", "epsilon"])]
    kept = [point for point in points if point["value"].median() <= SATURATED]
    if len(kept) < 3:
        raise NotRun(
            f"needs three points of {STUDY} with an error of at most {SATURATED:g}, of {len(points)} "
            f"{len(kept)} have one"
        )
    shares = [over_seeds(point, lambda rows: float(rows["share"].mean())) for point in kept]
    beyond = sum(share.most > CONSTANT for share in shares)
    return Finding(
        max(share.least for share in shares) <= CONSTANT,
        f"error over the printed bound: "
        f"{min(share.mean for share in shares):.2f} to {max(shares, key=lambda share: share.mean)} in "
        f"{len(kept)} points, of which {beyond} reach above {CONSTANT:g}; {len(points) - len(kept)} more "
        f"with an error above {SATURATED:g} left out",
        TESTS,
    )


def _error(decibels: float) -> float:
    """The root mean square error of a PSNR, in per cent of the range of grey."""
    return float(100 * 10 ** (-decibels / 20))


@claim(
    "L11",
    expected=f"records recovered with one of the two distances, at a median error of at most "
    f"{_error(RECOVERED):.3g} % of the range ({RECOVERED:g} dB)",
)
def inversion(found: Evidence) -> Finding:
    # errors and not dB, which have no upper end: one perfect recovery would widen the interval towards failure
    medians = {
        name: over_seeds(
            found.rows(STUDY, "psnr", attack=attack, defence="none"), lambda own: _error(float(own["value"].median()))
        )
        for name, attack in (("l2", "dlg"), ("cosine", "cosine"))
    }
    return Finding(
        min(value.most for value in medians.values()) <= _error(RECOVERED),
        "median error of single records "
        "in per cent of the range: " + ", ".join(f"{value} ({name})" for name, value in medians.items()),
        "tests/attacks/test_inversion.py",
    )


@claim("L13", expected="exponents of at most -1/2 in m, 1/2 in d and 1 in B, within 0.15")
def tensor_bound(found: Evidence) -> Finding:
    rows = _tensor(found, "none")
    powers = {}
    for size in PRINTED:
        part = _at(rows, {key: value for key, value in BASE.items() if key != size})
        if part[size].nunique() < 3:
            raise NotRun(f"needs three values of {size} in {STUDY}")
        powers[size] = mean_interval(
            [slope(own[size].tolist(), own["value"].tolist()) for _, own in part.groupby("seed")]
        )
    return Finding(
        all(powers[size].least <= power + TOLERANCE for size, power in PRINTED.items()),
        "exponents by seed: " + "; ".join(f"{size} {power}" for size, power in powers.items()),
        TESTS,
    )


@claim("L14", expected=f"an error of at most {CONSTANT:g} B sqrt(d/m) at every size")
def no_defence(found: Evidence) -> Finding:
    rows = _tensor(found, "none")
    return _row(found, rows, rows["B"])


@claim("L15", expected=f"an error of at most {CONSTANT:g} k B sqrt(d/m)")
def local_steps(found: Evidence) -> Finding:
    rows = _at(_tensor(found, "local"), BASE)
    return _row(found, rows, rows["strength"] * rows["B"])


@claim("L16", expected=f"an error of at most {CONSTANT:g} (B + sigma) sqrt(d/m)")
def gradient_noise(found: Evidence) -> Finding:
    rows = _at(_tensor(found, "noise"), BASE)
    return _row(found, rows, rows["B"] + rows["strength"])


@claim("L17", expected=f"an error of at most {CONSTANT:g} B sqrt(d/m), the same with and without clipping")
def clipping(found: Evidence) -> Finding:
    rows, pairs = _at(_tensor(found, "clip"), BASE), _pairs(found, "clip")
    row, gap = _row(found, rows, rows["B"]), float((pairs["value"] - 1).abs().max())
    return Finding(
        bool(row.holds) and gap < 1e-4,
        f"{row.observed}; error with over without clipping deviates from 1 by at most {gap:.1e} in {len(pairs)} runs",
        TESTS,
    )


@claim("L18", expected=f"an error of at most {CONSTANT:g} (B + sigma max(1, ||g||/s)) sqrt(d/m)")
def dp_sgd(found: Evidence) -> Finding:
    keys = ["variant", "epsilon", "seed"]
    rows, noise = (_at(_tensor(found, "mechanism", metric), BASE) for metric in ("error", "noise"))
    rows = rows.merge(noise[[*keys, "value"]].rename(columns={"value": "noise"}), on=keys)
    return _row(found, rows, rows["B"] + rows["noise"])


@claim("L19", expected=f"an error of at most {CONSTANT:g} B sqrt(d/(mp)), p the probability to keep a neuron")
def dropout(found: Evidence) -> Finding:
    rows = _at(_tensor(found, "dropout"), BASE)
    return _row(found, rows, rows["B"] / rows["strength"] ** 0.5)


@claim("L20", expected="no bound for pruning")
def pruning(found: Evidence) -> Finding:
    ratios = _ratios(found, "prune")
    return cannot_be_checked(
        "the lecture gives no bound for pruning to compare with; we measure an error over that "
        f"without defence of {_words(ratios.items(), 'share')}"
    )
