"""The lecture's attacks and Table 1, decided from the runs of the study `reconstruction`.

A bound O(f) has no constants. Its growth is checked by fitted exponents, with a tolerance of 0.15, because four sizes
leave that much. Each row of Table 1 is checked with one constant: error <= C f, C = 1.5, the largest that lets every
point exceed it before the attack fails, at an error of 0.7 (records have norm 1, and three local steps f = 0.465).
Points at which the printed bound itself allows a failed attack say nothing about it and are left out, whatever was
measured there. A picture counts as recovered from 30 dB on, the usual limit of a visible difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from tensorldp_papers.claims.base import Finding, NotRun, cannot_be_checked, claim, named
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.statements import (
    ALPHA,
    LEAST_SEEDS,
    AllOf,
    AnyOf,
    Between,
    Statement,
    estimate,
    finding,
    per_seed,
)
from tensorldp_papers.papers.lecture.attack_table import SIZES
from tensorldp_papers.papers.tvg.growth_table import slope
from tensorldp_papers.run.cell import variant_factors

STUDY, TOLERANCE, CONSTANT, SATURATED, RECOVERED = "reconstruction", 0.15, 1.5, 0.7, 30.0
BASE = {"m": 20000.0, "d": 30.0, "B": 4.0}  # the sizes at which the study tries defences
PRINTED = {"m": -0.5, "d": 0.5, "B": 1.0}
SAME = 1e-4  # of a ratio: single precision over the iterations of the attack


def _tensor(evidence: Evidence, defence: str, metric: str = "error") -> pd.DataFrame:
    """Rows of the tensor attack under one defence, with the sizes and the strength as numbers."""
    rows = evidence.rows(STUDY, metric, attack="tensor", defence=defence).reset_index(drop=True)
    factors = pd.DataFrame([variant_factors(v) for v in rows["variant"]])
    keys = [key for key in (*SIZES, "strength") if key in factors]
    return pd.concat([rows, factors[keys].astype(float)], axis=1)


def _at(rows: pd.DataFrame, sizes: dict[str, float]) -> pd.DataFrame:
    for key, value in sizes.items():
        rows = rows[rows[key] == value]
    return rows


def _pairs(evidence: Evidence, defence: str) -> pd.DataFrame:
    """Rows at the sizes of the defences, with the error over that of the same seed without defence as `value`."""
    plain = _at(_tensor(evidence, "none"), BASE).groupby("seed")["value"].median()
    rows = _at(_tensor(evidence, defence), BASE)
    return rows.assign(value=rows["value"] / rows["seed"].map(plain)).dropna(subset=["value"])


@dataclass(frozen=True)
class _Row:
    """A row of Table 1: error over the printed bound at each point that can exceed it.

    Attributes:
        shares: by strength and point, rising.
        left_out: how many more points there are, at which the bound allows a failed attack.
    """

    shares: list[tuple[float, Between]]
    left_out: int

    def up_to(self, most: float) -> Statement:
        """Returns that the bound holds at all points up to a strength."""
        return AllOf([share for strength, share in self.shares if strength <= most])

    @property
    def observed(self) -> str:
        means = [share.value.mean for _, share in self.shares]
        text = f"error over the printed bound {min(means):.2f} to {max(means):.2f} in {len(means)} points"
        if not self.left_out:
            return text
        return f"{text}; {self.left_out} more, at which {CONSTANT:g} times the bound exceeds {SATURATED:g}"

    def finding(self, name: str = "") -> Finding:
        """Returns whether the bound holds at every point; with `name`, the strength, up to where if not everywhere."""
        whole = self.up_to(math.inf)
        strengths = sorted({strength for strength, _ in self.shares})
        if name and not whole.decide():
            alpha = ALPHA / len(strengths)
            low = max((s for s in strengths[:-1] if self.up_to(s).decide(alpha, alpha)), default=None)
            if low is not None:
                above = "; ".join(str(share) for strength, share in self.shares if strength > low)
                condition = f"low noise only, up to {name} = {low:.3g}"
                numbers = tuple(share.number() for _, share in self.shares)
                text = f"{self.observed}; beyond that {above}"
                return Finding(True, text, condition=condition, numbers=numbers)
        return finding(whole, self.observed)


def _row(evidence: Evidence, rows: pd.DataFrame, factor: pd.Series) -> _Row:
    """The errors over factor * sqrt(d/m), where the factor is the row's own.

    The point without defence at the same sizes counts too: it is each row's for no noise, one step or all neurons.
    """
    plain = _at(_tensor(evidence, "none"), BASE)
    both = pd.concat([rows.assign(factor=factor), plain.assign(factor=plain["B"])])
    both = both.drop_duplicates(["variant", "epsilon", "seed"])
    both = both.assign(bound=both["factor"] * (both["d"] / both["m"]) ** 0.5)
    both = both.assign(value=both["value"] / both["bound"])
    shares, left_out = [], 0
    for (variant, _), point in both.groupby(["variant", "epsilon"]):
        if CONSTANT * float(point["bound"].mean()) > SATURATED:
            left_out += 1
            continue
        strength = float(point["factor"].mean())
        shares.append((strength, Between(f"error over the bound, {variant}", per_seed(point), high=CONSTANT)))
    if len(shares) < 3:
        raise NotRun(f"needs three points of {STUDY} at which the bound says something, {len(shares)} are there")
    return _Row(sorted(shares, key=lambda pair: pair[0]), left_out)


def _error(decibels: float) -> float:
    """The root mean square error of a PSNR, in per cent of the range of grey."""
    return float(100 * 10 ** (-decibels / 20))


@claim(
    "L11",
    expected=f"records recovered with one of the two distances, at a median error of at most "
    f"{_error(RECOVERED):.3g} % of the range ({RECOVERED:g} dB)",
)
def inversion(evidence: Evidence) -> Finding:
    # errors and not dB, which have no upper end: one perfect recovery would widen the interval towards failure
    parts = []
    datasets = sorted({cell.dataset for cell in evidence.cells(STUDY, attack="dlg", defence="none")})
    for dataset in datasets:
        each = []
        for name, attack in (("l2", "dlg"), ("cosine", "cosine")):
            rows = evidence.rows(STUDY, "psnr", dataset=dataset, attack=attack, defence="none")
            median = per_seed(rows.assign(value=rows["value"].map(_error)), "median")
            text = f"median error of single records of {dataset} with {name}, per cent of the range"
            each.append(Between(text, median, high=_error(RECOVERED)))
        parts.append(AnyOf(each))
    if not parts:
        raise evidence.lacks(f"{STUDY} with gradient inversion")
    condition = f"of single records of {' and '.join(datasets)}: no larger batch was attacked so"
    return finding(AllOf(parts), condition=condition)


@claim("L13", expected="exponents of at most -1/2 in m, 1/2 in d and 1 in B, within 0.15")
def tensor_bound(evidence: Evidence) -> Finding:
    rows = _tensor(evidence, "none")
    parts = []
    for size, power in PRINTED.items():
        part = _at(rows, {key: value for key, value in BASE.items() if key != size})
        if part[size].nunique() < 3:
            raise NotRun(f"needs three values of {size} in {STUDY}")
        slopes = [slope(rows[size].tolist(), rows["value"].tolist()) for _, rows in part.groupby("seed")]
        parts.append(Between(f"exponent in {size} (printed {power:g})", estimate(slopes), high=power + TOLERANCE))
    return finding(AllOf(parts))


@claim(
    "L14",
    expected=f"an error of at most {CONSTANT:g} B sqrt(d/m) at every size",
    defence="none",
    factor=lambda rows: rows["B"],
)
@claim(
    "L15",
    expected=f"an error of at most {CONSTANT:g} k B sqrt(d/m)",
    defence="local",
    factor=lambda rows: rows["strength"] * rows["B"],
)
@claim(
    "L16",
    expected=f"an error of at most {CONSTANT:g} (B + sigma) sqrt(d/m)",
    defence="noise",
    factor=lambda rows: rows["B"] + rows["strength"],
    name="B + sigma",
)
@claim(
    "L19",
    expected=f"an error of at most {CONSTANT:g} B sqrt(d/(mp)), p the probability to keep a neuron",
    defence="dropout",
    factor=lambda rows: rows["B"] / rows["strength"] ** 0.5,
)
def table1_row(
    evidence: Evidence, defence: str, factor: Callable[[pd.DataFrame], pd.Series], name: str = ""
) -> Finding:
    """At every size without a defence, and at those of the defences with one."""
    rows = _tensor(evidence, defence)
    rows = rows if defence == "none" else _at(rows, BASE)
    return _row(evidence, rows, factor(rows)).finding(name)


@claim("L17", expected=f"an error of at most {CONSTANT:g} B sqrt(d/m), the same with and without clipping")
def clipping(evidence: Evidence) -> Finding:
    """No effect is an identity of the direction that the attack uses, so that one deviation refutes it."""
    rows, pairs = _at(_tensor(evidence, "clip"), BASE), _pairs(evidence, "clip")
    row, gap = _row(evidence, rows, rows["B"]), float((pairs["value"] - 1).abs().max())
    text = f"error with over without clipping deviates from 1 by at most {gap:.1e} in {len(pairs)} runs"
    decided = row.finding()
    if gap >= SAME and pairs["seed"].nunique() >= LEAST_SEEDS:
        decided = Finding(gap < SAME, decided.observed, numbers=decided.numbers)
    numbers = (*decided.numbers, *named({"largest deviation from 1": gap}))
    return replace(decided, observed=f"{decided.observed}; {text}", numbers=numbers)


@claim("L18", expected=f"an error of at most {CONSTANT:g} (B + sigma max(1, ||g||/s)) sqrt(d/m)")
def dp_sgd(evidence: Evidence) -> Finding:
    keys = ["variant", "epsilon", "seed"]
    rows, noise = (_at(_tensor(evidence, "mechanism", metric), BASE) for metric in ("error", "noise"))
    rows = rows.merge(noise[[*keys, "value"]].rename(columns={"value": "noise"}), on=keys)
    return _row(evidence, rows, rows["B"] + rows["noise"]).finding("B + sigma max(1, ||g||/s)")


@claim("L20", expected="no bound for pruning")
def pruning(evidence: Evidence) -> Finding:
    ratios = {f"share = {share:.3g}": per_seed(rows) for share, rows in _pairs(evidence, "prune").groupby("strength")}
    found = cannot_be_checked(
        "the lecture gives no bound for pruning to compare with; we measure an error over that "
        f"without defence of {', '.join(f'{ratio} at {share}' for share, ratio in ratios.items())}"
    )
    numbers = (ratio.number(f"error over that without defence at {share}") for share, ratio in ratios.items())
    return replace(found, numbers=tuple(numbers))
