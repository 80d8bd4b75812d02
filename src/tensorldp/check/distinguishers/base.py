"""What a distinguisher is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

Reals = npt.NDArray[np.float64]
Statistic = Callable[[npt.NDArray[Any]], Reals]
Columns = dict[str, Statistic]


@dataclass(frozen=True)
class Scene:
    """What an observer knows beside the observations.

    Attributes:
        x, x_prime: the two observations without noise, flat; None where a release has another size than a record.
        low, high: the ends of the domain.
        dtype: of the releases.
        likelihood: the mechanism's own log likelihood ratio of observations, if it declares one.
    """

    x: Reals | None
    x_prime: Reals | None
    low: float
    high: float
    dtype: torch.dtype = torch.float64
    likelihood: Statistic | None = None


class Distinguisher(ABC):
    """A family of statistics. What it learns, it learns from releases that no test uses.

    Attributes:
        exact: whether it takes releases that are whole by their type as int64, which above 2^53 are no floats.
    """

    exact: ClassVar[bool] = False

    @abstractmethod
    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        """Statistics by name, each from observations (n, D) to (n,).

        Args:
            scene: what the observer knows.
            mine: observations (n, D) of x to learn from.
            other: as many of x'.
        """
