"""The one error that a user's mistake raises, and the checks that raise it: each returns the value if it is allowed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

LEAST_EPSILON, MOST_EPSILON = 1e-12, 1e12
LEAST_DELTA = 1e-200  # of a mechanism: what is divided by it stays a float
MOST_USES = 10**12  # of one mechanism on one record; the count of a record's elements in all of them stays a float
MOST_NAMES, MOST_HINTS = 100, 3  # in a message


class InputError(ValueError):
    """A user's mistake, told in one sentence that names the key or file, the value and what is allowed."""


def shown(value: object) -> str:
    """Formats a value as a message shows it: on one line and not too long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of more than 4300 digits
        return "a huge number"
    text = " ".join(text.split()) if "\n" in text else text  # of an array, or of a class that writes several lines
    return text if len(text) <= 80 else f"{text[:76]} ..."


def number(value: float) -> str:
    """Formats a number so that it reads back as itself, in six digits where these do."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def kind_of(value: object) -> str:
    """Returns what a message calls a value by its type, with its shape if it has one."""
    if value is None:
        return "None"
    name = {"ndarray": "NumPy array", "Tensor": "tensor"}.get(type(value).__name__, type(value).__name__)
    article = "an" if name[:1].lower() in {*"aeiou"} else "a"
    shape = getattr(value, "shape", None)
    return f"{article} {name}" + (f" of shape {tuple(shape)}" if isinstance(shape, tuple) else "")


def described(error: BaseException) -> str:
    """Formats an exception as a message shows it: its class and what it says, on one line and not too long."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # a user's own exception may not even say what it is
        text = ""
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= 300 else f"{text[:296]} ..."


def joined(words: Iterable[str], last: str) -> str:
    """Joins words as a sentence lists them, `last` before the last one."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Runs code that somebody else wrote: whatever it raises becomes an `InputError` that says what failed.

    That includes `SystemExit`, but not the user's own interruption.
    """
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InputError(f"{what}: {described(error)}") from error


def unknown(kind: str, value: str, allowed: Iterable[str]) -> InputError:
    """Builds an `InputError` for a name not in `allowed`, naming the nearest allowed one, or those equally near."""
    names = sorted(allowed)
    folded = {name.casefold(): name for name in names}
    given = str(value).casefold()
    near = difflib.get_close_matches(given, folded, n=max(1, len(folded)), cutoff=0.4)
    ratios = [difflib.SequenceMatcher(None, name, given).ratio() for name in near]
    nearest = sorted(folded[name] for name, ratio in zip(near, ratios, strict=True) if ratio == ratios[0])
    hint = f"did you mean {joined(map(repr, nearest[:MOST_HINTS]), 'or')}? " if nearest else ""
    told = [name if name.isprintable() else shown(name) for name in names[:MOST_NAMES]]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return InputError(f"unknown {kind} {value!r}: {hint}allowed are {', '.join(told)}{more}")


def check_real(
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    infinite: bool = False,
) -> float:
    """Returns `value` as a float inside the stated interval; refuses NaN, and infinity unless `infinite`."""
    left, right = "(" if open_low else "[", ")" if open_high else "]"
    if math.isinf(high) and math.isinf(low):
        allowed = "a finite number"
    elif math.isinf(high):
        allowed = f"a finite number {'above' if open_low else 'of at least'} {low:g}"
    else:
        allowed = f"a number in {left}{low:g}, {high:g}{right}"
    allowed += " or infinity" if infinite else ""
    try:
        if isinstance(value, (bool, str)):  # which `float` takes
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
        value = value if isinstance(value, (int, float)) else number
    except (OverflowError, TypeError, ValueError):  # an int beyond the range of floats is a mistake, not infinity
        number = math.nan
    inside = (number > low if open_low else number >= low) and (number < high if open_high else number <= high)
    if infinite and number == math.inf:
        return number
    if math.isnan(number) or math.isinf(number) or not inside:
        raise InputError(f"{name} must be {allowed}, got {shown(value)}")
    return number


def check_positive(name: str, value: object, *, infinite: bool = False) -> float:
    """Returns `value` as a float above 0; infinity only if `infinite`."""
    return check_real(name, value, low=0.0, open_low=True, infinite=infinite)


def check_flag(name: str, value: object) -> bool:
    """Returns `value` if it is True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {shown(value)}")
    return value


def check_budget(name: str, value: object, *, infinite: bool = False) -> float:
    """Returns `value` as the nominal epsilon of a release, in [1e-12, 1e12]; infinity only if `infinite`.

    Beyond these bounds noise or its inverse leaves the range of floats, and no guarantee means anything there.
    """
    return check_real(name, value, low=LEAST_EPSILON, high=MOST_EPSILON, infinite=infinite)


def check_whole(name: str, value: object, *, low: int = 0, high: int | None = None) -> int:
    """Returns `value` as an int in [low, high]."""
    top = "" if high is None else f" and at most {high}"
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        raise InputError(f"{name} must be a whole number of at least {low}{top}, got {shown(value)}")
    return value


def check_word(name: str, value: object, *allowed: str) -> None:
    """Refuses a value that is not one of a few words."""
    if value not in allowed:
        raise InputError(f"{name} must be {joined(map(repr, allowed), 'or')}, got {value!r}")
