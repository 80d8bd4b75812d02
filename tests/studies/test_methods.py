"""The plan's view of each method and the class that computes it are one."""

from __future__ import annotations

import inspect
import typing

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.method import InsideMethod, MeasureMethod, Method, ReleaseMethod, SharedMethod, method

HOOKS = {  # the rules of the workflow and the hooks that their scripts call
    ReleaseMethod: {"release", "train", "train_all", "evaluate", "guarantee", "audited"},
    InsideMethod: {"train", "train_all", "evaluate", "guarantee", "audited"},
    SharedMethod: {"train", "train_all", "common", "evaluate", "guarantee", "audited"},
    MeasureMethod: {"measure", "test_labels", "guarantee", "audited"},
}
RULES = {"perturb": "release", "train": "train", "train_shared": "train", "evaluate": "evaluate", "measure": "measure"}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_is_of_the_kind_that_its_plan_says(name: str) -> None:
    plan, found = METHODS[name], method(name)
    assert plan.rules == found.rules
    assert all(hasattr(found, RULES[rule]) for rule in plan.rules)
    assert plan.perturbs == hasattr(found, "release")
    assert plan.trains == hasattr(found, "train") == hasattr(found, "evaluate")
    assert plan.trains != hasattr(found, "measure")


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_computes_the_settings_and_factors_of_its_plan(name: str) -> None:
    found = type(method(name))
    (base,) = (base for base in typing.cast(typing.Any, found).__orig_bases__ if typing.get_origin(base) in HOOKS)
    assert typing.get_args(base) == (METHODS[name].training, METHODS[name].factors)


@pytest.mark.parametrize("kind", HOOKS, ids=lambda kind: kind.__name__)
def test_a_kind_has_the_hooks_of_its_stages_and_no_other(kind: type[Method[typing.Any, typing.Any]]) -> None:
    hooks = {key for key, _ in inspect.getmembers(kind, inspect.isfunction) if not key.startswith("_")}
    assert hooks == HOOKS[kind]
    assert kind.__abstractmethods__ == HOOKS[kind] - {"train_all", "common", "test_labels"}


def test_an_unknown_method_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown method 'learnin': did you mean 'learning'"):
        method("learnin")
