"""A cell's mechanism and its random streams."""

from __future__ import annotations

from typing import Any

import torch

from tensorldp.config.cell import AnyCell, Cell
from tensorldp.config.methods.attacks import AttackFactors, AttackTraining
from tensorldp.config.methods.base import ModelFactors
from tensorldp.config.methods.frontier import FrontierFactors, FrontierTraining
from tensorldp.config.methods.latent import LatentFactors, LatentTraining
from tensorldp.config.methods.learning import FederatedFactors, LearningFactors, LearningTraining
from tensorldp.config.methods.pldp import PldpFactors, PldpTraining, SyntheticFactors, SyntheticTraining
from tensorldp.config.methods.tvg import (
    CovarianceFactors,
    CovarianceTraining,
    PrivateSgdTraining,
    TestingFactors,
    TestingTraining,
)
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator

LearningCell = Cell[LearningTraining, LearningFactors]
FederatedCell = Cell[LearningTraining, FederatedFactors]
SyntheticCell = Cell[SyntheticTraining, SyntheticFactors]
PldpCell = Cell[PldpTraining, PldpFactors]
CovarianceCell = Cell[CovarianceTraining, CovarianceFactors]
TestingCell = Cell[TestingTraining, TestingFactors]
PrivateSgdCell = Cell[PrivateSgdTraining, ModelFactors]
LatentCell = Cell[LatentTraining, LatentFactors]
AttackCell = Cell[AttackTraining, AttackFactors]
FrontierCell = Cell[FrontierTraining, FrontierFactors]


def mechanism_on(cell: AnyCell, domain: Domain, **extra: Any) -> Mechanism:
    """The cell's mechanism on a domain, with its options and `extra` ones, which win.

    Raises:
        InputError: if the mechanism refuses the domain or an option.
    """
    return make(
        cell.mechanism, epsilon=cell.nominal_epsilon, domain=domain, delta=cell.delta, **{**cell.options, **extra}
    )


def cell_stream(cell: AnyCell, seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """The cell's random stream for one seed and one purpose, whatever ran before it."""
    return generator(cell.study, cell.dataset, cell.mechanism, cell.epsilon, seed, purpose, device=device)
