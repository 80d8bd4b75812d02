"""A kernel two-sample statistic: it sees dependence where no element, norm or projection differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Reals, Scene
from tensorldp.check.distinguishers.geometry import TINY, chosen


@dataclass(frozen=True)
class Kernel(Distinguisher):
    """The Fisher discriminant of a kernel's features, regularized [harchaoui2007].

    The kernel is a mixture of Gaussian kernels of many widths, by random Fourier features [rahimi2007]. Elements are
    centred at their medians, scaled and squashed first, so that heavy tails do no harm.

    Attributes:
        width: coordinates that take part, at most.
        features: random frequencies, with a sine and a cosine each.
        most: releases of each record that it is trained on at most.
        ridge: of the discriminant, in mean eigenvalues of the features' covariance.
    """

    width: int = 16
    features: int = 128
    most: int = 4096
    ridge: float = 0.03

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        mine, other = mine[: self.most], other[: self.most]
        places = np.array(sorted(chosen(mine, other, self.width // 2)))
        both = np.concatenate((mine, other))[:, places]
        middle = np.median(both, axis=0)
        spread = np.median(np.abs(both - middle), axis=0)
        for instead in (both.std(axis=0), 1.0):  # of elements that are mostly, or always, the same number
            spread = np.where(spread > 0.0, spread, instead)
        source = np.random.default_rng(0)
        frequencies = source.standard_normal((places.size, self.features))
        frequencies *= source.uniform(0.5, 4.0, self.features) / np.sqrt(places.size)
        frequencies = frequencies.astype(np.float32)  # sines and cosines are what it takes time for

        def table(y: Reals) -> Reals:
            angles = np.tanh((y[:, places] - middle) / (2.0 * spread)).astype(np.float32) @ frequencies
            return np.concatenate((np.cos(angles), np.sin(angles)), axis=1).astype(np.float64)

        first, second = table(mine), table(other)
        covariance = (np.cov(first, rowvar=False) + np.cov(second, rowvar=False)) / 2.0
        ridge = self.ridge * float(np.trace(covariance)) / len(covariance) + TINY
        change = first.mean(axis=0) - second.mean(axis=0)
        weights = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), change)
        return {"kernel discriminant": lambda y: table(y) @ weights}
