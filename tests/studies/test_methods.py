"""The plan's view of each method and the class that computes it are one."""

import typing

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.method import InsideMethod, MeasureMethod, ReleaseMethod, SharedMethod, method

KINDS = (ReleaseMethod, InsideMethod, SharedMethod, MeasureMethod)
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
    (base,) = (base for base in bases if typing.get_origin(base) in KINDS)
    assert typing.get_args(base) == (plan.training, plan.factors)


def test_an_unknown_method_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown method 'learnin': did you mean 'learning'"):
        method("learnin")
