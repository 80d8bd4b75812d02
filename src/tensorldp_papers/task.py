"""What a network has to solve: it is known before there is one."""

from __future__ import annotations

from dataclasses import dataclass

from tensorldp.errors import InputError


@dataclass(frozen=True)
class Task:
    """What a model is for."""

    shape: tuple[int, ...]  # of one record as the data set stores it
    classes: int  # at least 2
    vocabulary: int = 0  # number of token indices, for text

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise InputError(f"classes must be at least 2, got {self.classes}")
