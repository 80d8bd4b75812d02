"""Statistics of where a release lies: likelihood, distances to the records, its shape, single coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tensorldp.check.distinguishers.base import Columns, Distinguisher, Reals, Scene

TINY = 1e-300


@dataclass(frozen=True)
class Likelihood(Distinguisher):
    """The likelihood ratio that the mechanism itself declares."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        return {} if scene.likelihood is None else {"declared likelihood ratio": scene.likelihood}


@dataclass(frozen=True)
class Distances(Distinguisher):
    """How much nearer a release lies to x than to x', in several norms, and how near to each."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        if scene.x is None or scene.x_prime is None:
            return {}
        x, x_prime = scene.x, scene.x_prime
        change = x - x_prime
        norm = float(np.linalg.norm(change))
        found: Columns = {
            "sum of |y - x'| - |y - x|": lambda y: (np.abs(y - x_prime) - np.abs(y - x)).sum(axis=1),
            "log distance to x": partial(_log_distance, x),
            "log distance to x'": partial(_log_distance, x_prime),
            "nearest element to x": partial(_nearest, x),
            "nearest element to x'": partial(_nearest, x_prime),
        }
        if norm > 0.0:
            found["projection on x - x'"] = lambda y: (y - x_prime) @ (change / norm)
        if x.size > 1:
            found["spread of y - x"] = partial(_spread, x)
            found["spread of y - x'"] = partial(_spread, x_prime)
        return found


def _log_distance(record: Reals, y: Reals) -> Reals:
    return np.asarray(np.log(np.abs(y - record).max(axis=1) + TINY))


def _nearest(record: Reals, y: Reals) -> Reals:
    return np.asarray(np.log(np.abs(y - record).min(axis=1) + TINY))


def _spread(record: Reals, y: Reals) -> Reals:
    return np.asarray(np.log((y - record).std(axis=1) + TINY))


@dataclass(frozen=True)
class Shapes(Distinguisher):
    """Norm, sum, extremes, spread and order of a release."""

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        middle = (scene.low + scene.high) / 2.0
        found: Columns = {"norm about the centre": lambda y: np.linalg.norm(y - middle, axis=1)}
        if mine.shape[1] > 1:
            found |= {
                "sum": lambda y: y.sum(axis=1),
                "norm": lambda y: np.linalg.norm(y, axis=1),
                "largest element": lambda y: y.max(axis=1),
                "least element": lambda y: y.min(axis=1),
                "spread": lambda y: np.log(y.std(axis=1) + TINY),
                "place of the largest": lambda y: y.argmax(axis=1).astype(np.float64),
                "place of the least": lambda y: y.argmin(axis=1).astype(np.float64),
                "roughness": lambda y: np.abs(np.diff(y, axis=1)).sum(axis=1),
                "smallest step": lambda y: np.log(np.abs(np.diff(y, axis=1)).min(axis=1) + TINY),
            }
        return found


@dataclass(frozen=True)
class Coordinates(Distinguisher):
    """Single coordinates, those that differ most in mean or in spread: all are looked at, a few are kept.

    Attributes:
        kept: how many by each criterion.
    """

    kept: int = 5

    def statistics(self, scene: Scene, mine: Reals, other: Reals) -> Columns:
        found: Columns = {}
        middle = np.median(np.concatenate((mine, other)), axis=0)
        for place in chosen(mine, other, self.kept):
            found[f"element {place}"] = partial(_element, int(place))
            found[f"element {place}, from its median"] = partial(_deviation, int(place), float(middle[place]))
        return found


def chosen(mine: Reals, other: Reals, kept: int) -> list[int]:
    """The coordinates that differ most: in mean, in log deviation from the median, in extremes."""
    places: dict[int, None] = {}
    middle = np.median(np.concatenate((mine, other)), axis=0)
    sizes = [np.log(np.abs(y - middle) + TINY) for y in (mine, other)]
    for first, second in ((mine, other), (sizes[0], sizes[1])):
        error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / len(mine)) + TINY
        score = np.abs(first.mean(axis=0) - second.mean(axis=0)) / error
        places |= dict.fromkeys(np.argsort(-score, kind="stable")[:kept].tolist())
    return list(places)


def _element(place: int, y: Reals) -> Reals:
    return y[:, place]


def _deviation(place: int, middle: float, y: Reals) -> Reals:
    return np.asarray(np.log(np.abs(y[:, place] - middle) + TINY))
