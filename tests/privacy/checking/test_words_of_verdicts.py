"""Verdicts speak of records and releases as the function has them; false alarms come once in 10^6 runs."""

# ruff: noqa: NPY002  what libraries draw from

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorldp.check import columns
from tensorldp.check.calls import Foreign
from tensorldp.check.check import REPEATS, check
from tensorldp.check.records import Categories, Numbers, Records, Rows
from tensorldp.check.target import Target
from tensorldp.domain import Ball, Box
from tensorldp.errors import InputError
from tensorldp.mechanisms import make

ROOMY: dict[str, Any] = {
    "minutes": 10.0,
    "rounds": 2,
    "samples": 256,
    "confidence": 1 - 1e-6,
    "dtypes": (),
}
COLOURS = ["red", "green", "blue", "grey"]
WORDS, LINE = Categories(COLOURS), Numbers(Box(0.0, 1.0, (1,)))
PERSON = Rows(age=range(0, 101), sex=["f", "m"])


def bits(colour: str, own_first: bool) -> dict[str, int]:
    """Optimized unary encoding at epsilon 1, as a dictionary; the order of its keys may tell the record."""
    order = sorted(COLOURS, key=lambda other: other != colour) if own_first else COLOURS
    return {one: int(random.random() < (0.5 if one == colour else 1.0 / (math.e + 1.0))) for one in order}


def test_the_order_of_a_dictionarys_keys_is_part_of_the_release() -> None:
    assert not check(lambda colour: bits(colour, False), domain=WORDS, claim_epsilon=1.0, **ROOMY).refuted
    assert check(lambda colour: bits(colour, True), domain=WORDS, claim_epsilon=1.0, **ROOMY).refuted


def test_counts_in_the_order_in_which_they_were_met_give_the_first_answer_away() -> None:
    def counts(colour: str) -> Counter[str]:
        return Counter([colour, *random.choices(COLOURS, k=40)])

    found = check(counts, domain=WORDS, claim_epsilon=1.0, **ROOMY)
    assert found.refuted


def test_an_order_that_has_nothing_to_do_with_the_record_refutes_nothing() -> None:
    def shuffled(colour: str) -> dict[str, int]:
        found = bits(colour, False)
        return dict(random.sample(list(found.items()), len(found)))

    assert not check(shuffled, domain=WORDS, claim_epsilon=1.0, **ROOMY).refuted


def test_keys_that_come_in_one_order_have_a_code_for_another_and_keys_in_any_order_have_places() -> None:
    alike = columns.learned([{"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": 5}])
    assert isinstance(alike, columns.Keys)
    assert alike.order == ("a", "b", "c")
    assert alike.row({"a": 1, "c": 2})[-1] == 0
    assert alike.row({"b": 2, "a": 1})[-1] != 0
    assert alike.row({"b": 2, "a": 1})[:-1] == alike.row({"a": 1, "b": 2})[:-1]
    varying = columns.learned([{"a": 1, "b": 2}, {"b": 2, "a": 1}])
    assert varying.row({"b": 7, "a": 8}) == [2, 8, 1, 7, 0]
    assert varying.names("") == [
        "the place of the key 'a'",
        "'a'",
        "the place of the key 'b'",
        "'b'",
        varying.names("")[-1],
    ]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([f"text {i}" for i in range(100)], ["a code of the release"]),  # few texts would be numbered
        ([(1, ["x", 2])], ["item 0", "item 1, item 0", "item 1, item 1"]),
        ([{"a", "b"}], ["whether it has 'a'", "whether it has 'b'", "a code of its other members"]),
        ([{"v": np.zeros(2)}], ["whether it has the key 'v'", "'v', element 0", "'v', element 1"]),
        ([[1], [1, 2]], ["its length", "item 0", "item 1", "a code of the items from 2 on"]),
    ],
)
def test_each_column_of_a_release_has_a_name(values: list[Any], names: list[str]) -> None:
    layout = columns.learned([columns.plain(value) for value in values])
    assert layout.names("")[: len(names)] == names
    assert len(layout.names("")) == layout.width
    assert not layout.is_plain


@pytest.mark.parametrize("value", [1.5, (1, 2.0), np.zeros((2, 2))])
def test_plain_numbers_need_no_names(value: Any) -> None:
    assert columns.learned([columns.plain(value)]).is_plain


def test_a_verdict_names_the_texts_that_it_tells_apart_and_shows_a_release() -> None:
    found = check(lambda colour: colour, domain=WORDS, claim_epsilon=1.0, **ROOMY)
    assert found.refuted
    (finding, *_) = found.findings
    assert finding.pair in ("x is 'red', x' is 'grey'", "x is 'grey', x' is 'red'")
    assert f"({finding.pair}; " in finding.text
    (likelier,) = re.findall(rf"{finding.likelier} is '(\w+)'", finding.pair)
    assert finding.example == repr(likelier)
    assert found.event.endswith(f", as in the release {likelier!r}")
    assert "a record is one of 4 categories, 'red' to 'grey'" in str(found)
    assert "a record is one of 4 categories, 'red' to 'grey'" in found.summary()


def test_a_verdict_on_rows_names_the_entry_of_a_dictionary() -> None:
    def bare(person: dict[str, Any]) -> dict[str, Any]:
        return {"age": np.random.normal(), "sex": person["sex"]}

    found = check(bare, domain=PERSON, claim_epsilon=1.0, **ROOMY)
    assert found.refuted
    assert "'sex': 'f'" in found.findings[0].pair
    assert "'sex': '" in found.findings[0].example
    names = Target.of(bare, PERSON)
    names.release(PERSON.nearest(torch.rand(2, 2, dtype=torch.float64)), torch.Generator().manual_seed(0))
    assert names.columns[1] == "'age'"
    assert names.columns[3] == "'sex'"


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (Numbers(Box(0.0, 1.0, (2, 3))), "2 x 3 float64 numbers from 0 to 1"),
        (LINE, "one float64 number from 0 to 1"),
        (Numbers(Box(0.0, 9.0, (4,)), integer=True), "4 whole numbers from 0 to 9"),
        (Numbers(Ball(2.0, (3,))), "3 float64 numbers in a ball of radius 2"),
        (Categories(8), "one of 8 categories, 0 to 7"),
        (PERSON, "a row of age, sex"),
    ],
)
def test_what_a_record_is_is_said_in_words(records: Records, words: str) -> None:
    assert Target.of(lambda x: x, records).record == words


def test_a_mechanisms_record_is_said_in_words_too() -> None:
    mechanism = make("laplace", epsilon=1.0, domain=Box(0.0, 1.0, (2,)))
    found = check(mechanism, **ROOMY | {"rounds": 1, "starts": 1})
    assert found.record == "2 float64 numbers from 0 to 1"


class Remembers:
    """A permanent randomized response of epsilon 1: a record has one answer, whenever it is asked for."""

    def __init__(self) -> None:
        self.answers: dict[int, int] = {}

    def answer(self, x: int) -> int:
        return self.answers.setdefault(x, x if random.random() < math.e / (math.e + 1.0) else 1 - x)


@pytest.mark.slow
def test_what_remembers_its_answers_is_noted_and_passes_where_it_is_made_anew_for_each_record() -> None:
    two = Categories(2)
    noted = [check(lambda: Remembers().answer, domain=two, claim_epsilon=1.0, seed=seed, **ROOMY) for seed in range(3)]
    assert any(found.refuted for found in noted)
    assert all((REPEATS in found.notes) == found.refuted for found in noted)
    assert not check(lambda x: Remembers().answer(x), domain=two, claim_epsilon=1.0, **ROOMY).refuted


def test_a_release_that_varies_is_not_said_to_repeat() -> None:
    found = check(lambda x: x + np.random.laplace(scale=0.1), domain=LINE, claim_epsilon=1.0, **ROOMY)
    assert found.refuted
    assert REPEATS not in found.notes


def test_copies_of_what_remembers_are_not_said_to_ignore_their_generator() -> None:
    for seed in range(5):
        target = Target.of(lambda: Remembers().answer, Categories(2))
        torch.manual_seed(seed)
        assert target.no_new_start(torch.zeros(1, dtype=torch.float64)) == ""


def test_a_refuted_function_that_then_fails_stays_refuted() -> None:
    calls = [0]

    def breaks(colour: str) -> str:
        calls[0] += 1
        if calls[0] > most[0]:
            raise RuntimeError("worn out")
        return colour

    most = [10**9]
    assert check(breaks, domain=WORDS, claim_epsilon=1.0, **ROOMY).refuted
    most[0], calls[0] = calls[0] - 100, 0  # what is drawn last are an example and repetitions
    found = check(breaks, domain=WORDS, claim_epsilon=1.0, **ROOMY)
    assert found.refuted
    assert found.findings[0].example in ("", "'red'", "'grey'")


def test_a_bound_that_is_no_more_than_the_claim_is_said_to_be_exceeded() -> None:
    found = check(lambda x: x + np.random.laplace(scale=0.1), domain=LINE, claim_epsilon=1.0, **ROOMY)
    assert found.epsilon_lower > 1.0
    assert found.proved.startswith("epsilon >= ")
    assert replace(found, epsilon_lower=1.0).proved == "epsilon > 1 at delta 0"
    assert replace(found, epsilon_lower=1.0, refuted=False).proved == "epsilon >= 1 at delta 0"


def raises_above(x: float) -> float:
    if x > 0.9:
        raise ValueError("out of range")
    return x


class TwoMethods:
    def first(self, x: float) -> float:
        return x

    def second(self, x: float) -> float:
        return x


def of_a_text(x: str) -> str:
    if x in COLOURS:
        return x
    raise KeyError(x)


@pytest.mark.parametrize(
    ("function", "domain", "message"),
    [
        (raises_above, LINE, r"failed after it had worked: ValueError: out of range, on the record 1\.0"),
        (TwoMethods, LINE, r"cannot be called: name one of its methods, first or second, as module:Class\.method"),
        (of_a_text, LINE, r"whose first record is 0\.0 \(one float64 number from 0 to 1\): KeyError"),
        (of_a_text, (0, 1), r"domain must be a Box, a Ball, Numbers, Categories or Rows, got \(0, 1\)"),
        (of_a_text, 4, r"domain must be a Box, .* got 4"),
    ],
)
def test_a_message_names_the_record_the_methods_or_the_domain(
    function: Callable[..., Any], domain: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check(function, domain=domain, claim_epsilon=1.0, **ROOMY)


def test_releases_are_kept_only_while_they_are_asked_for() -> None:
    function = Foreign("it", lambda colour: {"said": colour}, WORDS)
    points, source = torch.tensor([[0.0], [3.0]], dtype=torch.float64), torch.Generator().manual_seed(0)
    before = function(points, source)
    with function.keeping() as kept:
        rows = function(points, source)
    assert [kept[row.tobytes()] for row in rows] == ["{'said': 'red'}", "{'said': 'grey'}"]
    assert np.array_equal(function(points, source), before)
    assert len(kept) == 2


def test_a_function_of_torch_keeps_no_releases() -> None:
    def whole(x: Tensor, generator: torch.Generator) -> Tensor:
        return x

    found = check(whole, domain=Box(0.0, 1.0, (2,)), claim_epsilon=1.0, **ROOMY)
    assert found.refuted
    assert found.findings[0].example == ""
