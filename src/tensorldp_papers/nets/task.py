"""What a model is built for."""

from __future__ import annotations

from dataclasses import dataclass

from tensorldp.errors import InputError


@dataclass(frozen=True)
class Task:
    """What a model is for.

    Attributes:
        shape: of one record as the data set stores it.
        classes: number of classes, at least 2.
        vocabulary: number of token indices, for text.
    """

    shape: tuple[int, ...]
    classes: int
    vocabulary: int = 0

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise InputError(f"classes must be at least 2, got {self.classes}")


def image_layout(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(channels, height, width) of an image record (height, width) or (height, width, channels).

    Raises:
        InputError: if the record is not an image.
    """
    if len(shape) == 2:
        return 1, shape[0], shape[1]
    if len(shape) == 3 and shape[2] in (1, 3):
        return shape[2], shape[0], shape[1]
    raise InputError(f"this model takes images of shape (height, width) or (height, width, 3), got {shape}")
