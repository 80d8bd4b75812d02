"""Gradient inversion and the analytic attack on digits."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.attacks import inversion
from tensorldp_papers.attacks.defences import Defence
from tensorldp_papers.attacks.inversion import COSINE, COSINE_TV, DLG, IDLG, Client, Inversion
from tensorldp_papers.attacks.quality import image_scores
from tensorldp_papers.attacks.two_layer import analytic_attack
from tensorldp_papers.nets.networks import SigmoidLeNet

DIGITS = load_digits()


def victim(index: int) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(DIGITS.images[index : index + 1]).unsqueeze(1) / 16, torch.tensor(DIGITS.target[[index]])


def lenet_client(seed: int = 0, **options: float) -> Client:
    return Client(SigmoidLeNet(1, 8, 8, 10, torch.Generator().manual_seed(seed)).double(), **options)  # type: ignore[arg-type]


def gradient(client: Client, index: int) -> Tensor:
    x, y = victim(index)
    return client.update(x, client.one_hot(y))


@cache
def attack(how: Inversion, defence: Defence, index: int = 0) -> tuple[Tensor, Tensor, float]:
    client, (x, _) = lenet_client(steps=defence.steps), victim(index)
    released = defence.protect(gradient(client, index).unsqueeze(0), torch.Generator().manual_seed(5)).squeeze(0)
    found, labels = inversion.invert(client, released, tuple(x.shape), how, torch.Generator().manual_seed(7))
    return found, labels, image_scores(found[:, 0], x[:, 0])["psnr"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [DLG, IDLG, COSINE, replace(COSINE_TV, steps=300)])
def test_a_digit_is_recovered_from_an_undefended_gradient(how: Inversion) -> None:
    _, labels, psnr = attack(how, Defence())
    assert psnr > 30.0
    assert labels.tolist() == victim(0)[1].tolist()


def test_clipping_changes_nothing() -> None:
    """The target is rounded to float32, so that scaling hardly ever moves even its last bit.

    Such a bit in one element moves the picture by less than 1e-5, and a working defence by far more than 1e-4.
    """
    plain, labels, _ = attack(COSINE, Defence())
    for norm in (0.1, 1e-3):
        clipped, found, _ = attack(COSINE, Defence("clip", norm))
        torch.testing.assert_close(clipped, plain, rtol=0.0, atol=1e-4)
        assert torch.equal(found, labels)


def test_noise_makes_it_fail() -> None:
    psnr = [attack(COSINE, Defence("noise", sigma))[-1] for sigma in (0.001, 0.01, 0.1)]
    assert psnr[0] > 30.0
    assert psnr[0] > psnr[1] > psnr[2]
    assert psnr[2] < 10.0


@pytest.mark.parametrize(
    ("how", "defence"), [(COSINE, Defence("prune", 0.5)), (replace(COSINE, steps=100), Defence("local", 3))]
)
def test_pruned_elements_are_left_out_and_local_steps_are_simulated(how: Inversion, defence: Defence) -> None:
    assert attack(how, defence)[-1] > 30.0


def test_labels_are_read_off_exactly_at_batch_one() -> None:
    client = lenet_client(2)
    found = [int(inversion.infer_label(client, gradient(client, index))) for index in range(30)]
    assert found == DIGITS.target[:30].tolist()


def test_the_objective_is_zero_at_the_truth_up_to_total_variation() -> None:
    again = gradient(lenet_client(), 0)
    sent = inversion.unit(again)
    assert float(1 - sent @ again / (sent.norm() * again.norm())) == pytest.approx(0.0, abs=1e-12)
    assert float(inversion.total_variation(torch.ones(1, 1, 8, 8))) == 0.0
    assert float(inversion.total_variation(torch.arange(8.0).expand(1, 1, 8, 8))) == 1.0  # a ramp


def test_a_client_sends_autograds_gradient_and_the_mean_over_users() -> None:
    model = SigmoidLeNet(1, 8, 8, 10, torch.Generator().manual_seed(0)).double()
    client, steps = Client(model), Client(model, steps=2, rate=0.1)
    x, y = torch.cat([victim(0)[0], victim(1)[0]]), torch.tensor([0, 1])
    targets = client.one_hot(y)
    loss = nn.functional.cross_entropy(model(x), y)
    expected = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, list(model.parameters()))])
    torch.testing.assert_close(client.update(x, targets), expected)
    torch.testing.assert_close(client.updates(x, targets, None, client.parameters).mean(dim=0), expected)
    moved = {key: value - 0.1 * client.split(expected)[key] for key, value in client.parameters.items()}
    torch.testing.assert_close(steps.update(x, targets), expected + client.update(x, targets, parameters=moved))


def test_the_analytic_attack_is_exact() -> None:
    client = Client(nn.Sequential(nn.Flatten(), nn.Linear(64, 20), nn.Sigmoid(), nn.Linear(20, 10)).double())
    x, _ = victim(4)
    parts = client.split(gradient(client, 4))
    found = analytic_attack(parts["1.weight"], parts["1.bias"])
    assert float((found - x.reshape(-1)).norm() / x.norm()) < 1e-6
    with pytest.raises(InputError, match="bias gradient is zero"):
        analytic_attack(torch.ones(2, 3), torch.zeros(2))


def test_a_gradient_that_is_not_finite_is_refused() -> None:
    client = lenet_client()
    with pytest.raises(InputError, match="finite numbers"):
        inversion.invert(client, torch.full((client.size,), torch.inf), (1, 1, 8, 8), IDLG, torch.Generator())
