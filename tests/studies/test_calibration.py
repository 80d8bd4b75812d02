import pytest

from tensorldp.calibration import calibrate, true_epsilon
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, make


@pytest.mark.parametrize("name", ["tldp-l", "laplace", "idn", "gaussian-analytic"])
@pytest.mark.parametrize("epsilon", [0.5, 30.0])
def test_the_true_epsilon_is_the_one_asked_for_and_not_more(name: str, epsilon: float) -> None:
    domain = Box(0.0, 1.0, (4, 4))
    found = calibrate(lambda e: make(name, epsilon=e, domain=domain), epsilon, 1e-5)
    assert epsilon * (1 - 1e-5) <= true_epsilon(found, 1e-5) <= epsilon


def test_a_mechanism_that_exceeds_its_nominal_epsilon_by_little_exceeds_none_that_is_asked_for() -> None:
    domain = Box(0.0, 1.0, (2,))
    found = calibrate(lambda e: make("duchi", epsilon=e, domain=domain, ties="printed"), 12.0, 1e-5)
    assert 12.0 * (1 - 1e-6) <= true_epsilon(found, 0.0) <= 12.0


@pytest.mark.parametrize("epsilon", [1000.0, 1e4, 1e6])
def test_a_true_epsilon_that_grows_like_a_square_is_met_as_well(epsilon: float) -> None:
    domain = Box(0.0, 1.0, (6,))
    found = calibrate(lambda e: make("gaussian-classical", epsilon=e, domain=domain), epsilon, 1e-5)
    assert epsilon * (1 - 1e-6) <= true_epsilon(found, 1e-5) <= epsilon


def test_a_mechanism_that_keeps_its_word_is_left_alone() -> None:
    found = calibrate(lambda e: make("privunit", epsilon=e, domain=Ball(1.0, (8,)), lift=False), 2.0, 1e-5)
    assert found.epsilon == 2.0


def test_a_guarantee_that_no_nominal_epsilon_gives_is_refused() -> None:
    fixed = make("laplace", epsilon=5.0, domain=Box(0.0, 1.0, (2,)))
    with pytest.raises(InputError, match="no nominal epsilon of laplace"):
        calibrate(lambda _: fixed, 1.0, 1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_one_that_an_atom_makes_infinite_is_refused_in_words(epsilon: float) -> None:
    domain = Box(0.0, 1.0, (6,))
    with pytest.raises(InputError, match="no nominal epsilon of tldp-g"):
        calibrate(lambda e: make("tldp-g", epsilon=e, domain=domain), epsilon, 1e-5)
