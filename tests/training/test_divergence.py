"""A training that ended in nothing is told from one that did not."""

import numpy as np
import pytest
import torch

from tensorldp_papers.nets.classify import diverged, fit


@pytest.mark.parametrize(("rate", "found"), [(1e30, True), (1e-3, False)])
def test_a_learning_rate_without_sense_is_found_out(rate: float, found: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    x, y = torch.randn(32, 4, generator=generator), torch.arange(32) % 2
    fit(model, x, y, epochs=2, batch_size=8, learning_rate=rate, generator=generator)
    assert bool(diverged({name: value.numpy() for name, value in model.state_dict().items()})) is found


def test_whole_numbers_and_empty_arrays_are_no_divergence() -> None:
    arrays = {"count": np.array([10**15]), "none": np.empty(0), "weights": np.array([1e3, -2.0])}
    assert diverged(arrays) == ""
    assert diverged(arrays | {"bias": np.array([1.0, np.nan])}) == "bias"
