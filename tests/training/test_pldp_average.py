"""Federated averaging with personal budgets, and the error of a mean of personalised releases, against definitions."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.pldp_fl import fedoa_weights
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.papers.pldp_fl.clients import Ledger, make_upload, preferences
from tensorldp_papers.papers.pldp_fl.rounds import personalised_average, selections
from tensorldp_papers.papers.pldp_fl.simulation import ClientSimulation, deal
from tensorldp_papers.papers.pldp_fl.synthetic import expected_error, released_means, uniform_variance

CLIENTS, ROUNDS = 6, 4
NAMES = ("pdpm", "plu-fedoa", "duchi", "piecewise")


def average(
    mechanism: str = "none", chosen: list[list[int]] | None = None, on_exhausted: str = "continue", **options: Any
) -> tuple[torch.Tensor, list[int], Ledger]:
    """The weights that are kept, after which rounds, and the ledger; clients' epsilons are those of mode e2 below 1."""
    sim, start = simulation()
    wanted = preferences("e2", 2.0, clients=CLIENTS, largest=math.inf if mechanism == "none" else 1.0)
    levels = [p.epsilon for p in wanted]
    book = Ledger([make_upload(mechanism, p, size=sim.size) for p in wanted], levels, levels, on_exhausted)
    chosen = selections(CLIENTS, 0.5, ROUNDS, generator("draw")) if chosen is None else chosen
    streams: dict[str, Any] = {"order": generator, "noise": lambda text: generator("noise", text)}
    return *personalised_average(sim, start, book, chosen, **streams, **options), book


def simulation() -> tuple[ClientSimulation, torch.Tensor]:
    x, y = torch.randn(90, 6, generator=generator("x")), torch.arange(90) % 3
    model, shards = build("mlp", Task((6,), 3), generator("model")), deal(y, CLIENTS, generator("deal"))
    return ClientSimulation(model, x, y, shards, epochs=2, batch_size=10, learning_rate=0.1), get_vector(model)


def test_without_noise_a_round_is_the_mean_of_local_models() -> None:
    sim, start = simulation()
    local = sim.train(start, [1, 4], lambda c: generator(f"batches of client {c}, round 0"))
    kept, marks, book = average(chosen=[[1, 4]])
    assert torch.allclose(kept[0], local.mean(0))
    assert marks == [1]
    assert book.counts().tolist() == [0, 1, 0, 0, 1, 0]


@pytest.mark.parametrize(("mechanism", "optimised"), [("pdpm", False), ("plu-fedoa", True)])
def test_a_client_draws_the_same_noise_whoever_else_is_there_and_is_weighted_as_the_average_says(
    mechanism: str, optimised: bool
) -> None:
    alone, other = (average(mechanism, chosen=[c])[0][0] for c in ([2], [5]))
    both, _, book = average(mechanism, chosen=[[2, 5]], optimised=optimised)
    shares = fedoa_weights([book.nominal[2], book.nominal[5]], [15, 15]) if optimised else (0.5, 0.5)
    assert torch.allclose(both[0], shares[0] * alone + shares[1] * other, atol=1e-4)


def test_weights_are_kept_every_few_rounds_and_at_the_end() -> None:
    every, marks, _ = average()
    some, fewer, _ = average(every=3)
    assert marks == [1, 2, 3, 4]
    assert fewer == [3, 4]
    assert torch.equal(some, every[[2, 3]])


def test_clients_that_have_spent_their_budget_leave_the_model_as_it_is() -> None:
    kept, _, book = average("pdpm", chosen=[[0, 1], [0, 1], [1, 2]], on_exhausted="stop")
    assert book.counts().tolist() == [1, 1, 1, 0, 0, 0]
    assert torch.equal(kept[0], kept[1])
    assert not torch.equal(kept[1], kept[2])
    assert [int(np.sum(row)) for row in book.rounds] == [2, 0, 1]


def test_noise_averages_over_clients() -> None:
    """The mean of n PDPM releases has the mean of their variances over n."""
    everyone = [list(range(CLIENTS))]
    quiet = average(chosen=everyone)[0][0]
    noisy, _, book = average("pdpm", chosen=everyone)
    variances = [u.mechanism.variance(0.0) for u in book.uploads]  # type: ignore[attr-defined]
    spread = float((noisy[0] - quiet).square().mean())
    assert spread == pytest.approx(sum(variances) / CLIENTS**2, rel=0.35)  # 323 weights, of three values each


# the error of a mean


@pytest.mark.parametrize("epsilon", [0.1, 4.0])
@pytest.mark.parametrize("length", [0.2, 2.0])
def test_pdpms_variance_of_a_uniform_value(epsilon: float, length: float) -> None:
    """L^2 (g - 1/12), and the average of Var(v) itself."""
    e = math.exp(epsilon)
    m = make("pdpm", epsilon=epsilon, domain=Box(1 - length / 2, 1 + length / 2, (1,)))
    g = (e + 1) * (e + 3) * (3 * e + 5) / (8 * (e - 1) ** 2 * (e + 2))
    assert uniform_variance(m) == pytest.approx(length**2 * (g - 1 / 12))
    half = length / 2
    assert uniform_variance(m) == pytest.approx(quad(m.variance, -half, half)[0] / length)  # type: ignore[attr-defined]


@pytest.mark.parametrize("mechanism", NAMES)
def test_the_measured_error_is_the_expected_one(mechanism: str) -> None:
    trials, people = 5_000, 70
    levels = np.tile(np.arange(1, 11) / 10, people // 10)
    found = [make(mechanism, epsilon=float(e), domain=Box(0.5, 1.5, (1,))) for e in levels]
    truth, released = released_means(found, trials, generator(1), generator(2))
    errors, expected = (released - truth).abs(), expected_error(found)
    assert expected is not None
    # five standard errors, and one per cent for the central limit theorem at 70 participants
    slack = 5 * float(errors.std()) / math.sqrt(trials) + 0.01 * expected
    assert float(errors.mean()) == pytest.approx(expected, abs=slack)
    assert abs(float(truth.mean()) - 1.0) < 5 * math.sqrt(1 / 12 / people / trials)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0])
def test_pdpm_has_the_largest_error_of_all_at_every_epsilon(epsilon: float) -> None:
    """PLDP-FL's section 2 says that of Laplace."""
    box = Box(-1, 1, (1,))
    errors = {name: expected_error([make(name, epsilon=epsilon, domain=box)]) or 0.0 for name in NAMES}
    assert max(errors, key=lambda name: errors[name]) == "pdpm"
    # one without a closed form has no expectation
    assert expected_error([make(name, epsilon=epsilon, domain=box) for name in ("pdpm", "hybrid")]) is None
