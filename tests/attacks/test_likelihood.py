"""Attacks on data releases and models against exact answers, and the scores of images."""

import math

import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from typed import exact_error, make_as

from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.mechanisms.tldp import TldpLaplace
from tensorldp_papers.attacks import likelihood
from tensorldp_papers.attacks.likelihood import Prior, SuccessBound, denoise, identify
from tensorldp_papers.attacks.quality import image_scores, nearest

BOX = Box(0.0, 16.0, (8, 8))
DIGITS = torch.from_numpy(load_digits().images)
PUBLIC, CANDIDATES = DIGITS[:1000], DIGITS[1000:1040]
IMAGES = torch.rand(4, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 0.5


def release(name: str, epsilon: float) -> tuple[Mechanism, Tensor]:
    mechanism = make(name, epsilon=epsilon, domain=BOX)
    return mechanism, mechanism.privatize(CANDIDATES, torch.Generator().manual_seed(0))


def test_the_denoiser_is_the_posterior_mean_of_gaussian_records() -> None:
    mechanism, released = release("gaussian-analytic", 200.0)
    prior, flat = Prior.of(PUBLIC, rank=64), PUBLIC.reshape(1000, -1)
    covariance = torch.cov(flat.T) + prior.rest * torch.eye(64)
    gain = covariance @ torch.linalg.inv(covariance + exact_error(mechanism) / 64 * torch.eye(64))
    expected = flat.mean(dim=0) + (released.reshape(40, -1) - flat.mean(dim=0)) @ gain.T
    found = denoise(mechanism, released, prior).reshape(40, -1)
    torch.testing.assert_close(found, expected.clamp(0, 16), atol=0.02, rtol=0.0)


def test_denoising_beats_the_release_and_the_mean_and_changes_nothing_without_noise() -> None:
    mechanism, released = release("laplace", 640.0)
    found, plain, mean = (
        (guess - CANDIDATES).pow(2).mean()
        for guess in (denoise(mechanism, released, Prior.of(PUBLIC)), released.clamp(0, 16), PUBLIC.mean(dim=0))
    )
    assert found < min(plain, mean)
    torch.testing.assert_close(denoise(*release("none", math.inf), Prior.of(PUBLIC, rank=5)), CANDIDATES)


def test_kept_elements_are_taken_as_they_are() -> None:
    mechanism = make_as(TldpLaplace, epsilon=0.1, domain=BOX)
    released = CANDIDATES[:1] + 40 * 0.37
    released[0, 3, 3] = CANDIDATES[0, 3, 3]
    assert mechanism.retention > 0
    assert denoise(mechanism, released, Prior.of(PUBLIC))[0, 3, 3] == CANDIDATES[0, 3, 3]


@pytest.mark.parametrize(
    ("name", "epsilon", "low", "high"),
    [
        ("none", math.inf, 1.0, 1.0),
        ("laplace", 2000.0, 1.0, 1.0),
        ("privunit", 200.0, 1.0, 1.0),
        ("tldp-l", 20.0, 1.0, 1.0),
        ("laplace", 0.01, 0.0, 0.2),
        ("privunit", 0.01, 0.0, 0.2),
    ],
)
def test_owners_are_named_by_the_strength_of_the_noise(name: str, epsilon: float, low: float, high: float) -> None:
    share = float((identify(*release(name, epsilon), CANDIDATES) == torch.arange(40)).double().mean())
    assert low <= share <= high


def test_without_a_density_the_nearest_candidate_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, released = release("laplace", 2000.0)

    def refuse(*_: Tensor) -> Tensor:
        raise InputError("no density")

    monkeypatch.setattr(mechanism, "log_likelihood_ratio", refuse)
    assert identify(mechanism, released, CANDIDATES).tolist() == nearest(released, CANDIDATES).tolist()


def test_the_bound_of_a_guarantee_is_what_no_attack_exceeds() -> None:
    one, two = (make("laplace", epsilon=epsilon, domain=Box(0.0, 1.0, (1,))).curve() for epsilon in (1.0, 2.0))
    assert SuccessBound.of(one)(0.1) == pytest.approx(min(math.e * 0.1, 0.1 + one.delta(0.0)))
    assert SuccessBound.of(NoPrivacyCurve())(0.01) == 1.0
    assert 0.1 < SuccessBound.of(GaussianCurve(0.1))(0.1) <= 0.1 + GaussianCurve(0.1).delta(0.0)
    assert all(SuccessBound.of(two)(1 / n) >= 1 / n for n in (2, 10, 1000))
    # the best test at false positive rate alpha of Lap(1/2) noise on {0, 1} has power e^2 alpha for alpha <= e^-2 / 2
    assert SuccessBound.of(two)(0.05) >= math.exp(2) * 0.05 - 1e-12


def test_the_rate_at_a_fixed_false_positive_rate() -> None:
    others, members = torch.arange(100).double(), torch.tensor([-1.0, 9.5, 10.5, 50.0])
    assert likelihood.true_positive_rate(members, others, 0.1) == 0.5  # the threshold lets 10 of the others through
    assert likelihood.true_positive_rate(members, others, 0.001) == 0.25
    assert likelihood.true_positive_rate(torch.zeros(50), torch.zeros(50), 0.1) == 0.0  # ties are not counted as found
    assert likelihood.attack_auc(torch.zeros(50), torch.zeros(50)) == 0.5
    assert likelihood.attack_auc(torch.tensor([0.1, 0.2]), torch.tensor([1.0, 2.0, 3.0])) == 1.0


def test_losses_are_cross_entropies() -> None:
    model = nn.Linear(2, 2, bias=False)
    model.weight.data.copy_(torch.eye(2))
    losses = likelihood.record_losses(model, torch.tensor([[1.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1]))
    assert losses.tolist() == pytest.approx([math.log1p(math.exp(-1.0)), math.log(2.0)], abs=1e-6)


def test_image_scores_have_their_definitions() -> None:
    colour = IMAGES.unsqueeze(3).expand(4, 8, 8, 3)
    for truth in (IMAGES, colour):
        scores = image_scores(truth + 0.1, truth)  # a mean squared error of a hundredth is 20 dB
        assert [scores["psnr"], scores["rmse"]] == pytest.approx([20.0, 0.1])
        assert 0.5 < scores["ssim"] < 1.0
    assert image_scores(IMAGES, IMAGES) == {"rmse": 0.0, "psnr": 100.0, "ssim": pytest.approx(1.0)}
    assert nearest(IMAGES.flip(0), IMAGES).tolist() == [3, 2, 1, 0]
    with pytest.raises(InputError, match="at least 7 x 7 pixels"):
        image_scores(IMAGES[:, :5], IMAGES[:, :5])
