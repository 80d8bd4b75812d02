"""The command, or the call from Python, that repeats a check."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import partial
from inspect import isclass, ismethod
from typing import Any

import numpy as np
from torch import Tensor

from tensorldp.check.records import Rows
from tensorldp.errors import number
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import mechanism_class, names

ADDRESS = re.compile(r"^<| at 0x[0-9a-f]+")  # of what only stands in for an object
MOST_CHARACTERS = 4096  # of how an object writes itself
MOST_WRITTEN = 1024  # elements of a tensor that a call writes out


def repeating(
    arguments: Sequence[str],
    settings: Mapping[str, object] | None = None,
    *,
    without: Mapping[str, int] | None = None,
) -> str:
    """Returns the shell command that repeats a run of `tensorldp`.

    Args:
        arguments: what followed `tensorldp` on the command line.
        settings: values that the run had, by the name of their option without dashes, such as {"seed": 7}. They take
            the place of those among the arguments, as some are defaults and a seed may have been drawn. None and False
            leave their option out.
        without: options that change no result, with how many values each has: they are left out. None for --out with
            its folder, and --json.
    """
    known = {f"--{name.replace('_', '-')}": value for name, value in (settings or {}).items()}
    dropped = {"--out": 1, "--json": 0} if without is None else dict(without)
    dropped |= {option: len(_values(value)) for option, value in known.items()}
    kept, skip = list[str](), 0
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if skip:
            skip -= 1
        elif name in dropped:
            skip = 0 if equals else dropped[name]
        else:
            kept.append(argument)
    for option, value in known.items():
        if value is not None and value is not False:
            kept += [option, *_values(value)]
    return shlex.join(["tensorldp", *kept])


def _values(value: object) -> list[str]:
    """Returns what follows an option of this value on a command line."""
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    return [number(value)] if isinstance(value, float) else [str(value)]


def call_of(checked: object, **arguments: object) -> str:
    """Returns the call of `privacy.check` that repeats a check: its argument and all keywords, as source text.

    Functions, classes and objects of other modules stand with the name of their module. What cannot be written as
    source, such as a large tensor or an object of a user's class, stands between angle brackets.
    """
    words = [_source(checked), *(f"{name}={_source(value)}" for name, value in arguments.items())]
    return f"privacy.check({', '.join(words)})"


def _source(value: Any) -> str:
    """Writes a value as source text."""
    if isinstance(value, Mechanism):
        return _mechanism(value)
    if isinstance(value, Rows):
        return f"Rows(**{dict(value.columns)!r})"
    if isinstance(value, Tensor):
        if value.numel() > MOST_WRITTEN:
            return f"<tensor of shape {tuple(value.shape)}>"
        return f"torch.tensor({value.tolist()!r}, dtype={value.dtype})"
    if isinstance(value, np.ndarray):
        if value.size > MOST_WRITTEN:
            return f"<array of shape {value.shape}>"
        return f"np.array({value.tolist()!r}, dtype={value.dtype.name!r})"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_source, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, partial):
        words = [_source(value.func), *map(_source, value.args)]
        words += [f"{name}={_source(item)}" for name, item in value.keywords.items()]
        return f"functools.partial({', '.join(words)})"
    if ismethod(value) and not isclass(value.__self__):
        return f"<a method {value.__name__} of {_named(type(value.__self__))}>"
    if hasattr(value, "__qualname__") and hasattr(value, "__module__"):
        return _named(value)
    return _written(value)


def _written(value: object) -> str:
    """Returns how an object writes itself, or what it is of where that would not make it again."""
    try:
        text = repr(value)
    except Exception:  # of a user's class, which may raise anything
        text = ""
    known = text and "\n" not in text and len(text) <= MOST_CHARACTERS and not ADDRESS.search(text)
    return text if known or isinstance(value, str) else f"<an object of {_named(type(value))}>"


def _named(thing: Any) -> str:
    """Returns the name by which a function or class is imported, its bare name where none would do."""
    name, module = str(thing.__qualname__), str(thing.__module__)
    local = name.rpartition("<locals>.")[2]
    return local if local != name or module in ("__main__", "builtins", "None") else f"{module}.{name}"


def _mechanism(value: Mechanism) -> str:
    registered = value.name in names() and mechanism_class(value.name) is type(value)
    words = [f"epsilon={value.epsilon!r}", f"domain={_source(value.given_domain)}"]
    for one in fields(value):
        if not one.init or one.name in ("epsilon", "domain"):
            continue
        given = getattr(value, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if isinstance(given, (Tensor, np.ndarray)) or given != default:
            words.append(f"{one.name}={_source(given)}")
    if registered:
        return f"make({', '.join([repr(value.name), *words])})"
    return f"{_named(type(value))}({', '.join(words)})"
