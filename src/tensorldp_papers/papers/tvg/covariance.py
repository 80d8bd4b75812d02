"""TVG's covariance query S = X^T X / N on records in [-1, 1]^d, and its residual sum of squares."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, Mechanism
from tensorldp.mechanisms.jl import JohnsonLindenstrauss
from tensorldp_papers.papers.tvg.settings import CovarianceCell, CovarianceFactors, CovarianceTraining
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import mechanism_on, noise_stream

SENSITIVITIES = ("printed", "tight")


def unit_rows(records: Records, reach: float) -> Tensor:
    """Computes float64 rows (N, d) in [-1, 1]: by the public range where there is one, else x / reach, clipped."""
    if records.kind == "text":
        raise InputError(f"a covariance needs numbers, but {records.name} is text")
    rows = records.x.reshape(len(records.x), -1).double()
    if math.isfinite(records.low) and math.isfinite(records.high):
        return 2.0 * (rows - records.low) / (records.high - records.low) - 1.0
    return (rows / reach).clamp(-1.0, 1.0)


def covariance(rows: Tensor) -> Tensor:
    """Computes S = X^T X / N of rows (N, d) about the public centre 0, (d, d)."""
    return rows.T @ rows / len(rows)


def query_domain(count: int, columns: int, sensitivity: str) -> Domain:
    """Builds a domain whose l2 diameter is the query's l2 sensitivity for replacing one of `count` records.

    "printed" is TVG's s2 = 2 d / N, a box whose d^2 elements each move by 2 / N at most; "tight" is sqrt(2) d / N,
    the supremum of ||x x^T - x' x'^T||_F / N, since (x . x')^2 >= 0.
    """
    if sensitivity == "printed":
        return Box(-1.0 / count, 1.0 / count, (columns, columns))
    if sensitivity == "tight":
        return Ball(columns / (math.sqrt(2.0) * count), (columns, columns))
    raise InputError(f"sensitivity of a covariance must be one of {', '.join(SENSITIVITIES)}, got {sensitivity!r}")


def check_additive(mechanism: Mechanism) -> None:
    """Checks that noise does not depend on what it is added to, as the query is no record of the mechanism's domain."""
    if not (mechanism.additive or isinstance(mechanism, JohnsonLindenstrauss)):
        raise InputError(
            f"a covariance is released with additive noise or by jl, but the noise of {mechanism.name} "
            "as it is set up depends on the record: take another mechanism, such as gaussian-analytic"
        )


def release_covariance(mechanism: Mechanism, rows: Tensor, generator: torch.Generator) -> Tensor:
    """Releases a symmetric estimate of S, (d, d); the mechanism lives on `query_domain`, or, for jl, on one row.

    Additive noise does not depend on what it is added to, so it is drawn at the domain's centre. Taking the mean with
    the transpose is post-processing.

    Args:
        mechanism: on one row of the table for jl, on `query_domain` for the others.
        rows: (N, d) in [-1, 1].
        generator: for the noise.
    """
    check_additive(mechanism)
    if isinstance(mechanism, JohnsonLindenstrauss):
        return mechanism.covariance(rows, generator)
    clean = covariance(rows)
    noise = mechanism.privatize(torch.zeros(1, *clean.shape, dtype=torch.float64), generator)[0]
    noisy = clean + noise
    return (noisy + noisy.T) / 2.0


def covariance_curve(mechanism: Mechanism, count: int, columns: int) -> PrivacyCurve:
    """Computes what a release guarantees for one replaced record; noise of deviation sigma: mu = sqrt(2) d/(N sigma).

    An upper bound, because +-1 vectors of odd length are never orthogonal.
    """
    check_additive(mechanism)
    sigma = mechanism.isotropic_sigma
    if sigma is None:
        return mechanism.curve()
    return GaussianCurve(math.sqrt(2.0) * columns / (count * sigma), exact=columns % 2 == 0)


def residual_sums(estimate: Tensor, clean: Tensor) -> dict[str, float]:
    """Computes RSS = sum_i (lambda_i - v_i^T S v_i)^2 over the estimate's eigenvectors v_i (TVG, Eq. 33), two readings.

    `rss_noisy` takes lambda_i from the estimate, as TVG prints it; `rss_true` from S, as the paper of MVG does, in
    the same order. `frobenius` is ||estimate - S||_F^2. Both matrices are symmetric, (d, d).
    """
    if estimate.shape != clean.shape or estimate.dim() != 2 or not torch.allclose(estimate, estimate.T):
        raise InputError(
            f"residual sums need two symmetric matrices of one shape, got {tuple(estimate.shape)} and "
            f"{tuple(clean.shape)}"
        )
    noisy, vectors = torch.linalg.eigh(estimate)
    along = ((clean @ vectors) * vectors).sum(dim=0)
    true = torch.linalg.eigvalsh(clean)
    return {
        "rss_noisy": float(((noisy - along) ** 2).sum()),
        "rss_true": float(((true - along) ** 2).sum()),
        "frobenius": float(((estimate - clean) ** 2).sum()),
    }


class Covariance(MeasureMethod[CovarianceTraining, CovarianceFactors]):
    """Metrics `rss_noisy`, `rss_true` and `frobenius` of one release per seed, over both splits of the data."""

    def rows(self, cell: CovarianceCell, data: Path) -> tuple[torch.Tensor, Records]:
        """Reads the table in [-1, 1], (N, d), and the records of one split."""
        splits = [read_records(data / f"{split}.safetensors") for split in ("train", "test")]
        table = torch.cat([unit_rows(records, cell.training.reach) for records in splits])
        return table[: cell.training.limit], splits[0]

    def mechanism(self, cell: CovarianceCell, count: int, columns: int) -> Mechanism:
        """Makes the cell's mechanism on the query; MVG also needs sup ||S||_F = d, the others only the sensitivity."""
        if cell.mechanism == "jl":
            return mechanism_on(cell, Box(-1.0, 1.0, (columns,)))
        domain = query_domain(count, columns, cell.factors.sensitivity)
        extra = {"gamma": float(columns)} if cell.mechanism == "mvg" else {}
        mechanism = mechanism_on(cell, domain, **extra)
        check_additive(mechanism)
        return mechanism

    def measure(self, cell: CovarianceCell, data: Path | None, seed: int, device: torch.device) -> Rows:
        assert data is not None
        table, _ = self.rows(cell, data)
        mechanism = self.mechanism(cell, *table.shape)
        estimate = release_covariance(mechanism, table, noise_stream(cell, seed, "covariance noise"))
        return [{"metric": key, "value": value} for key, value in residual_sums(estimate, covariance(table)).items()]

    def guarantee(self, cell: CovarianceCell, data: Path | None) -> dict[str, Any]:
        assert data is not None
        table, records = self.rows(cell, data)
        mechanism = self.mechanism(cell, *table.shape)
        notes = [mechanism.note, "for replacing one record of the table"]
        if records.low == float("-inf"):
            notes.append("the statistics that standardise the columns are not covered")
        return describe(covariance_curve(mechanism, *table.shape), "record", notes)

    def audited(self, cell: CovarianceCell, data: Path | None) -> Audited:
        assert data is not None
        table, _ = self.rows(cell, data)
        if cell.mechanism == "jl":
            return None, "a covariance estimate of the whole table has no likelihood ratio for one record"
        return (
            self.mechanism(cell, *table.shape),
            "audited on the domain of the query, whose corners are farther apart than two records can move it",
        )


METHOD = Covariance()
