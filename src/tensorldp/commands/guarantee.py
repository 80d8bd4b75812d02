"""`tensorldp guarantee`: what an epsilon on paper means for a record."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict

from tensorldp.commands.arguments import Answer
from tensorldp.commands.target import add_target_arguments, content_of, domain_of, error_lines, mechanism_of
from tensorldp.composition import compose
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import MOST_USES, check_whole, number

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
    parser.add_argument("--distance", type=float, help="of two records, for what tells them apart (default: any two)")


def run(options: argparse.Namespace) -> Answer:
    """Says the guarantee of one release and of several, and what it means."""
    mechanism = mechanism_of(options, domain_of(options))
    uses = check_whole("uses", options.uses, low=1, high=MOST_USES)
    far = options.distance
    one = mechanism.curve() if far is None else mechanism.curve_at(far)
    content = {**content_of(options.target, mechanism), "releases": [], "on_grid": mechanism.on_grid}
    content |= {} if far is None else {"distance": far, "metric": mechanism.metric}
    apart = "" if far is None else f", two of them {far:g} apart in {mechanism.metric}"
    lines = [f"{content['mechanism']}, nominal epsilon {number(mechanism.epsilon)}, on {mechanism.domain}"]
    for count in dict.fromkeys((1, uses)):
        curve = one.compose(count)
        guarantee = compose(mechanism, count=count, delta=options.delta, distance=far)
        pure, told_apart = curve.epsilon(0.0), (1 + curve.delta(0.0)) / 2
        found = {"count": count, "pure_epsilon": pure, "atom": curve.atom, "told_apart": told_apart}
        content["releases"].append({**asdict(guarantee), **found})
        bound = "exactly" if guarantee.exact else "at most"
        releases = "one release" if count == 1 else f"{count} releases"
        lines.append(f"{releases}, for each {guarantee.unit}{apart}:")
        lines.append(f"  epsilon at delta {options.delta:g}: {bound} {_number(guarantee.epsilon)}")
        lines.append(f"  pure epsilon: {_number(pure)}")
        if curve.atom > 0.0:
            lines.append(f"  with probability {curve.atom:.3g} the release rules the other record out")
        lines.append(f"  two equally likely records are told apart with probability {told_apart:.4f} at most")
    lines += error_lines(mechanism)
    lines += [f"note: {mechanism.note}"] if mechanism.note else []
    lines.append(FLOATS[mechanism.on_grid])
    return Answer("\n".join(lines), content)


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "infinite"
