"""`tensorldp card`: one page about a mechanism, a picture to show, and the numbers."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tensorldp.check.check import check
from tensorldp.commands.arguments import Answer, add_seed_argument
from tensorldp.commands.check import wall_limit
from tensorldp.commands.target import add_target_arguments, domain_of, is_registered, target_of
from tensorldp.commands.watch import ended_after
from tensorldp.errors import InputError, check_whole
from tensorldp.files import writable_folder, write_text
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp_papers.card.card import Card
from tensorldp_papers.card.label import label
from tensorldp_papers.card.leaks import Leak, leak
from tensorldp_papers.card.page import page, pictures, write_card
from tensorldp_papers.card.price import BESIDE, Price, others_at, price
from tensorldp_papers.card.tasks import TASKS, Score, missing_weights, scores
from tensorldp_papers.data.at_hand import at_hand
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.style import label as label_of

WORKFLOW = Path(__file__).resolve().parents[3]  # of a clone; an installed package has none


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_target_arguments(parser, epsilon=True)
    parser.set_defaults(shape=[8, 8])
    parser.add_argument("--claim-epsilon", type=float, help="what a function is said to have")
    parser.add_argument("--claim-delta", type=float, default=0.0, help="delta of that claim (default: 0)")
    parser.add_argument("--minutes", type=float, default=1.0, help="processor time of the check (default: 1)")
    parser.add_argument("--cores", type=int, default=2, help="for the tasks (default: 2)")
    parser.add_argument(
        "--datasets",
        nargs="*",
        choices=TASKS,
        help="of the tasks (default: those that need no network); none: no tasks",
    )
    parser.add_argument(
        "--runs", type=Path, default=Path("cards/runs"), help="where runs of tasks are kept for other cards"
    )
    add_seed_argument(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("cards"),
        metavar="FOLDER",
        help="for NAME.html, .svg, .png and .json, which replace an earlier card there (default: cards)",
    )


def run(options: argparse.Namespace) -> Answer:
    """Makes the card; the claim is refuted where `check` says it."""
    started = time.perf_counter()
    check_whole("cores", options.cores, low=1)
    domain = domain_of(options)
    target = target_of(options, domain)
    mechanism = target if isinstance(target, Mechanism) else None
    if mechanism is None and options.claim_epsilon is None:
        raise InputError(f"{options.target} declares no guarantee: --claim-epsilon must say what it is said to have")
    own = options.target.rpartition(":")[2]  # of what is not registered, whose name may be another's
    known = mechanism.name if mechanism is not None and is_registered(mechanism) else ""
    name, stem = label_of(known) if known else own, options.out / (known or own)
    # whether there is a place for it is better said before the work than after
    writable_folder(options.out, "the card", [stem.with_suffix(end).name for end in (".json", ".svg", ".png", ".html")])
    if options.datasets != [] and not _no_tasks(options, mechanism):
        writable_folder(options.runs, "the runs of tasks")
    missing: list[str] = []
    with ended_after(wall_limit(options.minutes)):
        verdict = check(
            target,
            domain=domain,
            claim_epsilon=options.claim_epsilon,
            claim_delta=options.claim_delta,
            minutes=options.minutes,
            seed=options.seed,
            progress=_say,
        )  # first of all parts, as it refuses what cannot be checked
    _say("the label")
    lines = tuple(label(lambda on: target_of(options, on), domain)) if mechanism is not None else ()
    if mechanism is None:
        missing.append("the label: a function has no curve, so nobody knows what it guarantees")
    _say("the price")
    with ended_after(wall_limit(options.minutes)):
        prices = _prices(options, target, mechanism, domain, missing)
    _say("what leaks")
    leaks = _leaks(options, mechanism, known or own, missing)
    found = _scores(options, mechanism, missing)
    card = Card(
        name,
        known,
        mechanism.epsilon if mechanism is not None else None,
        mechanism.epsilon_unit if mechanism is not None else "",
        None if options.claim_epsilon is None else (options.claim_epsilon, options.claim_delta),
        lines,
        verdict,
        tuple(prices),
        tuple(leaks),
        tuple(found),
        tuple(missing),
        time.perf_counter() - started,
    )
    drawn = pictures(card)
    write_card(stem, card.as_dict(), drawn)
    write_text(stem.with_suffix(".html"), page(card, drawn[".svg"]))
    written = f"  written to {stem.with_suffix('.html')}, .svg, .png and .json in {card.seconds:.0f} s"
    return Answer(f"{card.sentence}\n{written}", card.as_dict(), verdict.refuted)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _try(what: str, missing: list[str], make_it: Callable[[], Any]) -> Any:
    try:
        return make_it()
    except InputError as error:
        missing.append(f"{what}: {error}")
        return None


def _prices(
    options: argparse.Namespace, target: Any, mechanism: Mechanism | None, domain: Domain, missing: list[str]
) -> list[Price]:
    """Prices it and the others, each in a part of the card's minutes."""
    seconds = 60 * options.minutes / (1 + len(BESIDE))
    release = target if mechanism is None else mechanism.privatize
    own = _try("price", missing, lambda: price(options.target, release, domain, mechanism, seconds))
    others: list[Price] | None = []
    if mechanism is None:
        missing.append("price of others: a function states no guarantee that they could have too")
    else:
        others = _try("price of others", missing, lambda: others_at(mechanism, mechanism.delta, seconds))
    found = [*([own] if own else []), *(others or [])]
    missing += [f"price of {label_of(one.name)}, {lack}" for one in found for lack in one.lacks]
    return found


def _leaks(options: argparse.Namespace, mechanism: Mechanism | None, name: str, missing: list[str]) -> list[Leak]:
    if mechanism is None:
        missing.append("what leaks: a function has no label for digits")
        return []
    own = _try("what leaks", missing, lambda: leak(lambda box: target_of(options, box)))
    found = [replace(own, name=name)] if own else []
    if name == "laplace":
        return found
    laplace = _try(
        "what leaks with laplace",
        missing,
        lambda: leak(lambda box: make("laplace", epsilon=mechanism.epsilon, domain=box)),
    )
    return [*found, *([laplace] if laplace else [])]


def _no_tasks(options: argparse.Namespace, mechanism: Mechanism | None) -> str:
    """Returns why there can be no tasks, if so."""
    if mechanism is None or not is_registered(mechanism) or options.option:
        return "tasks: they take a mechanism that is registered under its name, without --option"
    if not (WORKFLOW / "Snakefile").is_file():
        return "tasks: this installation has no Snakefile; a clone of the repository has"
    return ""


def _scores(options: argparse.Namespace, mechanism: Mechanism | None, missing: list[str]) -> list[Score]:
    if options.datasets == []:
        return []
    why = _no_tasks(options, mechanism)
    if mechanism is None or why:
        missing.append(why)
        return []
    _say("the tasks")
    plugins = [options.target.partition(":")[0]] if ":" in options.target else []
    plugins += [name for name in os.environ.get("TENSORLDP_PLUGINS", "").split(",") if name]
    names = [name for name in TASKS if at_hand(name)] if options.datasets is None else options.datasets
    found, before = list[Score](), len(missing)
    for name in names:
        made = partial(scores, WORKFLOW, options.runs, name, mechanism, plugins, options.cores)
        found += _try(f"tasks on {dataset_name(name)}", missing, made) or []
        if lacked := missing_weights(name):
            missing.append(f"public features of {dataset_name(name)}: no weights of {' and '.join(lacked)} at hand")
    for reason in missing[before:]:
        _say(f"missing: {reason}")
    return found
