"""Attacks on data releases against exact answers."""

import math

import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor
from typed import make_as

from tensorldp.curves.base import NoPrivacyCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.mechanisms.gaussian import GaussianAnalytic
from tensorldp.mechanisms.tldp import TldpLaplace
from tensorldp_papers.attacks.likelihood import Prior, SuccessBound, denoise, identify

BOX = Box(0.0, 16.0, (8, 8))
DIGITS = torch.from_numpy(load_digits().images)
PUBLIC, CANDIDATES = DIGITS[:1000], DIGITS[1000:1040]


def release(name: str, epsilon: float) -> tuple[Mechanism, Tensor]:
    mechanism = make(name, epsilon=epsilon, domain=BOX)
    return mechanism, mechanism.privatize(CANDIDATES, torch.Generator().manual_seed(0))


def test_the_denoiser_is_the_posterior_mean_of_gaussian_records() -> None:
    mechanism = make_as(GaussianAnalytic, epsilon=200.0, domain=BOX)
    released = mechanism.privatize(CANDIDATES, torch.Generator().manual_seed(0))
    prior = Prior.of(PUBLIC, rank=64)
    flat = PUBLIC.reshape(1000, -1)
    covariance = torch.cov(flat.T) + prior.rest * torch.eye(64)
    gain = covariance @ torch.linalg.inv(covariance + mechanism.squared_error() / 64 * torch.eye(64))
    expected = flat.mean(dim=0) + (released.reshape(40, -1) - flat.mean(dim=0)) @ gain.T
    found = denoise(mechanism, released, prior).reshape(40, -1)
    torch.testing.assert_close(found, expected.clamp(0, 16), atol=0.02, rtol=0.0)


def test_denoising_beats_the_release_and_the_mean() -> None:
    mechanism, released = release("laplace", 640.0)
    found = denoise(mechanism, released, Prior.of(PUBLIC))
    error = (found - CANDIDATES).pow(2).mean()
    assert error < (released.clamp(0, 16) - CANDIDATES).pow(2).mean()
    assert error < (PUBLIC.mean(dim=0) - CANDIDATES).pow(2).mean()


def test_without_noise_the_denoiser_changes_nothing() -> None:
    mechanism, released = release("none", math.inf)
    torch.testing.assert_close(denoise(mechanism, released, Prior.of(PUBLIC, rank=5)), CANDIDATES)


def test_kept_elements_are_taken_as_they_are() -> None:
    mechanism = make_as(TldpLaplace, epsilon=0.1, domain=BOX)
    noise = torch.full((1, 8, 8), 0.37, dtype=torch.float64)
    released = CANDIDATES[:1] + 40 * noise
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
    mechanism, released = release(name, epsilon)
    share = float((identify(mechanism, released, CANDIDATES) == torch.arange(40)).double().mean())
    assert low <= share <= high


def test_without_a_density_the_nearest_candidate_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, released = release("laplace", 2000.0)

    def refuse(*_: Tensor) -> Tensor:
        raise InputError("no density")

    monkeypatch.setattr(mechanism, "log_likelihood_ratio", refuse)
    distances = torch.cdist(released.reshape(40, -1), CANDIDATES.reshape(40, -1))
    assert identify(mechanism, released, CANDIDATES).tolist() == distances.argmin(dim=1).tolist()


def test_the_bound_of_a_guarantee() -> None:
    curve = make("laplace", epsilon=1.0, domain=Box(0.0, 1.0, (1,))).curve()
    assert SuccessBound.of(curve)(0.1) == pytest.approx(min(math.e * 0.1, 0.1 + curve.delta(0.0)))
    assert SuccessBound.of(NoPrivacyCurve())(0.01) == 1.0
    weak = SuccessBound.of(GaussianCurve(0.1))
    assert 0.1 < weak(0.1) <= 0.1 + GaussianCurve(0.1).delta(0.0)


def test_the_optimal_attack_never_exceeds_the_bound() -> None:
    """Naming one of N far-apart records through k-RR is what e^eps / (e^eps + N - 1) says; the bound is above."""
    bound = SuccessBound.of(make("laplace", epsilon=2.0, domain=Box(0.0, 1.0, (1,))).curve())
    for n in (2, 10, 1000):
        assert bound(1 / n) >= 1 / n
    # the best test at false positive rate alpha of Lap(1/2) noise on {0, 1} has power e^2 alpha for alpha <= e^-2 / 2
    alpha = 0.05
    assert bound(alpha) >= math.exp(2) * alpha - 1e-12
