"""When rows of a run may take the place of kept ones, or stand beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tensorldp.errors import InputError
from tensorldp.kept.provenance import Key


class Origin(NamedTuple):
    """What made the numbers of a cell and a seed, empty where it is not known.

    Attributes:
        settings: a digest of all settings.
        training: the training settings that are not defaults, as JSON.
        source: a digest of the code.
    """

    settings: str
    training: str
    source: str

    def same(self, other: Origin) -> bool:
        """Whether both are known to have the same settings and code."""
        return "" not in (self.settings, self.source) and self == other


def check_seeds(kept: Mapping[tuple[Key, int], Origin], new: Mapping[tuple[Key, int], Origin]) -> None:
    """Refuse a run that would leave seeds of one cell with different settings or code beside each other.

    Args:
        kept: of each cell and seed that is kept.
        new: the same of the run.

    Raises:
        InputError: naming the first cell of which the run lacks a seed that is kept with other, or unknown, settings or
            code.
    """
    seeds: dict[Key, set[int]] = defaultdict(set)
    for key, seed in new:
        seeds[key].add(seed)
    origins = {key: origin for (key, _), origin in new.items()}
    lacking: dict[Key, list[int]] = defaultdict(list)
    for (key, seed), origin in kept.items():
        if key in origins and seed not in seeds[key] and not origin.same(origins[key]):
            lacking[key].append(seed)
    if lacking:
        key, missing = next(iter(lacking.items()))
        known = next(kept[key, seed] for seed in missing)
        raise InputError(
            f"seeds {_listed(missing)} of {_name(key)} are kept with {_difference(known, origins[key])} and this run "
            f"has only {_listed(seeds[key])}: run the kept seeds again with it ({len(lacking)} cells)"
        )


def check_training(
    kept: Mapping[tuple[Key, int], Origin],
    new: Mapping[tuple[Key, int], Origin],
    planned: Mapping[tuple[Key, int], str],
) -> None:
    """Refuse rows whose cells were trained in another way than those of the same variant beside which they would stand.

    Args:
        kept: of each cell and seed that stays.
        new: of each that is added.
        planned: the training that the study's file plans for kept rows without a note of theirs.

    Raises:
        InputError: naming the study, the data set and the variant.
    """

    def trainings(origins: Mapping[tuple[Key, int], Origin]) -> dict[tuple[str, str, str], set[str]]:
        found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for (key, seed), origin in origins.items():
            if known := origin.training or planned.get((key, seed), ""):
                found[key.study, key.dataset, key.variant].add(known)
        return found

    before = trainings({place: origin for place, origin in kept.items() if place not in new})
    for group, digests in trainings(new).items():
        if len(digests | before.get(group, set())) > 1:
            raise InputError(
                f"the training settings of this run for {' '.join(group)} are not those of the cells that are kept of "
                "it: cells of a variant are compared with each other, so run all of them with the same settings"
            )


def _listed(seeds: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(seeds)))


def _name(key: Key) -> str:
    return f"{key.study} {key.dataset} {key.variant} {key.mechanism} at epsilon {key.epsilon}"


def _difference(kept: Origin, new: Origin) -> str:
    if not kept.settings or not kept.source:
        return "settings or code that were not noted"
    if kept.settings != new.settings:
        return "other settings"
    return "other code"
