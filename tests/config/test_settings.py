"""config.yaml: what is accepted, and how a mistake is told, in its text and in its values."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tensorldp.errors import InputError, shown
from tensorldp_papers.run.schema import MODELS, schema_text
from tensorldp_papers.run.settings import Settings, parse_settings, read_yaml

ROOT = Path(__file__).parents[2]
WORDS = st.text("abxyz -µ数", max_size=9)  # none of them a number, or a word that is allowed somewhere
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, 2**63, -1, 0])


def refusal(**raw: Any) -> str:
    """The one sentence that a config ends with."""
    with pytest.raises(InputError) as caught:
        parse_settings({"studies": ["tldp_type1"], **raw})
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_the_shipped_config_is_valid() -> None:
    found = parse_settings(yaml.safe_load((ROOT / "config.yaml").read_text()))
    assert found.scale == "quick"
    assert found.studies


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_schema_files_match_the_models(name: str) -> None:
    stored = (ROOT / "workflow" / "schemas" / f"{name}.schema.json").read_text()
    assert stored == schema_text(name), "run: python -m tensorldp_papers.run.schema"


def beyond(low: float, high: float) -> SearchStrategy[Any]:
    """What is no number in [low, high]."""
    return NUMBERS.filter(lambda value: not low <= value <= high) | WORDS | st.booleans() | st.just([1])


NO_LIST = WORDS | st.integers() | st.just([])
WRONG: list[tuple[str, SearchStrategy[Any], str]] = [
    ("scale", WORDS | NUMBERS, "'quick', 'desk' or 'paper'"),
    ("device", WORDS | NUMBERS, "'auto', 'cpu' or 'cuda'"),
    ("precision", WORDS | NUMBERS, "'auto', 'float32', 'bfloat16' or 'compiled'"),
    ("mirror", NUMBERS | st.booleans(), "string"),
    ("studies", NO_LIST, "list"),
    ("seeds", NO_LIST, "list"),
    ("plugins", WORDS | st.integers(), "list"),
    ("seeds.0", beyond(0, 2**31 - 1) | st.floats(), ""),
    ("cells_per_job", beyond(1, math.inf), ""),
    ("check_minutes", beyond(1e-300, 600), ""),
    ("datasets.tldp_type1", NO_LIST, "list"),
    ("mechanisms.tldp_type1", NO_LIST, "list"),
    ("epsilons.tldp_type1", NO_LIST, "list"),
    ("epsilons.tldp_type1.0", beyond(1e-12, 1e12).filter(lambda e: e != math.inf), "[1e-12, 1e+12] or infinity, got "),
    ("factors.tldp_type1.model", NO_LIST, "list"),
    ("training.tldp_type1", WORDS | st.integers(), "dictionary"),
    ("training.tldp_type1.clip", st.sampled_from([math.nan, math.inf, -math.inf, {1, 2}, b"1"]), "a finite number"),
]


@pytest.mark.parametrize(("key", "values", "allowed"), WRONG, ids=[key for key, *_ in WRONG])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_wrong_value_of_a_key_is_one_sentence_that_names_both(
    key: str, values: SearchStrategy[Any], allowed: str, data: st.DataObject
) -> None:
    value = data.draw(values)
    raw = value
    first, *inner = key.split(".")
    for part in reversed(inner):
        raw = [raw] if part == "0" else {part: raw}
    told = refusal(**{first: raw})
    assert told.startswith(f"config: {key} = {shown(value)} is not valid: "), told
    assert allowed in told


@given(st.sampled_from(sorted(Settings.model_fields)), st.data())
@settings(max_examples=50, deadline=None)
def test_a_key_with_a_slip_is_told_with_the_right_one(key: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(key) - 1))
    slip = key[:place] + data.draw(st.sampled_from(["", "z", key[place] * 2])) + key[place + 1 :]
    assert refusal(**{slip: 1}).startswith(f"unknown key in config {slip!r}: did you mean {key!r}?")


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1), st.lists(st.floats(1e-12, 1e12), min_size=1))
@settings(max_examples=30, deadline=None)
def test_numbers_of_the_command_line_come_as_text_and_are_numbers(seeds: list[int], epsilons: list[float]) -> None:
    found = parse_settings(
        {
            "studies": ["s"],
            "seeds": [str(seed) for seed in seeds],
            "epsilons": {"s": [*map(str, epsilons), "inf", "1e-3"]},
            "training": {"s": {"epochs": "3", "pretrained": "true", "model": "x1"}},
            "factors": {"s": {"m": ["100", "quick"]}},
        }
    )
    assert found.seeds == seeds
    assert found.epsilons == {"s": [*epsilons, math.inf, 1e-3]}
    assert found.training == {"s": {"epochs": 3, "pretrained": True, "model": "x1"}}
    assert found.factors == {"s": {"m": [100, "quick"]}}


def test_a_number_where_a_list_belongs_is_shown_as_one() -> None:
    assert refusal(seeds=3) == "config: seeds = 3 is not valid: input should be a list, [3]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"base: &base {a: 1, b: 2}\nown: {<<: *base, b: 3}\n", {"base": {"a": 1, "b": 2}, "own": {"a": 1, "b": 3}}),
        ("a: h\u00eatre\n".encode("utf-8-sig"), {"a": "h\u00eatre"}),  # a byte order mark is no part of a key
        (b"a: 1\nb: 2\na: 3\n", "is not valid YAML at line 3: a occurs twice"),
        (b"a:\n  b: 1\n  b: 2\n", "is not valid YAML at line 3: b occurs twice"),
        (b"a: [1\nb: 2\n", "is not valid YAML at line 2"),
        (b"a: !!python/object/apply:os.system [x]\n", "is not valid YAML at line 1"),
        ("a: 1\nb: h\u00eatre\n".encode("latin-1"), "is not UTF-8 text at line 2: save it as UTF-8"),
        ("a: 1\nb: h\u00eatre\n".encode("utf-16"), "is not UTF-8 text at line 1: save it as UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_a_file_is_read_or_its_mistake_has_a_line(text: bytes | None, expected: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    if text is not None:
        path.write_bytes(text)
    if isinstance(expected, dict):
        assert read_yaml(path, "the file") == expected
    else:
        with pytest.raises(InputError) as caught:
            read_yaml(path, "the file")
        assert str(caught.value).startswith(f"the file {path} {expected}")
