"""`python -m tensorldp guarantee`: what an epsilon on paper means for a record."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

from tensorldp.commands.target import add_target_arguments, called, domain_of, error_lines, mechanism_of
from tensorldp.composition import compose
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import MOST_USES, check_whole, number

FLOATS = {
    True: "releases are on a grid that the record has no part in, so that their floats add nothing",
    False: "over the real numbers: the released floats give more away (laplace at epsilon 1 on one float32 element: an "
    "epsilon of at least 9.8, docs/checking.md#floats); `python -m tensorldp check --floating-point` measures it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add_target_arguments(parser, epsilon=True)
    parser.add_argument("--delta", type=float, default=REPORT_DELTA, help="delta of the guarantee (default: 1e-5)")
    parser.add_argument("--uses", type=int, default=1, help="releases of the same record (default: 1)")


def run(options: argparse.Namespace) -> int:
    """Print the guarantee of one release and of several, and what it means."""
    print(*_lines(options), sep="\n")  # all of it, or nothing where a part cannot be said
    return 0


def _lines(options: argparse.Namespace) -> Iterator[str]:
    mechanism = mechanism_of(options, domain_of(options))
    uses = check_whole("uses", options.uses, low=1, high=MOST_USES)
    yield f"{called(options.target, mechanism)}, nominal epsilon {number(mechanism.epsilon)}, on {mechanism.domain}"
    for count in dict.fromkeys((1, uses)):
        curve = mechanism.curve().compose(count)
        guarantee = compose(mechanism, count=count, delta=options.delta)
        bound = "exactly" if guarantee.exact else "at most"
        releases = "one release" if count == 1 else f"{count} releases"
        yield f"{releases}, for each {guarantee.unit}:"
        yield f"  epsilon at delta {options.delta:g}: {bound} {_number(guarantee.epsilon)}"
        yield f"  pure epsilon: {_number(curve.epsilon(0.0))}"
        if curve.atom > 0.0:
            yield f"  with probability {curve.atom:.3g} the release rules the other record out"
        advantage = curve.delta(0.0)
        yield f"  two equally likely records are told apart with probability {(1 + advantage) / 2:.4f} at most"
    yield from error_lines(mechanism)
    if mechanism.note:
        yield f"note: {mechanism.note}"
    yield FLOATS[mechanism.on_grid]


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "infinite"
