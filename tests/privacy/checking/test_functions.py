"""Functions as they are: how they are called and what they return; false alarms come once in 10^6 runs."""

# ruff: noqa: NPY002  what libraries draw from

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from torch import Tensor

from tensorldp.check import calls, columns, decoding
from tensorldp.check.calls import Foreign
from tensorldp.check.check import check
from tensorldp.check.records import Categories, Column, Numbers, Records, Rows
from tensorldp.check.target import Target
from tensorldp.domain import Box
from tensorldp.errors import InputError

ROOMY: dict[str, Any] = {
    "minutes": 10.0,
    "rounds": 1,
    "starts": 1,
    "samples": 256,
    "confidence": 1 - 1e-6,
    "dtypes": (),
}
EIGHT, LINE = Categories(8), Numbers(Box(0.0, 1.0, (1,)))
KEPT = math.e / (math.e + 7.0)  # by randomized response of eight categories at epsilon 1
LESS = math.e**3 / (math.e**3 + 7.0)  # at epsilon 3


def points(records: Records, count: int = 50) -> Tensor:
    drawn = torch.rand(count, *records.domain.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    box = records.domain.as_box()
    return records.nearest(drawn * box.width + box.low)


def released(function: Callable[..., Any], records: Records, **options: Any) -> Any:
    return Foreign("it", function, records, **options)(points(records), torch.Generator().manual_seed(0))


def answer(record: int, kept: float = KEPT) -> int:
    return record if np.random.random() < kept else (record + np.random.randint(1, 8)) % 8


# what a function is given


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (EIGHT, int),
        (Categories(["No", "Yes", "Unknown"]), str),
        (LINE, float),
        (Numbers(Box(0.0, 9.0, (1,)), integer=True), int),
        (Numbers(Box(0.0, 9.0, (3,)), integer=True), np.ndarray),
        (Rows(age=range(121), income=(0.0, 1e5), kind=["a", "b"]), dict),
    ],
)
def test_a_record_has_the_type_that_its_kind_says(records: Records, expected: type) -> None:
    seen: list[Any] = []

    def kept(record: Any) -> float:
        seen.append(record)
        return 0.0

    released(kept, records)
    assert {type(record) for record in seen} == {expected}
    if expected is np.ndarray:
        assert {record.dtype.kind for record in seen} == {"i"}
    if expected is int:
        assert {*range(8)} <= {*seen}
    if expected is str:
        assert {*seen} == {"No", "Yes", "Unknown"}


def test_a_row_holds_a_value_of_each_column() -> None:
    seen: list[dict[str, Any]] = []

    def kept(row: dict[str, Any]) -> float:
        seen.append(row)
        return 0.0

    released(kept, Rows(age=range(121), income=(-1.0, 1e5), kind=["a", "b"]))
    assert {type(row["age"]) for row in seen} == {int}
    assert {0, 120} <= {row["age"] for row in seen} <= {*range(121)}
    assert all(-1.0 <= row["income"] <= 1e5 for row in seen)
    assert {row["kind"] for row in seen} == {"a", "b"}


def test_a_batch_of_rows_is_a_data_frame_and_of_texts_an_array() -> None:
    seen: list[Any] = []

    def kept(batch: Any) -> Any:
        seen.append(batch)
        return np.zeros(len(batch))

    released(kept, Rows(x=(0.0, 1.0), kind=["a", "b"]), way="batch")
    released(kept, Categories(["a", "b"]), way="batch")
    assert isinstance(seen[0], pandas.DataFrame)
    assert list(seen[0]) == ["x", "kind"]
    assert isinstance(seen[-1], np.ndarray)
    assert seen[-1].dtype.kind == "U"


def test_float32_records_come_as_float32() -> None:
    seen: list[Any] = []

    def kept(x: Any, rng: Any) -> Any:
        seen.append(x.dtype)
        return x

    target = Target.of(kept, Box(0.0, 1.0, (2,)), torch.float32)
    target.release(torch.zeros(3, 2, dtype=torch.float64), torch.Generator().manual_seed(0))
    assert {*map(str, seen)} <= {"float32", "torch.float32"}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Categories(1), "categories must be a whole number of at least 2"),
        (lambda: Categories(["a", "a"]), "categories must be two different values or more"),
        (lambda: Categories("abc"), "categories must be a number or a list of values"),
        (lambda: Numbers(Box(0.0, 1.5, (1,)), integer=True), "whole numbers need a box between whole numbers"),
        (lambda: Rows(), "rows need a column or more"),
        (lambda: Rows(age=3), "column 'age' must be two ends"),
        (lambda: Rows(age=(1.0, 0.0)), "column 'age' needs low < high"),
        (lambda: Rows(age=range(3, 4)), "column 'age' must be a range of two whole numbers or more"),
        (lambda: Rows(kind=["a", "a"]), "column 'kind' must be two ends"),
    ],
)
def test_kinds_of_records_that_make_no_sense_are_refused(made: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made()


def test_pairs_of_rows_reach_every_value_of_a_listed_column() -> None:
    rows = Rows(x=(0.0, 1.0), kind=["a", "b", "c"])
    values = {rows.given(x[None])[0]["kind"] for _, x, _ in rows.pairs()}
    assert values == {"a", "b"}
    assert all(rows.given(other[None])[0]["kind"] == "c" for _, _, other in rows.pairs())
    assert Column.of("age", range(3)).cells(np.array([0.0, 0.5, 1.0])) == [0, 1, 2]


# how it is called


def of_numpy(x: float, rng: np.random.Generator) -> float:
    return x + rng.laplace()


def of_python(x: float, rng: random.Random) -> float:
    return x + rng.gauss(0.0, 1.0)


def of_state(x: float, random_state: Any = None) -> float:
    return float(x + random_state.standard_normal())


def of_seed(x: float, *, seed: int | None = None) -> float:
    return float(x + np.random.default_rng(seed).laplace())


def of_a_second_one(x: float, g: Any) -> float:
    return float(x + g.laplace())


def of_python_unnamed(x: float, g: Any) -> float:
    return x + float(g.gauss(0.0, 1.0))


def of_global_states(x: float) -> float:
    return float(x + np.random.laplace() + random.random() + float(torch.randn(1)))


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (of_numpy, "numpy"),
        (of_python, "python"),
        (of_state, "state"),
        (of_seed, "seed"),
        (of_a_second_one, "numpy"),
        (of_python_unnamed, "python"),
        (of_global_states, "global"),
        (lambda x, generator: x + torch.randn(x.shape, generator=generator), "torch"),
        (lambda x, g: x + torch.randn(x.shape, generator=g), "torch"),
    ],
)
def test_the_randomness_that_a_function_takes_is_noticed_and_seeded(function: Callable[..., Any], kind: str) -> None:
    foreign = Foreign("it", function, LINE)
    first, again, other = (
        np.asarray(foreign(points(LINE), torch.Generator().manual_seed(seed))).reshape(-1) for seed in (1, 1, 2)
    )
    assert foreign.found[0].randomness == kind
    assert foreign.notes == []
    assert (first == again).all()
    assert (first != other).all()
    assert len({*np.round(first - points(LINE).reshape(-1).numpy(), 9)}) == 50


def test_random_states_of_the_program_are_put_back() -> None:
    np.random.seed(5)
    random.seed(5)
    torch.manual_seed(5)
    expected = np.random.random(), random.random(), float(torch.rand(1))
    np.random.seed(5)
    random.seed(5)
    torch.manual_seed(5)
    released(of_global_states, LINE)
    assert (np.random.random(), random.random(), float(torch.rand(1))) == expected


def test_a_source_that_no_seed_reaches_is_told_of() -> None:
    own = np.random.default_rng()
    found = check(lambda x: x + own.laplace(scale=2.0), domain=LINE, claim_epsilon=1.0, **ROOMY)
    assert found.notes == (calls.OWN_SOURCE,)
    assert "note: it draws from a source of its own" in str(found)


class FirstIsBare:
    """Adds no noise at its first call."""

    def __init__(self, scale: float = 2.0) -> None:
        self.scale, self.calls = scale, 0

    def __call__(self, x: float) -> float:
        self.calls += 1
        return x if self.calls == 1 else x + float(np.random.laplace(scale=self.scale))


@pytest.mark.slow
@pytest.mark.parametrize("made", [FirstIsBare, lambda: FirstIsBare(2.0)])
def test_what_a_class_does_at_its_first_call_is_tried(made: Any) -> None:
    found = check(made, domain=LINE, claim_epsilon=1.0, minutes=10.0, rounds=2, starts=1)
    assert found.refuted
    assert found.findings[0].view == "one of the first releases"


def test_a_function_that_cannot_be_called_says_what_was_tried() -> None:
    with pytest.raises(InputError, match=r"it cannot be called; with a batch and torch's generator: TypeError.*Python"):
        released(lambda x, other: x + other, LINE)
    with pytest.raises(InputError, match="makes a float, which cannot be called"):
        released(lambda: 1.0, LINE)


def of_three(x: float, epsilon: float, context: str) -> float:
    return x + float(np.random.laplace(scale=1 / epsilon)) * len(context)


def of_two(x: float, table: dict[str, float]) -> float:
    return x + float(np.random.laplace(scale=table["scale"]))


def of_one_and_a_generator(x: float, drawn_by: np.random.Generator, *, scale: float) -> float:
    return x + drawn_by.laplace(scale=scale)


@pytest.mark.parametrize(
    ("function", "missing"),
    [(of_three, "epsilon and context"), (of_two, "table"), (of_one_and_a_generator, "scale")],
)
def test_a_parameter_that_is_no_randomness_is_not_given_a_generator(function: Callable[..., Any], missing: str) -> None:
    with pytest.raises(InputError, match=f"it needs {missing} beside a record"):
        released(function, LINE)


def test_a_finding_names_the_categories_that_it_tells_apart() -> None:
    found = check(lambda word: word, domain=Categories(["No", "Yes"]), claim_epsilon=1.0, **ROOMY)
    assert found.refuted
    assert re.search(
        r"\((x is 'No', x' is 'Yes'|x is 'Yes', x' is 'No'); \d+ releases of each\)", found.findings[0].text
    )


def test_a_lower_bound_above_the_claim_refutes_it() -> None:
    """With 256 bets a search cannot win enough against this claim; the sample of the bound is larger."""
    found = check(
        lambda word: word, domain=Categories(["No", "Yes"]), claim_epsilon=4.2, **ROOMY | {"confidence": 0.95}
    )
    assert found.refuted
    assert found.epsilon_lower > 4.2
    assert found.findings[0].log_evidence == pytest.approx(math.log(200.0))


def test_few_texts_are_numbered_and_a_verdict_says_how() -> None:
    found = check(lambda word: (1.0, word), domain=Categories(["No", "Yes"]), claim_epsilon=1.0, **ROOMY)
    assert "note: texts are numbered: element 1 is 0 for 'No', 1 for 'Yes'" in str(found)
    layout = columns.learned(["No", "Yes", "No"])
    assert layout.rows(["Yes", "No"]).tolist() == [[1], [0]]
    other = layout.rows(["Never", 0, "Never"])[:, 0].tolist()
    assert other[0] == other[2]
    assert len({*other, 0, 1}) == 4
    assert columns.learned([str(number) for number in range(columns.MOST_NAMED + 1)]) == columns.One(True, True)


class OfABudget:
    """Releases two records, and no more."""

    def __init__(self) -> None:
        self.left = 2

    def __call__(self, x: float) -> float:
        self.left -= 1
        if self.left < 0:
            raise ValueError("nothing is left of the budget")
        return x + float(np.random.laplace())


def test_a_function_that_fails_after_it_worked_is_told_of_budgets() -> None:
    with pytest.raises(InputError, match=r"it failed after it had worked: ValueError: nothing is left.*anew for each"):
        released(OfABudget, LINE)
    with pytest.raises(ValueError, match=r"^never$"):
        released(never, LINE)


def never(x: float) -> float:
    raise ValueError("never")


# what it returns


class OtherArray:
    """An array of another library: its items are arrays of no dimension, which have no items."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.value

    def __iter__(self) -> Any:
        if not self.value.ndim:
            raise TypeError("iteration over a 0-d array")
        return map(OtherArray, self.value)


@pytest.mark.parametrize(
    ("value", "width"),
    [
        (3, 1),
        (OtherArray(1.5), 1),
        (OtherArray([[1.5, 2.5]]), 2),
        ((OtherArray([1, 2]), OtherArray(3)), 3),
        (3.5, 1),
        (True, 1),
        ("Yes", 1),
        (None, 1),
        (b"ab", 1),
        (2 + 1j, 2),
        ((1, "a", 2.5), 3),
        ([1, [2, 3]], 3),
        ({"b": 1, "a": "x"}, 5),
        ({0, 3}, 9),
        (frozenset({1}), 9),
        (np.zeros((2, 3)), 6),
        (np.array(["a", "b"]), 2),
        (np.float32(1.5), 1),
        (np.array(3), 1),
        (torch.zeros(2, 2), 4),
        (torch.tensor(1.0), 1),
        (pandas.Series([1, 2, 3]), 3),
        (pandas.DataFrame({"a": [1], "b": [2.0]}), 2),
        (iter([1, 2]), 2),
        (range(3), 3),
        (2**70, 1),
    ],
)
def test_any_release_becomes_columns(value: Any, width: int) -> None:
    kept = list(value) if hasattr(value, "__next__") else None
    found = released(lambda x: iter(kept) if kept is not None else value, EIGHT)
    assert found.shape == (50, width)
    assert (found == found[0]).all()


def test_rows_of_different_length_keep_all_their_items() -> None:
    found = released(lambda x: list(range(x)), EIGHT)
    places = points(EIGHT).reshape(-1).long().numpy()
    assert found.shape == (50, 2 + 7)
    assert (found[:, 0] == places).all()
    assert (found[:, 1:8].sum(axis=1) == places * (places - 1) // 2).all()
    assert (found[:, 8] == 0).all()


def test_what_is_longer_than_anything_before_is_not_lost() -> None:
    layout = columns.learned([(1,), (1, 2)])
    rows = layout.rows([(1, 2), (1, 2, 3), (1, 2, 4)])
    assert rows[0, -1] == 0
    assert len({*rows[:, -1]}) == 3
    keys = columns.learned([{"a": 1}]).rows([{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 3}])
    assert len({*keys[:, -1]}) == 3
    members = columns.learned([frozenset({1})]).rows([frozenset(), frozenset({1}), frozenset({2}), frozenset({3})])
    assert len({tuple(row) for row in members.tolist()}) == 4


def test_whole_numbers_stay_exact_and_beyond_floats_become_codes() -> None:
    seeds = [(2**60 + step, 1) for step in range(5)]
    assert len({*columns.learned(seeds).rows(seeds)[:, 0]}) == 5
    mixed = [(2**60 + step, 1.5) for step in range(5)]
    assert len({*columns.learned(mixed).rows(mixed)[:, 0]}) == 5
    huge = np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)
    assert len({*columns.learned([huge]).rows([huge])[0].tolist()}) == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, (1, 2)], "releases must be alike: some are lists and some single values"),
        ([(), ()], "releases are all empty"),
    ],
)
def test_releases_without_a_common_form_are_refused(values: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        columns.learned(values)


@pytest.mark.parametrize(
    ("seen", "later", "message"),
    [
        ([1, 2], 1.5, "one has a float where those before had whole numbers"),
        ([1, 2], (1, 2), "those before had one value"),
        ([(1, 2)], (1, 2, 3), "those before had 2 items"),
        ([{1}], 3, "those before had a set"),
        ([{"a": 1}], 3, "those before had a dictionary"),
        ([np.zeros(2)], np.zeros(3), r"those before had an array of shape \(2,\)"),
        ([(1,), (1, 2)], 3, "those before had a list"),
    ],
)
def test_a_release_of_another_form_than_before_is_told_of(seen: list[Any], later: Any, message: str) -> None:
    layout = columns.learned([columns.plain(value) for value in seen])
    with pytest.raises(InputError, match=message):
        layout.rows([columns.plain(later)])


def test_a_release_of_which_nothing_can_be_read_is_refused_with_the_cure() -> None:
    with pytest.raises(InputError, match="got an object: return what it holds, or say by decode"):
        released(lambda x: object(), EIGHT)


@pytest.mark.parametrize("shape", ["tuple of columns", "dictionary of columns", "list of rows", "data frame"])
def test_a_batch_may_come_back_in_any_order_of_rows_and_columns(shape: str) -> None:
    def batch(x: Any) -> Any:
        names, rows = np.array(["a", "b", "c", "d", "e", "f", "g", "h"])[x], x * 2
        return {
            "tuple of columns": (rows, names),
            "dictionary of columns": {"rows": rows, "names": names},
            "list of rows": list(zip(rows.tolist(), names.tolist(), strict=True)),
            "data frame": pandas.DataFrame({"rows": rows, "names": names}),
        }[shape]

    found = released(batch, EIGHT, way="batch")
    places = points(EIGHT).reshape(-1).long().numpy()
    column = 1 if shape == "dictionary of columns" else 0
    texts = found[:, 3] if shape == "dictionary of columns" else found[:, 1]
    if shape == "dictionary of columns":  # names before rows, each with whether it is there
        assert (found[:, 3] == places * 2).all()
        texts = found[:, column]
    else:
        assert (found[:, column] == places * 2).all()
    assert len({*texts.tolist()}) == len({*places.tolist()})


# what a check then finds


def bits(record: int, flipped: float) -> set[int]:
    return {k for k in range(8) if (k == record) != (np.random.random() < flipped)}


def texts(record: str, kept: float) -> str:
    return record if random.random() < kept else random.choice(["a", "b", "c"])


def ordered_set(record: int) -> list[int]:
    """Releases three categories of which the true one, if there at all, comes first."""
    others = np.random.permutation([k for k in range(8) if k != record])
    return [record, *others[:2].tolist()] if np.random.random() < 0.55 else others[:3].tolist()


def noisy_row(row: dict[str, Any], scale: float) -> dict[str, Any]:
    noise = np.random.laplace(scale=scale)
    return {"x": row["x"] + noise, "kind": random.choice(["a", "b"]), "items": ["same"] * random.randrange(3)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("honest", "lie", "records"),
    [
        (answer, lambda x: answer(x, LESS), EIGHT),
        (lambda x: bits(x, 1 / (1 + math.exp(0.5))), lambda x: bits(x, 1 / (1 + math.exp(2.0))), EIGHT),
        (lambda x: texts(x, 0.3), lambda x: texts(x, 0.9), Categories(["a", "b", "c"])),
        (lambda x: answer(x), ordered_set, EIGHT),
        (lambda row: noisy_row(row, 1.0), lambda row: noisy_row(row, 0.3), Rows(x=(0.0, 1.0), kind=["a", "b"])),
    ],
)
def test_a_lie_of_any_kind_is_refuted_and_an_honest_one_is_not(
    honest: Callable[..., Any], lie: Callable[..., Any], records: Records
) -> None:
    assert not check(honest, domain=records, claim_epsilon=1.0, **ROOMY).refuted
    assert check(lie, domain=records, claim_epsilon=1.0, minutes=10.0, rounds=6, dtypes=()).refuted


def mixed(text: str, seed: int) -> int:
    """A hash of this test, in place of a package's."""
    return int.from_bytes(text.encode(), "big") * 2654435761 * (2 * seed + 1) % (1 << 61) >> 16


def hashed(record: int, epsilon: float) -> tuple[int, int]:
    """Local hashing: an answer among g, and the seed of the hash function."""
    size, seed = round(math.exp(epsilon)) + 1, random.getrandbits(32)
    kept = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    true = mixed(str(record), seed) % size
    return (true if random.random() < kept else (true + random.randrange(1, size)) % size), seed


def support(release: tuple[int, int], epsilon: float) -> list[bool]:
    return [mixed(str(k), release[1]) % (round(math.exp(epsilon)) + 1) == release[0] for k in range(8)]


@pytest.mark.slow
def test_local_hashing_that_spends_eight_and_claims_one_is_refuted_by_decoding() -> None:
    options: dict[str, Any] = {"domain": EIGHT, "claim_epsilon": 1.0, **{**ROOMY, "samples": 1000}}
    assert not check(lambda x: hashed(x, 8.0), **options).refuted  # what a check without decoding cannot see
    found = check(lambda x: hashed(x, 8.0), decode=lambda release: support(release, 8.0), **options)
    assert found.refuted
    honest = check(
        lambda x: hashed(x, 1.0),
        domain=EIGHT,
        claim_epsilon=1.0,
        decode=lambda y: support(y, 1.0),
        **ROOMY,
    )
    assert not honest.refuted


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_the_hash_function_of_a_release_is_recognised(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "HASHES", {"mixed": lambda: mixed})
    found = check(lambda x: hashed(x, epsilon), domain=EIGHT, claim_epsilon=1.0, **ROOMY)
    size = round(math.exp(epsilon)) + 1
    assert found.notes == (f"a release names its hash function, and was decoded: mixed(text, seed) % {size} == answer",)
    assert found.refuted == (epsilon == 8.0)


def test_no_hash_function_is_seen_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "HASHES", {"mixed": lambda: mixed})
    found = check(lambda x: (answer(x), random.getrandbits(32)), domain=EIGHT, claim_epsilon=1.0, **ROOMY)
    assert found.notes == ()
    assert not found.refuted


def test_as_few_releases_as_are_looked_at_show_the_hash_function_of_an_honest_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding, "HASHES", {"mixed": lambda: mixed})
    random.seed(0)
    records = [step % 8 for step in range(calls.PROBED)]
    for _ in range(20):
        assert decoding.recognised(records, [hashed(record, 1.0) for record in records], range(8)) is not None
        unrelated = [(random.randrange(4), random.getrandbits(32)) for _ in records]
        assert decoding.recognised(records, unrelated, range(8)) is None


def test_a_decoder_that_fails_is_blamed() -> None:
    with pytest.raises(InputError, match="decoding a release failed: ZeroDivisionError"):
        check(answer, domain=EIGHT, claim_epsilon=1.0, decode=lambda y: 1 / 0)
