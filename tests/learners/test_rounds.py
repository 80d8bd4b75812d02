import math

import pytest
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.public.means import LinearScores
from tensorldp_papers.public.rounds import EPOCHS, LEARNING_RATE, average_directions, upload_size


def records(count: int = 1500) -> tuple[Tensor, Tensor]:
    y = torch.arange(count) // 7 % 3
    return torch.nn.functional.normalize(
        torch.eye(3)[y] + 0.3 * torch.randn(count, 3, generator=generator("clients", count))
    ), y


def none(size: int = upload_size(3, 3)) -> Mechanism:
    return make("none", epsilon=math.inf, domain=Ball(1.0, (size,)))


def average(x: Tensor, y: Tensor, clients: int, mechanism: Mechanism | None = None, *, rounds: int = 1) -> LinearScores:
    return average_directions(x, y, 3, clients, mechanism or none(), generator("releases"), rounds=rounds)


def flat(scores: LinearScores) -> Tensor:
    return torch.cat((scores.weight.flatten(), scores.bias))


def test_clients_learn_what_separates_the_classes_the_better_the_less_noise() -> None:
    x, y = records()
    clean = average(x, y, 100)
    assert clean.accuracy(x, y) > 0.95
    ball = Ball(1.0, (upload_size(3, 3),))
    noisy = [average(x, y, 100, make("privunit", epsilon=e, domain=ball, lift=False)) for e in (0.5, 8.0)]
    low, high = (float((found.weight - clean.weight).norm()) for found in noisy)
    assert low > 2.0 * high


def test_one_client_alone_uploads_a_unit_vector_a_round() -> None:
    x, y = records(21)
    assert float(flat(average(x, y, 1)).norm()) == pytest.approx(1.0, rel=1e-5)
    assert 1.0 < float(flat(average(x, y, 1, rounds=3)).norm()) <= 3.0 + 1e-5
    # a client whose model does not change does so, too
    still = average_directions(torch.zeros(4, 3), torch.zeros(4).long(), 1, 2, none(4), generator("releases"))
    assert float(flat(still).norm()) == pytest.approx(1.0)
    with pytest.raises(InputError, match="22 clients cannot share 21 records"):
        average(x, y, 22)


def test_a_client_takes_plain_gradient_steps_on_its_own_records() -> None:
    x, y = records(7)
    weight, bias = torch.zeros(3, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    for _ in range(EPOCHS):
        loss = torch.nn.functional.cross_entropy(x[::2] @ weight.T + bias, y[::2])
        for part, gradient in zip((weight, bias), torch.autograd.grad(loss, (weight, bias)), strict=True):
            part.data -= LEARNING_RATE * gradient
    first = torch.cat((weight.detach().flatten(), bias.detach()))
    # of two clients the first has records 0, 2, 4 and 6; the second's upload is taken away
    left = 2.0 * flat(average(x, y, 2)) - flat(average(x[1::2], y[1::2], 1))
    assert torch.allclose(left, first / first.norm(), atol=1e-5)
