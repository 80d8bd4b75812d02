"""Releases that share draws are told from those that do not; a false alarm once in 10^6."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tensorldp.check.side_channels import WAYS, WITHIN, dependence
from tensorldp.check.target import Target
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.laplace import Laplace

Release = Callable[[Tensor, torch.Generator], Tensor]


def honest(x: Tensor, g: torch.Generator) -> Tensor:
    return x + torch.randn(x.shape, generator=g, dtype=x.dtype)


def same_for_neighbours(x: Tensor, g: torch.Generator) -> Tensor:
    return x + torch.randn((len(x) + 1) // 2, x.shape[1], generator=g, dtype=x.dtype).repeat_interleave(2, 0)[: len(x)]


def same_size(x: Tensor, g: torch.Generator) -> Tensor:
    """Neighbours in a batch share the size of their noise and not its sign, which no correlation of values shows."""
    signs = torch.randint(0, 2, x.shape, generator=g) * 2 - 1
    return x + (same_for_neighbours(x, g) - x).abs() * signs


def same_in_each_call(x: Tensor, g: torch.Generator) -> Tensor:
    return honest(x, torch.Generator().manual_seed(g.initial_seed()))


def seed_without_its_last_bit(x: Tensor, g: torch.Generator) -> Tensor:
    return honest(x, torch.Generator().manual_seed(g.initial_seed() // 4)) + 0.1 * torch.randn(x.shape, generator=g)


@pytest.mark.parametrize(
    ("release", "way"),
    [(honest, ""), (same_for_neighbours, WAYS[0]), (same_size, WAYS[0]), (same_in_each_call, WAYS[1])],
)
def test_what_depends_on_what(release: Release, way: str) -> None:
    target = Target.of(release, Box(-1.0, 1.0, (3,)))
    found, p_value = dependence(target, torch.zeros(3, dtype=torch.float64), 1000, 0)
    assert (p_value < 1e-6) == bool(way)
    if way:
        assert found == way


def test_successive_seeds_that_share_their_draws() -> None:
    target = Target.of(seed_without_its_last_bit, Box(-1.0, 1.0, (1,)))
    assert dependence(target, torch.zeros(1, dtype=torch.float64), 1000, 1)[1] < 1e-6


class TwinElements(Laplace):
    """Neighbouring elements have noise of one size."""

    name = "twin-elements"

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        sizes = (super()._randomize(x, generator) - x).abs().repeat_interleave(2, 1)[:, : self.size]
        return x + sizes * (torch.randint(0, 2, x.shape, generator=generator) * 2.0 - 1.0)


def rare_events(x: Tensor, g: torch.Generator) -> Tensor:
    return (torch.rand(x.shape, generator=g) < 0.002).to(x.dtype)


def rare_pairs(x: Tensor, g: torch.Generator) -> Tensor:
    return rare_events(x[: (len(x) + 1) // 2], g).repeat_interleave(2, 0)[: len(x)]


def test_elements_of_one_release_are_compared_where_the_mechanism_acts_on_elements() -> None:
    box, record = Box(-1.0, 1.0, (6,)), torch.zeros(6, dtype=torch.float64)
    way, p_value = dependence(Target.of(TwinElements(epsilon=1.0, domain=box), None), record, 1000, 0)
    assert (way, p_value < 1e-6) == (WITHIN, True)
    assert dependence(Target.of(Laplace(epsilon=1.0, domain=box), None), record, 1000, 0)[1] > 1e-6


def test_two_rare_values_may_coincide() -> None:
    record = torch.zeros(3, dtype=torch.float64)
    domain = Box(-1.0, 1.0, (3,))
    least = [dependence(Target.of(rare_events, domain), record, 1000, seed)[1] for seed in range(20)]
    assert min(least) > 1e-6
    assert dependence(Target.of(rare_pairs, domain), record, 20_000, 0)[1] < 1e-6
