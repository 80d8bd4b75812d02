"""Statistics that are trained: linear and quadratic directions, and a small decision tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy import linalg

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Reals, Scene
from tensorldp.check.distinguishers.geometry import chosen

RIDGE = 1e-9
TREES = find_spec("sklearn") is not None
"""Whether decision trees can be trained: scikit-learn comes with the pipeline, not with the library alone."""


@dataclass(frozen=True)
class Directions(Distinguisher):
    """Fisher's linear discriminant, and the directions in which the two covariances differ most.

    Attributes:
        width: coordinates that take part, at most.
    """

    width: int = 48

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if mine.shape[1] < 2 or not (np.isfinite(mine).all() and np.isfinite(other).all()):
            return {}
        places = np.array(sorted(chosen(mine, other, self.width // 2)))
        first, second = mine[:, places], other[:, places]
        scale = np.concatenate((first, second)).std(axis=0)
        if not (scale > 0).any():
            return {}
        scale = np.where(scale > 0, scale, 1.0)
        first, second = first / scale, second / scale
        change = first.mean(axis=0) - second.mean(axis=0)
        covariances = [np.atleast_2d(np.cov(side, rowvar=False)) for side in (first, second)]
        values, vectors = np.linalg.eigh((covariances[0] + covariances[1]) / 2.0)
        weights = vectors @ ((vectors.T @ change) / (np.maximum(values, 0.0) + RIDGE)) / scale
        found: Columns = {"linear discriminant": lambda y: y[:, places] @ weights}
        middle = np.concatenate((mine, other)).mean(axis=0)[places]
        ridge = 1e-6 * np.eye(places.size)
        try:
            _, spread = linalg.eigh(covariances[0] + ridge, covariances[1] + ridge)
        except linalg.LinAlgError:
            return found
        for name, column in (("narrowest under x", spread[:, 0]), ("narrowest under x'", spread[:, -1])):
            found[f"deviation along the direction {name}"] = partial(_along, places, middle, column / scale)
        return found


def _along(places: Reals, middle: Reals, direction: Reals, y: Reals) -> Reals:
    return np.asarray(np.log(np.abs((y[:, places.astype(int)] - middle) @ direction) + 1e-300))


@dataclass(frozen=True)
class Tree(Distinguisher):
    """A shallow decision tree on a few coordinates, their sizes, sum, norm and distances.

    Attributes:
        least: releases of each record below which it is not worth training.
        most: releases of each record that it is trained on at most.

    Without scikit-learn it has no statistics, and `check` says so.
    """

    least: int = 1000
    most: int = 20_000

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if len(mine) < self.least or not (np.isfinite(mine).all() and np.isfinite(other).all()):
            return {}
        if not TREES:
            return {}
        from sklearn.tree import DecisionTreeClassifier

        places = np.array(sorted(chosen(mine[: self.most], other[: self.most], 6)))
        x = scene.x

        def table(y: Reals) -> Reals:
            parts = [y[:, places], np.abs(y[:, places]), y.sum(axis=1)[:, None], np.linalg.norm(y, axis=1)[:, None]]
            if x is not None:
                parts.append(np.abs(y - x).min(axis=1)[:, None])
                parts.append(np.abs(y - x).max(axis=1)[:, None])
            return np.concatenate(parts, axis=1).astype(np.float32)

        first, second = table(mine[: self.most]), table(other[: self.most])
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            return {}
        tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=max(20, len(first) // 200), random_state=0)
        tree.fit(np.concatenate((first, second)), np.repeat([1, 0], [len(first), len(second)]))
        return {"decision tree": lambda y: np.asarray(tree.predict_proba(table(y))[:, 1])}
