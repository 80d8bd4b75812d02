"""What clients ask for, and mistakes in it."""

import math

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.papers.pldp_fl.clients import (
    Preference,
    epsilon_levels,
    preferences,
    range_lengths,
)
from tensorldp_papers.papers.pldp_fl.rounds import selections


def test_modes_of_the_paper() -> None:
    """PLDP-FL, 6.1.3."""
    assert epsilon_levels("e1", 4, 0.2) == pytest.approx([0.1, 0.2, 0.1, 0.2])
    assert epsilon_levels("e2", 12, 1.0) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 0.1, 0.2])
    assert epsilon_levels("e3", 3, 1.0) == pytest.approx([0.9, 1.0, 0.9])
    assert range_lengths("t1", 3) == pytest.approx([0.2, 0.4, 0.2])
    assert range_lengths("t2", 11) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2, 0.2])
    assert range_lengths("t3", 2) == pytest.approx([1.8, 2.0])


def test_the_largest_client_has_the_given_epsilon_and_none_has_no_limit() -> None:
    assert max(epsilon_levels("e2", 100, 1000.0)) == 1000.0
    assert min(epsilon_levels("e2", 100, 1000.0)) == pytest.approx(100.0)
    assert epsilon_levels("e2", 2, math.inf) == [math.inf, math.inf]
    assert epsilon_levels("e2", 4, 0.2) == pytest.approx([0.05, 0.1, 0.15, 0.2])  # fewer clients than levels


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
        (lambda: selections(100, 1.2, 1, torch.Generator()), "participation = 1.2 asks for 120 participants of 100"),
    ],
)
def test_mistakes_name_the_client(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]


def test_participants_are_a_share_of_clients() -> None:
    for clients, participation, count in ((100, 0.7, 70), (3, 0.01, 1), (3, 1.0, 3)):
        assert [len(chosen) for chosen in selections(clients, participation, 2, torch.Generator())] == [count] * 2
