"""`python -m tensorldp`."""

import json
import os
import sys
from pathlib import Path

import pytest

from tensorldp.commands.main import main

PLUGIN = """
from tensorldp.mechanisms import Mechanism
from tensorldp.mechanisms.laplace import Laplace


class Quiet(Laplace):
    name = "quiet"

    def privatize(self, x, generator):
        return x + (super().privatize(x, generator) - x) / 4


def silent(x, generator):
    return x
"""


def outcome(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return int(stop.value.code or 0)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"plugin_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_check_refutes_a_class_and_a_function_of_a_users_module(module: str, tmp_path: Path) -> None:
    assert outcome("check", f"{module}:Quiet", "--epsilon", "1", "--box", "0", "1", "--shape", "2", "--out", "out") == 1
    assert json.loads((tmp_path / "out" / "verdict.json").read_text())["refuted"] is True
    assert outcome("check", f"{module}:silent", "--claim-epsilon", "1", "--minutes", "10") == 1


def test_check_of_an_honest_key_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    code = outcome("check", "k-rr", "--epsilon", "1", "--box", "0", "3", "--shape", "1", "--rounds", "1")
    assert code == 0
    assert "not refuted" in capsys.readouterr().out


def test_guarantee_says_what_an_epsilon_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome("guarantee", "laplace", "--epsilon", "1", "--shape", "28", "28", "--uses", "10") == 0
    text = capsys.readouterr().out
    assert "pure epsilon: 1\n" in text
    assert "10 releases, for each run" in text
    assert "an epsilon of at least 9.8" in text
    assert outcome("guarantee", "laplace-secure", "--epsilon", "1") == 0
    assert "their floats add nothing" in capsys.readouterr().out


def test_mechanisms_lists_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    from tensorldp.mechanisms import names

    assert outcome("mechanisms") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == names()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "laplac", "--epsilon", "1"), "did you mean 'laplace'"),
        (("check", "laplace"), "needs --epsilon"),
        (("check", "nowhere:thing"), "cannot be imported"),
        (("check", "math:thing"), "has no 'thing'"),
        (("check", "laplace", "--epsilon", "1", "--option", "form"), "key=value"),
        (("check", "math:sqrt", "--claim-epsilon", "1", "--option", "form=1"), "takes no --option"),
        (("check", "math:sqrt", "--epsilon", "1"), "--claim-epsilon"),
        (("check", "laplace", "--epsilon", "1", "--out", "/dev/null/verdict"), "folder /dev/null/verdict"),
        (("guarantee", "math:sqrt", "--epsilon", "1"), "not a mechanism"),
        (("guarantee", "laplace", "--epsilon", "-1"), "epsilon of laplace"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1


def test_a_reader_that_has_had_enough_ends_a_command_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert outcome("mechanisms") == 141


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--true-noise", "0"), 1)])
def test_canaries_in_dp_sgd(arguments: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--canaries", "100", "--records", "20", "--lot", "120", "--steps", "3", "--noise-multiplier", "6")
    assert outcome("canaries", "dp-sgd", *small, *arguments) == code
    assert ("not refuted" in capsys.readouterr().out) == (code == 0)


def test_canaries_in_a_federated_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome("canaries", "federated", "--mechanism", "privunit", "--canaries", "50") == 0
    assert "the accountant says epsilon 2," in capsys.readouterr().out


def test_calibrate_gives_a_record_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    from tensorldp.mechanisms import Box, make

    cases = [
        ("laplace", 0.0, 1.0),
        ("randomized-response", 0.0, 1.0),
        ("gaussian-analytic", 1e-5, 2.0),
        ("tldp-l", 0.3, 1.0),
    ]
    for key, delta, wanted in cases:
        assert outcome("calibrate", key, "--record-epsilon", f"{wanted}", "--shape", "4", "--delta", f"{delta}") == 0
        lines = dict(line.split(": ") for line in capsys.readouterr().out.splitlines() if ": " in line)
        mechanism = make(key, epsilon=float(lines["nominal epsilon"]), domain=Box(0, 1, (4,)))
        assert mechanism.guarantee(delta).epsilon == pytest.approx(wanted, rel=2e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tldp-l", "--record-epsilon", "1"), "give a larger --delta than 0.0937, the probability of its atom"),
        (("laplace", "--record-epsilon", "-1"), "record-epsilon must be a number"),
        (("laplace", "--record-epsilon", "1", "--delta", "1"), "delta must be at least 0 and below 1"),
    ],
)
def test_what_calibrate_cannot_do_is_one_sentence(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome("calibrate", *arguments) == 2
    assert message in capsys.readouterr().err
