"""Linear heads trained together have the weights of trainings alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tensorldp_papers.nets.classify import fit
from tensorldp_papers.nets.linear_heads import fit_linear_heads


def generators(count: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in range(count)]


def heads(count: int) -> list[nn.Linear]:
    made = [nn.Linear(12, 3) for _ in range(count)]
    stream = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for head in made:
            head.weight.normal_(generator=stream)
            head.bias.normal_(generator=stream)
    return made


@pytest.mark.parametrize("records", [2, 63, 65, 96])  # a last batch of one record is left out by both
def test_the_weights_are_those_of_each_training_alone(records: int) -> None:
    stream = torch.Generator().manual_seed(1)
    x = [torch.randn(records, 12, generator=stream) for _ in range(4)]
    y = torch.randint(0, 3, (records,), generator=stream)
    alone, together = heads(4), heads(4)
    for head, part, order in zip(alone, x, generators(4), strict=True):
        fit(head, part, y, epochs=20, batch_size=32, learning_rate=0.01, generator=order)
    fit_linear_heads(together, x, y, epochs=20, batch_size=32, learning_rate=0.01, generators=generators(4))
    start = heads(4)
    for a, b, s in zip(alone, together, start, strict=True):
        torch.testing.assert_close(a.weight, b.weight, rtol=0, atol=1e-5)
        torch.testing.assert_close(a.bias, b.bias, rtol=0, atol=1e-5)
        assert float((a.weight - s.weight).detach().abs().max()) > 0.05
