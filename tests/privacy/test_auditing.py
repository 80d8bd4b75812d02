"""Audits of releases and of whole runs come close to the truth, do not exceed it and catch lies, as tests of fit do."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binom, laplace, norm

from tensorldp import privacy
from tensorldp.audit.thresholds import log_ratio_bound, lower_bound, upper_bound
from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, Mechanism, make
from tensorldp.mechanisms.laplace import Laplace
from tensorldp.mechanisms.tldp import TldpLaplace
from tensorldp.privacy import one_run_audit, one_run_bound
from tensorldp.randomness import add_gaussian, add_laplace, uniform
from tensorldp_papers.nets.canaries import dp_sgd_canaries, federated_canaries
from tensorldp_papers.nets.federated import ParameterRelease

ONE = Box(0, 1, (1,))


class Coin(Mechanism):
    name = "test-coin"  # randomised response on one bit
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


class Opaque(Coin):
    name = "test-opaque"  # the same without a density
    log_likelihood_ratio = Mechanism.log_likelihood_ratio


class LittleNoise(Laplace):
    name = "test-little-noise"  # states Lap(b), adds a share of it, and its likelihood ratio lies as well
    share = 0.5

    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return add_laplace(x, self.share * self.scale, generator)


class FourFifths(LittleNoise):
    name = "test-four-fifths"  # its epsilon is 1.25 times the stated one
    share = 0.8


class HiddenAtom(Laplace):
    name = "test-hidden-atom"  # releases one record in a hundred as it is, and does not say so

    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        out = super()._randomize(x, generator)
        leak = uniform((x.shape[0],), generator) < 0.01
        out[leak] = x[leak]
        return out


class NominalTldp(TldpLaplace):
    name = "test-nominal-tldp"  # TLDP-L with the guarantee that its paper claims for it

    def curve(self) -> LaplaceCurve:
        return LaplaceCurve(self.epsilon)


COIN, LAPLACE = Coin(epsilon=1.0, domain=ONE), Laplace(epsilon=1.0, domain=ONE)
TLDP = make("tldp-l", epsilon=1.0, domain=ONE)


@pytest.mark.parametrize("key", ["coin", "laplace", "randomized-response"])
def test_reaches_95_percent_of_the_truth(key: str) -> None:
    mechanism = Coin(epsilon=4.0, domain=ONE) if key == "coin" else make(key, epsilon=4.0, domain=ONE)
    found = privacy.audit(mechanism, samples=250_000)
    assert 0.95 * 4.0 <= found.epsilon_lower <= 4.0
    assert (found.delta, found.confidence, found.samples, found.unit) == (0.0, 0.95, 250_000, "record")


@pytest.mark.parametrize("mechanism", [COIN, LAPLACE], ids=["coin", "laplace"])
def test_exceeds_the_truth_no_more_often_than_it_says(mechanism: Mechanism) -> None:
    """A false alarm once in 10^6."""
    wrong = sum(privacy.audit(mechanism, samples=4000, seed=s).epsilon_lower > 1.0 for s in range(100))
    assert binom.sf(wrong - 1, 100, 0.05) > 1e-6


@pytest.mark.parametrize("samples", [10**6, 4 * 10**6])
def test_more_samples_do_not_cost_power(samples: int) -> None:
    found = privacy.audit(FourFifths(epsilon=1.0, domain=ONE), samples=samples)
    assert 1.24 < found.epsilon_lower < 1.25


def test_lies_are_refuted() -> None:
    half = LittleNoise(epsilon=2.0, domain=ONE)
    assert half.guarantee(0.0).epsilon == pytest.approx(2.0)
    assert privacy.audit(half, samples=100_000).epsilon_lower > 3.0
    found = privacy.audit(HiddenAtom(epsilon=1.0, domain=ONE), samples=100_000)
    assert found.epsilon_lower > 2.0
    assert any(word in found.event for word in ("equal", "element", "projection"))
    nominal = NominalTldp(epsilon=1.0, domain=Box(0, 255, (28, 28)))
    for likelihood in (True, False):
        found = privacy.audit(nominal, samples=4000, likelihood=likelihood)
        assert found.epsilon_lower > 5.0 > nominal.guarantee(0.0).epsilon


def test_stated_atom_is_measured() -> None:
    """One element of TLDP-L keeps its value with probability 1/3 at range 1 and epsilon 1."""
    found = privacy.audit(TLDP, samples=20_000, confidence=1 - 1e-6)
    assert 0.29 < found.atom_lower <= 1 / 3
    assert found.epsilon_lower > 5.0
    assert privacy.audit(LAPLACE, samples=1000).atom_lower == 0.0


def test_delta_is_subtracted() -> None:
    """At delta above the atom, the bound comes from the noise alone."""
    assert privacy.audit(TLDP, samples=20_000, delta=0.6).epsilon_lower == 0.0
    assert privacy.audit(COIN, samples=20_000, delta=0.1).epsilon_lower <= PureCurve(1.0).epsilon(0.1)


def test_same_seed_same_audit() -> None:
    first, again, other = (
        (found.epsilon_lower, found.event)
        for found in (privacy.audit(LAPLACE, samples=2000, seed=s) for s in (1, 1, 2))
    )
    assert first == again != other


def test_several_deltas_on_one_set_of_releases_are_the_audits_at_each() -> None:
    deltas = [0.0, 1e-5, 0.3]
    together = privacy.audits(TLDP, samples=2000, deltas=deltas, seed=3)
    alone = [privacy.audit(TLDP, samples=2000, delta=delta, seed=3) for delta in deltas]
    for one, other in zip(together, alone, strict=True):
        for name in ("delta", "epsilon_lower", "event", "atom_lower"):
            assert getattr(one, name) == getattr(other, name)


def test_profile_lies_below_the_curve() -> None:
    mechanism = make("laplace", epsilon=2.0, domain=Box(0, 1, (4,)))
    epsilons = [0.0, 0.5, 1.0, 1.5]
    bounds = privacy.audit_profile(mechanism, epsilons=epsilons, samples=100_000, confidence=1 - 1e-6)
    for epsilon, bound in zip(epsilons, bounds, strict=True):
        assert mechanism.privacy_profile(epsilon) - 0.03 < bound <= mechanism.privacy_profile(epsilon)


def test_without_a_density() -> None:
    opaque = Opaque(epsilon=2.0, domain=ONE)
    with pytest.raises(InputError, match="log_likelihood_ratio"):
        privacy.audit(opaque, samples=1000)
    found = privacy.audit(opaque, samples=100_000, likelihood=False)
    assert 1.8 < found.epsilon_lower <= 2.0
    assert found.atom_lower == 0.0


@pytest.mark.parametrize("true", [1e-4, 0.02, 0.5, 0.999])
def test_clopper_pearson_covers(true: float) -> None:
    hits = np.random.default_rng(0).binomial(500, true, size=4000)
    assert (lower_bound(hits, 500, 0.05) > true).mean() < 0.065
    assert (upper_bound(hits, 500, 0.05) < true).mean() < 0.065


def test_clopper_pearson_at_the_ends() -> None:
    assert (lower_bound(0, 10, 0.05), upper_bound(10, 10, 0.05)) == (0.0, 1.0)
    assert binom.sf(6, 10, float(lower_bound(7, 10, 0.05))) == pytest.approx(0.05)
    assert log_ratio_bound(0, 0, 10, 0.05) == -math.inf


@pytest.mark.parametrize(
    ("draw", "scale", "cdf"),
    [(add_laplace, 1.0, laplace.cdf), (add_gaussian, 1.0, norm.cdf), (add_laplace, 1.05, laplace.cdf)],
)
def test_the_package_s_own_noise_fits_at_its_own_scale(draw: Any, scale: float, cdf: Any) -> None:
    noise = draw(torch.zeros(100_000, dtype=torch.float64), scale, torch.Generator().manual_seed(1))
    fit = privacy.goodness_of_fit(noise.numpy(), cdf)
    assert (fit.test, fit.accepted) == ("Kolmogorov-Smirnov", scale == 1.0)


def test_a_discrete_law_fits_its_draws() -> None:
    draws = np.random.default_rng(0).binomial(12, 0.3, size=50_000)
    right, wrong = ({float(k): float(binom.pmf(k, 12, p)) for k in range(13)} for p in (0.3, 0.31))
    assert privacy.goodness_of_fit(draws, right).accepted
    assert not privacy.goodness_of_fit(draws, wrong).accepted
    assert not privacy.goodness_of_fit([0.0, 1.0, 0.5], {0.0: 0.5, 1.0: 0.5}).accepted


def test_false_alarms_of_a_test_of_fit_are_rare() -> None:
    rng = np.random.default_rng(3)
    alarms = sum(not privacy.goodness_of_fit(rng.normal(size=500), norm.cdf, 0.01).accepted for _ in range(300))
    assert alarms <= 15


def test_the_bound_inverts_the_binomial_tail() -> None:
    bound = one_run_bound(90, 100, 100)
    assert float(binom.sf(89, 100, 1 / (1 + math.exp(-bound)))) == pytest.approx(0.05, rel=1e-3)
    assert one_run_bound(50, 100, 100) == 0.0
    assert one_run_bound(90, 100, 1000, delta=1e-4) < bound
    assert one_run_bound(90, 100, 100, delta=1e-12) == pytest.approx(bound, abs=1e-4)


def test_guesses_by_randomised_response_prove_hardly_more_than_its_epsilon() -> None:
    """Each run may exceed the truth with a chance of 0.1 %, so that two of twenty do once in 5,000 tests."""

    def train(coins: torch.Tensor, source: torch.Generator) -> torch.Tensor:
        kept = torch.rand(len(coins), generator=source) < 1 / (1 + math.exp(-1.0))
        return torch.where(kept, coins, ~coins).float() + 1e-3 * torch.rand(len(coins), generator=source)

    audit = partial(one_run_audit, train, PureCurve(1.0), canaries=2000, delta=1e-9, confidence=0.999)
    found = [audit(seed=seed) for seed in range(20)]
    assert sum(run.refuted for run in found) <= 1
    assert max(run.epsilon_lower for run in found) > 0.6


@pytest.mark.parametrize(("lot", "steps", "noise"), [(300, 20, 8.0), (60, 30, 4.0)])
def test_dp_sgd_that_forgets_its_noise_is_refuted_and_honest_dp_sgd_is_not(lot: int, steps: int, noise: float) -> None:
    curve = DpSgdCurve(noise, lot / 300, steps)
    for true, refuted in ((noise, False), (0.0, True)):
        train = dp_sgd_canaries(records=100, features=4, lot=lot, steps=steps, noise_multiplier=true, clip=0.5)
        found = one_run_audit(train, curve, canaries=200, delta=1e-5, confidence=0.999)
        assert found.refuted == refuted, found
        assert found.epsilon_upper == curve.epsilon(1e-5)


class Forgetful(ParameterRelease):
    """Adds its noise in the first round alone, and hands on the clipped parameters after that."""

    def privatize(self, vector: torch.Tensor, round_index: int, generator: torch.Generator) -> torch.Tensor:
        return super().privatize(vector, round_index, generator) if round_index == 0 else vector


@pytest.mark.parametrize(("where", "size"), [("user", 4), ("server", 200)])
@pytest.mark.parametrize(("kind", "refuted"), [(ParameterRelease, False), (Forgetful, True)])
def test_a_federated_run_that_forgets_its_noise_after_a_round(
    kind: type[ParameterRelease], refuted: bool, where: str, size: int
) -> None:
    options: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-5, "shapes": [(size,)], "layers": [size], "clip": 1.0}
    release = kind(
        lambda domain, **options: make("laplace", **{"epsilon": 0.5, "domain": domain, **options}),
        "laplace",
        **options | {"users": 200, "where": where, "rounds": 2},
    )
    found = one_run_audit(federated_canaries(release), release.run_curve(), canaries=200, delta=1e-6, confidence=0.999)
    assert found.refuted == refuted, found


class OfElements(Laplace):
    unit = "element"


def test_an_audit_of_a_claim_for_one_element_takes_records_that_differ_in_one() -> None:
    mechanism = OfElements(epsilon=5.0, domain=Box(0, 1, (5,)))  # 1 for each element
    with pytest.raises(InputError, match=r"laplace is for one element, and .* differ in 5"):
        privacy.audit(mechanism, samples=1000, pair=mechanism.domain.farthest())
    one = Mechanism.worst_pair(mechanism)
    assert 0.5 < privacy.audit(mechanism, samples=10_000, pair=one, likelihood=False).epsilon_lower <= 1.0
