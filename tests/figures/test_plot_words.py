"""Numbers and labels in figures and on pages."""

import math

from tensorldp_papers.plots.words import epsilon_label, json_number, power_number, short_number, whole_number


def test_large_numbers_keep_their_digits_or_have_three() -> None:
    assert [whole_number(v) for v in (0.01234, 99.0, 4941.0, math.inf)] == ["0.0123", "99", "4,941", "∞"]
    assert [short_number(v) for v in (0.01234, 99.96, 4941.0, math.inf)] == ["0.0123", "100", "4,940", "∞"]


def test_powers_of_ten_stand_for_many_zeros() -> None:
    assert [power_number(v) for v in (0.1, 100.0, 1e4, 1e6)] == ["0.1", "100", "1e4", "1e6"]


def test_json_has_no_infinity_and_few_digits() -> None:
    assert [json_number(v) for v in (1 / 3, math.inf, math.nan)] == [0.333333, None, None]
    assert json_number(1 / 3, 2) == 0.33


def test_each_epsilon_axis_says_what_it_is_of() -> None:
    assert epsilon_label("guaranteed", "record") == "guaranteed ε of the whole record at δ = 1e-5 (nats)"
    nominal = epsilon_label("nominal", "record", of=" of the whole record")
    assert nominal == "nominal ε of the whole record, as the source writes it (nats)"
    assert epsilon_label("pure", "run", without=", atoms removed").endswith("whole run, atoms removed (nats)")
