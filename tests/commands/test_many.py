"""Several checks by one command: a table of verdicts, whatever each of them does."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tensorldp.commands import many
from tensorldp.commands.main import exit_code
from tensorldp_papers.run import forked

MODULE = """
import os, random
def bare(x): return x
def answer(x, kept): return x if random.random() < kept else random.randrange(4)
def ends(x): os._exit(0)
class Client:
    def __init__(self, k): self.k = k
    def privatise(self, x): return {random.randrange(self.k)}
"""
OPTIONS = ("--claim-epsilon", "1", "--minutes", "5", "--rounds", "1", "--starts", "1", "--samples", "256")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: None) -> Path:
    """A folder with a module; checks of several targets are forked from a process that has imported PyTorch."""
    monkeypatch.setattr(many, "COMMAND", (sys.executable, "-IS", forked.__file__, "-m", "tensorldp"))
    (tmp_path / "theirs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return tmp_path


@pytest.mark.slow
def test_targets_of_a_file_have_options_of_their_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "targets.yaml").write_text(
        """
- {target: "theirs:bare", categories: 4}
- {target: "theirs:answer", option: {kept: 0.1}, categories: [0, 1, 2, 3]}
- {target: "theirs:Client.privatise", option: ["k=4"], categories: 4}
- {target: "theirs:ends", categories: 4}
"""
    )
    assert exit_code(["check", "targets.yaml", *OPTIONS, "--jobs", "2", "--out", "verdicts", "--json"]) == 1
    found = {answer["target"]: answer for answer in json.loads(capsys.readouterr().out)}
    assert found["theirs:bare"]["refuted"]
    assert not found["theirs:answer"]["refuted"]
    assert not found["theirs:Client.privatise"]["refuted"]
    assert "ended itself with exit code 0" in found["theirs:ends"]["error"]
    assert (here / "verdicts" / "theirs_bare" / "verdict.json").exists()


@pytest.mark.slow
def test_a_table_has_a_line_for_each_target(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["check", "theirs:bare", "theirs:nothing", "--categories", "4", *OPTIONS]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["target", "verdict"]
    assert lines[1].startswith("theirs:bare     REFUTED")
    assert lines[-1] == "theirs:nothing could not be checked: the module 'theirs' has no 'nothing'"
    assert exit_code(["check", "theirs:nothing", "theirs:none", "--categories", "4", *OPTIONS]) == 2
    assert exit_code(["check", "theirs:bare", "theirs:bare", "--jobs", "0", *OPTIONS]) == 2
    assert "jobs must be a whole number of at least 1, got 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "targets.yaml cannot be read as YAML"),
        ("a: 1", "targets.yaml must be a list of targets with their options, got {'a': 1}"),
        ("- {option: 1}", "targets.yaml, item 1 must have a target, got {'option': 1}"),
        ("- {target: 'a:b', categorys: 3}", "unknown option in targets.yaml, item 1, 'categorys': did you mean"),
    ],
)
def test_a_file_that_makes_no_sense_is_told_of(
    text: str, message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "targets.yaml").write_text(text)
    assert exit_code(["check", "targets.yaml"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--columns", "x"), "--columns must be NAME=0:1.5, NAME=0..120 or NAME=a,b,c, got 'x'"),
        (("--columns", "x=1:0"), "column 'x' needs low < high"),
        (("--categories", "1"), "categories must be a whole number of at least 2"),
        (("--integers", "--box", "0", "1.5"), "whole numbers need a box between whole numbers"),
        (("--categories", "4", "--decode", "theirs"), "--decode must be MODULE:FUNCTION, got 'theirs'"),
        (("--categories", "4", "--metric", "l1"), "metric"),
        (("--categories", "4", "--option", "wrong=1"), "unexpected keyword argument 'wrong'"),
    ],
)
def test_options_about_functions_that_make_no_sense_are_told_of(
    arguments: tuple[str, ...], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["check", "theirs:bare", *OPTIONS, *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told


def test_a_row_of_a_table_is_checked_from_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "theirs:bare", "--columns", "age=0..120", "income=0:1e5", "kind=a,b", *OPTIONS]
    assert exit_code(arguments) == 1
    assert "theirs:bare: REFUTED" in capsys.readouterr().out


def test_a_verdict_names_the_command_that_repeats_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "theirs:answer", "--option", "kept=0.1", "--categories", "4", *OPTIONS, "--json"]
    assert exit_code(arguments) == 0
    command = json.loads(capsys.readouterr().out)["command"]
    assert command.startswith("tensorldp check theirs:answer --option=kept=0.1")
    assert exit_code([*shlex.split(command)[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["command"] == command
