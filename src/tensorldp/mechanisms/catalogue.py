"""The catalogue of mechanisms, docs/mechanisms.md, generated from their classes.

python -m tensorldp.mechanisms.catalogue writes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tensorldp.domain import Box
from tensorldp.errors import InputError
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import make, mechanism_class, names

PAGE = Path("docs/mechanisms.md")
# what a mechanism is tried on: every one of the package takes the first, or the ball around it
PROBES = (Box(0.0, 1.0, (4, 4)), Box(0.0, 1.0, (16, 16)), Box(-16.0, 16.0, (4, 4)))
CITED = re.compile(r"docs/([\w/]+\.md#[\w-]+)")
DOMAINS = {"box": "box", "ball": "ball", "any": "box or ball"}

HEAD = """# Mechanisms

Generated from the classes by `python -m tensorldp.mechanisms.catalogue`; a test compares it with them. Symbols are
those of [the mathematics](mathematics.md), options those of the class in the file that the second table names.

## What each guarantees

The guarantee is that of one unit at the default options: *exact* if neighbours attain it, else a *bound*; *pure* if it
is finite at delta 0. Where it is exact on some domains only, the class says on which. The error is the expected squared
error at its worst record.
"""


@dataclass(frozen=True)
class Entry:
    """A mechanism in the words of the catalogue.

    Attributes:
        key: the registry key.
        label: what a legend calls it.
        formula: the release, in TeX; empty where the class states none.
        epsilon_unit: what the nominal epsilon is of.
        unit: what may change between neighbours.
        acts_on: the shape that it looks at.
        domain: where records live.
        guarantee: exact or a bound, pure or not.
        error: whether the expected squared error has a closed form.
        source: where it is defined.
        status: as printed, reconstructed or textbook.
        file: where its class is.
    """

    key: str
    label: str
    formula: str
    epsilon_unit: str
    unit: str
    acts_on: str
    domain: str
    guarantee: str
    error: str
    source: str
    status: str
    file: str


def guarantee_words(tried: Sequence[Mechanism]) -> str:
    """What a mechanism's curve is, such as "exact, pure" or "bound, not pure".

    Args:
        tried: the mechanism on one or more domains; whether it is pure is read off the first.
    """
    curves = [mechanism.curve() for mechanism in tried]
    curve = curves[0]
    if curve.atom >= 1.0:
        return "none"
    if not math.isinf(curve.epsilon(0.0)):
        kind = "pure"
    elif math.isinf(curve.epsilon_without_atom(0.0)):
        kind = "with an atom, not pure" if curve.atom > 0.0 else "not pure"
    else:
        kind = "with an atom, pure without it"
    exact = [curve.exact for curve in curves]
    return f"{'exact' if all(exact) else 'exact on some domains' if any(exact) else 'bound'}, {kind}"


def entry(name: str) -> Entry:
    """The catalogue's entry of a mechanism.

    Args:
        name: its registry key.

    Raises:
        InputError: if there is no such mechanism.
    """
    cls = mechanism_class(name)
    tried = []
    for domain in PROBES:
        with suppress(InputError):  # it may want another domain, such as one of two values
            tried.append(make(name, epsilon=1.0 if cls.private else math.inf, domain=domain))
    guarantee = guarantee_words(tried) if tried else "depends on the domain"
    error = "depends on the domain" if not tried else "none" if tried[0].squared_error() is None else "closed form"
    module = cls.__module__
    own = module.startswith("tensorldp.")
    return Entry(
        name,
        cls.label,
        cls.formula,
        cls.epsilon_unit,
        cls.unit,
        cls.acts_on,
        f"{DOMAINS[cls.domain_kind]}{', whole numbers' if cls.integer else ''}",
        guarantee,
        error,
        cls.source,
        cls.status,
        f"src/{module.replace('.', '/')}.py" if own else module,
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def page(keys: Sequence[str] | None = None) -> str:
    """The text of docs/mechanisms.md.

    Args:
        keys: registry keys, such as those of plug-ins; None takes those that this package defines.

    Raises:
        InputError: if a key is unknown.
    """
    if keys is None:
        keys = [name for name in names() if mechanism_class(name).__module__.startswith("tensorldp.")]
    entries = [entry(name) for name in keys]
    guarantees = _table(
        ("key", "label", "nominal epsilon of a", "guarantee", "of a", "acts on", "domain", "error", "status"),
        [
            (
                f"`{e.key}`",
                e.label,
                e.epsilon_unit,
                e.guarantee,
                e.unit,
                e.acts_on,
                e.domain,
                e.error,
                e.status,
            )
            for e in entries
        ],
    )
    releases = _table(
        ("key", "release", "source", "file"),
        [
            (
                f"`{e.key}`",
                f"${e.formula}$" if e.formula else "see the class",
                CITED.sub(r"[\1](\1)", e.source),
                f"[{Path(e.file).name}](../{e.file})" if e.file.startswith("src/") else f"`{e.file}`",
            )
            for e in entries
        ],
    )
    return f"{HEAD}\n{guarantees}\n## What each releases\n\n{releases}"


if __name__ == "__main__":
    PAGE.write_text(page())
