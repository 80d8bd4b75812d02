"""`tensorldp mechanisms`: list the mechanisms."""

from __future__ import annotations

import argparse
import inspect

from tensorldp.commands.arguments import Answer, add_json_argument
from tensorldp.mechanisms import mechanism_class, names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_json_argument(parser)


def run(options: argparse.Namespace) -> Answer:
    """Says of each mechanism its key, what it is, domain, unit, status and source."""
    found = [_described(name) for name in names()]
    lines = (
        f"{one['key']}\n  {one['description']}\n"
        f"  domain {one['domain']}, unit {one['unit']}, {one['status']}; {one['source'] or 'no source'}"
        for one in found
    )
    return Answer("\n".join(lines), found)


def _described(name: str) -> dict[str, str]:
    cls = mechanism_class(name)
    return {
        "key": name,
        "description": (inspect.getdoc(cls) or "").split("\n")[0],
        "domain": cls.domain_kind,
        "unit": cls.unit,
        "status": cls.status,
        "source": cls.source,
    }
