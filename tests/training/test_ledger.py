"""What clients spend, against closed forms and the library's own composition."""

import itertools
from typing import Any

import pytest

from tensorldp import privacy
from tensorldp.curves.base import PrivacyCurve
from tensorldp.mechanisms import Box, make
from tensorldp.randomness import generator
from tensorldp_papers.papers.pldp_fl.clients import Ledger, make_upload, preferences
from tensorldp_papers.papers.pldp_fl.rounds import replay, selections

SIZE = 21_840
EVERYONE = [list(range(10))] * 5
LEVELS = [i / 10 for i in range(1, 11)]  # of the mode e2


def book(
    chosen: list[list[int]], mechanism: str = "pdpm", *, size: int = SIZE, limit: float | None = None, **settings: Any
) -> Ledger:
    """Ten clients' uploads where the server has chosen these."""
    on_exhausted = settings.pop("on_exhausted", "continue")
    wanted = preferences("e2", 2.0, clients=10, largest=1.0)
    share = settings.get("rounds", 1) if settings.get("budget") == "run" else 1
    uploads = [make_upload(mechanism, p, size=size, **settings) for p in wanted]
    levels = [p.epsilon for p in wanted]
    return replay(Ledger(uploads, levels, [epsilon / share for epsilon in levels], on_exhausted, limit), chosen)


def curve(found: Ledger, client: int = 9) -> PrivacyCurve:
    spent = found.curve(client)
    assert spent is not None
    return spent


def test_a_client_spends_its_epsilon_on_every_weight_of_every_upload() -> None:
    found = book([[0, 9], [9], [9, 4]])
    assert found.counts().tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0, 3]
    assert found.counts(1).tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert found.per_weight() == pytest.approx([0.1, 0, 0, 0, 0.5, 0, 0, 0, 0, 3.0])
    assert curve(found).pure_epsilon == pytest.approx(3 * SIZE)
    assert found.curve(1) is None


@pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa"])
def test_the_whole_model_costs_what_the_vector_mechanism_says(mechanism: str) -> None:
    found = book([[9]] * 4, mechanism)
    vector = make(mechanism, epsilon=1.0, domain=Box(-1, 1, (SIZE,)))
    expected = privacy.compose(vector, count=4, delta=1e-5).epsilon
    assert found.spent(1e-5)[9] == pytest.approx(expected)
    assert found.spent(1e-5)[0] == 0.0
    assert found.largest(1e-5) == (9, pytest.approx(expected))


def test_one_upload_of_the_papers_model() -> None:
    """Epsilon 1 on each of 21,840 weights is 7,345 at delta 1e-5."""
    assert book([[9]]).spent(1e-5)[9] == pytest.approx(7345, rel=1e-2)


def test_more_uploads_never_cost_less_and_no_upload_is_free() -> None:
    found = book([[0, 1], [0], [0, 2]], size=50)
    by_round = [found.spent(1e-5, after) for after in range(4)]
    assert by_round[0] == [0.0] * 10
    for before, now in itertools.pairwise(by_round):
        assert all(b <= n for b, n in zip(before, now, strict=True))
    assert by_round[3] == found.spent(1e-5)
    assert book([]).largest(1e-5) is None


@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({}, [5] * 10),
        # its own epsilon, the number that the paper calls its budget, pays for one upload
        ({"on_exhausted": "stop"}, [1] * 10),
        # a budget of 1.2 a weight: floor(1.2 / epsilon) uploads, of 5 rounds at most
        ({"on_exhausted": "stop", "limit": 1.2}, [min(5, int(1.2 / e + 1e-9)) for e in LEVELS]),
        # a run's epsilon is split over its rounds, all of which it pays for
        ({"on_exhausted": "stop", "budget": "run", "rounds": 5, "mechanism": "privunit", "size": 30}, [5] * 10),
    ],
)
def test_a_client_stops_when_its_own_budget_is_spent(settings: dict[str, Any], counts: list[int]) -> None:
    assert book(EVERYONE, **settings).counts().tolist() == counts


@pytest.mark.parametrize("mechanism", ["privunit", "pdpm"])
def test_an_honest_budget_covers_the_whole_model_or_run(mechanism: str) -> None:
    assert curve(book([[9]], mechanism, budget="model", size=100)).pure_epsilon == pytest.approx(1.0)
    run = book([[9]] * 7, mechanism, budget="run", rounds=7, size=100)
    assert curve(run).pure_epsilon == pytest.approx(1.0)
    assert run.spent(1e-5)[9] <= 1.0 + 1e-9


def test_the_server_draws_other_clients_each_round_and_the_same_for_a_seed() -> None:
    draw = [selections(10, 0.7, 30, generator(seed)) for seed in (0, 0, 1)]
    assert draw[0] == draw[1] != draw[2]
    assert all(len(set(row)) == 7 and set(row) <= set(range(10)) for row in draw[0])
    assert len({tuple(row) for row in draw[0]}) > 10
