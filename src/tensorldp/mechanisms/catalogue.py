"""The catalogue of mechanisms, docs/mechanisms.md, generated from their classes.

python -m tensorldp.mechanisms.catalogue writes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tensorldp.domain import Box
from tensorldp.errors import InputError
from tensorldp.mechanism_table import TABLE
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.registry import make, mechanism_class

PAGE = Path("docs/mechanisms.md")
# what a mechanism is tried on: every one of the package takes the first, or the ball around it
PROBES = (Box(0.0, 1.0, (4, 4)), Box(0.0, 1.0, (16, 16)), Box(-1024.0, 1024.0, (4, 4)))
CITED = re.compile(r"docs/([\w/]+\.md#[\w-]+)")
DOMAINS = {"box": "box", "ball": "ball", "any": "any"}

HEAD = """# Mechanisms

What each [mechanism](glossary.md#mechanism) releases and guarantees, and its source.
`python -m tensorldp.mechanisms.catalogue` makes this page from the classes. Symbols are those of
[the mathematics](mathematics.md).

## What each guarantees

Guarantees are for default options. Two records attain them, unless the table says *bound*. They are
[pure](glossary.md#pure) if finite at delta 0; an [atom](glossary.md#atom) prevents that. Some are
exact on some domains only; the class says which.

Where a cell is empty, the unit is one whole [record](glossary.md#record), and the definition is the textbook's. Domain
*any* is a box or a ball.
{errors}

"""
ERRORS = "The expected squared error at the worst record has a closed form{but}."
USUAL = ("record", "textbook")  # what the first table leaves out


def guarantee_words(tried: Sequence[Mechanism]) -> str:
    """Says what a mechanism's curve is, such as "exact, pure" or "bound, not pure".

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


def entry(name: str) -> dict[str, str]:
    """Returns what the catalogue says of a mechanism, by the heads of its tables."""
    cls = mechanism_class(name)
    tried = []
    for domain in PROBES:
        with suppress(InputError):  # it may want another domain, such as one of two values
            tried.append(make(name, epsilon=1.0 if cls.private else math.inf, domain=domain))
    error = "depends on the domain" if not tried else "none" if tried[0].squared_error() is None else "closed form"
    path = f"src/{cls.__module__.replace('.', '/')}.py"
    return {
        "key": f"`{name}`",
        "label": cls.label,
        "nominal epsilon of": cls.epsilon_unit,
        "guarantee": guarantee_words(tried) if tried else "depends on the domain",
        "guarantee of": cls.unit,
        "acts on": cls.acts_on,
        "domain": f"{DOMAINS[cls.domain_kind]}{', integers' if cls.integer else ''}",
        "error": error,
        "status": cls.status,
        "release": f"${cls.formula}$" if cls.formula else "see the class",
        "source": CITED.sub(r"[derivation](\1)", cls.source),
        "file": f"[{Path(path).name}](../{path})" if name in TABLE else f"`{cls.__module__}`",
    }


def _table(heads: Sequence[str], entries: Sequence[dict[str, str]]) -> str:
    lines = (heads, ["---"] * len(heads), *([entry[head] for head in heads] for entry in entries))
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def page(keys: Sequence[str] | None = None) -> str:
    """Builds the text of docs/mechanisms.md.

    Args:
        keys: registry keys, such as those of plug-ins; None takes those that this package defines.
    """
    entries = [entry(name) for name in (sorted(TABLE) if keys is None else keys)]
    lacking = " and ".join(e["key"] for e in entries if e["error"] != "closed form")
    heads = ("key", "label", "nominal epsilon of", "guarantee", "guarantee of", "acts on", "domain", "status")
    shown = [{k: "" if v in USUAL else v.removeprefix("exact, ") for k, v in e.items()} for e in entries]
    guarantees = _table(heads, [_linked(e) for e in shown])
    releases = _table(("key", "release", "source"), entries)
    head = HEAD.format(errors=ERRORS.format(but=f", but for {lacking}" if lacking else ""))
    return f"{head}{guarantees}\n## What each releases\n\n{releases}"


def _linked(entry: dict[str, str]) -> dict[str, str]:
    """Returns the entry with an anchor, and its key leading to its file, if that is one of this package."""
    target = re.search(r"\]\((.+)\)$", entry["file"])
    key = f"[{entry['key']}]({target[1]})" if target else entry["key"]
    return {**entry, "key": f'<a id="{entry["key"].strip("`")}"></a>{key}'}


if __name__ == "__main__":
    PAGE.write_text(page())
