"""Several targets of one command, a process for each, and one table of what came out."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tensorldp.commands.arguments import UNPREDICTABLE, Answer, Parser
from tensorldp.errors import InputError, check_whole, described, shown, unknown

COMMAND = (sys.executable, "-m", "tensorldp")
FILES = (".yaml", ".yml")
HEADS = ("target", "verdict", "epsilon, at least", "delta", "releases", "seconds")
FOR_ALL = ("command", "json", "jobs", "target")  # which no target has of its own


def several(options: argparse.Namespace) -> bool:
    """Returns whether there is more than one target, or a file of targets."""
    return len(options.target) > 1 or Path(options.target[0]).suffix in FILES


def table(command: str, options: argparse.Namespace, defaults: argparse.Namespace) -> Answer:
    """Runs the command for each target and puts the verdicts in one table.

    Args:
        command: the command's name.
        options: what was asked for; `target` has names of targets and of files.
        defaults: what the command's options are where nothing is asked for.
    """
    jobs = check_whole("jobs", options.jobs, low=1)
    common = _given(options, defaults)
    asked = [{**common, **one} for target in options.target for one in _targets(target, vars(defaults))]
    names = _names([str(one["target"]) for one in asked])
    for name, one in zip(names, asked, strict=True):
        if "out" in one:
            one["out"] = Path(one["out"]) / re.sub(r"[^\w.-]+", "_", name)

    def found(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
        answer = _run([command, *_arguments(one), "--json"])
        print(f"{name}: {_word(answer)}", file=sys.stderr, flush=True)
        return {"target": name, **answer}

    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(found, names, asked))
    refuted = any(answer.get("refuted") for answer in answers)
    failed = any("error" in answer for answer in answers)
    return Answer(_text(answers), answers, refuted, failed and not refuted)


def _given(options: argparse.Namespace, defaults: argparse.Namespace) -> dict[str, Any]:
    """Returns the options that were asked for, without those that no target has of its own."""
    given = {key: value for key, value in vars(options).items() if value != getattr(defaults, key, None)}
    return {key: value for key, value in given.items() if key not in FOR_ALL}


def arguments_of(target: str, options: argparse.Namespace, defaults: argparse.Namespace) -> list[str]:
    """Returns the command line, after the command's name, that asks for one target with these options."""
    return _arguments({"target": target, **_given(options, defaults)})


def _targets(target: str, defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the options of each target that a name or a file stands for."""
    path = Path(target)
    if path.suffix not in FILES:
        return [{"target": target}]
    import yaml

    try:
        listed = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read as YAML: {described(error)}") from None
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise InputError(f"{path} must be a list of targets with their options, got {shown(listed)}")
    found = []
    for place, one in enumerate(listed, start=1):
        keyed = {str(key).replace("-", "_"): value for key, value in one.items()}
        if not isinstance(keyed.get("target"), str):
            raise InputError(f"{path}, item {place} must have a target, got {shown(one)}")
        allowed = {*defaults, "target"} - {"command", "json", "jobs"}
        for key in keyed:
            if key not in allowed:
                raise unknown(f"option in {path}, item {place},", key, allowed)
        found.append(keyed)
    return found


def _names(targets: Sequence[str]) -> list[str]:
    """Returns the targets, numbered where one comes twice."""
    seen: dict[str, int] = {}
    names = []
    for target in targets:
        seen[target] = seen.get(target, 0) + 1
        names.append(target if targets.count(target) == 1 else f"{target} #{seen[target]}")
    return names


def _arguments(one: Mapping[str, Any]) -> list[str]:
    """Returns the options of a target as the command line has them."""
    given = [str(one["target"])]
    for key, value in one.items():
        name = f"--{key.replace('_', '-')}"
        if key == "option":
            pairs = value.items() if isinstance(value, Mapping) else [str(text).partition("=")[::2] for text in value]
            given += [f"{name}={key}={_said(setting)}" for key, setting in pairs]
        elif value is True:
            given.append(name)
        elif isinstance(value, (list, tuple)):
            given += [name, *map(str, value)]
        elif key != "target" and value is not None and value is not False:
            given.append(f"{name}={value if isinstance(value, (str, int, float, Path)) else UNPREDICTABLE}")
    return given


def _said(setting: Any) -> str:
    """Returns an option's value as the command line has it."""
    return setting if isinstance(setting, str) else json.dumps(setting)


def _run(arguments: Sequence[str]) -> dict[str, Any]:
    """Runs one command and returns what it answers, or the sentence that says why it does not."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"error": last.removeprefix("error: ")}
    return answer


def _word(answer: Mapping[str, Any]) -> str:
    if "error" in answer:
        return f"could not be checked: {answer['error']}"
    return "REFUTED" if answer["refuted"] else "not refuted"


def _text(answers: Sequence[Mapping[str, Any]]) -> str:
    rows = [HEADS]
    for answer in answers:
        if "error" in answer:
            rows.append((answer["target"], "-", "-", "-", "-", "-"))
            continue
        none = answer["no_bound"]
        bound = ("none", "-") if none else (f"{answer['epsilon_lower']:.4g}", f"{answer['delta_lower']:.3g}")
        rows.append((answer["target"], _word(answer), *bound, str(answer["samples"]), f"{answer['seconds']:.1f}"))
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [f"{answer['target']} {_word(answer)}" for answer in answers if "error" in answer]
    return "\n".join(lines)


def parsed_defaults(add_arguments: Any) -> argparse.Namespace:
    """Returns a command's options where nothing is asked for."""
    parser = Parser()
    add_arguments(parser)
    return parser.parse_args(["nothing"])
