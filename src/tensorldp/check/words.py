"""Events in words: what the threshold of a statistic says about a release."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache

Words = Callable[[re.Match[str], float, bool], str]
"""Builds words from what the name of a statistic matched, the threshold, and whether the event is at it or above."""
LEARNED = "learned from other releases"
NOTHING = 1e-290  # a size below this is 0: logarithms are taken of sizes to which 1e-300 was added


def in_words(statistic: str, threshold: float, above: bool) -> str:
    """Says in words that a statistic is at least a threshold, or at most if not `above`.

    Args:
        statistic: its name, as in `tensorldp.check.distinguishers`.
        threshold: of the event.
        above: whether the event is {statistic >= threshold} and not {statistic <= threshold}.

    Returns:
        A clause such as "element 3 is 1 or more". Of a statistic that is learned it says so.
    """
    for pattern, words in _patterns():
        found = pattern.fullmatch(statistic)
        if found:
            return words(found, threshold, above)
    return f'the statistic "{statistic}" is {_bound(threshold, above)}'


def is_known(statistic: str) -> bool:
    """Returns whether the name of a statistic has words of its own."""
    return any(pattern.fullmatch(statistic) for pattern, _ in _patterns())


def _number(value: float) -> str:
    return f"{value:.6g}"


def _bound(value: float, above: bool) -> str:
    return f"{_number(value)} or {'more' if above else 'less'}"


def _size(log: float) -> float:
    """Computes the size whose logarithm a statistic is."""
    size = math.exp(min(log, 700.0))
    return size if size > NOTHING else 0.0


def _plain(subject: str) -> Words:
    """Builds words for a statistic that is a quantity itself."""
    return lambda found, threshold, above: f"{found.expand(subject)} is {_bound(threshold, above)}"


def _of_log(subject: str) -> Words:
    """Builds words for a statistic that is the logarithm of a quantity."""
    return lambda found, threshold, above: f"{found.expand(subject)} is {_bound(_size(threshold), above)}"


def _away(far: str, near: str) -> Words:
    """Builds words for the logarithm of a distance, which `far` states from below and `near` from above."""

    def words(found: re.Match[str], threshold: float, above: bool) -> str:
        size = _size(threshold)
        if above:
            return f"{found.expand(far)} {_number(size)} or more away from"
        return f"{found.expand(near)} {f'within {_number(size)} of' if size > 0.0 else 'exactly at'}"

    return words


def _and_then(words: Words, end: str) -> Words:
    return lambda found, threshold, above: f"{words(found, threshold, above)} {found.expand(end)}"


def _count(what: str, verb: str) -> Words:
    """Builds words for a number of things."""

    def words(found: re.Match[str], threshold: float, above: bool) -> str:
        number = math.ceil(threshold) if above else math.floor(threshold)
        said, does = found.expand(what), found.expand(verb)
        if above:
            return f"at least {'one' if number == 1 else number} of {said} {does}"
        return (
            f"none of {said} {does}" if number == 0 else f"at most {'one' if number == 1 else number} of {said} {does}"
        )

    return words


def _either(yes: str, no: str) -> Words:
    """Builds words for a statistic that is 0 or 1."""

    def words(found: re.Match[str], threshold: float, above: bool) -> str:
        if above and 0.0 < threshold <= 1.0:
            return found.expand(yes)
        if not above and 0.0 <= threshold < 1.0:
            return found.expand(no)
        return f'"{found.expand(yes)}" counts {_bound(threshold, above)}'

    return words


def ratio_in_words(log: float, above: bool) -> str:
    """Says that a log ratio of how common something is under x and under x' is at least, or at most, `log`."""
    times = _number(_size(abs(log)))
    if abs(log) < 1e-9:
        return f"at least as common under {'x as under x' + chr(39) if above else 'x' + chr(39) + ' as under x'}"
    first, second = ("x", "x'") if log > 0.0 else ("x'", "x")
    often = f"{times} or more times" if above == (log > 0.0) else f"at most {times} times"
    return f"{often} as common under {first} as under {second}"


def _table(subject: str) -> Words:
    """Builds words for a learned log ratio of how often a value occurs under both records."""
    return lambda found, threshold, above: (
        f"{found.expand(subject)} {ratio_in_words(threshold, above)}, by frequencies {LEARNED}"
    )


def _score(subject: str) -> Words:
    """Builds words for a learned score."""
    return lambda found, threshold, above: (
        f"{found.expand(subject)}, {LEARNED}, gives the release a score of {_bound(threshold, above)}"
    )


def _place(found: re.Match[str], threshold: float, above: bool) -> str:
    place = math.ceil(threshold) if above else math.floor(threshold)
    return f"the {found[1]} element is element {place} or {'a later' if above else 'an earlier'} one"


def _multiple(found: re.Match[str], threshold: float, above: bool) -> str:
    if above:
        return f"element {found[1]} is a multiple of 2^{math.ceil(threshold)}"
    return f"element {found[1]} is no multiple of 2^{math.floor(threshold) + 1}"


def _declared(found: re.Match[str], threshold: float, above: bool) -> str:
    return f"the release is, by the declared density, {ratio_in_words(threshold, above).replace('common', 'likely')}"


_GROUP = r"within each value of element (\d+)"


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Words], ...]:
    """Returns what names of statistics look like, and the words for each."""
    return tuple(
        (re.compile(pattern), words)
        for pattern, words in (
            (r"element (\d+)", _plain(r"element \1")),
            (r"element (\d+), from its median", _and_then(_away(r"element \1 lies", r"element \1 lies"), "its median")),
            (
                r"element (\d+) equals that of x",
                _either(r"element \1 equals that of x", r"element \1 differs from x's"),
            ),
            (r"element (\d+) modulo (\d+)", _table(r"the remainder of element \1, in steps, modulo \2 is")),
            (r"elements modulo (\d+)", _table(r"the remainders of the elements, in steps, modulo \1 are together")),
            (r"sum", _plain("the sum of the elements")),
            (r"norm", _plain("the l2 norm of the release")),
            (r"norm about the centre", _plain("the l2 distance of the release from the centre of the domain")),
            (r"(largest|least) element", _plain(r"the \1 element")),
            (r"spread", _of_log("the standard deviation of the elements")),
            (r"spread of y - (x'?)", _of_log(r"the standard deviation of the elements' differences from \1")),
            (r"place of the (largest|least)", _place),
            (r"roughness", _plain("the sum of the steps between neighbouring elements")),
            (r"smallest step", _of_log("the smallest step between neighbouring elements")),
            (r"sum of \|y - x'\| - \|y - x\|", _plain("the l1 distance of the release to x', less that to x,")),
            (r"log distance to (x'?)", _and_then(_away("at least one element is", "every element is"), r"that of \1")),
            (
                r"nearest element to (x'?)",
                _and_then(_away("every element is", "at least one element is"), r"that of \1"),
            ),
            (r"projection on x - x'", _plain("the distance of the release from x' along the direction to x")),
            (r"elements equal to (the low end|the high end)", _count("the elements", r"equal \1 of the domain")),
            (r"elements equal to zero", _count("the elements", "equal 0")),
            (r"elements equal to those of (x'?)", _count("the elements in which x and x' differ", r"equal that of \1")),
            (
                r"elements equal to x less those equal to x'",
                _plain("the number of elements that equal those of x, less the number that equal those of x',"),
            ),
            (r"distinct elements", _plain("the number of different values among the elements")),
            (r"value of element (\d+)", _table(r"element \1 has a value that is")),
            (r"values of all elements", _table("the values of the elements are together")),
            (r"the whole release", _table("the release as a whole is")),
            (
                r"(exponent and granularity|sign, exponent and last bits) of element (\d+)",
                _table(r"the \1 of element \2 are"),
            ),
            (
                r"(exponent and granularity|sign, exponent and last bits) of (\d+) elements",
                _table(r"the \1 of \2 elements are"),
            ),
            (r"bit (\d+) of element (\d+)", _either(r"bit \1 of element \2 is 1", r"bit \1 of element \2 is 0")),
            (r"multiple of 2\^k of element (\d+)", _multiple),
            (r"bits of element (\d+) where not finite", _table(r"the bits of element \1, where it is not finite, are")),
            (
                r"bit (\d+) of element (\d+) where not finite",
                _either(
                    r"element \2 is infinite or no number, and its bit \1 is 1",
                    r"element \2 is finite, or its bit \1 is 0",
                ),
            ),
            (
                r"parity of the sum",
                _either("the sum of the elements, in steps, is odd", "the sum of the elements, in steps, is even"),
            ),
            (r"declared likelihood ratio", _declared),
            (r"nearness to the medians", _score("the nearness to the medians of x's releases and not to those of x'")),
            (r"(linear|kernel) discriminant", _score(r"a \1 discriminant")),
            (
                r"decision tree",
                lambda _, threshold, above: (
                    f"a decision tree, {LEARNED}, gives x a probability of {_bound(threshold, above)}"
                ),
            ),
            (
                r"deviation along the direction narrowest under (x'?)",
                _of_log(
                    rf"along the direction in which releases of \1 vary least, {LEARNED}, the distance from the mean"
                ),
            ),
            (rf"values {_GROUP}", _table(r"within the group that element \1 names, the values are together")),
            (
                rf"the most telling value {_GROUP}",
                _table(r"within the group that element \1 names, the most telling value is"),
            ),
            (rf"linear discriminant {_GROUP}", _score(r"a linear discriminant of the group that element \1 names")),
            (rf"most telling element {_GROUP}", _score(r"the most telling element of the group that element \1 names")),
        )
    )
