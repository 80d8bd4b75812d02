"""Numbers and labels in figures and on pages."""

import math

from tensorldp_papers.plots.names import dataset_name, in_order, variant_words
from tensorldp_papers.plots.words import (
    axis_number,
    json_number,
    listed,
    printed_axis,
    short_number,
    true_axis,
    whole_number,
)


def test_large_numbers_keep_their_digits_or_have_three() -> None:
    assert [whole_number(v) for v in (0.01234, 99.0, 4941.0, math.inf)] == ["0.0123", "99", "4,941", "∞"]
    assert [short_number(v) for v in (0.01234, 99.96, 4941.0, math.inf)] == ["0.0123", "100", "4,940", "∞"]


def test_json_has_no_infinity_and_few_digits() -> None:
    assert [json_number(v) for v in (1 / 3, math.inf, math.nan)] == [0.333333, None, None]
    assert json_number(1 / 3, 2) == 0.33


def test_axis_numbers_are_plain_and_then_powers() -> None:
    values = (0.0, 0.001, 0.25, 10.0, 1000.0, 10_000.0, 1e5, 2.5e6)
    assert [axis_number(v) for v in values] == ["0", "0.001", "0.25", "10", "1,000", "10,000", "10⁵", "2.5 × 10⁶"]


def test_each_epsilon_axis_says_what_it_is_of() -> None:
    assert true_axis("record") == "guaranteed ε, of one whole record (nats, δ = 1e-5)"
    assert true_axis("run", pure=True) == "guaranteed ε, of one whole run (nats)"
    assert printed_axis("pixel") == "printed ε, of one pixel (nats)"


def test_names_are_listed_as_in_a_sentence() -> None:
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_settings_and_data_are_called_what_people_call_them() -> None:
    assert [dataset_name(key) for key in ("fashion_mnist", "cifar10", "mine")] == ["Fashion-MNIST", "CIFAR-10", "mine"]
    assert in_order(["mine", "cifar10", "mnist"]) == ["mnist", "cifar10", "mine"]
    assert variant_words("backbone=lenet_tanh,model=lenet_tanh_head,unit=batch") == (
        "features of LeNet with tanh, LeNet with tanh, noise for a batch"
    )
