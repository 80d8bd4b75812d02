"""Audits must come close to the truth, must not exceed it, and must catch lies."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binom

from tensorldp import privacy
from tensorldp.audit.thresholds import log_ratio_bound, lower_bound, upper_bound
from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.mechanisms.tldp import TldpLaplace
from tensorldp.randomness import add_laplace, uniform

ONE = Box(0, 1, (1,))


class Coin(Mechanism):
    """Randomised response on one bit."""

    name = "test-coin"
    domain_kind = "box"

    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        keep = uniform(tuple(x.shape), generator) < 1 / (1 + math.exp(-self.epsilon))
        return torch.where(keep, x, 1 - x)

    def squared_error(self) -> float:
        return 1 / (1 + math.exp(self.epsilon))

    def curve(self) -> PureCurve:
        return PureCurve(self.epsilon, True)

    def worst_pair(self) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)

    def log_likelihood_ratio(self, y: torch.Tensor, x: torch.Tensor, x_prime: torch.Tensor) -> torch.Tensor:
        return self.epsilon * ((y == x).double() - (y == x_prime).double()).sum(dim=1)


class HalfNoise(Laplace):
    """States Lap(b), adds Lap(b/2), and its likelihood ratio lies as well."""

    name = "test-half-noise"

    def _release(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return add_laplace(x, self.scale / 2, generator)

    _randomize = _release


class HiddenAtom(Laplace):
    """Releases one record in a hundred as it is, and does not say so."""

    name = "test-hidden-atom"

    def _release(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        out = add_laplace(x, self.scale, generator)
        leak = uniform((x.shape[0],), generator) < 0.01
        out[leak] = x[leak]
        return out

    _randomize = _release


class NominalTldp(TldpLaplace):
    """TLDP-L with the guarantee that its paper claims for it."""

    name = "test-nominal-tldp"

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(self.epsilon)


@pytest.mark.parametrize(
    "mechanism",
    [
        Coin(epsilon=4.0, domain=ONE),
        Laplace(epsilon=4.0, domain=ONE),
        make("randomized-response", epsilon=4.0, domain=ONE),
    ],
    ids=["coin", "laplace", "randomized-response"],
)
def test_reaches_95_percent_of_the_truth(mechanism: Mechanism) -> None:
    found = privacy.audit(mechanism, samples=10**6)
    assert 0.95 * 4.0 <= found.epsilon_lower <= 4.0
    assert (found.delta, found.confidence, found.samples, found.unit) == (0.0, 0.95, 10**6, "record")


@pytest.mark.parametrize("kind", [Coin, Laplace])
def test_exceeds_the_truth_no_more_often_than_it_says(kind: type[Laplace | Coin]) -> None:
    mechanism = kind(epsilon=1.0, domain=ONE)
    wrong = sum(privacy.audit(mechanism, samples=4000, seed=s).epsilon_lower > 1.0 for s in range(200))
    assert binom.sf(wrong - 1, 200, 0.05) > 1e-6


def test_half_the_noise_is_refuted() -> None:
    lie = HalfNoise(epsilon=2.0, domain=ONE)
    assert lie.guarantee(0.0).epsilon == pytest.approx(2.0)
    assert privacy.audit(lie, samples=100_000).epsilon_lower > 3.0


class FourFifthsOfTheNoise(Laplace):
    """Its epsilon is 1.25 times the stated one."""

    name = "test-four-fifths"

    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return add_laplace(x, 0.8 * self.scale, generator)


@pytest.mark.parametrize("samples", [10**6, 4 * 10**6])
def test_more_samples_do_not_cost_power(samples: int) -> None:
    found = privacy.audit(FourFifthsOfTheNoise(epsilon=1.0, domain=ONE), samples=samples)
    assert 1.24 < found.epsilon_lower < 1.25


def test_hidden_atom_is_refuted() -> None:
    lie = HiddenAtom(epsilon=1.0, domain=ONE)
    found = privacy.audit(lie, samples=100_000)
    assert found.epsilon_lower > 2.0
    assert "equal" in found.event or "element" in found.event or "projection" in found.event


def test_nominal_epsilon_of_tldp_is_refuted() -> None:
    lie = NominalTldp(epsilon=1.0, domain=Box(0, 255, (28, 28)))
    found = privacy.audit(lie, samples=4000)
    assert found.epsilon_lower > 5.0 > lie.guarantee(0.0).epsilon
    assert privacy.audit(lie, samples=4000, likelihood=False).epsilon_lower > 5.0


def test_stated_atom_is_measured() -> None:
    """One element of TLDP-L keeps its value with probability 1/3 at range 1 and epsilon 1."""
    mechanism = make("tldp-l", epsilon=1.0, domain=ONE)
    found = privacy.audit(mechanism, samples=20_000, confidence=1 - 1e-6)
    assert 0.29 < found.atom_lower <= 1 / 3
    assert found.epsilon_lower > 5.0
    assert privacy.audit(make("laplace", epsilon=1.0, domain=ONE), samples=1000).atom_lower == 0.0


def test_delta_is_subtracted() -> None:
    """At delta above the atom, the bound comes from the noise alone."""
    mechanism = make("tldp-l", epsilon=1.0, domain=ONE)
    assert privacy.audit(mechanism, samples=20_000, delta=0.6).epsilon_lower == 0.0
    assert privacy.audit(Coin(epsilon=1.0, domain=ONE), samples=20_000, delta=0.1).epsilon_lower <= PureCurve(
        1.0
    ).epsilon(0.1)


def test_same_seed_same_audit() -> None:
    mechanism = Laplace(epsilon=1.0, domain=ONE)
    first, again, other = (privacy.audit(mechanism, samples=2000, seed=s) for s in (1, 1, 2))
    assert (first.epsilon_lower, first.event) == (again.epsilon_lower, again.event)
    assert first.event != other.event or first.epsilon_lower != other.epsilon_lower


def test_several_deltas_on_one_set_of_releases_are_the_audits_at_each() -> None:
    mechanism = make("tldp-l", epsilon=1.0, domain=ONE)
    together = privacy.audits(mechanism, samples=2000, deltas=[0.0, 1e-5, 0.3], seed=3)
    alone = [privacy.audit(mechanism, samples=2000, delta=delta, seed=3) for delta in (0.0, 1e-5, 0.3)]
    assert [(a.delta, a.epsilon_lower, a.event, a.atom_lower) for a in together] == [
        (a.delta, a.epsilon_lower, a.event, a.atom_lower) for a in alone
    ]


def test_profile_lies_below_the_curve() -> None:
    mechanism = make("laplace", epsilon=2.0, domain=Box(0, 1, (4,)))
    epsilons = [0.0, 0.5, 1.0, 1.5]
    bounds = privacy.audit_profile(mechanism, epsilons=epsilons, samples=100_000, confidence=1 - 1e-6)
    for epsilon, bound in zip(epsilons, bounds, strict=True):
        true = mechanism.privacy_profile(epsilon)
        assert true - 0.03 < bound <= true


def test_without_a_density() -> None:
    class Opaque(Coin):
        name = "test-opaque"
        log_likelihood_ratio = Mechanism.log_likelihood_ratio

    opaque = Opaque(epsilon=2.0, domain=ONE)
    with pytest.raises(InputError, match="log_likelihood_ratio"):
        privacy.audit(opaque, samples=1000)
    found = privacy.audit(opaque, samples=100_000, likelihood=False)
    assert 1.8 < found.epsilon_lower <= 2.0
    assert found.atom_lower == 0.0


@pytest.mark.parametrize(
    "arguments",
    [{"samples": 3}, {"samples": 100, "confidence": 1.0}, {"samples": 100, "delta": -0.1}, {"samples": 1e3}],
)
def test_bad_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        privacy.audit(Coin(epsilon=1.0, domain=ONE), **arguments)


def test_bad_pair_and_mechanism() -> None:
    with pytest.raises(InputError, match="differ"):
        privacy.audit(Coin(epsilon=1.0, domain=ONE), samples=100, pair=(torch.zeros(1), torch.zeros(1)))
    with pytest.raises(InputError, match="mechanism"):
        privacy.audit("laplace", samples=100)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one"):
        privacy.audit_profile(Coin(epsilon=1.0, domain=ONE), epsilons=[], samples=100)


def test_clopper_pearson_covers() -> None:
    for true in (1e-4, 0.02, 0.5, 0.999):
        hits = np.random.default_rng(0).binomial(500, true, size=4000)
        assert (lower_bound(hits, 500, 0.05) > true).mean() < 0.065
        assert (upper_bound(hits, 500, 0.05) < true).mean() < 0.065
    assert lower_bound(0, 10, 0.05) == 0.0
    assert upper_bound(10, 10, 0.05) == 1.0
    assert binom.sf(6, 10, float(lower_bound(7, 10, 0.05))) == pytest.approx(0.05)
    assert log_ratio_bound(0, 0, 10, 0.05) == -math.inf
