"""Linear scores of classes, which is what every learner here returns."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.errors import InputError


@dataclass(frozen=True)
class LinearScores:
    """x -> W x + b.

    Attributes:
        weight: (classes, dimension).
        bias: (classes,).
    """

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Scores (records, classes) of rows (records, dimension).

        Raises:
            InputError: if the rows do not have the dimension.
        """
        if x.dim() != 2 or x.shape[1] != self.weight.shape[1]:
            raise InputError(f"the classifier takes rows of {self.weight.shape[1]} numbers, got {tuple(x.shape)}")
        return x @ self.weight.T + self.bias

    def predict(self, x: Tensor) -> Tensor:
        """The class with the largest score, (records,)."""
        return self(x).argmax(dim=1)

    def accuracy(self, x: Tensor, y: Tensor) -> float:
        """The share of rows whose class is predicted."""
        return float((self.predict(x) == y).double().mean())

    def on_average(self) -> LinearScores:
        """The same scores less their mean over the classes: the same predictions."""
        return LinearScores(self.weight - self.weight.mean(dim=0), self.bias - self.bias.mean())


def check_releases(releases: Tensor, labels: Tensor, classes: int) -> None:
    """Finite float rows (records, dimension) with a class index each.

    Raises:
        InputError: otherwise.
    """
    if releases.dim() != 2 or not releases.is_floating_point() or not len(releases):
        raise InputError(
            f"releases must be float rows (records, dimension), got {releases.dtype} {tuple(releases.shape)}"
        )
    if labels.shape != releases.shape[:1] or labels.is_floating_point():
        raise InputError(f"releases need one class index each, got {len(releases)} and {tuple(labels.shape)}")
    if int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise InputError(f"class indices must lie in 0 .. {classes - 1}")
    if not bool(torch.isfinite(releases).all()):
        raise InputError("releases must be finite")
