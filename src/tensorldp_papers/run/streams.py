"""A cell's mechanism and its random streams."""

from __future__ import annotations

from typing import Any

import torch

from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.run.cell import AnyCell


def mechanism_on(cell: AnyCell, domain: Domain, **extra: Any) -> Mechanism:
    """Makes the cell's mechanism on a domain, with its options and `extra` ones, which win."""
    return make(
        cell.mechanism, epsilon=cell.nominal_epsilon, domain=domain, delta=cell.delta, **{**cell.options, **extra}
    )


def common_stream(cell: AnyCell, seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """Makes the stream that all mechanisms and epsilons of a data set share for a seed: weights, orders, selections.

    The difference between two cells of one seed is therefore paired.
    """
    return generator(cell.study, cell.dataset, seed, purpose, device=device)


def noise_stream(cell: AnyCell, seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """Makes the stream that a mechanism draws from for a seed: its own, the same at every epsilon and in every variant.

    A mechanism that scales a standard draw scales the same one at every epsilon. This is only for comparisons: two
    releases of one record that share their draw give the record away.
    """
    return generator(cell.study, cell.dataset, cell.mechanism, seed, purpose, device=device)
