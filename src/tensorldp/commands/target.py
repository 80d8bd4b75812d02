"""What a command is about: a mechanism by its key, or a class, object or function of a user's module."""

from __future__ import annotations

import argparse
import inspect
import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from tensorldp.check.calls import BATCH, RECORD
from tensorldp.check.records import Categories, Numbers, Records, Rows
from tensorldp.commands.arguments import add_json_argument
from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError, blamed, shown
from tensorldp.mechanisms import Ball, Box, Domain, Mechanism, mechanism_class, names
from tensorldp.memory import check_memory

ARGUMENTS = {
    "epsilon": "--epsilon or --record-epsilon",
    "delta": "--nominal-delta",
    "domain": "--shape with --box or --ball",
}


def add_target_arguments(parser: argparse.ArgumentParser, *, epsilon: bool, several: bool = False) -> None:
    """Adds the arguments that name a mechanism, or `several`, and its domain, and the nominal epsilon if `epsilon`."""
    what = "a mechanism's key, or module:name of a class, object or function"
    if several:
        parser.add_argument("target", nargs="+", help=f"{what}; or several, or a YAML file of targets with options")
    else:
        parser.add_argument("target", help=what)
    if epsilon:  # not `required`: a function or an object has none
        parser.add_argument("--epsilon", type=float, help="the nominal epsilon of the mechanism")
    parser.add_argument(
        "--nominal-delta",
        type=float,
        help=f"the nominal delta, where the mechanism has one (default: {NOMINAL_DELTA:g})",
    )
    parser.add_argument("--shape", type=int, nargs="+", default=[4], help="shape of one record (default: 4)")
    domain = parser.add_mutually_exclusive_group()
    domain.add_argument("--box", type=float, nargs=2, metavar=("LOW", "HIGH"), help="range of elements (default: 0 1)")
    domain.add_argument("--ball", type=float, metavar="RADIUS", help="l2 ball in place of a box")
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the mechanism; repeatable"
    )
    add_json_argument(parser)


def add_function_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say what a function is given, how it is called and how its releases are read."""
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--integers", action="store_true", help="records are whole numbers of the box")
    kinds.add_argument(
        "--categories", nargs="+", metavar="K", help="a record is one of K categories 0 to K - 1, or of these values"
    )
    kinds.add_argument(
        "--columns",
        nargs="+",
        metavar="NAME=KIND",
        help="a record is a table's row; kinds are 0:1.5 (numbers), 0..120 (whole numbers) and a,b,c (texts)",
    )
    parser.add_argument(
        "--call", choices=(BATCH, RECORD), help="what a function is given (default: a record, or a batch for torch)"
    )
    parser.add_argument(
        "--decode", metavar="MODULE:FUNCTION", help="what everybody can compute from one release of a function"
    )


def records_of(options: argparse.Namespace, domain: Domain) -> Domain | Records:
    """Builds the kind of records that the arguments name; the domain, where they name none."""
    if options.integers:
        return Numbers(domain, integer=True)
    if options.categories:
        only = options.categories[0]
        if len(options.categories) == 1 and only.isdecimal():
            return Categories(int(only))
        if len(options.categories) == 1:
            raise InputError(f"--categories must be a number, or two values or more with blanks between, got {only!r}")
        whole = all(value.lstrip("-").isdecimal() for value in options.categories)
        return Categories([int(value) for value in options.categories] if whole else options.categories)
    if options.columns:
        return Rows(**dict(map(_column, options.columns)))
    return domain


def _column(text: str) -> tuple[str, object]:
    """Reads NAME=KIND."""
    name, equals, kind = text.partition("=")
    with suppress(ValueError):
        if equals and ".." in kind:
            low, _, high = kind.partition("..")
            return name, range(int(low), int(high) + 1)
        if equals and ":" in kind:
            low, _, high = kind.partition(":")
            return name, (float(low), float(high))
    if not (equals and name and "," in kind):
        raise InputError(f"--columns must be NAME=0:1.5, NAME=0..120 or NAME=a,b,c, got {text!r}")
    return name, kind.split(",")


def decoder_of(options: argparse.Namespace) -> Any:
    """Imports the function that --decode names; None where it names none."""
    if options.decode is None:
        return None
    if ":" not in options.decode:
        raise InputError(f"--decode must be MODULE:FUNCTION, got {options.decode!r}")
    return imported(options.decode)


def domain_of(options: argparse.Namespace) -> Domain:
    """Builds the domain that the arguments name."""
    shape = tuple(options.shape)
    low, high = options.box or (0.0, 1.0)
    domain = Box(low, high, shape) if options.ball is None else Ball(options.ball, shape)
    check_memory("a record", domain.size, 8)
    return domain


def target_of(options: argparse.Namespace, domain: Domain) -> Any:
    """Builds the mechanism, or imports the function, that the arguments name.

    Of a function, and of a class that is no mechanism's, options are arguments; a class is made anew with them.
    """
    target = imported(options.target) if ":" in options.target else mechanism_class(options.target)
    of_mechanism = isinstance(target, type) and issubclass(target, Mechanism)
    settings = _settings(options.option, of_mechanism)
    if of_mechanism:
        target.check_options(settings)
        if options.epsilon is None:
            raise InputError(f"{options.target} needs --epsilon")
        chosen = "".join(f" with {text}" for text in options.option)
        with blamed(f"{options.target} cannot be made on {domain}{chosen}"):
            delta = NOMINAL_DELTA if options.nominal_delta is None else options.nominal_delta
            return target(epsilon=float(options.epsilon), domain=domain, delta=delta, **settings)
    given = {
        ARGUMENTS["epsilon"]: options.epsilon,
        ARGUMENTS["delta"]: options.nominal_delta,
        "--option": options.option[0] if options.option and isinstance(target, Mechanism) else None,
    }
    for argument, value in given.items():
        if value is not None:
            raise InputError(
                f"{options.target} is not a mechanism's class: it takes no {argument}, got {value!r}; such a class is "
                f"derived from Mechanism, and of all else --claim-epsilon states the claim and --option an argument"
            )
    return with_settings(target, settings)


def with_settings(target: Any, settings: Mapping[str, Any]) -> Any:
    """Returns a function, or a class or a method of one, with these arguments; a text @module:name is imported."""
    if not settings or not callable(target):
        return target
    settings = {key: _imported_value(value) for key, value in settings.items()}
    return replace(target, settings=settings) if isinstance(target, _Method) else partial(target, **settings)


@dataclass(frozen=True)
class _Method:
    """A method of a class; called without arguments, it makes an object anew and returns its method."""

    owner: type
    name: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def __name__(self) -> str:
        return f"{self.owner.__name__}.{self.name}"

    def __call__(self) -> Any:
        return getattr(self.owner(**self.settings), self.name)


def _imported_value(value: Any) -> Any:
    """Returns what @module:name stands for in an option; other values as they are."""
    return imported(value[1:]) if isinstance(value, str) and value.startswith("@") and ":" in value else value


def mechanism_of(options: argparse.Namespace, domain: Domain) -> Mechanism:
    """Builds the mechanism that the arguments name; refuses a function."""
    target = target_of(options, domain)
    if not isinstance(target, Mechanism):
        raise InputError(f"{options.target} is not a mechanism, so it states no guarantee")
    return target


def is_registered(target: object) -> bool:
    """Returns whether this is a mechanism of the class that its name stands for, and not another one of that name."""
    return isinstance(target, Mechanism) and target.name in names() and type(target) is mechanism_class(target.name)


def called(typed: str, target: object) -> str:
    """Returns what an answer calls the target: a registered mechanism by its name, all else as it was typed."""
    if not isinstance(target, Mechanism):
        return typed
    return target.name if is_registered(target) else f"{typed} ({target.name})"


def content_of(typed: str, mechanism: Mechanism) -> dict[str, Any]:
    """Returns what an answer for programs says of a mechanism."""
    about = {"mechanism": called(typed, mechanism), "nominal_epsilon": mechanism.epsilon}
    return {**about, "domain": asdict(mechanism.domain), "element_error": _element_error(mechanism)}


def error_lines(mechanism: Mechanism) -> list[str]:
    """Says how far a release lies from its record, where that is known."""
    error = _element_error(mechanism)
    return [] if error is None else [f"root mean squared error of an element: {error:.6g}"]


def _element_error(mechanism: Mechanism) -> float | None:
    error = mechanism.squared_error()
    return None if error is None else math.sqrt(error / mechanism.size)


def imported(target: str) -> Any:
    """Imports what module:name says; a method of a class becomes what makes an object anew and returns its method."""
    module, _, name = target.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # a user's own module lies in the working directory
    if module.endswith(".py"):
        raise InputError(
            f"{target} names a file: write {Path(module).stem}:{name}, of a module in the working directory"
        )
    with blamed(f"the module {module!r} cannot be imported, from the working directory or what is installed"):
        home = import_module(module)
    with blamed(f"{target} cannot be looked up"):
        owner, found = None, home
        for part in name.split("."):
            if not hasattr(found, part):
                raise InputError(f"the module {module!r} has no {name!r}")
            owner, found = found, getattr(found, part)
        if isinstance(owner, type) and isinstance(inspect.getattr_static(owner, part), FunctionType):
            return _Method(owner, part)
        return found


def _settings(given: Sequence[str], of_mechanism: bool) -> dict[str, Any]:
    """Reads what the arguments --option KEY=VALUE say."""
    settings: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"--option must be key=value, got {text!r}")
        if key in ARGUMENTS and of_mechanism:
            raise InputError(f"--option {text} is not possible: {ARGUMENTS[key]} sets the {key} of a mechanism")
        if key in settings:
            raise InputError(f"--option {key} is given twice, as {shown(settings[key])} and as {value}")
        try:
            settings[key] = json.loads(value)
        except (ValueError, RecursionError):  # no JSON, or more digits or brackets than Python reads
            settings[key] = {"True": True, "False": False}.get(value, value)
    return settings
