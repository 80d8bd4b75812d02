"""Attacks on gradients, data releases and models: one measurement per cell, by its factor `attack`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tensorldp.mechanisms import Ball, Box, Mechanism
from tensorldp_papers.papers.lecture import measures as gradients
from tensorldp_papers.papers.lecture import measures as networks
from tensorldp_papers.papers.lecture import measures as releases
from tensorldp_papers.papers.lecture.measures import needed, rows
from tensorldp_papers.papers.lecture.settings import AttackCell, AttackFactors, AttackTraining
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.privacy import LABELS, describe
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.streams import mechanism_on

ON_NETWORKS = {"tensor": networks.measure_tensor, "sensitivity": networks.measure_sensitivity}
ON_GRADIENTS = (*gradients.INVERSIONS, "analytic")
ON_RELEASES = {"likelihood": releases.measure_likelihood, "membership": releases.measure_membership}
STAND_IN = 64  # elements of an audited gradient: with more, too few samples fit


class Attacks(MeasureMethod[AttackTraining, AttackFactors]):
    """Metrics of attacks; data releases are records, gradients are clipped to a ball before a mechanism."""

    def measure(self, cell: AttackCell, data: Path | None, seed: int, device: torch.device) -> Rows:
        attack = cell.factors.attack
        if attack in ON_NETWORKS:
            return rows(ON_NETWORKS[attack](cell, seed))
        train, test = self._records(data, "train").first(cell.training.limit), self._records(data, "test")
        if attack in ON_GRADIENTS:
            return rows(gradients.measure_gradient(cell, train, test, seed))
        return rows(ON_RELEASES[attack](cell, train, test, seed, device))

    def _records(self, data: Path | None, split: str) -> Records:
        assert data is not None
        return read_records(data / f"{split}.safetensors")

    def _mechanism(self, cell: AttackCell, data: Path | None) -> Mechanism:
        """Makes the mechanism that one victim's release goes through."""
        attack = cell.factors.attack
        if attack in ON_RELEASES:
            return mechanism_on(cell, self._records(data, "test").box())
        if not cell.private:
            return mechanism_on(cell, Box(0.0, 1.0, (1,)))
        return mechanism_on(
            cell, Ball(needed(cell, "strength", cell.factors.strength), (self._parameters(cell, data),))
        )

    def _parameters(self, cell: AttackCell, data: Path | None) -> int:
        attack = cell.factors.attack
        if attack in ON_NETWORKS:
            return needed(cell, "m", cell.factors.m)
        model = gradients.network(attack, self._records(data, "test"), torch.Generator())
        return sum(p.numel() for p in model.parameters())

    def guarantee(self, cell: AttackCell, data: Path | None) -> dict[str, Any]:
        attack, mechanism = cell.factors.attack, self._mechanism(cell, data)
        notes = [mechanism.note]
        if attack in ON_RELEASES:
            notes.append(LABELS)
        elif attack != "sensitivity" and not cell.private:
            notes.append("a gradient without clipping and noise guarantees nothing, whatever the attack finds")
        elif cell.private:
            notes.append("one gradient of one round, clipped first; training with it composes over rounds")
        return describe(mechanism.curve(), mechanism.unit, notes)

    def audited(self, cell: AttackCell, data: Path | None) -> Audited:
        """Returns the release's mechanism; on 64 elements for gradients, as otherwise too few samples fit."""
        attack = cell.factors.attack
        if not cell.private or attack == "membership":  # whose releases are those of `likelihood`
            return None, ""
        if attack in ON_RELEASES:
            return self._mechanism(cell, data), ""
        return (
            mechanism_on(cell, Ball(needed(cell, "strength", cell.factors.strength), (STAND_IN,))),
            "audited on a gradient of 64 elements, whose own guarantee is given beside it",
        )


METHOD = Attacks()
