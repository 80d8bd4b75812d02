"""Pairs of records to try: the declared one, extremes, sparse, constant, ordered, random, mirrored and near ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tensorldp.check.claim import Claim
from tensorldp.check.records import Numbers
from tensorldp.check.target import Target
from tensorldp.domain import Ball
from tensorldp.errors import InputError, shown
from tensorldp.randomness import generator

NEAR = 1e-3  # of the domain's width: how far apart near-duplicates are
ELEMENTS = 1 << 26  # of all records together
LEAST_PAIRS = 3  # pairs at least, however large a record is
VALUES, FEW_VALUES = 64, 16  # whole numbers of a domain that are all tried: of one element, of all elements alike


@dataclass(frozen=True)
class Pair:
    """Two records of the domain, float64 of shape `domain.shape`, and how they were chosen."""

    name: str
    x: Tensor
    x_prime: Tensor

    def named(self, target: Target) -> str:
        """Returns what a message calls it: the two records, where these are no numbers, else how they were chosen."""
        if target.records is None or isinstance(target.records, Numbers):
            return self.name
        first, second = map(shown, target.records.given(torch.stack((self.x, self.x_prime))))
        return f"x is {first}, x' is {second}"


def pairs(
    target: Target, seed: int, given: tuple[Tensor, Tensor] | None = None, claim: Claim | None = None
) -> list[Pair]:
    """Returns the pairs that every check starts from, without repetitions, the most promising first.

    Records of more than two million elements have fewer pairs: as many as fit in half a gigabyte, or three.

    Args:
        target: what is checked.
        seed: for the random records.
        given: a pair of the user's, tried first.
        claim: what is claimed; where it scales with a distance, pairs at several distances come early.
    """
    chosen: list[Pair] = []
    most = max(LEAST_PAIRS, ELEMENTS // (2 * target.size))
    for pair in _candidates(target, seed, given, claim):
        x, x_prime = neighbours(target, pair.x, pair.x_prime)
        if torch.equal(x, x_prime) or any(same(x, x_prime, old) for old in chosen):
            continue
        chosen.append(Pair(pair.name, x, x_prime))
        if len(chosen) == most:
            break
    if not chosen:
        raise InputError(f"a check needs two records that float64 tells apart, and {target.domain} has only one")
    return chosen


def subset(candidates: list[Pair], most: int | None, seed: int) -> list[Pair]:
    """Draws a random choice of `most` pairs, in their order; all if `most` is None."""
    if most is None or most >= len(candidates):
        return candidates
    order = torch.randperm(len(candidates), generator=generator("check", "some pairs", seed))
    return [candidates[index] for index in sorted(order[:most].tolist())]


def changed(target: Target, pair: Pair, seed: int, count: int) -> Pair:
    """Returns the pair with some elements of either record replaced: one step of a coordinate ascent."""
    source = generator("check", "ascent", seed, count)
    records = [pair.x.clone().reshape(-1), pair.x_prime.clone().reshape(-1)]
    box = target.domain.as_box()
    low, high = box.low, box.high
    width = max(1, target.size // 8)
    places = torch.randperm(target.size, generator=source)[: int(torch.randint(1, width + 1, (1,), generator=source))]
    for record in records:
        kind = int(torch.randint(0, 6, (1,), generator=source))
        between = low + (high - low) * float(torch.rand(1, generator=source))
        if kind < 4:
            record[places] = (low, high, (low + high) / 2.0, between)[kind]
        elif kind == 4:  # else it stays as it is
            record[places] = low + high - record[places]
    if torch.equal(records[0], records[1]):
        records[1][places] = low if float(records[0][places[0]]) != low else high
    x, x_prime = neighbours(target, *(record.reshape(target.domain.shape) for record in records))
    return Pair(f"{pair.name}, changed", x, x_prime)


def _inside(target: Target, record: Tensor) -> Tensor:
    shape = target.domain.shape
    if tuple(record.shape) != shape:
        raise InputError(f"a record of the pair must have the shape {shape}, got {tuple(record.shape)}")
    inside = target.nearest(record.unsqueeze(0)).squeeze(0)
    return inside.round() if target.integer else inside


def neighbours(target: Target, x: Tensor, x_prime: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the two records inside the domain; where the claim is one for each element, only one element differs."""
    x, x_prime = _inside(target, x), _inside(target, x_prime)
    if getattr(target.mechanism, "unit", "record") != "element":
        return x, x_prime
    place = int((x - x_prime).abs().argmax())
    other = x.clone()
    other.view(-1)[place] = x_prime.reshape(-1)[place]
    return x, other if torch.equal(_inside(target, other), other) else x  # a ball may not have it


def same(x: Tensor, x_prime: Tensor, old: Pair) -> bool:
    """Returns whether these are the two records of a pair, in either order."""
    straight = torch.equal(x, old.x) and torch.equal(x_prime, old.x_prime)
    return straight or (torch.equal(x, old.x_prime) and torch.equal(x_prime, old.x))


TOLD = (1.0, 0.3, 3.0)  # claimed epsilons of pairs that are tried where a claim scales with a distance
HALVINGS = 30  # of the way between two records, on which such pairs are found
MOST_VALUES = 24  # pairs of whole numbers that are tried beside them


def at_distance(
    x: Tensor, x_prime: Tensor, far: Callable[[Tensor, Tensor], float], wanted: float, order: Tensor
) -> Tensor | None:
    """Finds a record on the way from x to x' about as far from x as is wanted, by halving; None if there is none.

    The way is straight; where a distance does not fall along it, as that of Hamming, elements change one by one.

    Args:
        x: where the way starts.
        x_prime: where it ends.
        far: how far two records are from each other: a distance, or what is claimed at it.
        wanted: what is looked for.
        order: a permutation of the elements.
    """
    if far(x, x_prime) < wanted:
        return None

    def straight(share: float) -> Tensor:
        return x + share * (x_prime - x)

    def one_by_one(share: float) -> Tensor:
        record = x.clone().reshape(-1)
        places = order[: round(share * len(order))]
        record[places] = x_prime.reshape(-1)[places]
        return record.reshape(x.shape)

    for way in (straight, one_by_one):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if far(x, way(middle)) < wanted else (low, middle)
        if far(x, way(high)) <= 1.5 * wanted and not torch.equal(x, way(high)):
            return way(high)
    return None


def moved(target: Target, pair: Pair, factor: float) -> Pair:
    """Returns the pair with its second record `factor` times as far from the first, if the domain has it."""
    further = pair.x + factor * (pair.x_prime - pair.x)
    name = f"{pair.name}, {'farther apart' if factor > 1.0 else 'nearer'}"
    return Pair(name, *neighbours(target, pair.x, further))


def _at_distances(target: Target, seed: int, claim: Claim) -> Iterator[Pair]:
    """Yields pairs whose claimed epsilons are those of `TOLD`, about several points and in several directions."""
    source = generator("check", "pairs at distances", seed)
    size, shape, box = target.size, target.domain.shape, target.domain.as_box()
    low, high, middle = box.low, box.high, (box.low + box.high) / 2.0

    def anywhere() -> Tensor:
        return (low + (high - low) * torch.rand(size, generator=source, dtype=torch.float64)).reshape(shape)

    first = torch.full((size,), middle, dtype=torch.float64)
    first[0] = high
    ways = [
        ("the centre and its first element higher", box.constant(middle), first.reshape(shape)),
        ("all low and higher", box.constant(low), box.constant(high)),
        ("two random points", anywhere(), anywhere()),
    ]
    if size > 1:
        corner = torch.where(torch.rand(size, generator=source) < 0.5, low, high).double().reshape(shape)
        ways.append(("the centre and towards a corner", box.constant(middle), corner))
    order = torch.randperm(size, generator=source)
    for told in TOLD:
        for name, x, x_prime in ways:
            x, x_prime = neighbours(target, x, x_prime)
            found = at_distance(x, x_prime, claim.told, told, order)
            if found is not None:
                yield Pair(f"{name}, at a claimed epsilon of about {told:g}", x, found)
    if size == 1 and float(low).is_integer() and float(high).is_integer() and high - low <= VALUES:
        values = range(int(low), int(high) + 1)
        both = [(v, w) for v in values for w in values if v < w]
        drawn = torch.randperm(len(both), generator=source)[:MOST_VALUES].tolist()
        for v, w in (both[index] for index in drawn):
            yield Pair(f"{v} and {w}", box.constant(v), box.constant(w))


def _candidates(
    target: Target, seed: int, given: tuple[Tensor, Tensor] | None, claim: Claim | None = None
) -> Iterator[Pair]:
    box, size, shape = target.domain.as_box(), target.size, target.domain.shape
    low, high, middle = box.low, box.high, (box.low + box.high) / 2.0
    source = generator("check", "pairs", seed)

    def of(values: Tensor) -> Tensor:
        return values.double().reshape(shape)

    def spike(base: float, place: int, value: float) -> Tensor:
        record = torch.full((size,), base, dtype=torch.float64)
        record[place] = value
        return of(record)

    def corner() -> Tensor:
        coins = torch.randint(0, 2, (size,), generator=source).double()
        return of(low + (high - low) * coins)

    def interior() -> Tensor:
        return of(low + (high - low) * torch.rand(size, generator=source, dtype=torch.float64))

    def and_mirror(name: str, record: Tensor) -> Pair:
        return Pair(f"{name}, and its mirror image", record, of(low + high - record.reshape(-1)))

    def on_sphere() -> Tensor:
        direction = torch.randn(size, generator=source, dtype=torch.float64)
        return of(middle + (high - low) / 2.0 * direction / direction.norm())

    if given is not None:
        yield Pair("given", *given)
    if target.mechanism is not None:
        yield Pair("declared as the worst", *target.mechanism.worst_pair())
    if target.records is not None:
        for name, x, x_prime in target.records.pairs():
            yield Pair(name, x, x_prime)
    if claim is not None and claim.metric is not None:
        yield from _at_distances(target, seed, claim)
    yield Pair("all low and all high", box.constant(low), box.constant(high))
    yield Pair("first element low and high", spike(middle, 0, low), spike(middle, 0, high))
    alternating = torch.full((size,), high, dtype=torch.float64)
    alternating[::2] = low
    alternating = of(alternating)
    if size > 1:
        yield Pair("constant and alternating", box.constant(low), alternating)
        yield and_mirror("alternating", alternating)
        yield Pair("one element high, all low", spike(low, size // 2, high), box.constant(low))
        rising = of(torch.linspace(low, high, size, dtype=torch.float64))
        yield Pair("rising and falling", rising, of(rising.reshape(-1).flip(0)))
    yield Pair("centre and all high", box.constant(middle), box.constant(high))
    if isinstance(target.domain, Ball):
        point = on_sphere()
        yield Pair("opposite points of the sphere", point, of(2.0 * middle - point.reshape(-1)))
    yield Pair("two random corners", corner(), corner())
    yield Pair("two random points", interior(), interior())
    if size > 1:
        yield Pair("last element low and high", spike(middle, size - 1, low), spike(middle, size - 1, high))
        yield Pair("one element low, all high", spike(high, 0, low), box.constant(high))
        yield and_mirror("random corner", corner())
        yield and_mirror("another random corner", corner())
        yield and_mirror("inner corner", of(middle + (corner().reshape(-1) - middle) / 2.0))
    if not target.integer:
        point = interior()
        yield Pair(
            "near-duplicates", point, of(point.reshape(-1) + NEAR * (middle - point.reshape(-1)).sign() * (high - low))
        )
    yield and_mirror("random point", interior())
    if low < 0.0 < high and middle != 0.0:
        yield Pair("zero and all high", box.constant(0.0), box.constant(high))
    if float(low).is_integer() and float(high).is_integer() and high - low <= (VALUES if size == 1 else FEW_VALUES):
        for value in range(int(low) + 1, int(high)):  # one of a few classes may be treated apart
            yield Pair(f"all {value} and all high", box.constant(value), box.constant(high))
