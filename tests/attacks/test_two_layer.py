"""Two-layer networks: gradients against autograd, and linear ones that keep their data."""

import torch

from tensorldp_papers.attacks.two_layer import TwoLayer, unit_records


def small(activation: str = "relu-shifted", m: int = 50, d: int = 6) -> tuple[TwoLayer, torch.Tensor, torch.Tensor]:
    stream = torch.Generator().manual_seed(3)
    return TwoLayer.draw(m, d, activation, stream), *unit_records(4, d, stream)


def autograd(network: TwoLayer, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    a = network.output.clone().requires_grad_()
    w = network.weights.double().requires_grad_()
    loss = ((torch.relu(x @ w.T - 1.0) @ a - y) ** 2 / 2).sum()
    of_output, of_weights = torch.autograd.grad(loss, (a, w))
    return of_output, of_weights


def test_the_gradient_is_autograds() -> None:
    network, x, y = small()
    torch.testing.assert_close(network.output_gradient(x, y), autograd(network, x, y)[0])


def test_local_steps_sum_gradients_along_the_path() -> None:
    network, x, y = small()
    torch.testing.assert_close(network.local_update(x, y, 1, 0.1), network.output_gradient(x, y))
    first = network.output_gradient(x[:2], y[:2])
    second = network.output_gradient(x[2:], y[2:], network.output - 0.1 * first)
    torch.testing.assert_close(network.local_update(x, y, 2, 0.1), first + second)


def test_records_have_norm_one_and_both_labels() -> None:
    _, x, y = small()
    torch.testing.assert_close(x.norm(dim=1), torch.ones(4, dtype=torch.float64))
    assert y.tolist() == [1.0, -1.0, 1.0, -1.0]


def test_a_linear_network_gives_away_one_combination_only() -> None:
    """dp-lecture, section 4.4: with the identity, other records with the same sum of r x give the same gradient."""
    network, x, y = small("identity")
    r = network.residuals(x, y)
    combined = r @ x
    torch.testing.assert_close(network.output_gradient(x, y), network.weights.double() @ combined)
    # one record x' with residual 1 explains all four
    torch.testing.assert_close(
        network.weights.double() @ combined,
        network.output_gradient(combined.unsqueeze(0), network.residuals(combined.unsqueeze(0), torch.zeros(1)) - 1),
    )
