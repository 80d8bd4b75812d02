"""Bets against a claimed guarantee."""

import math

import numpy as np
import pytest

from tensorldp.check.betting import make_bet
from tensorldp.check.events import Event, best_lead, lead_of, strongest


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize(("hits", "others"), [(990, 3), (200, 10), (1000, 0), (500, 20)])
def test_no_bet_gains_on_average_where_the_claim_holds(epsilon: float, delta: float, hits: int, others: int) -> None:
    found = make_bet(hits, others, 1000, epsilon, delta)
    if found is None:
        return
    bet, growth = found
    assert growth > 0.0
    for q in np.linspace(0.0, 1.0, 41):
        for p in np.linspace(0.0, min(1.0, math.exp(epsilon) * q + delta), 21):
            mean = sum(
                (p if a else 1 - p) * (q if b else 1 - q) * math.exp(bet.log_value(a, b, 1))
                for a in (0, 1)
                for b in (0, 1)
            )
            assert mean <= 1.0 + 1e-9


def test_there_is_no_bet_against_what_the_counts_allow() -> None:
    assert make_bet(270, 100, 1000, 1.0, 0.0) is None
    assert make_bet(290, 100, 1000, 1.0, 0.05) is None
    assert make_bet(900, 100, 1000, 1.0, 0.0) is not None


def test_the_growth_is_what_a_block_gains_on_average() -> None:
    found = make_bet(800, 100, 1000, 1.0, 0.0)
    assert found is not None
    bet, growth = found
    blocks = 1_000_000
    hits, others = round(blocks * 800.5 / 1001), round(blocks * 100.5 / 1001)
    assert bet.log_value(hits, others, blocks) / blocks == pytest.approx(growth, rel=1e-3)


def test_the_best_event_is_the_one_that_tells_the_records_apart() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2, 4000))
    columns = {"nothing": (noise[0], noise[1]), "shifted": (rng.standard_normal(4000) + 3, rng.standard_normal(4000))}
    lead = best_lead(columns, ((1.0, 0.0), (0.0, 0.5)))
    assert lead is not None
    assert lead.event.statistic == "shifted"
    assert lead.bet is not None
    event, bound = strongest(columns, 0.0, 0.05)
    assert event.statistic == "shifted"
    assert bound > 3.0


def test_an_event_counts_either_way_and_a_lead_adds_up() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    above = Event("s", 2.0, True, False, 0.0, 0.0)
    below = Event("s", 2.0, False, False, 0.0, 0.0)
    assert (above.hits(values), below.hits(values)) == (2, 3)
    lead = lead_of(above, 90, 10, 100).after(90, 10, 100)
    assert (lead.hits, lead.other_hits, lead.trials) == (180, 20, 200)
