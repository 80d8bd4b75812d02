"""The plan's view of each method and the class that computes it are one."""

import inspect
import typing

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.method import InsideMethod, MeasureMethod, ReleaseMethod, SharedMethod, method

TRAINS = {"train", "train_all", "evaluate", "guarantee", "audited"}
HOOKS: dict[typing.Any, set[str]] = {  # what the scripts of the workflow call
    ReleaseMethod: {"release", *TRAINS},
    InsideMethod: TRAINS,
    SharedMethod: {"common", *TRAINS},
    MeasureMethod: {"measure", "test_labels", "guarantee", "audited"},
}
RULES = {"perturb": "release", "train": "train", "train_shared": "train", "evaluate": "evaluate", "measure": "measure"}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_has_the_kind_the_settings_and_the_factors_of_its_plan(name: str) -> None:
    plan, found = METHODS[name], method(name)
    assert plan.rules == found.rules
    assert all(hasattr(found, RULES[rule]) for rule in plan.rules)
    assert plan.perturbs == hasattr(found, "release")
    assert plan.trains == hasattr(found, "train") == hasattr(found, "evaluate")
    assert plan.trains != hasattr(found, "measure")
    bases = typing.cast(typing.Any, type(found)).__orig_bases__
    (base,) = (base for base in bases if typing.get_origin(base) in HOOKS)
    assert typing.get_args(base) == (plan.training, plan.factors)


def test_a_kind_has_the_hooks_of_its_stages_and_no_other() -> None:
    for kind, hooks in HOOKS.items():
        assert {key for key, _ in inspect.getmembers(kind, inspect.isfunction) if not key.startswith("_")} == hooks
        assert kind.__abstractmethods__ == hooks - {"train_all", "common", "test_labels"}


def test_an_unknown_method_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown method 'learnin': did you mean 'learning'"):
        method("learnin")
