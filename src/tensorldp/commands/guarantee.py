"""`tensorldp guarantee`: what an epsilon on paper means for a record."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from tensorldp.commands.arguments import Answer
from tensorldp.commands.target import (
    add_target_arguments,
    called,
    domain_of,
    element_error,
    error_lines,
    mechanism_of,
)
from tensorldp.composition import compose
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import MOST_USES, check_whole, number
from tensorldp.mechanisms import Mechanism

FLOATS = {
    True: "releases are on a grid that the record has no part in, so that their floats add nothing",
    False: "over the real numbers: the released floats give more away (laplace at epsilon 1 on one float32 element: an "
    "epsilon of at least 9.8, docs/checking.md#floats); `python -m tensorldp check --floating-point` measures it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_target_arguments(parser, epsilon=True)
    parser.add_argument("--delta", type=float, default=REPORT_DELTA, help="delta of the guarantee (default: 1e-5)")
    parser.add_argument("--uses", type=int, default=1, help="releases of the same record (default: 1)")


def run(options: argparse.Namespace) -> Answer:
    """Says the guarantee of one release and of several, and what it means."""
    mechanism = mechanism_of(options, domain_of(options))
    uses = check_whole("uses", options.uses, low=1, high=MOST_USES)
    name, error = called(options.target, mechanism), element_error(mechanism)
    found = [_releases(mechanism, count, options.delta) for count in dict.fromkeys((1, uses))]
    lines = [f"{name}, nominal epsilon {number(mechanism.epsilon)}, on {mechanism.domain}"]
    lines += [line for one in found for line in _lines(one)]
    lines += error_lines(error)
    lines += [f"note: {mechanism.note}"] if mechanism.note else []
    lines.append(FLOATS[mechanism.on_grid])
    content = {
        "mechanism": name,
        "nominal_epsilon": mechanism.epsilon,
        "domain": asdict(mechanism.domain),
        "releases": [asdict(one) for one in found],
        "element_error": error,
        "note": mechanism.note,
        "on_grid": mechanism.on_grid,
    }
    return Answer("\n".join(lines), content)


@dataclass(frozen=True)
class Releases:
    """What a number of releases of one record give away.

    Attributes:
        count: how many.
        unit: what is protected.
        epsilon: at `delta`.
        exact: whether no smaller one holds.
        pure_epsilon: at a delta of 0.
        atom: the probability that they rule the other record out.
        told_apart: the largest probability of telling two equally likely records apart.
    """

    count: int
    unit: str
    delta: float
    epsilon: float
    exact: bool
    pure_epsilon: float
    atom: float
    told_apart: float


def _releases(mechanism: Mechanism, count: int, delta: float) -> Releases:
    curve, guarantee = mechanism.curve().compose(count), compose(mechanism, count=count, delta=delta)
    told_apart = (1 + curve.delta(0.0)) / 2
    pure = curve.epsilon(0.0)
    return Releases(count, guarantee.unit, delta, guarantee.epsilon, guarantee.exact, pure, curve.atom, told_apart)


def _lines(found: Releases) -> Iterator[str]:
    bound = "exactly" if found.exact else "at most"
    releases = "one release" if found.count == 1 else f"{found.count} releases"
    yield f"{releases}, for each {found.unit}:"
    yield f"  epsilon at delta {found.delta:g}: {bound} {_number(found.epsilon)}"
    yield f"  pure epsilon: {_number(found.pure_epsilon)}"
    if found.atom > 0.0:
        yield f"  with probability {found.atom:.3g} the release rules the other record out"
    yield f"  two equally likely records are told apart with probability {found.told_apart:.4f} at most"


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "infinite"
