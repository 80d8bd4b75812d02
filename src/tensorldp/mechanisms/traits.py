"""What a class says about its mechanism: the words that traits take, and the check that they are such words."""

from __future__ import annotations

from typing import Any, Literal, get_args

from tensorldp.curves.guarantee import UNITS
from tensorldp.errors import InputError, shown

DomainKind = Literal["box", "ball", "any"]
EpsilonUnit = Literal["record", "element", "run"]
ActsOn = Literal["element", "vector", "matrix", "tensor"]
Neighbours = Literal["replace", "add or remove"]
ServerWeights = Literal["equal", "inverse variance"]
Status = Literal["as printed", "reconstructed", "textbook"]

WORDS: dict[str, tuple[str, ...]] = {
    "domain_kind": get_args(DomainKind),
    "epsilon_unit": get_args(EpsilonUnit),
    "acts_on": get_args(ActsOn),
    "neighbours": get_args(Neighbours),
    "server_weights": get_args(ServerWeights),
    "status": get_args(Status),
    "unit": UNITS,
}
TEXTS = ("name", "label", "family", "formula", "source")
FLAGS = ("private", "additive", "integer", "same_shape", "scheduled", "on_grid")


def check_traits(cls: type[Any]) -> None:
    """Hold the traits that a class states in its body to their vocabulary.

    Args:
        cls: a class of mechanisms; what it inherits was checked before.

    Raises:
        InputError: if a trait has another value than is allowed, or is annotated as if it were an option.
    """
    for trait in (*WORDS, *TEXTS, *FLAGS):
        if "ClassVar" not in str(cls.__annotations__.get(trait, "ClassVar")):
            raise InputError(f"{trait} of {cls.__name__} is a trait of the class: write it without an annotation")
        value = cls.__dict__.get(trait)
        if value is None or isinstance(value, property):
            continue
        if trait in WORDS and value not in WORDS[trait]:
            raise InputError(f"{trait} of {cls.__name__} must be one of {', '.join(WORDS[trait])}, got {shown(value)}")
        if trait in TEXTS and not (isinstance(value, str) and value.isprintable()):
            raise InputError(f"{trait} of {cls.__name__} must be a line of text, got {shown(value)}")
        if trait in FLAGS and not isinstance(value, bool):
            raise InputError(f"{trait} of {cls.__name__} must be True or False, got {shown(value)}")
