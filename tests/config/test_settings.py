"""config.yaml: what is accepted, and how a mistake is told, in its text and in its values."""

from __future__ import annotations

import copy
import datetime
import functools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tensorldp.errors import InputError, shown
from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.data.catalogue import names
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run import grid
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.schema import MODELS, schema_text
from tensorldp_papers.run.settings import BY_STUDY, Settings, parse_settings, read_config
from tensorldp_papers.run.study import load_study, study_files
from tensorldp_papers.strict import read_yaml

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


NO_LIST: SearchStrategy[Any] = WORDS | st.integers() | st.just([])
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
    ("check_minutes", beyond(math.ulp(0.0), 600), ""),
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
    assert found.seeds == sorted(set(seeds))
    assert found.epsilons == {"s": sorted({*epsilons, math.inf, 1e-3})}
    assert found.training == {"s": {"epochs": 3, "pretrained": True, "model": "x1"}}
    assert found.factors == {"s": {"m": [100, "quick"]}}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("dup.json", '{"seeds": [1],\n "seeds": [2]}', "is not valid YAML at line 2: seeds occurs twice"),
        ("dup", "seeds: [1]\nseeds: [2]", "is not valid YAML at line 2: seeds occurs twice"),
        ("config.yaml", "# nothing", "must have keys with values, such as studies, found nothing"),
        ("config.yaml", "- a", "found ['a']"),
        ("config.yaml", "seeds", "found 'seeds'"),
    ],
)
def test_a_config_file_of_any_ending_is_named_with_its_mistake(
    name: str, text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        read_config(tmp_path / name)
    assert f"the config file {tmp_path / name} " in str(caught.value)


def test_what_is_left_empty_is_as_the_studies_state_it() -> None:
    plain = parse_settings({"studies": ["tldp_type1"]})
    for key in set(Settings.model_fields) - {"studies"}:
        assert parse_settings({"studies": ["tldp_type1"], key: None}) == plain, key
    for key in BY_STUDY:
        assert parse_settings({"studies": ["tldp_type1"], key: {"tldp_type1": None}}) == plain, key
    limit = {"tldp_type1": {"limit": None}}
    assert parse_settings({"studies": ["tldp_type1"], "training": limit}).training == limit
    assert "did you mean 'seeds'" in refusal(sedes=None)
    assert "did you mean 'studies'" in refusal(studies=None, studys=["tldp_type1"])  # which is why studies is missing
    assert "own_datasets.mine" in refusal(own_datasets={"mine": None})
    with pytest.raises(InputError, match="studies is missing"):
        parse_settings({"studies": None})


def test_a_number_where_a_list_belongs_is_shown_as_one_and_an_empty_list_wants_one() -> None:
    assert refusal(studies=[]) == "config: studies = [] is not valid: list at least one"
    assert refusal(seeds=3) == "config: seeds = 3 is not valid: input should be a list, [3]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"base: &base {a: 1, b: 2}\nown: {<<: *base, b: 3}\n", {"base": {"a": 1, "b": 2}, "own": {"a": 1, "b": 3}}),
        ("a: h\u00eatre\n".encode("utf-8-sig"), {"a": "h\u00eatre"}),  # a byte order mark is no part of a key
        (b"a: 1\nb: 2\na: 3\n", "is not valid YAML at line 3: a occurs twice"),
        (b"a: 1\nb: [010]\n", "is not valid YAML at line 2: 010 is another number in YAML"),
        (b"a: 1:30\n", "is not valid YAML at line 1: 1:30 is another number in YAML"),
        (b"a: -0x10\n", "is not valid YAML at line 1: -0x10 is another number in YAML"),
        (b"a: 00.5\n", "is not valid YAML at line 1: 00.5 is another number in YAML"),
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


# Damaged configs: each has a valid plan or ends in one sentence, never in another exception


STUDIES = sorted(study_files())
SHIPPED: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())
FILLED: dict[str, Any] = {  # the shipped config with its comments taken at their word
    **SHIPPED,
    "seeds": [0, 1, 2],
    "datasets": {"tldp_type1": ["digits"]},
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "privunit"]},
    "epsilons": {"tldp_type1": [0.1, 1, 10]},
    "training": {"tldp_type1": {"epochs": 20}},
    "mirror": "/data",
    "plugins": ["my_mechanisms"],
}
HUGE = [10**400, -(10**400), 2**31, 2**63, 2**64, 10**22, 1e308, 1e-308, 5e-324, 1e15, 1e16, 123456789.125]
ODD = [math.nan, math.inf, -math.inf, -0.0, 0.0, 0.5, 1.0, 1e-5, True, "inf", ".inf", "nan", "1", "1e3", "null"]
PATHS = ["", " ", "tldp_type1 ", "TLDP_TYPE1", "../tldp_type1", "/etc/passwd", "{wildcards}", "$(id)", "'\"`;"]
TEXTS = [
    "a\nb",
    "a\r\nb\u2028c",
    "\x00",
    "\ud83d",
    "ε",
    "数据",
    "🙂" * 40,
    "x" * 5000,
    "none",
    "digits",
    "quick",
    "cpu",
]
ODD_WORDS = st.sampled_from([*PATHS, *TEXTS]) | st.text(max_size=12)
STRANGE = st.sampled_from([*HUGE, *ODD, None, datetime.date(2024, 1, 1), (1, 2), b"x"])  # YAML makes dates too
LEAVES = st.integers(-3, 12) | st.floats() | STRANGE | ODD_WORDS
TRAINING = sorted({key for plan in METHODS.all().values() for key in plan.training.model_fields})
KEYS = st.sampled_from([*STUDIES, *Settings.model_fields, *TRAINING, "epsilon", None, 1, True]) | ODD_WORDS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner), max_leaves=6)


def of_studies(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(STUDIES), values, max_size=2)


def lists(*values: object) -> st.SearchStrategy[Any]:
    return st.lists(st.sampled_from(values), max_size=4)


SLIPS = {  # nearly right: what a user's slip looks like, and what reaches the deeper checks
    "scale": st.sampled_from(["quick", "desk", "paper", "Quick", None]),
    "studies": lists(*STUDIES, "tldp_typ1"),
    "seeds": lists(0, 0, 1, 7, 2**31 - 1, 2**31, True, 1.0),
    "datasets": of_studies(lists(*names(), "mnst")),
    "mechanisms": of_studies(lists(*MECHANISMS.names(), "tldp-k")),
    "epsilons": of_studies(st.lists(st.floats() | st.sampled_from([*HUGE, *ODD, 1, 2]), max_size=4)),
    "training": of_studies(st.dictionaries(st.sampled_from([*TRAINING, "epoch"]), LEAVES | st.integers(1, 100))),
}


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a nested config, outermost first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([at] if at else []), *(path for key, inner in items for path in places(inner, (*at, key)))]


@st.composite
def configs(draw: st.DrawFn) -> dict[Any, Any]:
    """The shipped config, bare or filled in, after one to three changes."""
    config: dict[Any, Any] = copy.deepcopy(draw(st.sampled_from([SHIPPED, FILLED])))
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["slip", "slip", "replace", "replace", "remove", "add", "wrap"]))
        path = draw(st.sampled_from(places(config) or [("scale",)]))
        parent: Any = functools.reduce(lambda inside, key: inside[key], path[:-1], config)
        if kind == "slip" or not config:
            key = draw(st.sampled_from(sorted(SLIPS)))
            config[key] = draw(SLIPS[key])
        elif kind == "replace":
            parent[path[-1]] = draw(VALUES)
        elif kind == "remove":
            del parent[path[-1]]
        elif kind == "wrap":
            parent[path[-1]] = draw(st.sampled_from([[parent[path[-1]]], {"tldp_type1": parent[path[-1]]}]))
        elif isinstance(parent, dict):
            parent[draw(KEYS)] = draw(VALUES)
        else:
            parent.append(draw(VALUES))
    return config


def is_refused(config: Any) -> bool:
    """Whether a config is refused; holds its plan or refusal to what every user relies on."""
    try:
        made = make_plan(parse_settings(config))
    except InputError as error:
        message = str(error)
        assert message.strip()
        assert len(message.splitlines()) == 1, message
        assert len(message) < 800, message  # all mechanisms are named
        message.encode()  # a lone surrogate could not be printed
        return True
    assert made.cells
    assert len({cell.path for cell in made.cells}) == len(made.cells)
    assert set(made.studies) == set(made.settings.studies)
    json.dumps(made.settings.model_dump(mode="json"), allow_nan=False)
    for cell in made.cells:
        # file names: one level per factor, nothing that a shell, Snakemake or a file system takes amiss
        assert re.fullmatch(r"([\w.,=+-]+/){4}epsilon~[\w.+-]+", cell.path), cell.path
        assert len(cell.path) < 200
        assert (cell.nominal_epsilon > 0, math.isinf(cell.nominal_epsilon)) == (True, cell.mechanism == "none")
        assert 0 < len(set(cell.seeds)) == len(cell.seeds)
        assert all(type(seed) is int and 0 <= seed < 2**31 for seed in cell.seeds)
        assert cell.training.limit is None or (type(cell.training.limit) is int and cell.training.limit >= 10)
        assert json.loads(json.dumps(cell.settings(), allow_nan=False)) == cell.settings()
    return False


@pytest.fixture(autouse=True, scope="module")
def each_study_is_read_once() -> Iterator[None]:
    """Reading YAML is most of a plan's time, and the files do not change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "load_study", functools.cache(load_study))
        yield


BROKE_THE_READER_ONCE: list[dict[Any, Any]] = [
    {"epsilons": {"tldp_type1": [10**400]}},
    {"epsilons": {"tldp_type1": [2**20000]}},
    {"scale": {"x" * 5000: 1}},
    {"studies": ["x" * 5000]},
    {"datasets": {"x" * 5000: ["digits"]}},
    {"datasets": {"tldp_type1": ["x" * 5000]}},
    {"mechanisms": {"tldp_type1": ["\U000e0001" * 200]}},
    {"training": {"tldp_type1": {"x" * 5000: 1}}},
    *({"training": {"tldp_type1": {"limit": limit}}} for limit in ("x", -1, True)),
    *({"training": {"tldp_type1": {key: math.inf}}} for key in ("learning_rate", "clip")),
    {"a\nb": 1},
]
NO_CONFIG: list[Any] = [None, [], "text", 5, {}, {1: 2}, {None: 1}, {(1, 2): 1}]


def test_what_broke_the_reader_once_and_what_is_no_config_is_refused_in_one_sentence() -> None:
    for changes in BROKE_THE_READER_ONCE:
        assert is_refused({**SHIPPED, **changes}), changes
    assert all(map(is_refused, NO_CONFIG))


@pytest.mark.slow
def test_a_damaged_config_has_a_plan_or_one_sentence() -> None:
    refused: list[bool] = []

    @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(configs())
    def one(config: dict[Any, Any]) -> None:
        refused.append(is_refused(config))

    one()
    assert 0.15 < sum(refused) / len(refused) < 0.9  # a reader that refuses, or takes, everything would pass the rest


@pytest.mark.parametrize("text", ["a\nb", "a" * 200, "\x1b[31m"])
def test_a_text_in_the_place_of_a_list_is_told_in_one_sentence(text: str) -> None:
    assert is_refused({"scale": "quick", "studies": text})
