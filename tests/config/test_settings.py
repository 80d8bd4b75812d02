"""config.yaml: what is accepted, and how a mistake is told."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from tensorldp.errors import InputError
from tensorldp_papers.run.schema import MODELS, schema_text
from tensorldp_papers.run.settings import parse_settings

ROOT = Path(__file__).parents[2]


def test_the_shipped_config_is_valid() -> None:
    settings = parse_settings(yaml.safe_load((ROOT / "config.yaml").read_text()))
    assert settings.scale == "quick"
    assert settings.studies


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_schema_files_match_the_models(name: str) -> None:
    stored = (ROOT / "workflow" / "schemas" / f"{name}.schema.json").read_text()
    assert stored == schema_text(name), "run: python -m tensorldp_papers.run.schema"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scal": "quick"}, ["'scal'", "did you mean 'scale'"]),
        ({"scale": "huge"}, ["scale", "'huge'", "quick", "desk", "paper"]),
        ({"epsilons": {"tldp_type1": [0]}}, ["epsilons", "[1e-12, 1e+12]", "0"]),
        ({"epsilons": {"tldp_type1": [-1]}}, ["[1e-12, 1e+12]", "-1"]),
        ({"epsilons": {"tldp_type1": [1e150]}}, ["epsilons", "[1e-12, 1e+12] or infinity", "1e+150"]),
        ({"epsilons": {"tldp_type1": [1e-300]}}, ["[1e-12, 1e+12]", "1e-300"]),
        ({"epsilons": {"tldp_type1": [10**400]}}, ["[1e-12, 1e+12]", "1000"]),
        ({"epsilons": {"tldp_type1": ["big"]}}, ["'big'", "number"]),
        ({"epsilons": {"tldp_type1": [math.nan]}}, ["nan"]),
        ({"epsilons": {"tldp_type1": []}}, ["epsilons"]),
        ({"seeds": []}, ["seeds"]),
        ({"seeds": [-1]}, ["seeds", "-1"]),
        ({"seeds": [0.5]}, ["seeds", "0.5"]),
        ({"device": "tpu"}, ["device", "'tpu'", "cuda"]),
        ({"studies": []}, ["studies"]),
        ({"studies": "tldp_type1"}, ["studies", "list"]),
    ],
)
def test_a_mistake_is_one_sentence_naming_key_value_and_what_is_allowed(
    change: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        parse_settings({"studies": ["tldp_type1"], **change})
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_numbers_of_the_command_line_come_as_text_and_are_numbers() -> None:
    settings = parse_settings(
        {
            "studies": ["s"],
            "seeds": ["0", "12"],
            "epsilons": {"s": ["0.1", "1e-3", "inf", "2"]},
            "training": {"s": {"epochs": "3", "pretrained": "true", "model": "x1"}},
            "factors": {"s": {"m": ["100", "quick"]}},
        }
    )
    assert settings.seeds == [0, 12]
    assert settings.epsilons == {"s": [0.1, 1e-3, math.inf, 2]}
    assert settings.training == {"s": {"epochs": 3, "pretrained": True, "model": "x1"}}
    assert settings.factors == {"s": {"m": [100, "quick"]}}


def test_a_number_where_a_list_belongs_is_shown_as_one() -> None:
    with pytest.raises(InputError, match=r"seeds = 3 is not valid: input should be a list, \[3\]"):
        parse_settings({"studies": ["s"], "seeds": 3})
