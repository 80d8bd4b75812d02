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
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from tensorldp.calibration import true_epsilon
from tensorldp.check.check import check
from tensorldp.check.records import Records
from tensorldp.check.target import Target
from tensorldp.commands.arguments import Answer, add_seed_argument
from tensorldp.commands.check import wall_limit
from tensorldp.commands.target import (
    add_function_arguments,
    add_target_arguments,
    decoder_of,
    domain_of,
    is_registered,
    records_of,
    target_of,
)
from tensorldp.commands.watch import ended_after
from tensorldp.deltas import REPORT_DELTA
from tensorldp.errors import InputError, check_whole, shown
from tensorldp.files import writable_folder, write_text
from tensorldp.mechanisms import Domain, Mechanism, make
from tensorldp_papers.card.card import Card
from tensorldp_papers.card.label import IMAGE_SHAPES, label
from tensorldp_papers.card.leaks import Leak, leak
from tensorldp_papers.card.own import Accuracy, OwnData, accuracies, key_of, prepare
from tensorldp_papers.card.page import page, pictures, write_card
from tensorldp_papers.card.price import BESIDE, Price, others_at, price
from tensorldp_papers.card.tasks import TASKS, Score, missing_weights, scores
from tensorldp_papers.data.at_hand import at_hand
from tensorldp_papers.data.own import OwnDataset, check_own
from tensorldp_papers.data.own_files import observed_range
from tensorldp_papers.plots.names import dataset_name
from tensorldp_papers.plots.style import label as label_of
from tensorldp_papers.strict import explain

SHAPE = [8, 8]
GUESSED = (
    "No public range was stated: each column's least and largest value stand for one. They say something of records, "
    "which no guarantee covers; state ranges known without looking, by --range or --box"
)
WORKFLOW = Path(__file__).resolve().parents[3]  # of a clone; an installed package has none


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_target_arguments(parser, epsilon=True)
    add_function_arguments(parser)
    parser.set_defaults(shape=None)  # SHAPE, but where the data have another one
    own = parser.add_argument_group("a card for your own data, in place of digits and images")
    own.add_argument("--data", help="a .csv, .parquet, .npz or .safetensors file, or a folder of images by class")
    own.add_argument("--label", help="the column or array of the classes")
    own.add_argument("--values", nargs="+", help="the columns of a record, or its array (default: all but the label)")
    own.add_argument("--drop", nargs="+", help="in place of --values: the columns to leave out")
    own.add_argument(
        "--range",
        nargs=3,
        action="append",
        metavar=("COLUMN", "LOW", "HIGH"),
        help="the public range of a column; repeatable; --box for one of all elements (default: what the records hold)",
    )
    own.add_argument(
        "--missing",
        choices=("middle", "refuse"),
        help="what a missing value does: be the middle of its range, or end the command (default: middle)",
    )
    parser.add_argument("--claim-epsilon", type=float, help="what a function is said to have")
    parser.add_argument("--claim-delta", type=float, default=0.0, help="delta of that claim (default: 0)")
    parser.add_argument("--minutes", type=float, default=1.0, help="processor time of the check (default: 1)")
    parser.add_argument("--cores", type=int, default=2, help="for the tasks (default: 2)")
    parser.add_argument(
        "--datasets",
        nargs="*",
        choices=(*TASKS, "none"),
        help="of the tasks (default: those that need no network), or none",
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
    if options.datasets and "none" in options.datasets:
        if len(options.datasets) > 1:
            raise InputError(f"--datasets must be none or names, got {' '.join(options.datasets)}")
        options.datasets = []
    with TemporaryDirectory(prefix="card-") as place:
        own = _own_data(options, Path(place))
        if own is None and options.shape is None:
            options.shape = SHAPE
        return _card(options, own.box if own else domain_of(options), own, started)


def _card(options: argparse.Namespace, domain: Domain, data: OwnData | None, started: float) -> Answer:
    records = records_of(options, domain)
    domain = records.domain if isinstance(records, Records) else records
    target = target_of(options, domain)
    mechanism = target if isinstance(target, Mechanism) else None
    if mechanism is None and options.claim_epsilon is None:
        raise InputError(f"{options.target} declares no guarantee: --claim-epsilon must say what it is said to have")
    own = options.target.rpartition(":")[2]  # of what is not registered, whose name may be another's
    known = mechanism.name if mechanism is not None and is_registered(mechanism) else ""
    name, stem = label_of(known) if known else own, options.out / f"{known or own}{f'-{data.key}' if data else ''}"
    # whether there is a place for it is better said before the work than after
    writable_folder(options.out, "the card", [stem.with_suffix(end).name for end in (".json", ".svg", ".png", ".html")])
    if data is None and options.datasets != [] and not _no_tasks(options, mechanism):
        writable_folder(options.runs, "the runs of tasks")
    missing: list[str] = []
    with ended_after(wall_limit(options.minutes)):
        verdict = check(
            target,
            domain=records,
            call=options.call,
            decode=decoder_of(options),
            claim_epsilon=options.claim_epsilon,
            claim_delta=options.claim_delta,
            minutes=options.minutes,
            seed=options.seed,
            progress=_say,
        )  # first of all parts, as it refuses what cannot be checked
    _say("the label")
    shapes = IMAGE_SHAPES if data is None else {}
    lines = tuple(label(lambda on: target_of(options, on), domain, shapes)) if mechanism is not None else ()
    if mechanism is None:
        missing.append("the label: a function has no curve, so nobody knows what it guarantees")
    _say("the price")
    with ended_after(wall_limit(options.minutes)):
        if mechanism is None:  # as the check calls it
            target = Target.of(target, records, call=options.call, decode=decoder_of(options)).function
        prices = _prices(options, target, mechanism, domain, missing)
    leaks, found, bought = list[Leak](), list[Score](), list[Accuracy]()
    if data is None:
        _say("what leaks")
        leaks = _leaks(options, mechanism, known or own, missing)
        found = _scores(options, mechanism, missing)
    else:
        bought = _accuracies(options, data, mechanism, missing)
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
        data,
        tuple(bought),
    )
    drawn = pictures(card)
    write_card(stem, card.as_dict(), drawn)
    write_text(stem.with_suffix(".html"), page(card, drawn[".svg"]))
    written = f"  written to {stem.with_suffix('.html')}, .svg, .png and .json in {card.seconds:.0f} s"
    return Answer(f"{card.sentence}\n{written}", card.as_dict(), verdict.refuted)


def _own_data(options: argparse.Namespace, place: Path) -> OwnData | None:
    """Reads the user's own data into a folder, if there are some."""
    given = {key: getattr(options, key) for key in ("label", "values", "drop", "range", "missing")}
    if options.data is None:
        for key, value in given.items():
            if value is not None:
                raise InputError(f"--{key} = {shown(value)} is about --data, which is not given: name the file")
        return None
    if options.ball is not None:
        raise InputError(f"--ball {options.ball:g} does not apply to --data, whose records lie in a box: leave it out")
    if options.datasets:
        raise InputError(f"--datasets {' '.join(options.datasets)} does not apply to --data: make a card for each")
    if options.box and options.range:
        raise InputError("--box and --range both state a range: give one of all elements, or one for each column")
    _say(f"the data {options.data}")
    key = key_of(Path(options.data))
    stated = options.box and list(options.box)
    if options.range:
        stated = {column: [_real(low), _real(high)] for column, low, high in options.range}
    raw = {name: value for name, value in given.items() if value is not None and name != "range"}
    raw |= {"path": options.data, "missing": options.missing or "middle"}
    raw |= {"shape": options.shape} if options.shape else {}
    try:
        entry, told = OwnDataset.model_validate({**raw, "range": stated or [0.0, 1.0]}), tuple[str, ...]()
        if not stated:
            check_own({key: entry}, ())
            entry = entry.model_copy(update={"range": observed_range(key, entry)})
            if not Path(options.data).is_dir():
                told = (GUESSED,)
        return prepare(key, entry, place, told)
    except ValidationError as error:
        raise explain(error, "--data", dict(OwnDataset.model_fields)) from None
    except InputError as error:
        raise InputError(_with_options(str(error), key, "--box" if options.box else "--range")) from None


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--range needs a column and two numbers, got {shown(text)} for a number") from None


def _with_options(message: str, key: str, stated: str) -> str:
    """Returns a message about an entry of `own_datasets` with the options that say the same."""
    where = f"own_datasets.{key}"
    for name, option in {
        ".range.": f"{stated} ",
        ".range": stated,
        ".path": "--data",
        ".test": "the share for testing",
        ".": "--",
        "": "--data",
    }.items():
        message = message.replace(f"{where}{name}", option)
    return message.replace("under drop", "by --drop")


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


def _accuracies(
    options: argparse.Namespace, data: OwnData, mechanism: Mechanism | None, missing: list[str]
) -> list[Accuracy]:
    """Returns what releases of the user's own data buy at the true epsilon of a record, or at the claimed one."""
    known = mechanism is not None and is_registered(mechanism) and not options.option
    if not known:
        missing.append(
            f"accuracy of {options.target}: it takes a mechanism that is registered under its name, without --option"
        )
    true = options.claim_epsilon if mechanism is None else true_epsilon(mechanism, REPORT_DELTA)

    def attempt(what: str, make_it: Callable[[], Accuracy]) -> Accuracy | None:
        _say(what)
        found: Accuracy | None = _try(what, missing, make_it)
        return found

    return accuracies(data, mechanism.name if mechanism is not None and known else "", float(f"{true:.6g}"), attempt)
