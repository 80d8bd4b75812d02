"""A cell's mechanism and its random streams."""

from __future__ import annotations

from typing import Any

import torch

from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.papers.frontier.settings import FrontierFactors, FrontierTraining
from tensorldp_papers.papers.latent.settings import LatentFactors, LatentTraining
from tensorldp_papers.papers.lecture.settings import AttackFactors, AttackTraining
from tensorldp_papers.papers.pldp_fl.settings import PldpFactors, PldpTraining, SyntheticFactors, SyntheticTraining
from tensorldp_papers.papers.tldp.settings import FederatedFactors, LearningFactors, LearningTraining
from tensorldp_papers.papers.tvg.settings import (
    CovarianceFactors,
    CovarianceTraining,
    PrivateSgdTraining,
    TestingFactors,
    TestingTraining,
)
from tensorldp_papers.run.cell import AnyCell, Cell
from tensorldp_papers.run.method_plan import ModelFactors

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


def common_stream(cell: AnyCell, seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """What all mechanisms and epsilons of a data set share for a seed: first weights, orders of records, selections.

    The difference between two cells of one seed is therefore paired.
    """
    return generator(cell.study, cell.dataset, seed, purpose, device=device)


def noise_stream(cell: AnyCell, seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """What a mechanism draws for a seed: its own, and the same at every epsilon and in every variant.

    A mechanism that scales a standard draw scales the same one at every epsilon. This is for comparisons alone: two
    releases of one record that share their draw give the record away.
    """
    return generator(cell.study, cell.dataset, cell.mechanism, seed, purpose, device=device)
