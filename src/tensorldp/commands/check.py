"""`tensorldp check`: try to prove a claimed guarantee wrong."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch

from tensorldp.check.check import ELEMENT_BYTES, check
from tensorldp.check.claim import METRICS
from tensorldp.check.records import Records
from tensorldp.check.repeat import repeating
from tensorldp.check.search import PATIENCE
from tensorldp.check.verdict import verdict_folder, write_verdict
from tensorldp.commands.arguments import Answer, add_seed_argument
from tensorldp.commands.many import arguments_of, parsed_defaults, several, table
from tensorldp.commands.target import (
    add_function_arguments,
    add_target_arguments,
    called,
    decoder_of,
    domain_of,
    imported,
    records_of,
    target_of,
)
from tensorldp.commands.watch import ended_after
from tensorldp.errors import InputError, check_positive
from tensorldp.mechanisms.base import Mechanism
from tensorldp.memory import check_memory

FORMATS = ("float64", "float32", "bfloat16")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_target_arguments(parser, epsilon=True, several=True)
    add_function_arguments(parser)
    parser.add_argument("--claim-epsilon", type=float, help="the claim, in place of the mechanism's own curve")
    parser.add_argument("--claim-delta", type=float, default=0.0, help="delta of that claim (default: 0)")
    parser.add_argument(
        "--claim-epsilon-per-distance", type=float, metavar="E", help="the claim's epsilon for each unit of --metric"
    )
    parser.add_argument(
        "--claim-curve",
        metavar="MODULE:NAME",
        help="the claim: a PrivacyCurve, or a function of --metric that gives one",
    )
    parser.add_argument(
        "--metric", metavar="NAME", help=f"{', '.join(METRICS)}, or module:function of two records, for those claims"
    )
    parser.add_argument("--minutes", type=float, default=2.0, help="most processor time to use (default: 2)")
    parser.add_argument("--samples", type=int, default=200_000, help="releases of a pair to learn from")
    parser.add_argument("--rounds", type=int, help="most rounds of the searches, so that the clock need not end them")
    parser.add_argument("--starts", type=int, help="pairs of records to start from, chosen at random (default: all)")
    parser.add_argument("--confidence", type=float, default=0.95, help="confidence of the verdict (default: 0.95)")
    add_seed_argument(parser)
    parser.add_argument("--floating-point", action="store_true", help="the claim includes the floats themselves")
    parser.add_argument(
        "--dtypes", nargs="+", choices=FORMATS, help="formats whose floats are examined (default: float64 and float32)"
    )
    parser.add_argument(
        "--dtype", choices=FORMATS[:2], default=FORMATS[0], help="format of the records given out (default: float64)"
    )
    parser.add_argument("--timing", action="store_true", help="compare running times too")
    parser.add_argument("--jobs", type=int, default=1, help="checks at once, where there are several (default: 1)")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="for verdict.json and .html, which replace an earlier verdict there"
    )


def wall_limit(minutes: float) -> float:
    """Computes the seconds in which a check returns: twice what a busy machine takes, and ten minutes for one call."""
    return 2 * PATIENCE * 60 * check_positive("minutes of a check", minutes) + 600


def run(options: argparse.Namespace) -> Answer:
    """Gives the verdict, or a table of several."""
    if several(options):
        return table("check", options, parsed_defaults(add_arguments))
    options.target = options.target[0]
    if (
        options.out is not None
    ):  # whether the page lacks packages or a folder is better said before the check than after
        import jinja2  # noqa: F401

        verdict_folder(options.out)
    domain = domain_of(options)
    check_memory(f"a check of {options.target} on records", domain.size, ELEMENT_BYTES)  # before a mechanism is made
    records = records_of(options, domain)
    checked = target_of(options, records.domain if isinstance(records, Records) else records)
    claims = (options.claim_epsilon, options.claim_epsilon_per_distance, options.claim_curve)
    if claims == (None, None, None) and not isinstance(checked, Mechanism):
        raise InputError(f"{options.target} declares no guarantee: --claim-epsilon must say what it is claimed to have")
    subject = called(options.target, checked)
    with ended_after(wall_limit(options.minutes)):
        verdict = check(
            checked,
            domain=records,
            call=options.call,
            decode=decoder_of(options),
            claim_epsilon=options.claim_epsilon,
            claim_delta=options.claim_delta,
            claim_epsilon_per_distance=options.claim_epsilon_per_distance,
            claim_curve=None if options.claim_curve is None else imported(options.claim_curve),
            metric=imported(options.metric) if ":" in (options.metric or "") else options.metric,
            minutes=options.minutes,
            samples=options.samples,
            rounds=options.rounds,
            starts=options.starts,
            confidence=options.confidence,
            seed=options.seed,
            floating_point=options.floating_point,
            timing=options.timing,
            dtype=getattr(torch, options.dtype),
            dtypes=None if options.dtypes is None else [getattr(torch, name) for name in options.dtypes],
            progress=lambda text: print(text, file=sys.stderr, flush=True),
        )
    asked = arguments_of(options.target, options, parsed_defaults(add_arguments))
    command = repeating(["check", *asked], {"seed": verdict.seed})
    verdict = replace(verdict, subject=subject, command=command)
    written = "" if options.out is None else f"\n  written to {write_verdict(options.out, verdict)}"
    return Answer(f"{verdict}{written}", verdict.as_dict(), verdict.refuted)
