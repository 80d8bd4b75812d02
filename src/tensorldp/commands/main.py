"""The commands of `tensorldp`; Snakemake runs the studies, not these commands."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from tensorldp import __version__
from tensorldp.commands.arguments import Answer, Parser
from tensorldp.errors import InputError, described
from tensorldp.files import json_text

COMMANDS = {
    "check": "try to prove a claimed guarantee wrong",
    "canaries": "try to prove a whole training's guarantee wrong, in one run with canaries",
    "guarantee": "say what an epsilon on paper means for a record",
    "calibrate": "find the nominal epsilon that guarantees a record a given one",
    "card": "make a page about a mechanism: what it promises, whether that stands, what it costs and gives away",
    "mechanisms": "list the mechanisms",
}
OUTSIDE = ("canaries", "card")  # whose modules are entry points of the group `tensorldp.commands`
TRIES = ("check", "canaries", "card")  # the commands that may refute
COMPLETION = "--print-completion"
DONE, REFUTED, FAILED, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141


def exit_code(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code; whatever goes wrong is told in one sentence.

    Returns:
        0 if it did what was asked and refuted nothing, 1 if a claim is refuted, 2 if it could not be done, be it a
        mistake of the user or a crash. Apart from these, 130 after an interruption by Ctrl-C, and 141 if the reader of
        its output, such as `head`, stopped reading.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given[0] if given and given[0] in COMMANDS else "tensorldp"
    try:
        try:
            options = _parser(given).parse_args(given)
        except SystemExit as stop:  # --help, or a mistake that argparse has reported
            return int(stop.code or 0)
        with _aside() if options.json else nullcontext():
            answer: Answer = _module(options.command).run(options)
        print(json_text(answer.content) if options.json else answer.text)
        sys.stdout.flush()
        return REFUTED if answer.refuted else FAILED if answer.failed else DONE
    except InputError as error:
        return _failed(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith("tensorldp"):  # the library without the packages of the pipeline
            return _failed(
                f"this use of the command {command} needs the package {error.name}, which is not installed: "
                "pip install 'tensorldp[pipeline]'"
            )
        return _crashed(command, error)
    except BaseException as error:  # SystemExit, too: only this function decides the exit code
        return _crashed(command, error)


@contextmanager
def _aside() -> Iterator[None]:
    """Lets whatever is printed go to standard error, be it by code under test or by a process that starts here."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


class _PrintCompletion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, option: str | None = None) -> None:
        import shtab

        print(shtab.complete(parser, shell))
        parser.exit()


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = Parser(prog="tensorldp", description="Questions to the library; Snakemake runs the studies.")
    parser.add_argument("--version", action="version", version=f"tensorldp {__version__}")
    parser.add_argument(
        COMPLETION, action=_PrintCompletion, choices=("bash", "zsh"), help="print what completes commands in a shell"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    wanted = COMMANDS if COMPLETION in given else given[:1]
    for name, text in COMMANDS.items():
        codes = "0: not refuted; 1: refuted; 2: could not be checked" if name in TRIES else "0: done; 2: not possible"
        command = commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=f"Exit code {codes}."
        )
        if name in wanted:  # only the command that runs is imported
            _module(name).add_arguments(command)
    return parser


def _module(command: str) -> Any:
    if command not in OUTSIDE:
        return import_module(f"tensorldp.commands.{command}")
    for point in entry_points(group="tensorldp.commands", name=command):
        return point.load()
    raise InputError(f"the command {command} is not part of this installation: pip install 'tensorldp[pipeline]'")


def _failed(sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return FAILED


def _crashed(command: str, error: BaseException) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    place = f", in {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return _failed(f"{command} could not finish: {described(error)}{place}")
