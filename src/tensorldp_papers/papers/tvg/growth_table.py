"""TVG's Table IV: the expected error E ||Z||^2 of each mechanism, printed and exact, and how it grows with I.

The formulas of the table contain the mechanisms' bounds, so they have an exact value at every size; what the table
prints beside them is an order O(I^p). Both, and the error of the noise itself, are fitted here by a line in log-log.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.mechanisms.mvg import Mvg
from tensorldp.mechanisms.tvg import Idn, Udn
from tensorldp.randomness import generator

ROWS = 16  # I_1, fixed while I grows
SIZES = tuple(4**k for k in range(5, 10))  # I: 1,024 to 262,144
MEASURED = 65_536  # elements up to which releases are drawn
OUTPUTS = 10  # J, rows of the utility subspace of Type III
KINDS = ("Type I", "Types II and III", "Type III, weighted")


@dataclass(frozen=True)
class Entry:
    """A cell of Table IV: the registry key, the kinds of release it covers and the printed order in I."""

    mechanism: str
    kind: str
    printed: float | None


ENTRIES = (
    Entry("optimized", KINDS[0], 2.0),
    Entry("mvg", KINDS[0], 3.0),
    Entry("udn", KINDS[0], 3.0),
    Entry("idn", KINDS[0], 3.0),
    Entry("gaussian-per-element", KINDS[1], 3.0),
    Entry("mvg", KINDS[1], 3.0),
    Entry("udn", KINDS[1], 3.0),
    Entry("idn", KINDS[1], 3.0),
    Entry("udn", KINDS[2], 3.0),
    Entry("idn", KINDS[2], 3.0),
    Entry("gaussian-analytic", KINDS[1], None),
)


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Fits the exponent p of values ~ I^p by least squares in log-log."""
    if len(sizes) != len(values) or len(sizes) < 2 or min(values) <= 0:
        raise InputError(f"a growth needs at least two sizes with values above 0, got {len(sizes)} sizes")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def subspace() -> torch.Tensor:
    """Draws a utility subspace W (outputs x rows) whose columns matter unequally, float64."""
    stretch = torch.logspace(0, -2, ROWS, dtype=torch.float64)
    return torch.randn(OUTPUTS, ROWS, generator=generator("Table IV", "W"), dtype=torch.float64) * stretch


def mechanism_at(entry: Entry, size: int, epsilon: float, weighted: torch.Tensor) -> Mechanism:
    """Makes the entry's mechanism on a record of `size` elements in [-1, 1], I_1 = 16 rows."""
    options: dict[str, Any] = {"workload": weighted} if entry.kind == KINDS[2] else {}
    return make(entry.mechanism, epsilon=epsilon, domain=Box(-1.0, 1.0, (ROWS, size // ROWS)), **options)


def formula(entry: Entry, mechanism: Mechanism, weighted: torch.Tensor) -> float:
    """Computes the value of Table IV's formula: I_1 I / B, I sigma^2, or I (sum sqrt P)^2 / (I_1 B)."""
    size = mechanism.size
    if entry.kind == KINDS[2]:
        assert isinstance(mechanism, (Udn, Idn))
        spread = float((weighted**2).sum(dim=0).sqrt().sum()) ** 2
        return size * spread / (ROWS * mechanism.bound)
    if isinstance(mechanism, (Udn, Idn)):
        return ROWS * size / mechanism.bound
    if isinstance(mechanism, Mvg):
        return ROWS * size / mechanism.terms.bound
    sigma = mechanism.sigma  # type: ignore[attr-defined]
    return float(size * sigma**2)


def exact_error(entry: Entry, mechanism: Mechanism, weighted: torch.Tensor) -> float:
    """Computes E ||Z||^2, for the weighted type E ||W Z||_F^2, of the noise as it is drawn."""
    if entry.kind == KINDS[2]:
        assert isinstance(mechanism, (Udn, Idn))
        sigma = mechanism.factors[0].sigma
        return float(((weighted * sigma) ** 2).sum()) * mechanism.size / ROWS
    error = mechanism.squared_error()
    assert error is not None
    return error


def measured_error(
    entry: Entry, mechanism: Mechanism, weighted: torch.Tensor, draws: int, seed: int
) -> tuple[float, float]:
    """Measures the mean of the same over independent releases, and its standard error."""
    source = generator("Table IV", entry.kind, entry.mechanism, mechanism.size, seed)
    noise = mechanism.privatize(torch.zeros(draws, *mechanism.shape), source).double()
    seen = weighted @ noise if entry.kind == KINDS[2] else noise
    errors = (seen**2).flatten(1).sum(dim=1)
    return float(errors.mean()), float(errors.std()) / math.sqrt(draws)


def growth_table(epsilon: float = 1.0, draws: int = 40, seed: int = 0) -> pd.DataFrame:
    """Tabulates each entry and size I, one row each.

    Columns: kind, mechanism, size, rows (I_1), epsilon, formula (Table IV's), exact, measured with its standard
    error (NaN for large records), times_idn (exact over IDN's of the same kind and size), and the exponents in I at
    fixed I_1: printed_exponent (of the O(.) in the table, NaN for a mechanism that it lacks), formula_exponent and
    exact_exponent (fitted).
    """
    weighted = subspace()
    rows: list[dict[str, Any]] = []
    for entry in ENTRIES:
        made = [mechanism_at(entry, size, epsilon, weighted) for size in SIZES]
        formulas = [formula(entry, mechanism, weighted) for mechanism in made]
        exact = [exact_error(entry, mechanism, weighted) for mechanism in made]
        exponents = {
            "printed_exponent": entry.printed,
            "formula_exponent": slope(list(SIZES), formulas),
            "exact_exponent": slope(list(SIZES), exact),
        }
        for mechanism, size, by_formula, by_noise in zip(made, SIZES, formulas, exact, strict=True):
            mean, error = (
                measured_error(entry, mechanism, weighted, draws, seed) if size <= MEASURED else (math.nan, math.nan)
            )
            rows.append(
                {
                    "kind": entry.kind,
                    "mechanism": entry.mechanism,
                    "size": size,
                    "rows": ROWS,
                    "epsilon": epsilon,
                    "formula": by_formula,
                    "exact": by_noise,
                    "measured": mean,
                    "standard_error": error,
                    **exponents,
                }
            )
    table = pd.DataFrame(rows)
    idn = table[table["mechanism"] == "idn"].set_index(["kind", "size"])["exact"]
    ratio = table["exact"] / idn.loc[list(zip(table["kind"], table["size"], strict=True))].to_numpy()
    table.insert(list(table.columns).index("printed_exponent"), "times_idn", ratio)
    return table
