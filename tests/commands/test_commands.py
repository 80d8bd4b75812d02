"""The command `tensorldp`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from schemas import VERDICT, misfits

import tensorldp
from tensorldp.commands.main import COMMANDS, exit_code
from tensorldp.curves.gaussian import GaussianCurve, mu_of
from tensorldp.mechanisms import Box, make, mechanism_class, names

PLUGIN = """
from tensorldp.mechanisms.laplace import Laplace


class Quiet(Laplace):
    name = "laplace"

    def privatize(self, x, generator):
        return x + (super().privatize(x, generator) - x) / 4
"""


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert exit_code(arguments) == code
    return capsys.readouterr().out


def test_check_refutes_a_class_of_a_users_module_and_writes_it_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugin_of_a_user.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    given = ("plugin_of_a_user:Quiet", "--epsilon", "1", "--box", "0", "1", "--shape", "2", "--out", "out")
    assert exit_code(("check", *given)) == 1
    verdict = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert misfits(verdict, VERDICT) == []
    assert (verdict["subject"], verdict["refuted"]) == ("plugin_of_a_user:Quiet (laplace)", True)
    assert "<h1>plugin_of_a_user:Quiet (laplace)</h1>" in (tmp_path / "out" / "verdict.html").read_text()


@pytest.mark.parametrize(
    ("target", "called"),
    [
        ("laplace", "laplace"),
        ("tensorldp.mechanisms.laplace:Laplace", "laplace"),
        ("plugin_of_a_user:Quiet", "plugin_of_a_user:Quiet (laplace)"),
    ],
)
def test_only_the_registered_class_goes_by_its_bare_name(
    target: str, called: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plugin_of_a_user.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    assert said(capsys, "guarantee", target, "--epsilon", "1").startswith(f"{called}, nominal epsilon 1, on ")
    assert said(capsys, "calibrate", target, "--record-epsilon", "1").startswith(f"{called} on ")


@pytest.mark.slow
def test_a_check_with_an_unpredictable_seed_names_it_and_can_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, seed = [], "unpredictable"
    for folder in ("first", "second", "third"):
        arguments = ("--rounds", "1", "--starts", "1", "--samples", "512", "--seed", seed)
        said(capsys, "check", "laplace", "--epsilon", "1", *arguments, "--out", str(tmp_path / folder))
        found.append({**json.loads((tmp_path / folder / "verdict.json").read_text()), "seconds": 0})
        seed = str(found[0]["seed"]) if folder == "first" else "unpredictable"
    assert found[0]["attempts"][0]["outcome"] == found[1]["attempts"][0]["outcome"]
    assert found[0]["seed"] == found[1]["seed"] != found[2]["seed"]


@pytest.mark.slow
def test_check_of_an_honest_key_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--epsilon", "1", "--box", "0", "3", "--shape", "1", "--rounds", "1", "--samples", "1000")
    assert "not refuted" in said(capsys, "check", "k-rr", *small)


def test_guarantee_says_what_an_epsilon_means(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "guarantee", "laplace", "--epsilon", "1", "--shape", "28", "28", "--uses", "10")
    for part in ("pure epsilon: 1\n", "10 releases, for each run", "an epsilon of at least 9.8"):
        assert part in text
    assert "their floats add nothing" in said(capsys, "guarantee", "laplace-secure", "--epsilon", "1")


def test_a_guarantee_and_a_claim_may_be_about_records_at_a_distance(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ("guarantee", "gaussian-analytic", "--epsilon", "1", "--shape", "4", "--distance", "0.1")
    assert "for each record, two of them 0.1 apart in l2:" in said(capsys, *at)
    near = GaussianCurve(mu_of(1.0, 1e-5) * 0.1 / 2.0)  # records of 4 elements lie at most 2 apart
    assert content(capsys, *at)["releases"][0]["epsilon"] == pytest.approx(near.epsilon(1e-5))
    curve = "def tenth(distance):\n    return LaplaceCurve(distance / 10)\n"
    (tmp_path / "claimed_curves.py").write_text(f"from tensorldp.curves.laplace import LaplaceCurve\n{curve}")
    monkeypatch.chdir(tmp_path)
    few = ("--rounds", "1", "--samples", "500", "--starts", "4", "--dtypes", "float32")
    claim = ("--claim-curve", "claimed_curves:tenth", "--metric", "l1")
    text = said(capsys, "check", "laplace", "--epsilon", "4", "--shape", "1", *few, *claim, code=1)
    assert "a privacy curve for each l1 distance of two records" in text


def content(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    return json.loads(said(capsys, *arguments, "--json", code=code))


def test_json_has_the_numbers_of_a_guarantee_and_of_its_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    found = content(capsys, "guarantee", "tldp-l", "--epsilon", "1", "--shape", "28", "28", "--uses", "10")
    mechanism = make("tldp-l", epsilon=1.0, domain=Box(0, 1, (28, 28)))
    assert found["domain"] == {"low": 0.0, "high": 1.0, "shape": [28, 28]}
    one, ten = found["releases"]
    assert (one["count"], one["unit"], one["pure_epsilon"]) == (1, "record", "inf")
    assert one["epsilon"] == mechanism.guarantee(1e-5).epsilon < ten["epsilon"]
    found = content(capsys, "calibrate", "laplace", "--record-epsilon", "2", "--shape", "4")
    assert found["nominal_epsilon"] == found["epsilon"] == pytest.approx(2.0)
    assert found["element_error"] == pytest.approx(2**0.5 * 4 / 2)


@pytest.mark.slow
def test_json_is_the_verdict_that_is_written_and_nothing_else_is_on_standard_output(tmp_path: Path) -> None:
    loud = "def f(x, generator):\n    print('I was called')\n    os.system('echo by a shell')\n    return x\n"
    (tmp_path / "loud.py").write_text(f"import os\n{loud}")
    command = [sys.executable, "-m", "tensorldp", "check", "loud:f", "--claim-epsilon", "1", "--out", "out", "--json"]
    small = ["--rounds", "1", "--starts", "1", "--samples", "256"]
    done = subprocess.run([*command, *small], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert "I was called" in done.stderr
    assert "by a shell" in done.stderr


def test_json_of_a_mistake_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "guarantee", "laplac", "--epsilon", "1", "--json", code=2) == ""


def test_mechanisms_lists_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "mechanisms").splitlines()
    assert [line for line in lines if not line.startswith(" ")] == names()
    found = content(capsys, "mechanisms")
    assert [one["key"] for one in found] == names()
    assert {"domain": "box", "unit": "record", "status": "textbook"}.items() <= found[names().index("laplace")].items()


def test_the_version_is_the_librarys(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version") == f"tensorldp {tensorldp.__version__}\n"


@pytest.mark.parametrize(
    ("typed", "offered"), [("", set(COMMANDS)), ("gu", {"guarantee"}), ("check --js", {"--json"}), ("canaries ", None)]
)
def test_a_shell_completes_commands_and_options(
    typed: str, offered: set[str] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    script = said(capsys, "--print-completion", "bash")
    words = typed.split(" ")
    ask = f'{script}\nCOMP_WORDS=(tensorldp "$@"); COMP_CWORD={len(words)}; _shtab_tensorldp; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", ask, "bash", *words], capture_output=True, text=True, check=False)
    assert (offered or {"dp-sgd", "federated"}) <= set(done.stdout.split()), done
    assert not typed or len(done.stdout.split()) < len(COMMANDS)


def test_a_reader_that_has_had_enough_ends_a_command_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert exit_code(("mechanisms",)) == 141


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--true-noise", "0"), 1)])
def test_canaries_in_dp_sgd(arguments: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--canaries", "100", "--records", "20", "--lot", "120", "--steps", "3", "--noise-multiplier", "6")
    assert ("not refuted" in said(capsys, "canaries", "dp-sgd", *small, *arguments, code=code)) == (code == 0)


def test_canaries_in_a_federated_run(capsys: pytest.CaptureFixture[str]) -> None:
    run = ("canaries", "federated", "--mechanism", "privunit", "--canaries", "50")
    assert "the accountant says epsilon 2," in said(capsys, *run)
    assert content(capsys, *run)["epsilon_upper"] == pytest.approx(2.0, rel=1e-4)


GIVEN = [((4,), 0.01, 1e-6), ((4,), 0.01, 7.3), ((28, 28), 1e-5, 1.0), ((28, 28), 0.0, 1e-6), ((4,), 1e-5, 7.3)]


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in names() if key != "none"])
def test_the_nominal_epsilon_that_calibrate_prints_gives_no_more_than_was_asked_for(
    key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    high = 5 if mechanism_class(key).integer and key != "randomized-response" else 1
    given_back = {}
    for shape, delta, wanted in GIVEN:
        box = ("--box", "0", f"{high}", "--shape", *map(str, shape))
        code = exit_code(["calibrate", key, "--record-epsilon", f"{wanted}", "--delta", f"{delta}", *box])
        if code == 2:  # no nominal epsilon gives that
            continue
        nominal = float(capsys.readouterr().out.split("nominal epsilon: ")[1].split()[0])
        mechanism = make(key, epsilon=nominal, domain=Box(0, high, shape))
        given_back[wanted, delta] = mechanism.guarantee(delta).epsilon
        assert given_back[wanted, delta] <= wanted
    assert max(found / wanted for (wanted, _), found in given_back.items()) > 0.99  # and no less where it can


@pytest.mark.parametrize(
    ("key", "delta", "wanted"),
    [("laplace", 0.0, 1.0), ("randomized-response", 0.0, 1.0), ("gaussian-analytic", 1e-5, 2.0), ("tldp-l", 0.3, 1.0)],
)
def test_calibrate_gives_a_record_what_was_asked_for(
    key: str, delta: float, wanted: float, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, "calibrate", key, "--record-epsilon", f"{wanted}", "--shape", "4", "--delta", f"{delta}")
    lines = dict(line.split(": ") for line in text.splitlines() if ": " in line)
    mechanism = make(key, epsilon=float(lines["nominal epsilon"]), domain=Box(0, 1, (4,)))
    assert mechanism.guarantee(delta).epsilon == pytest.approx(wanted, rel=2e-6)
    assert "note" not in text


def test_guarantee_repeats_the_nominal_epsilon_that_calibrate_prints(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("tldp-l", "--delta", "1e-5", "--shape", "28", "28")
    nominal = said(capsys, "calibrate", *arguments, "--record-epsilon", "1").split("nominal epsilon: ")[1].split()[0]
    assert f"nominal epsilon {nominal}, on" in said(capsys, "guarantee", *arguments, "--epsilon", nominal)


def test_calibrate_prints_no_epsilon_below_the_one_that_it_guarantees(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "calibrate", "laplace", "--record-epsilon", "1.23456123", "--shape", "4")
    assert float(text.split("guaranteed epsilon exactly ")[1].split()[0]) >= 1.2345612


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("tldp-l", "--delta", "1e-5", "--shape", "100"), "its atom, now of probability 1e-05, exceeds delta and no"),
        (("k-rr-secure", "--shape", "1", "--box", str(-(2**53)), str(2**53)), "what is guaranteed jumps beyond it"),
        (("k-rr-secure", "--shape", "1", "--record-epsilon", "50"), "no more is guaranteed"),
    ],
)
def test_calibrate_says_where_and_why_the_guarantee_that_was_asked_for_is_not_reached(
    arguments: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, "calibrate", "--record-epsilon", "1", *arguments)
    assert re.search(f"note: epsilon (1|50) is not reached, because with a larger nominal epsilon {why}", text)


def test_calibrate_reaches_what_a_guess_swings_about(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--delta", "0.1", "--shape", "16", "--box", "0", "3")
    text = said(capsys, "calibrate", "k-rr", "--record-epsilon", "1", *arguments)
    assert "note" not in text


@pytest.mark.parametrize("low", ["-1e-3", "-2.5e-1", "-1", "-.5", "-0.5e+2", "-1E5", "-1_000"])
def test_a_negative_number_is_no_option(low: str, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "guarantee", "laplace", "--epsilon", "1", "--box", low, "-1e-4")
    assert f"low={float(low)}" in said(capsys, "calibrate", "laplace", "--record-epsilon", "1", "--box", low, "1e-3")


NO_TASKS = ("--datasets", "--out", "cards")
MISTAKES = [
    (("check", "laplac", "--epsilon", "1"), "did you mean 'laplace'"),
    (("check", "laplace"), "needs --epsilon"),
    (("check", "laplace", "--epsilon", "1", "--claim-delta", "0.1"), "claim_delta 0.1 of a check needs claim_epsilon"),
    (("check", "nowhere:thing"), "cannot be imported"),
    (("check", "math:thing"), "has no 'thing'"),
    (("check", "mine.py:release"), "write mine:release, of a module in the working directory"),
    (("check", "math:sqrt", "--claim-epsilon", "1", "--categories", "a,b"), "with blanks between, got 'a,b'"),
    (("check", "laplace", "--epsilon", "1", "--option", "form"), "key=value"),
    (("check", "math:sqrt", "--claim-epsilon", "1", "--option", "form=1"), "takes no keyword arguments"),
    (("check", "math:sqrt", "--claim-epsilon", "1", "--nominal-delta", "7"), "takes no --nominal-delta, got 7.0"),
    (("check", "math:sqrt", "--epsilon", "1"), "takes no --epsilon or --record-epsilon, got 1.0"),
    (("check", "math:sqrt"), "--claim-epsilon"),
    (("check", "laplace", "--epsilon", "1", "--out", "/dev/null/verdict"), "folder /dev/null/verdict"),
    (("card", "laplace", "--epsilon", "1", "--out", "/dev/null/c"), "folder /dev/null/c for the card cannot be made"),
    (
        ("card", "laplace", "--epsilon", "1", "--out", "cards", "--runs", "/dev/null/r"),
        "folder /dev/null/r for the runs of tasks cannot be made",
    ),
    (("card", "laplace", "--epsilon", "1", "--claim-delta", "1e-5", *NO_TASKS), "needs claim_epsilon"),
    (("card", "laplace", "--epsilon", "1", "--claim-epsilon", "-1", *NO_TASKS), "claimed epsilon must be"),
    (("card", "laplace", "--epsilon", "1", "--seed", "-1", *NO_TASKS), "seed of a check must be"),
    (("card", "laplace", "--epsilon", "1", "--minutes", "-1", *NO_TASKS), "minutes of a check must be"),
    (("card", "laplace", "--epsilon", "1", "--cores", "0", *NO_TASKS), "cores must be a whole number of at least 1"),
    (("card", "jl", "--epsilon", "1", *NO_TASKS), "it cannot be checked"),
    (("card", "jl", "--epsilon", "1", "--datasets", "none", "--out", "cards"), "it cannot be checked"),
    (("card", "jl", "--epsilon", "1", "--datasets", "none", "mnist"), "--datasets must be none or names"),
    (("guarantee", "math:sqrt"), "not a mechanism"),
    (("guarantee", "laplace"), "laplace needs --epsilon"),
    (("guarantee", "laplace", "--epsilon", "-1"), "epsilon of laplace"),
    (("guarantee", "laplace", "--epsilon", "1", "--delta", "2"), "delta must be a number in [0, 1), got 2.0"),
    (("guarantee", "laplace", "--epsilon", "1", "--uses", "0"), "uses must be a whole number of at least 1"),
    (("calibrate", "tldp-l", "--record-epsilon", "1"), "give a larger --delta than 0.0937, the probability of its"),
    (("calibrate", "laplace", "--record-epsilon", "-1"), "record-epsilon must be a number"),
    (("calibrate", "laplace", "--record-epsilon", "1", "--delta", "1"), "delta must be at least 0 and below 1"),
]


@pytest.mark.parametrize(("training", "option"), [("dp-sgd", "--rounds"), ("federated", "--noise-multiplier")])
def test_an_option_of_the_other_training_is_refused(
    training: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["canaries", training, option, "3"]) == 2
    assert f"unrecognized arguments: {option} 3" in capsys.readouterr().err


OF_A_MECHANISM = [
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
]
for name, epsilon in (("check", "--epsilon"), ("guarantee", "--epsilon"), ("calibrate", "--record-epsilon")):
    MISTAKES += [((name, "laplace", epsilon, "1", *arguments), message) for arguments, message in OF_A_MECHANISM]
    for whole in ((), ("--option", "noise=A")):  # a class that others derive from is none, whatever its options
        MISTAKES += [
            (
                (name, "tensorldp.mechanisms:Mechanism", epsilon, "1", *whole),
                "squared_error and the attribute name, wh",
            ),
            ((name, "tensorldp.mechanisms.tldp:Tldp", epsilon, "1", *whole), "Tldp lacks the attribute name, which ev"),
        ]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[f"{a[0]}-{m[:20]}" for a, m in MISTAKES])
def test_a_mistake_is_one_sentence_and_exit_code_2(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(arguments) == 2
    answer, error = capsys.readouterr()
    assert answer == ""  # or it could be taken for one
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(("command", "name"), [("check", "verdict.json"), ("card", "laplace.png")])
def test_a_folder_in_the_place_of_a_file_is_told_before_the_work(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir()
    assert exit_code((command, "laplace", "--epsilon", "1", "--out", str(tmp_path))) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / name} is a folder, where the ")


def test_the_exit_codes_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "canaries"):
        text = said(capsys, command, "--help")
        assert "0: not refuted; 1: refuted; 2: could not be checked" in " ".join(text.split())


@pytest.mark.parametrize(("command", "what"), [("check", "verdict"), ("card", "card")])
def test_the_help_says_that_an_earlier_answer_is_replaced(
    command: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"which replace an earlier {what} there" in " ".join(said(capsys, command, "--help").split())
