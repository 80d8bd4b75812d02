"""PLDP-FL's clients: what they ask for, how their models leave them, and what they spend."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from scipy.stats import norm
from torch import Tensor

from tensorldp import privacy
from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp.randomness import generator
from tensorldp_papers.papers.pldp_fl.clients import (
    Ledger,
    Preference,
    epsilon_levels,
    epsilon_of,
    make_upload,
    preferences,
    range_lengths,
    release_all,
)
from tensorldp_papers.papers.pldp_fl.rounds import replay, selections

CLIENT = Preference(0, 1.0, -0.5, 0.5)
MANY = 200_000
each_mechanism = pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa", "duchi", "piecewise"])


def test_modes_of_the_paper() -> None:
    """PLDP-FL, 6.1.3; the largest client has the given epsilon."""
    assert epsilon_levels("e1", 4, 0.2) == pytest.approx([0.1, 0.2, 0.1, 0.2])
    assert epsilon_levels("e2", 12, 1.0) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 0.1, 0.2])
    assert epsilon_levels("e3", 3, 1.0) == pytest.approx([0.9, 1.0, 0.9])
    assert epsilon_levels("e2", 10, 1000.0) == pytest.approx([100.0 * i for i in range(1, 11)])
    assert epsilon_levels("e2", 4, 0.2) == pytest.approx([0.05, 0.1, 0.15, 0.2])  # fewer clients than levels
    assert epsilon_levels("e2", 2, math.inf) == [math.inf, math.inf]
    assert range_lengths("t1", 3) == pytest.approx([0.2, 0.4, 0.2])
    assert range_lengths("t2", 11) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2, 0.2])
    assert range_lengths("t3", 2) == pytest.approx([1.8, 2.0])


def test_ranges_lie_about_their_centre() -> None:
    found = preferences("same", 1.2, clients=2, largest=1.0, centre=0.4)
    assert [(p.client, p.epsilon) for p in found] == [(0, 1.0), (1, 1.0)]
    assert (found[0].low, found[0].high) == pytest.approx((-0.2, 1.0))  # an example of PLDP-FL, 6.1.3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: preferences([0.5, 0.0], "t1", clients=4, largest=1.0), "epsilon of client 1 must be .* got 0"),
        (lambda: preferences("e1", [0.2, 0.4, 0.0], clients=4, largest=1.0), "safe range of client 2 must be .* got 0"),
        (lambda: preferences([0.5, 1e-300], "t1", clients=4, largest=1.0), "epsilon of client 1 .* got 1e-300"),
        (lambda: preferences("same", "t1", clients=4, largest=1e150), r"epsilon of client 0 .* got 1e\+150"),
        (lambda: Preference(7, 0.0, -1, 1), "epsilon of client 7 must be"),
        (lambda: Preference(7, 1.0, 0.3, 0.3), r"safe range of client 7 must have a width above 0, got \[0.3, 0.3\]"),
        (lambda: make_upload("none", CLIENT, size=4), "client 0 has a finite epsilon but the mechanism none"),
        (
            lambda: make_upload("privunit", CLIENT, size=4, budget="model", centre="global"),
            "centre is 'global', but a budget of a model has no safe ranges",
        ),
    ],
)
def test_mistakes_name_the_client_or_the_key(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize(("clients", "participation", "count"), [(100, 0.7, 70), (3, 0.01, 1), (3, 1.0, 3)])
def test_participants_are_a_share_of_clients(clients: int, participation: float, count: int) -> None:
    assert [len(chosen) for chosen in selections(clients, participation, 2, generator())] == [count] * 2


def assert_mean(released: Tensor, expected: Tensor | float, false_alarm: float = 5e-7) -> None:
    """The mean over the first axis is the expected one, up to its standard error."""
    limit = norm.isf(false_alarm) * released.double().std(0) / math.sqrt(len(released))
    assert bool(((released.double().mean(0) - expected).abs() < limit).all())


@each_mechanism
def test_a_weight_is_released_unbiased_and_clipped_to_the_safe_range(mechanism: str) -> None:
    zero, about = (make_upload(mechanism, CLIENT, size=MANY, centre=centre) for centre in ("zero", "global"))
    for weight, inside in ((0.2, 0.2), (3.0, 0.5), (math.nan, 0.0), (-math.inf, -0.5)):
        start, own = torch.full((MANY,), 7.0), torch.full((MANY,), weight)
        assert_mean(zero.release(start, own, generator()), inside)
        assert_mean(about.release(start, start + own, generator()), 7.0 + inside)  # the change from what was sent


@each_mechanism
def test_the_guarantee_of_a_weight_does_not_depend_on_the_centre(mechanism: str) -> None:
    zero, about = (make_upload(mechanism, CLIENT, size=50, centre=centre) for centre in ("zero", "global"))
    assert zero.per_weight == about.per_weight == 1.0
    for delta in (0.0, 1e-5):
        assert zero.curve().epsilon(delta) == about.curve().epsilon(delta)


def test_a_whole_model_is_clipped_in_l2_and_released_unbiased() -> None:
    start, change = torch.linspace(-1, 1, 20), torch.linspace(0, 3, 20)
    upload = make_upload("privunit", Preference(0, 8.0, -0.5, 0.5), size=20, budget="model", clip=2.0)
    noise = generator()
    released = torch.stack([upload.release(start, start + change, noise) for _ in range(300)])
    assert_mean(released, start + change * (2.0 / float(change.norm())), 5e-7 / 20)
    diverged = upload.release(start, torch.full((20,), math.nan), noise)  # says nothing but noise
    assert bool(diverged.isfinite().all())


def test_a_model_of_many_weights_is_clipped_to_the_ball_and_not_refused() -> None:
    upload = make_upload("gaussian-analytic", CLIENT, size=MANY, budget="model", clip=0.1 * math.sqrt(MANY))
    change = torch.full((MANY,), 3.0)
    domain = upload.mechanism.given_domain
    assert domain.excess(domain.project(change.unsqueeze(0))) <= 0.0
    assert_mean(upload.release(torch.zeros(MANY), change, generator()), 0.1)


def test_none_uploads_the_model_itself() -> None:
    upload = make_upload("none", Preference(0, math.inf, -1, 1), size=4)
    own = torch.tensor([5.0, -5.0, 0.1, 0.0])
    assert torch.equal(upload.release(torch.zeros(4), own, generator()), own)
    assert upload.curve().atom == 1.0


# what they spend

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
    model = book([[9]], mechanism, budget="model", size=100)
    assert curve(model).pure_epsilon == pytest.approx(1.0)
    assert model.uploads[9].per_weight == (pytest.approx(1.0 / 100) if mechanism == "pdpm" else None)
    run = book([[9]] * 7, mechanism, budget="run", rounds=7, size=100)
    assert curve(run).pure_epsilon == pytest.approx(1.0)
    assert run.spent(1e-5)[9] <= 1.0 + 1e-9


def test_the_server_draws_other_clients_each_round_and_the_same_for_a_seed() -> None:
    draw = [selections(10, 0.7, 30, generator(seed)) for seed in (0, 0, 1)]
    assert draw[0] == draw[1] != draw[2]
    assert all(len(set(row)) == 7 and set(row) <= set(range(10)) for row in draw[0])
    assert len({tuple(row) for row in draw[0]}) > 10


@pytest.mark.parametrize("centre", ["zero", "global"])
@each_mechanism
def test_a_client_releases_the_same_bits_alone_and_with_others(mechanism: str, centre: str) -> None:
    clients = preferences("e2", "t2", clients=12, largest=1.0)
    uploads = [make_upload(mechanism, client, size=40, centre=centre) for client in clients]
    start, own = torch.linspace(-0.1, 0.1, 40), 0.3 * torch.randn(12, 40, generator=generator("own"))
    own[3, 5] = math.nan
    together = release_all(uploads, start, own, [generator("noise", i) for i in range(12)])
    alone = [upload.release(start, own[i], generator("noise", i)) for i, upload in enumerate(uploads)]
    assert torch.equal(together, torch.stack(alone))
    assert len(together.unique(dim=0)) == 12


@pytest.mark.parametrize("mechanism", ["privunit", "gaussian-analytic"])
def test_a_client_releases_the_same_whole_model_alone_and_with_others(mechanism: str) -> None:
    uploads = [make_upload(mechanism, CLIENT, size=40, budget="model", delta=1e-5)] * 4
    start, own = torch.zeros(40), torch.randn(4, 40, generator=generator("own"))
    together = release_all(uploads, start, own, [generator("noise", i) for i in range(4)])
    alone = [upload.release(start, own[i], generator("noise", i)) for i, upload in enumerate(uploads)]
    assert torch.equal(together, torch.stack(alone))


def test_uploads_of_other_ranges_have_their_curves_epsilon() -> None:
    """The range of a weight takes no part in what PDPM guarantees."""
    narrow, wide = (make_upload("pdpm", Preference(0, 1.0, -end, end), size=3) for end in (0.5, 2.0))
    assert epsilon_of(narrow, 4, 1e-5) == epsilon_of(wide, 4, 1e-5) == narrow.curve().compose(4).epsilon(1e-5)
    assert epsilon_of(narrow, 5, 1e-5) > epsilon_of(narrow, 4, 1e-5) > epsilon_of(narrow, 0, 1e-5) == 0.0
