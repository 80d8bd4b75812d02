"""What audits and composition need from a mechanism. `tensorldp.mechanisms`, which uses the curves, lies above."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError


@runtime_checkable
class Randomizer(Protocol):
    """A local randomizer of one record, as `tensorldp.mechanisms.Mechanism` is; its methods are documented there."""

    @property
    def name(self) -> str:
        """Its key."""

    @property
    def unit(self) -> str:
        """What the guarantee protects."""

    @property
    def note(self) -> str:
        """What else there is to say about the guarantee."""

    @property
    def size(self) -> int:
        """Elements of one record."""

    def privatize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """One release of each record of x, (batch, *shape)."""

    def curve(self) -> PrivacyCurve:
        """The privacy curve of one use."""

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        """Two records that attain or approach the privacy profile."""

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        """log p(y|x) - log p(y|x') of each record of y."""


def check_randomizer(caller: str, mechanism: object) -> None:
    """Refuse what is not a mechanism, such as a class instead of an instance.

    Args:
        caller: who calls, for the message.
        mechanism: what was given.
    """
    if isinstance(mechanism, type) or not isinstance(mechanism, Randomizer):
        got = f"the class {mechanism.__name__}" if isinstance(mechanism, type) else type(mechanism).__name__
        raise InputError(f"{caller} takes a mechanism, got {got}")
