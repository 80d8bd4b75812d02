"""What guesses about canaries prove: the binomial, randomised response, and trainings that forget their noise."""

import math

import pytest
import torch
from scipy.stats import binom

from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import make
from tensorldp.privacy import one_run_audit, one_run_bound
from tensorldp_papers.nets.canaries import dp_sgd_canaries, federated_canaries
from tensorldp_papers.nets.federated import ParameterRelease


def test_the_bound_inverts_the_binomial_tail() -> None:
    bound = one_run_bound(90, 100, 100)
    assert float(binom.sf(89, 100, 1 / (1 + math.exp(-bound)))) == pytest.approx(0.05, rel=1e-3)
    assert one_run_bound(50, 100, 100) == 0.0
    assert one_run_bound(90, 100, 1000, delta=1e-4) < bound
    assert one_run_bound(90, 100, 100, delta=1e-12) == pytest.approx(bound, abs=1e-4)


def test_guesses_by_randomised_response_prove_hardly_more_than_its_epsilon() -> None:
    def train(coins: torch.Tensor, source: torch.Generator) -> torch.Tensor:
        kept = torch.rand(len(coins), generator=source) < 1 / (1 + math.exp(-1.0))
        return torch.where(kept, coins, ~coins).float() + 1e-3 * torch.rand(len(coins), generator=source)

    # each run may exceed the truth with a chance of 0.1 %, so that two of twenty do once in 5,000 tests
    found = [
        one_run_audit(train, PureCurve(1.0), canaries=2000, delta=1e-9, confidence=0.999, seed=k) for k in range(20)
    ]
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


@pytest.mark.parametrize("where", ["user", "server"])
@pytest.mark.parametrize(("kind", "refuted"), [(ParameterRelease, False), (Forgetful, True)])
def test_a_federated_run_that_forgets_its_noise_after_a_round(
    kind: type[ParameterRelease], refuted: bool, where: str
) -> None:
    size, users = (4, 200) if where == "user" else (200, 200)
    release = kind(
        lambda domain, **options: make("laplace", **{"epsilon": 0.5, "domain": domain, **options}),
        "laplace",
        epsilon=0.5,
        delta=1e-5,
        shapes=[(size,)],
        layers=[size],
        clip=1.0,
        users=users,
        where=where,
        rounds=2,
    )
    found = one_run_audit(federated_canaries(release), release.run_curve(), canaries=200, delta=1e-6, confidence=0.999)
    assert found.refuted == refuted, found


def test_mistakes() -> None:
    with pytest.raises(InputError, match="one score a canary: for 20, got"):
        one_run_audit(lambda coins, source: coins[:3].float(), PureCurve(1.0), canaries=20, delta=1e-5)
    with pytest.raises(InputError, match="correct"):
        one_run_bound(5, 4, 10)
