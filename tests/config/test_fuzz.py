"""Hundreds of damaged configs: each has a valid plan or ends in one sentence, never in another exception."""

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

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS as REGISTERED
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run import grid
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.settings import Settings, parse_settings
from tensorldp_papers.run.study import load_study, study_files

ROOT = Path(__file__).parents[2]
NAMES = sorted(study_files())
DATASETS = ["digits", "breast_cancer", "mnist", "fashion_mnist", "cifar10", "svhn", "imdb", "darknet"]
MECHANISMS = REGISTERED.names()
PER_STUDY = ("datasets", "mechanisms", "epsilons", "training")

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
ODD_FLOATS = [math.nan, math.inf, -math.inf, -0.0, 0.0, 0.5, 1.0, 1e-5]
WORDS = [
    "",
    " ",
    "inf",
    ".inf",
    "nan",
    "1",
    "1e3",
    "None",
    "null",
    "true",
    "tldp_type1 ",
    "TLDP_TYPE1",
    "../tldp_type1",
    "/etc/passwd",
    "a\nb",
    "a\r\nb\u2028c",
    "\x00",
    "\ud83d",
    "ε",
    "数据",
    "🙂" * 40,
    "x" * 5000,
    "{wildcards}",
    "$(id)",
    "'\"`;",
    "none",
    "laplace",
    "digits",
    "quick",
    "cpu",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from(HUGE),
    st.sampled_from(ODD_FLOATS),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=12),
    st.binary(max_size=4),
    st.sampled_from([datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 12), (1, 2)]),
)  # YAML makes dates too
TRAINING = sorted({key for plan in METHODS.all().values() for key in plan.training.model_fields})
KEYS = st.one_of(
    st.sampled_from([*NAMES, *Settings.model_fields, *TRAINING, "epsilon"]),
    st.sampled_from(WORDS),
    st.text(max_size=6),
    st.none(),
    st.integers(),
    st.booleans(),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
# nearly right: what a user's slip looks like, and what reaches the deeper checks
NEAR = st.one_of(
    st.tuples(st.just("scale"), st.sampled_from(["quick", "desk", "paper", "Quick", None])),
    st.tuples(st.just("studies"), st.lists(st.sampled_from([*NAMES, "tldp_typ1"]), max_size=4)),
    st.tuples(st.just("seeds"), st.lists(st.sampled_from([0, 0, 1, 7, 2**31 - 1, 2**31, True, 1.0]), max_size=4)),
    st.tuples(
        st.just("datasets"),
        st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from([*DATASETS, "mnst"]), max_size=3), max_size=2),
    ),
    st.tuples(
        st.just("mechanisms"),
        st.dictionaries(
            st.sampled_from(NAMES), st.lists(st.sampled_from([*MECHANISMS, "tldp-k"]), max_size=4), max_size=2
        ),
    ),
    st.tuples(
        st.just("epsilons"),
        st.dictionaries(
            st.sampled_from(NAMES),
            st.lists(st.one_of(st.floats(), st.sampled_from([*HUGE, *ODD_FLOATS, "inf", 1, 2])), max_size=4),
            max_size=2,
        ),
    ),
    st.tuples(
        st.just("training"),
        st.dictionaries(
            st.sampled_from(NAMES),
            st.dictionaries(
                st.sampled_from([*TRAINING, "epoch"]),
                st.one_of(LEAVES, st.integers(1, 100), st.floats(0.001, 1)),
                max_size=3,
            ),
            max_size=2,
        ),
    ),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a nested config, outermost first."""
    found = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*at, key))
    return found


@st.composite
def configs(draw: st.DrawFn) -> dict[Any, Any]:
    """The shipped config, bare or filled in, after one to three changes."""
    config: dict[Any, Any] = copy.deepcopy(draw(st.sampled_from([SHIPPED, FILLED])))
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["near", "near", "replace", "replace", "remove", "add", "wrap"]))
        if kind == "near":
            key, value = draw(NEAR)
            config[key] = value
            continue
        if not config:
            break
        path = draw(st.sampled_from(places(config)))
        parent: Any = config
        for part in path[:-1]:
            parent = parent[part]
        if kind == "replace":
            parent[path[-1]] = draw(VALUES)
        elif kind == "remove":
            del parent[path[-1]]
        elif kind == "wrap":
            parent[path[-1]] = draw(st.sampled_from([lambda v: [v], lambda v: {"tldp_type1": v}]))(parent[path[-1]])
        else:
            target = draw(st.sampled_from([config, parent]))
            if isinstance(target, dict):
                target[draw(KEYS)] = draw(VALUES)
            else:
                target.append(draw(VALUES))
    return config


def plan_of(config: Any) -> Plan | InputError:
    """The plan of a config, or the refusal; any other exception is the test's to see."""
    try:
        return make_plan(parse_settings(config))
    except InputError as error:
        return error


def check(config: Any) -> Plan | InputError:
    """Hold a config's plan or refusal to what every user relies on."""
    made = plan_of(config)
    if isinstance(made, InputError):
        message = str(made)
        assert message.strip()
        assert len(message.splitlines()) == 1, message
        assert len(message) < 800, message  # all mechanisms are named
        message.encode()  # a lone surrogate could not be printed
        return made
    assert made.cells
    assert len({cell.path for cell in made.cells}) == len(made.cells)
    assert set(made.studies) == set(made.settings.studies)
    json.dumps(made.settings.model_dump(mode="json"), allow_nan=False)
    for cell in made.cells:
        # file names: one level per factor, nothing that a shell, Snakemake or a file system takes amiss
        assert re.fullmatch(r"[\w.,=+-]+/[\w.,=+-]+/[\w.,=+-]+/[\w.,=+-]+/epsilon~[\w.+-]+", cell.path), cell.path
        assert len(cell.path) < 200
        assert float(cell.epsilon) > 0
        assert math.isinf(float(cell.epsilon)) == (cell.mechanism == "none")
        assert cell.seeds
        assert len(set(cell.seeds)) == len(cell.seeds)
        assert all(type(seed) is int and 0 <= seed < 2**31 for seed in cell.seeds)
        limit = cell.training.limit
        assert limit is None or (type(limit) is int and limit >= 10)
        text = json.dumps(cell.settings(), allow_nan=False)
        assert json.loads(text) == cell.settings()
    return made


@pytest.fixture(autouse=True, scope="module")
def each_study_is_read_once() -> Iterator[None]:
    """Reading YAML is most of a plan's time, and the files do not change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "load_study", functools.cache(load_study))
        yield


@pytest.mark.parametrize(
    "changes",
    [  # each broke the reader once
        {"epsilons": {"tldp_type1": [10**400]}},
        {"epsilons": {"tldp_type1": [2**20000]}},
        {"scale": {"x" * 5000: 1}},
        {"studies": ["x" * 5000]},
        {"datasets": {"x" * 5000: ["digits"]}},
        {"datasets": {"tldp_type1": ["x" * 5000]}},
        {"mechanisms": {"tldp_type1": ["\U000e0001" * 200]}},
        {"training": {"tldp_type1": {"x" * 5000: 1}}},
        {"training": {"tldp_type1": {"limit": "x"}}},
        {"training": {"tldp_type1": {"limit": -1}}},
        {"training": {"tldp_type1": {"limit": True}}},
        {"training": {"tldp_type1": {"learning_rate": math.inf}}},
        {"training": {"tldp_type1": {"clip": math.inf}}},
        {"a\nb": 1},
    ],
    ids=lambda changes: "-".join(str(key)[:12].strip() for key in changes).replace("\n", ""),
)
def test_a_kept_case_is_refused_in_one_sentence(changes: dict[str, Any]) -> None:
    assert isinstance(check({**SHIPPED, **changes}), InputError)


@pytest.mark.parametrize("config", [None, [], "text", 5, {}, {1: 2}, {None: 1}, {(1, 2): 1}], ids=repr)
def test_what_is_no_config_at_all_is_refused_in_one_sentence(config: Any) -> None:
    assert isinstance(check(config), InputError)


@pytest.mark.slow
def test_a_damaged_config_has_a_plan_or_one_sentence() -> None:
    seen = {"plan": 0, "refused": 0}

    @settings(
        max_examples=2000,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(configs())
    def one(config: dict[Any, Any]) -> None:
        seen["refused" if isinstance(check(config), InputError) else "plan"] += 1

    one()
    # otherwise this would hold of a reader that refuses, or takes, everything
    assert seen["plan"] > 300
    assert seen["refused"] > 800
