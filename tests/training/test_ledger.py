"""What clients spend, against closed forms and the library's own composition."""

import itertools

import pytest

from tensorldp import privacy
from tensorldp.mechanisms import Box, make
from tensorldp_papers.papers.pldp_fl.clients import Ledger, make_upload, preferences
from tensorldp_papers.papers.pldp_fl.rounds import replay, selections

SIZE = 21_840


def ledger(
    epsilons: object = "e2",
    clients: int = 10,
    size: int = SIZE,
    budget: str = "weight",
    rounds: int = 1,
    mechanism: str = "pdpm",
    limit: float | None = None,
    on_exhausted: str = "continue",
) -> Ledger:
    wanted = preferences(epsilons, 2.0, clients=clients, largest=1.0)  # type: ignore[arg-type]
    share = rounds if budget == "run" else 1
    return Ledger(
        [make_upload(mechanism, p, size=size, budget=budget, rounds=rounds) for p in wanted],
        [p.epsilon for p in wanted],
        [p.epsilon / share for p in wanted],
        on_exhausted,
        limit,
    )


def test_a_client_spends_its_epsilon_on_every_weight_of_every_upload() -> None:
    book = replay(ledger(), [[0, 9], [9], [9, 4]])
    assert book.counts().tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0, 3]
    assert book.counts(1).tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert book.per_weight() == pytest.approx([0.1, 0, 0, 0, 0.5, 0, 0, 0, 0, 3.0])
    assert book.curve(9).pure_epsilon == pytest.approx(3 * 21_840)  # type: ignore[union-attr]
    assert book.curve(1) is None


@pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa"])
def test_the_whole_model_costs_what_the_vector_mechanism_says(mechanism: str) -> None:
    book = replay(ledger(mechanism=mechanism), [[9]] * 4)
    vector = make(mechanism, epsilon=1.0, domain=Box(-1, 1, (SIZE,)))
    expected = privacy.compose(vector, count=4, delta=1e-5).epsilon
    assert book.spent(1e-5)[9] == pytest.approx(expected)
    assert book.spent(1e-5)[0] == 0.0
    assert book.largest(1e-5) == (9, pytest.approx(expected))


def test_one_upload_of_the_papers_model() -> None:
    """Epsilon 1 on each of 21,840 weights is 7,345 at delta 1e-5."""
    assert replay(ledger(), [[9]]).spent(1e-5)[9] == pytest.approx(7345, rel=1e-2)


def test_more_uploads_never_cost_less_and_no_upload_is_free() -> None:
    book = replay(ledger(clients=4, size=50), [[0, 1], [0], [0, 2]])
    by_round = [book.spent(1e-5, after) for after in range(4)]
    assert by_round[0] == [0.0] * 4
    for before, now in itertools.pairwise(by_round):
        assert all(b <= n for b, n in zip(before, now, strict=True))
    assert by_round[3] == book.spent(1e-5)
    assert ledger().largest(1e-5) is None


def test_a_client_stops_when_its_own_budget_is_spent() -> None:
    everyone = [list(range(10))] * 5
    assert replay(ledger(), everyone).counts().tolist() == [5] * 10
    # its own epsilon, the number that the paper calls its budget, pays for one upload
    assert replay(ledger(on_exhausted="stop"), everyone).counts().tolist() == [1] * 10
    # a budget of 1.2 a weight: floor(1.2 / epsilon) uploads, of 5 rounds at most
    found = replay(ledger(on_exhausted="stop", limit=1.2), everyone).counts().tolist()
    assert found == [min(5, int(1.2 / e + 1e-9)) for e in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)]
    # a run's epsilon is split over its rounds, all of which it pays for
    assert (
        replay(ledger(on_exhausted="stop", budget="run", rounds=5, mechanism="privunit", size=30), everyone)
        .counts()
        .tolist()
        == [5] * 10
    )


@pytest.mark.parametrize("mechanism", ["privunit", "pdpm"])
def test_an_honest_budget_covers_the_whole_model_or_run(mechanism: str) -> None:
    model = replay(ledger(mechanism=mechanism, budget="model", size=100), [[9]])
    assert model.curve(9).pure_epsilon == pytest.approx(1.0)  # type: ignore[union-attr]
    run = replay(ledger(mechanism=mechanism, budget="run", rounds=7, size=100), [[9]] * 7)
    assert run.curve(9).pure_epsilon == pytest.approx(1.0)  # type: ignore[union-attr]
    assert run.spent(1e-5)[9] <= 1.0 + 1e-9


def test_the_server_draws_other_clients_each_round_and_the_same_for_a_seed() -> None:
    import torch

    draw = [selections(10, 0.7, 30, torch.Generator().manual_seed(s)) for s in (0, 0, 1)]
    assert draw[0] == draw[1] != draw[2]
    assert all(len(set(row)) == 7 and set(row) <= set(range(10)) for row in draw[0])
    assert len({tuple(row) for row in draw[0]}) > 10
