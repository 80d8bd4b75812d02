import math

import pytest
import torch
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.public.rounds import EPOCHS, LEARNING_RATE, average_directions, upload_size


def records(count: int = 1500) -> tuple[Tensor, Tensor]:
    y = torch.arange(count) // 7 % 3
    x = torch.eye(3)[y] + 0.3 * torch.randn(count, 3, generator=generator("clients", count))
    return x / x.norm(dim=1, keepdim=True), y


def privunit(epsilon: float) -> Mechanism:
    return make("privunit", epsilon=epsilon, domain=Ball(1.0, (upload_size(3, 3),)), lift=False)


def none_of(size: int) -> Mechanism:
    return make("none", epsilon=math.inf, domain=Ball(1.0, (size,)))


def none() -> Mechanism:
    return none_of(upload_size(3, 3))


def test_without_noise_the_clients_learn_what_separates_the_classes() -> None:
    x, y = records()
    assert average_directions(x, y, 3, 100, none(), generator("releases")).accuracy(x, y) > 0.95


def test_a_larger_epsilon_is_nearer_to_no_privacy() -> None:
    x, y = records()
    clean = average_directions(x, y, 3, 100, none(), generator("releases"))

    def apart(epsilon: float) -> float:
        found = average_directions(x, y, 3, 100, privunit(epsilon), generator("releases"))
        return float((found.weight - clean.weight).norm())

    assert apart(0.5) > 2.0 * apart(8.0)


def test_one_client_alone_uploads_a_unit_vector_a_round() -> None:
    x, y = records(21)
    for rounds in (1, 3):
        found = average_directions(x, y, 3, 1, none(), generator("releases"), rounds=rounds)
        length = float(torch.cat([found.weight.flatten(), found.bias]).norm())
        assert length == pytest.approx(1.0, rel=1e-5) if rounds == 1 else 1.0 < length <= 3.0 + 1e-5


def test_more_clients_than_records_are_refused() -> None:
    x, y = records(21)
    with pytest.raises(InputError, match="22 clients cannot share 21 records"):
        average_directions(x, y, 3, 22, none(), generator("releases"))


def test_a_client_takes_plain_gradient_steps_on_its_own_records() -> None:
    x, y = records(7)
    weight, bias = torch.zeros(3, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    for _ in range(EPOCHS):
        loss = torch.nn.functional.cross_entropy(x[::2] @ weight.T + bias, y[::2])
        for part, gradient in zip((weight, bias), torch.autograd.grad(loss, (weight, bias)), strict=True):
            part.data -= LEARNING_RATE * gradient
    first = torch.cat((weight.detach().flatten(), bias.detach()))
    # of two clients the first has records 0, 2, 4 and 6; the second's upload is taken away
    both = average_directions(x, y, 3, 2, none(), generator("releases"))
    second = average_directions(x[1::2], y[1::2], 3, 1, none(), generator("releases"))
    left = 2.0 * torch.cat((both.weight.flatten(), both.bias)) - torch.cat((second.weight.flatten(), second.bias))
    assert torch.allclose(left, first / first.norm(), atol=1e-5)


def test_a_client_whose_model_does_not_change_uploads_a_unit_vector_too() -> None:
    one_class = torch.zeros(4, dtype=torch.long)
    found = average_directions(torch.zeros(4, 3), one_class, 1, 2, none_of(4), generator("releases"))
    assert float(torch.cat([found.weight.flatten(), found.bias]).norm()) == pytest.approx(1.0)
