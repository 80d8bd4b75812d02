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
    lines, found = [], []
    for name in names():
        cls = mechanism_class(name)
        text, domain = (inspect.getdoc(cls) or "").split("\n")[0], cls.domain_kind
        about = f"domain {domain}, unit {cls.unit}, {cls.status}; {cls.source or 'no source'}"
        lines.append(f"{name}\n  {text}\n  {about}")
        more = {"unit": cls.unit, "status": cls.status, "source": cls.source}
        found.append({"key": name, "description": text, "domain": domain, **more})
    return Answer("\n".join(lines), found)
