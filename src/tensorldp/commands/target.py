"""What a command speaks of: a mechanism by its key, or a class, object or function of a user's module."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Domain, Mechanism, make
from tensorldp.mechanisms.registry import option_names


def add_target_arguments(parser: argparse.ArgumentParser, *, epsilon: bool | None) -> None:
    """The arguments that name a mechanism and its domain; `epsilon` is whether it is required, None for no argument."""
    parser.add_argument("target", help="a mechanism's key, or module:name of a class, object or function")
    if epsilon is not None:
        parser.add_argument("--epsilon", type=float, required=epsilon, help="the nominal epsilon of the mechanism")
    parser.add_argument(
        "--nominal-delta", type=float, default=NOMINAL_DELTA, help="the nominal delta, where it has one"
    )
    parser.add_argument("--shape", type=int, nargs="+", default=[4], help="of one record (default: 4)")
    domain = parser.add_mutually_exclusive_group()
    domain.add_argument("--box", type=float, nargs=2, metavar=("LOW", "HIGH"), help="range of elements (default: 0 1)")
    domain.add_argument("--ball", type=float, metavar="RADIUS", help="l2 ball in place of a box")
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the mechanism; repeatable"
    )


def domain_of(options: argparse.Namespace) -> Domain:
    """The domain that the arguments name."""
    shape = tuple(options.shape)
    if options.ball is not None:
        return Ball(options.ball, shape)
    low, high = options.box or (0.0, 1.0)
    return Box(low, high, shape)


def target_of(options: argparse.Namespace, domain: Domain) -> Any:
    """The mechanism, or the function, that the arguments name.

    Raises:
        InputError: if there is none of that name, or a class is given without an epsilon.
    """
    settings = {key: _value(text) for key, text in (_split(item) for item in options.option)}
    if ":" not in options.target:
        return make(options.target, epsilon=_epsilon(options), domain=domain, delta=options.nominal_delta, **settings)
    found = _imported(options.target)
    if isinstance(found, type) and issubclass(found, Mechanism):
        unknown = sorted(set(settings) - option_names(found))
        if unknown:
            raise InputError(f"{found.__name__} has no option {unknown[0]!r}")
        return found(epsilon=_epsilon(options), domain=domain, delta=options.nominal_delta, **settings)
    if settings:
        raise InputError(
            f"{options.target} is no class of a mechanism: it takes no --option, got {options.option[0]!r}"
        )
    return found


def _epsilon(options: argparse.Namespace) -> float:
    if options.epsilon is None:
        raise InputError(f"{options.target} needs --epsilon")
    return float(options.epsilon)


def _imported(target: str) -> Any:
    module, _, name = target.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # a user's own module lies in the working directory
    try:
        found = import_module(module)
    except Exception as error:  # whatever a user's module may raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"the module {module!r} cannot be imported: {reason}") from None
    if not hasattr(found, name):
        raise InputError(f"the module {module!r} has no {name!r}")
    return getattr(found, name)


def _split(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"--option must be key=value, got {text!r}")
    return key, value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
