"""The gradient's l1 sensitivity."""

import numpy as np
import pytest
import torch

from tensorldp_papers.attacks.two_layer import gradient_parts, measured_change, output_weights


def test_the_parts_are_autograds() -> None:
    stream = torch.Generator().manual_seed(0)
    w = torch.randn(20, 5, generator=stream, dtype=torch.float64).requires_grad_()
    a = output_weights(20, "root", stream).requires_grad_()
    x = torch.randn(5, generator=stream, dtype=torch.float64)
    over_a, over_w = torch.autograd.grad((torch.relu(w @ x) @ a - 1.0) ** 2, (a, w))
    found = gradient_parts(w.detach(), a.detach(), x, 1.0)
    torch.testing.assert_close(found, (over_a, over_w))


def slope(scaling: str, part: int, sizes: list[tuple[int, int]], against: int) -> float:
    values = [
        np.median([measured_change(m, d, scaling, 20, torch.Generator().manual_seed(seed))[part] for seed in range(5)])
        for m, d in sizes
    ]
    return float(np.polyfit(np.log([size[against] for size in sizes]), np.log(values), 1)[0])


def test_growth_with_m_and_d_by_scaling() -> None:
    """With a = 1/m the a part grows like m and the w part like sqrt d alone; with a = +-1 the w part like m^1.5."""
    wide, deep = [(100, 20), (400, 20), (1600, 20)], [(200, 10), (200, 40), (200, 160)]
    assert slope("mean", 0, wide, 0) == pytest.approx(1.0, abs=0.15)
    assert slope("mean", 1, wide, 0) == pytest.approx(0.0, abs=0.15)
    assert slope("mean", 1, deep, 1) == pytest.approx(0.5, abs=0.15)
    assert slope("root", 1, wide, 0) == pytest.approx(0.5, abs=0.2)
    assert slope("sign", 1, wide, 0) == pytest.approx(1.5, abs=0.25)
