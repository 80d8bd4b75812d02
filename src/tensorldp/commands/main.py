"""The commands of `python -m tensorldp`; studies are run by Snakemake and not from here."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from tensorldp.errors import InputError

COMMANDS = {
    "check": "try to prove a claimed guarantee wrong",
    "canaries": "try to prove a whole training's guarantee wrong, in one run with canaries",
    "guarantee": "say what an epsilon on paper means for a record",
    "calibrate": "find the nominal epsilon that guarantees a record a given one",
    "mechanisms": "list the mechanisms",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; exit code 1 where a claim is refuted, 2 for a mistake of the user, told in one sentence."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m tensorldp", description="Questions to the library; Snakemake runs the studies."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    chosen = given[0] if given and given[0] in COMMANDS else None
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if name == chosen:  # only the command that runs is imported
            try:
                import_module(f"tensorldp.commands.{name}").add_arguments(command)
            except ModuleNotFoundError as error:
                _lacking(name, error)
    options = parser.parse_args(given)
    try:
        code = import_module(f"tensorldp.commands.{options.command}").run(options)
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        _lacking(options.command, error)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(code)


def _lacking(command: str, error: ModuleNotFoundError) -> NoReturn:
    """End in one sentence where the library is installed without the packages of the pipeline."""
    if (error.name or "tensorldp").startswith("tensorldp"):
        raise error
    print(
        f"error: this use of the command {command} needs the package {error.name}, which is not installed: "
        "pip install 'tensorldp[pipeline]'",
        file=sys.stderr,
    )
    sys.exit(2)
