"""Loss-threshold membership attack."""

import torch
from torch import nn

from tensorldp_papers.attacks.likelihood import attack_auc, record_losses, true_positive_rate


def test_the_rate_at_a_fixed_false_positive_rate() -> None:
    others = torch.arange(100).double()
    members = torch.tensor([-1.0, 9.5, 10.5, 50.0])
    assert true_positive_rate(members, others, 0.1) == 0.5  # the threshold lets 10 of the others through
    assert true_positive_rate(members, others, 0.001) == 0.25
    assert float((others < others.sort().values[10]).double().mean()) == 0.1


def test_ties_are_not_counted_as_found() -> None:
    assert true_positive_rate(torch.zeros(50), torch.zeros(50), 0.1) == 0.0
    assert attack_auc(torch.zeros(50), torch.zeros(50)) == 0.5


def test_auc_is_one_for_separated_losses() -> None:
    assert attack_auc(torch.tensor([0.1, 0.2]), torch.tensor([1.0, 2.0, 3.0])) == 1.0


def test_losses_are_cross_entropies() -> None:
    model = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.eye(2))
    losses = record_losses(model, torch.tensor([[1.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1]))
    expected = torch.stack([torch.log1p(torch.exp(torch.tensor(-1.0))), torch.log(torch.tensor(2.0))]).double()
    torch.testing.assert_close(losses, expected, atol=1e-6, rtol=0.0)
