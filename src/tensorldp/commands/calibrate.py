"""`tensorldp calibrate`: the nominal setting that gives a record exactly the requested guarantee."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import asdict
from decimal import ROUND_FLOOR, Context

from tensorldp.calibration import calibrate
from tensorldp.commands.arguments import Answer
from tensorldp.commands.target import add_target_arguments, content_of, domain_of, error_lines, mechanism_of
from tensorldp.errors import MOST_EPSILON, InputError, check_budget, number
from tensorldp.mechanisms import Mechanism

DIGITS = 9  # of a nominal epsilon: what is cut off is a hundredth of the search's tolerance
SHORT = 0.01  # of the epsilon that was asked for: what is reached may miss as much without a note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_target_arguments(parser, epsilon=False)
    parser.add_argument("--record-epsilon", type=float, required=True, help="the epsilon to guarantee to one record")
    parser.add_argument("--delta", type=float, default=0.0, help="delta of that guarantee (default: 0, a pure one)")


def run(options: argparse.Namespace) -> Answer:
    """Says the nominal epsilon, and the guarantee and the error that come with it."""
    wanted, delta = check_budget("record-epsilon", options.record_epsilon), options.delta
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta must be at least 0 and below 1, got {delta!r}")
    domain = domain_of(options)

    def build(nominal: float) -> Mechanism:
        options.epsilon = nominal
        return mechanism_of(options, domain)

    first = build(wanted)
    if math.isinf(first.curve().epsilon(delta)):
        atom = first.curve().atom
        than = f" than {atom:.3g}, the probability of its atom at epsilon {wanted:g}" if atom > delta else ""
        raise InputError(
            f"{first.name} guarantees a record no finite epsilon at delta {delta:g}: give a larger --delta{than}"
        )
    mechanism = _printable(build, calibrate(build, wanted, delta, epsilon_of=_epsilon), wanted, delta)
    reached = mechanism.guarantee(delta)
    bound = "exactly" if reached.exact else "at most"
    short = f"{reached.epsilon:.6g}"
    least = short if float(short) >= reached.epsilon else repr(reached.epsilon)  # never less than is guaranteed
    content = {**content_of(options.target, mechanism), **asdict(reached), "unreached": ""}
    lines = [
        f"{content['mechanism']} on {mechanism.domain}",
        f"nominal epsilon: {number(mechanism.epsilon)}",
        f"each {reached.unit} is guaranteed epsilon {bound} {least} at delta {delta:g}",
    ]
    if reached.epsilon < (1.0 - SHORT) * wanted:
        atom, why = mechanism.curve().atom, "what is guaranteed jumps beyond it"
        if atom > 0.0 and math.isclose(atom, delta, rel_tol=SHORT):
            why = f"its atom, now of probability {atom:.3g}, exceeds delta and no finite epsilon holds"
        elif build(min((1.0 + SHORT) * mechanism.epsilon, MOST_EPSILON)).guarantee(delta).epsilon <= reached.epsilon:
            why = "no more is guaranteed"
        content["unreached"] = f"epsilon {wanted:g} is not reached, because with a larger nominal epsilon {why}"
        lines.append(f"note: {content['unreached']}")
    return Answer("\n".join([*lines, *error_lines(mechanism)]), content)


def _epsilon(mechanism: Mechanism, delta: float) -> float:
    return mechanism.curve().epsilon(delta)


def _printable(build: Callable[[float], Mechanism], found: Mechanism, wanted: float, delta: float) -> Mechanism:
    """Returns the mechanism of the nominal epsilon cut to `DIGITS`, or the one found where that guarantees less."""
    cut = float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal(repr(found.epsilon)))
    mechanism = build(cut)
    return mechanism if _epsilon(mechanism, delta) <= wanted else found
