"""Federated averaging with personal budgets, against its definition."""

import math

import numpy as np
import pytest
import torch

from tensorldp.mechanisms.pldp_fl import fedoa_weights
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.nets.simulation import ClientSimulation, deal
from tensorldp_papers.papers.pldp_fl.clients import Ledger, make_upload, preferences
from tensorldp_papers.papers.pldp_fl.rounds import personalised_average, selections

CLIENTS, ROUNDS = 6, 4


def gen(text: str) -> torch.Generator:
    return torch.Generator().manual_seed(sum(ord(c) * 31**i for i, c in enumerate(text)) % 2**62)


def parts(mechanism: str, epsilon: float, **options: object) -> tuple[ClientSimulation, torch.Tensor, Ledger]:
    x, y = torch.randn(90, 6, generator=gen("x")), torch.arange(90) % 3
    model = build("mlp", Task((6,), 3), gen("model"))
    sim = ClientSimulation(model, x, y, deal(y, CLIENTS, gen("deal")), epochs=2, batch_size=10, learning_rate=0.1)
    wanted = preferences("e2", 2.0, clients=CLIENTS, largest=epsilon)
    levels = [p.epsilon for p in wanted]
    book = Ledger([make_upload(mechanism, p, size=sim.size) for p in wanted], levels, levels, **options)  # type: ignore[arg-type]
    return sim, get_vector(model), book


def average(
    mechanism: str = "none",
    epsilon: float = math.inf,
    chosen: list[list[int]] | None = None,
    optimised: bool = False,
    every: int = 1,
    **options: object,
) -> tuple[torch.Tensor, list[int], Ledger]:
    sim, start, book = parts(mechanism, epsilon, **options)
    chosen = selections(CLIENTS, 0.5, ROUNDS, gen("draw")) if chosen is None else chosen
    kept, marks = personalised_average(
        sim, start, book, chosen, order=gen, noise=lambda text: gen("n" + text), optimised=optimised, every=every
    )
    return kept, marks, book


def test_without_noise_a_round_is_the_mean_of_local_models() -> None:
    sim, start, _ = parts("none", math.inf)
    local = sim.train(start, [1, 4], lambda c: gen(f"batches of client {c}, round 0"))
    kept, marks, book = average(chosen=[[1, 4]])
    assert torch.allclose(kept[0], local.mean(0))
    assert marks == [1]
    assert book.counts().tolist() == [0, 1, 0, 0, 1, 0]


def test_a_client_draws_the_same_noise_whoever_else_is_there() -> None:
    alone, both, other = (average("pdpm", 1.0, chosen=[c])[0][0] for c in ([2], [2, 5], [5]))
    assert torch.allclose(both, (alone + other) / 2, atol=1e-5)


def test_optimised_weights_are_those_of_plu_fedoa() -> None:
    alone, other = (average("plu-fedoa", 1.0, chosen=[c])[0][0] for c in ([0], [5]))
    both, _, book = average("plu-fedoa", 1.0, chosen=[[0, 5]], optimised=True)
    shares = fedoa_weights([book.nominal[0], book.nominal[5]], [15, 15])
    assert torch.allclose(both[0], shares[0] * alone + shares[1] * other, atol=1e-4)


def test_weights_are_kept_every_few_rounds_and_at_the_end() -> None:
    every, marks, _ = average(every=1)
    some, fewer, _ = average(every=3)
    assert marks == [1, 2, 3, 4]
    assert fewer == [3, 4]
    assert torch.equal(some, every[[2, 3]])


def test_clients_that_have_spent_their_budget_leave_the_model_as_it_is() -> None:
    kept, _, book = average("pdpm", 1.0, chosen=[[0, 1], [0, 1], [1, 2]], on_exhausted="stop")
    assert book.counts().tolist() == [1, 1, 1, 0, 0, 0]
    assert torch.equal(kept[0], kept[1])
    assert not torch.equal(kept[1], kept[2])
    assert [int(np.sum(row)) for row in book.rounds] == [2, 0, 1]


@pytest.mark.parametrize("epsilon", [1.0])
def test_noise_averages_over_clients(epsilon: float) -> None:
    """The mean of n PDPM releases has the mean of their variances over n."""
    quiet = average(chosen=[[0, 1, 2, 3, 4, 5]])[0][0]
    noisy, _, book = average("pdpm", epsilon, chosen=[[0, 1, 2, 3, 4, 5]])
    variances = [u.mechanism.variance(0.0) for u in book.uploads]  # type: ignore[attr-defined]
    spread = float((noisy[0] - quiet).square().mean())
    assert spread == pytest.approx(sum(variances) / 36, rel=0.35)  # 323 weights, of three values each
