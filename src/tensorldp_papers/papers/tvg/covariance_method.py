"""TVG's covariance estimation: the covariance matrix of a table is released once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tensorldp.mechanisms import Box, Mechanism
from tensorldp_papers.papers.tvg.covariance import (
    check_additive,
    covariance,
    covariance_curve,
    query_domain,
    release_covariance,
    residual_sums,
    unit_rows,
)
from tensorldp_papers.papers.tvg.plan import CovarianceFactors, CovarianceTraining
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import CovarianceCell, mechanism_on, noise_stream


class Covariance(MeasureMethod[CovarianceTraining, CovarianceFactors]):
    """Metrics `rss_noisy`, `rss_true` and `frobenius` of one release per seed, over both splits of the data."""

    def rows(self, cell: CovarianceCell, data: Path) -> tuple[torch.Tensor, Records]:
        """The table in [-1, 1], (N, d), and the records of one split."""
        splits = [read_records(data / f"{split}.safetensors") for split in ("train", "test")]
        table = torch.cat([unit_rows(records, cell.training.reach) for records in splits])
        return table[: cell.training.limit], splits[0]

    def mechanism(self, cell: CovarianceCell, count: int, columns: int) -> Mechanism:
        """The cell's mechanism on the query; MVG also needs sup ||S||_F = d, the others only the sensitivity."""
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
