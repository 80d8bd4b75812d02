"""`python -m tensorldp check` ends with 0 (not refuted), 1 (refuted) or 2 (could not be checked), whatever it gets."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import malformed
import pytest

from tensorldp.commands.arguments import Parser
from tensorldp.commands.main import exit_code

RECORDS = ("--shape", "2", "--box", "-1", "1")
SMALL = (*RECORDS, "--samples", "256", "--rounds", "1", "--starts", "1", "--minutes", "10", "--confidence", "0.999999")
CLAIM = ("--claim-epsilon", "1")


def test_there_are_forty_functions_and_some_for_each_exit_code() -> None:
    codes = [code for code, _ in malformed.CODES.values()]
    assert len(codes) >= 40
    assert min(codes.count(code) for code in (0, 1, 2)) >= 8


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", malformed.CODES)
def test_check_where(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = malformed.CODES[name]
    assert exit_code(("check", f"malformed:{name}", *CLAIM, *SMALL)) == code
    told = capsys.readouterr()
    if code in (0, 1):
        assert ("not refuted" in told.out) == (code == 0)
    else:
        assert message in told.err
        last = [line for line in told.err.splitlines() if not line.startswith("round ")]
        assert len(last) == 1
        assert told.out == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("quit()", "SystemExit"),
        ("raise SystemExit('no more')", "SystemExit: no more"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError"),
        ("import nowhere", "No module named 'nowhere'"),
        ("raise MemoryError", "MemoryError"),
        ("import " + __name__ + "_nothing", "No module named"),
        ("def __getattr__(name): raise SystemExit(0)", "cannot be looked up: SystemExit: 0"),
        ("g = 1", "has no 'f'"),
        ("from tensorldp.mechanisms import Mechanism as f", "cannot be made on"),
        ("class f: pass", "TypeError: f() takes no arguments"),
    ],
)
def test_a_module_may_end_as_it_likes_and_the_exit_code_is_2(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ending.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ending", raising=False)
    for command in (
        ("check", "ending:f", "--epsilon", "1", *CLAIM, *SMALL),
        ("guarantee", "ending:f", "--epsilon", "1"),
    ):
        assert exit_code(command) == 2
        told = capsys.readouterr().err
        assert message in told or (command[0] == "guarantee" and "is not a mechanism" in told)
        assert told.count("\n") == 1


def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tensorldp", *arguments],
        capture_output=True,
        text=True,
        cwd=Path(malformed.__file__).parent,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("the_process_is_left", 2, "error: the process ended without an answer: it ended itself with exit code 0"),
        ("the_process_is_killed", 2, "signal 9 (Killed) ended it, as the system sends when memory runs out"),
        ("the_argument_itself_is_returned", 1, ""),
        ("everything_is_nan", 0, ""),
    ],
)
def test_a_process_cannot_take_its_verdict_along(name: str, code: int, message: str) -> None:
    found = ended("check", f"malformed:{name}", *CLAIM, *SMALL)
    assert found.returncode == code
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_a_process_that_is_watched_gives_its_answer(capfd: pytest.CaptureFixture[str]) -> None:
    script = "import sys, os; from tensorldp.commands.watch import watched; sys.exit(watched(lambda: {}))"
    for answer, code in (("0", 0), ("1", 1), ("130", 130), ("os._exit(0)", 2), ("os.abort()", 2)):
        found = subprocess.run([sys.executable, "-c", script.format(answer)], check=False)
        assert found.returncode == code
        assert ("without an answer" in capfd.readouterr().err) == answer.startswith("os.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_process_that_watches_ends_both(number: int, tmp_path: Path) -> None:
    script = f"""
import os, signal, sys, time, pathlib
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
from tensorldp.commands.watch import watched
def run():
    pathlib.Path({str(tmp_path / "child")!r}).write_text(str(os.getpid()))
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        return 130
sys.exit(watched(run))
"""
    watching = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 60.0
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    watching.send_signal(number)
    assert watching.wait(30) == (130 if number == signal.SIGINT else -signal.SIGTERM)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "child").read_text()), 0)


@pytest.mark.parametrize("text", ["-1e-3", "-1", "-.5", "-0.5e+2", "-1E5", "-inf", "-1_000"])
def test_a_negative_number_is_no_option(text: str) -> None:
    parser = Parser()
    parser.add_argument("--box", type=float, nargs=2)
    parser.add_argument("--out")
    sub = parser.add_subparsers().add_parser("check")
    sub.add_argument("target")
    sub.add_argument("--ball", type=float)
    assert parser.parse_args(["--box", text, "1e-3"]).box == [float(text), 1e-3]
    assert parser.parse_args(["check", "laplace", "--ball", text]).ball == float(text)
    with pytest.raises(SystemExit):
        parser.parse_args(["--box", "1", "--out"])


@pytest.mark.parametrize("box", [("-1e-3", "1e-3"), ("-2.5e-1", "-1e-1"), ("-1", "1")])
def test_every_command_takes_a_box_below_zero(box: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(("guarantee", "laplace", "--epsilon", "1", "--box", *box)) == 0
    assert exit_code(("calibrate", "laplace", "--record-epsilon", "1", "--box", *box)) == 0
    assert f"low={float(box[0])}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [("check", "--epsilon"), ("guarantee", "--epsilon"), ("calibrate", "--record-epsilon")]
)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--option", "epsilon=3"), "--epsilon or --record-epsilon sets the epsilon of a mechanism"),
        (("--option", "delta=0.1"), "--nominal-delta sets the delta of a mechanism"),
        (("--option", "domain=[0, 1]"), "--shape with --box or --ball sets the domain of a mechanism"),
        (("--option", "name=mine"), "unknown option of laplace 'name'"),
        (("--option", "self=1"), "unknown option of laplace 'self'"),
        (("--option", "clip=yes"), "clip of laplace must be True or False, got 'yes'"),
        (("--option", "clip=[1]"), "clip of laplace must be True or False, got [1]"),
        (("--option", "clip=" + "[" * 100_000), "clip of laplace must be True or False"),
        (("--option", "clip=" + "1" * 5000), "clip of laplace must be True or False"),
        (("--option", "clip=true", "--option", "clip=false"), "--option clip is given twice"),
        (("--option", "=1"), "--option must be key=value, got '=1'"),
        (("--nominal-delta", "-1e-3"), "delta of laplace must be a number in (0, 1)"),
        (("--shape", "-1"), "shape must be a sequence of whole numbers above 0"),
        (("--shape", "1000000", "1000000"), "a record of 1000000000000 elements needs about 7.45e+03 GB of memory"),
        (("--shape", "9" * 400), "elements needs about"),
        (("--ball", "-1e-3"), "Ball radius must be a number in [1e-30, 1e+30], got -0.001"),
        (("--box", "-inf", "1"), "Box low must be a number in [-1e+30, 1e+30], got -inf"),
        (("--box", "1", "-1e-3"), "a Box needs low < high"),
    ],
)
def test_a_mistake_is_one_sentence_in_every_command_that_takes_a_mechanism(
    command: tuple[str, str], arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, epsilon = command
    assert exit_code((name, "laplace", epsilon, "1", *arguments)) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.startswith("error: ")
    assert told.count("\n") == 1


def test_the_exit_codes_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "canaries"):
        assert exit_code((command, "--help")) == 0
        assert "0: not refuted; 1: refuted; 2: could not be checked" in " ".join(capsys.readouterr().out.split())
