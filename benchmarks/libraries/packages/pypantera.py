"""pypantera: words by other words that are near in an embedding."""

import tempfile
from typing import Any
from unittest import mock

import numpy as np
from kit import Package

from tensorldp.commands.target import imported

package = Package("pypantera", "1.0.2")
PLACES = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.75**0.5), (0.5, -(0.75**0.5))]  # the first three are 1 apart
METRIC: dict[str, Any] = {
    "epsilon": 1.0,
    "says": "epsilon with respect to the distance of the embedding",
    "where": "abstract quoted in the docstring of CMP",
    "categories": ["a", "b", "c"],
}
README: dict[str, Any] = {"says": "epsilon-differential privacy", "where": "README", "categories": ["a", "b", "c"]}
HALF = float(np.exp(0.5))


def made(name: str, apart: float = 1.0, words: str = "abc", **options: Any) -> Any:
    """Makes a mechanism on these words, of which the first three lie so far from each other."""
    with tempfile.NamedTemporaryFile("w") as file, mock.patch("multiprocessing.cpu_count", return_value=1):
        file.writelines(f"{word} {apart * x} {apart * y}\n" for word, (x, y) in zip(words, PLACES, strict=False))
        file.flush()
        return imported(f"src.{name}")({"embPath": file.name, "epsilon": 1.0, **options})


@package.randomizer("CMP.noisyEmb, words 1 apart", exact=1.0, **METRIC)
def noise() -> Any:
    mechanism = made("EmbeddingPerturbationMechanism.cmp:CMP")
    return lambda word: mechanism.noisyEmb([word])


@package.randomizer("CMP, words 1 apart", **METRIC)
def calibrated() -> Any:
    mechanism = made("EmbeddingPerturbationMechanism.cmp:CMP")
    return lambda word: mechanism.processText(mechanism.noisyEmb([word]))


@package.randomizer("VickreyCMP, t = 0.5, words 1 apart", **METRIC)
def vickrey() -> Any:
    mechanism = made("EmbeddingPerturbationMechanism.vickrey:VickreyCMP", t=0.5)
    return lambda word: mechanism.processText(mechanism.noisyEmb([word]))


@package.randomizer("SanText, words 1 apart", epsilon=1.0, exact=0.5, **README)
def sanitized() -> Any:
    return made("SamplingPerturbationMechanism.santext:SanText").processText


@package.randomizer("CusText, k = 3 of 3 words", epsilon=1.0, exact=0.5, **README)
def customized() -> Any:
    return made("SamplingPerturbationMechanism.custext:CusText", k=3, distance="euclidean").processText


@package.randomizer(
    "CusText, k = 3 of 4 words",
    epsilon=1.0,
    exact=np.inf,
    honest=False,
    note="a word becomes one of its k nearest, which are others for other words",
    **README | {"categories": ["a", "b", "c", "d"]},
)
def few() -> Any:
    return made("SamplingPerturbationMechanism.custext:CusText", words="abcd", k=3, distance="euclidean").processText


@package.randomizer("TEM, beta = 0.5, words 1 apart", epsilon=1.0, **README)
def truncated() -> Any:
    return made("SamplingPerturbationMechanism.tem:TEM", beta=0.5).processText


@package.randomizer(
    "TEM, beta = 0.5, words 2 apart",
    epsilon=2.0,
    exact=np.inf,
    honest=False,
    note="words beyond gamma cannot be drawn, as they are vectors then, and the word itself takes their place",
    **README,
)
def beyond() -> Any:
    return made("SamplingPerturbationMechanism.tem:TEM", 2.0, beta=0.5).processText
