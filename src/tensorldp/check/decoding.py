"""What everybody can compute from a release that names its own hash function: which candidates hash to its answer.

In local hashing a release is an answer and the seed of a hash function. By itself the answer tells nothing, and seeds
hardly repeat, so that counting sees nothing; the support of each candidate, hash(candidate, seed) == answer, tells all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from tensorldp.check.columns import plain

Hash = Callable[[str, int], int]
MOST_CANDIDATES = 1 << 10
CLEAR = 5.0  # standard deviations by which answers agree with the records' own hashes more often than by chance


def _xxhash(name: str) -> Hash:
    function = getattr(import_module("xxhash"), name)
    return lambda text, seed: int(function(text, seed=seed).intdigest())


def _mmh3() -> Hash:
    function = import_module("mmh3").hash
    return lambda text, seed: int(function(text, seed, signed=False))


HASHES: dict[str, Callable[[], Hash]] = {
    "xxhash.xxh32": partial(_xxhash, "xxh32"),
    "xxhash.xxh64": partial(_xxhash, "xxh64"),
    "mmh3.hash": _mmh3,
}


def _installed() -> dict[str, Hash]:
    """Returns the hash functions that are installed, by name, each from a text and a seed."""
    found: dict[str, Hash] = {}
    for name, importer in HASHES.items():
        with suppress(ImportError, AttributeError):
            found[name] = importer()
    return found


@dataclass(frozen=True)
class Support:
    """Which candidates agree with a release of local hashing.

    Attributes:
        name: of the hash function.
        function: it.
        size: how many answers there are.
        answer, seed: the places of the two in a release.
        candidates: the texts that may have been hashed.
    """

    name: str
    function: Hash
    size: int
    answer: int
    seed: int
    candidates: tuple[str, ...]

    def __call__(self, release: Any) -> tuple[bool, ...]:
        """Returns for each candidate whether its hash is the answer."""
        parts = plain(release)
        answer, seed = int(parts[self.answer]), int(parts[self.seed])
        return tuple(self.function(text, seed) % self.size == answer for text in self.candidates)

    def __str__(self) -> str:
        return f"{self.name}(text, seed) % {self.size} == answer"


def recognised(records: Sequence[Any], releases: Sequence[Any], values: Sequence[Any]) -> Support | None:
    """Finds the hash function of releases that are pairs of an answer and a seed, or None.

    It is the one under which answers are the hashes of the records themselves far more often than by chance. A wrong
    guess costs power and no more: what is computed from a release is no more than everybody can compute.

    Args:
        records: what was released.
        releases: their plain releases, one each.
        values: the categories of the records.
    """
    if not 2 <= len(values) <= MOST_CANDIDATES or len(releases) < 64:
        return None
    pairs = [release.tolist() if isinstance(release, np.ndarray) else release for release in releases]
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        return None
    if not all(isinstance(one, int) and one >= 0 for pair in pairs for one in pair):
        return None
    seed = int(len({second for _, second in pairs}) > len({first for first, _ in pairs}))
    answers, seeds = [pair[1 - seed] for pair in pairs], [pair[seed] for pair in pairs]
    if len(set(seeds)) < len(seeds) / 2:
        return None
    least, best = max(answers) + 1, None
    for name, function in _installed().items():
        try:
            hashed = np.array([function(str(one), at) for one, at in zip(records, seeds, strict=True)], dtype=np.uint64)
        except (TypeError, ValueError, OverflowError):  # seeds that this function does not take
            continue
        for size in range(max(2, least), 2 * least + 8):
            agree = int(np.count_nonzero(hashed % np.uint64(size) == np.array(answers, dtype=np.uint64)))
            chance = len(answers) / size
            clear = (agree - chance) / np.sqrt(chance * (1 - 1 / size))
            if clear > max(CLEAR, best[0] if best else 0.0):
                best = (clear, Support(name, function, size, 1 - seed, seed, tuple(map(str, values))))
    return best[1] if best else None
