"""What a mechanism's own options and domains may not be is told in a sentence that names them."""

from typing import Any

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, make, mechanism_class, names
from tensorldp.mechanisms.matrix import LARGEST

BOX, SQUARE, BALL = Box(-1, 1, (3, 2)), Box(-1, 1, (4, 4)), Ball(1.0, (9,))
BEYOND_THE_ENDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "laplace": {"delta_range": (0, -1)},
    "dphsgd": {"threshold": (0,), "steps": (0, 1.5)},
    "jl": {"eta": (0, 1), "nu": (0, 1)},
    "llagp": {"layers": ((9, 0),), "step": (2,), "kappa": (1.0,), "steps": (0,)},
    "matrix": {"constant": (0,)},
    "mvg": {"tau": (0, 1.5), "gamma": (0,)},
    "optimized": {"steps": (0,)},
    "tldp-discrete": {"rho": (1.0, -0.1)},
}
OTHERS: list[tuple[str, Domain, dict[str, Any], str]] = [
    ("latent", BOX, {"whole": 20, "fraction": 20}, "bits"),
    ("latent-secure", BOX, {"reading": "B"}, "reading"),
    ("llagp", BALL, {"layers": (2, 3)}, "sum to"),
    ("matrix", BOX, {"workload": torch.ones(2, 4)}, "3 columns"),
    ("matrix", BOX, {"workload": torch.zeros(2, 3)}, "all zero"),
    ("matrix", BOX, {"strategy": torch.ones(3, 3)}, "full column rank"),
    ("matrix", Box(-1, 1, (LARGEST + 1, 1)), {"workload": torch.ones(1, LARGEST + 1)}, "at most"),
    ("matrix", Box(0, 1, (1_000_000,)), {}, "8192 at most, got 1000000"),  # before memory is taken
    ("mvg", SQUARE, {"theta": [0.5] * 4}, "sum to 1"),
    ("mvg", SQUARE, {"theta": [1.0]}, "vector of 4"),
    ("mvg", SQUARE, {"theta": [0.25] * 4, "tau": 0.8}, "not both"),
    ("mvg", SQUARE, {"tau": 0.8, "important": 9}, "important"),
    ("mvg", SQUARE, {"directions": torch.ones(4, 4)}, "orthogonal"),
    ("optimized", Ball(1.0, (4,)), {"weights": [1.0] * 4}, "need a Box"),
    ("optimized", BOX, {"weights": [1.0]}, "6 finite"),
    ("optimized", BOX, {"weights": [-1.0] * 6}, "non-negative"),
    ("udn", BOX, {"importances": [1.0, -1.0, 1.0]}, "non-negative"),
    ("udn", BOX, {"importances": [1.0, 1.0]}, "vector of 3"),
    ("udn", BOX, {"importances": [0.0, 0.0, 0.0]}, "not all zero"),
    ("udn", BOX, {"directions": torch.ones(3, 3)}, "orthogonal"),
    ("udn", BOX, {"directions": torch.eye(2)}, "3"),
    ("udn", BOX, {"workload": torch.ones(2, 4)}, "3 columns"),
    ("udn", BOX, {"workload": torch.ones(2, 3), "importances": [1.0] * 3}, "not both"),
    ("udn", BOX, {"form": "printed"}, "unknown option"),
    ("idn", BOX, {"directions": torch.eye(3)}, "directions"),
    ("tldp-discrete", Box(0, 0.5, (1,)), {}, "whole numbers"),
    ("k-rr", Box(0, 1.5, (2,)), {}, "whole numbers"),
    ("randomized-response", Box(0, 2, (2,)), {}, "k-rr takes more"),
    ("laplace-secure", BOX, {"epsilon": 1e-9}, "must be at least"),
    ("gaussian-secure", Box(0, 1, (100,)), {"epsilon": 1e-7}, "too small for a record of 100 elements"),
]


def refused(name: str, domain: Domain, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as told:
        make(name, domain=domain, **{"epsilon": 1.0, **options})
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", names())
def test_an_option_of_another_kind_or_beyond_its_ends_is_named(name: str) -> None:
    domain = Box(0, 1, (3, 3))
    for option in mechanism_class(name).options() - {"important"}:  # which is used with tau alone
        for value in ("no such word", *BEYOND_THE_ENDS.get(name, {}).get(option, ())):
            refused(name, domain, {option: value}, option)


@pytest.mark.parametrize(("name", "domain", "options", "words"), OTHERS)
def test_mistakes_are_told_in_a_sentence(name: str, domain: Domain, options: dict[str, Any], words: str) -> None:
    refused(name, domain, options, words)
