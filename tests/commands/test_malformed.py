"""`tensorldp check` ends with 0 (not refuted), 1 (refuted) or 2 (could not be checked), whatever it gets.

The functions that it gets are called like what they release; the claim is epsilon 1 on [-1, 1]^2.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorldp.commands.check import wall_limit
from tensorldp.commands.main import exit_code

Release = Callable[[Tensor, torch.Generator], Any]
BUFFERS: dict[Any, Tensor] = {}
CALLS = itertools.count(1)


def laplace(x: Tensor, g: torch.Generator | None) -> Tensor:
    signs = 2.0 * torch.randint(0, 2, x.shape, generator=g).to(x.dtype) - 1.0
    return 4.0 * signs * torch.empty_like(x).exponential_(generator=g)


def geometric(x: Tensor, g: torch.Generator, rate: float = 0.25) -> Tensor:
    """Two-sided geometric noise of `rate` for a step of 1, in float64."""
    first, second = (torch.empty(x.shape).double().exponential_(generator=g).div(rate).floor() for _ in range(2))
    return first - second


def noisy(x: Tensor, g: torch.Generator) -> Tensor:
    return x + laplace(x, g)


def whole(x: Tensor, g: torch.Generator) -> Tensor:
    return x.round() + geometric(x, g)


def even(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.randint(0, 2**60, x.shape, generator=g) & ~1


def upper(x: Tensor) -> Tensor:
    return (x > 0).long()


class Subclass(Tensor):
    """A tensor of somebody's own."""


class Unspeakable(BaseException):
    """An exception that is none of Python's and does not even say what it is."""

    def __str__(self) -> str:
        raise ValueError


def warning(x: Tensor, g: torch.Generator) -> Tensor:
    warnings.warn("not so fast", stacklevel=1)
    return noisy(x, g)


def ragged(x: Tensor, g: torch.Generator) -> Tensor:
    rows = [row[: 1 + index % 2] for index, row in enumerate(x)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


def fails(error: BaseException, every: int = 1) -> Release:
    def failing(x: Tensor, g: torch.Generator) -> Tensor:
        if next(CALLS) % every == 0:
            raise error
        return noisy(x, g)

    return failing


def endless(x: Tensor, g: torch.Generator) -> Any:
    return endless(x, g)


HONEST: dict[str, Any] = {
    "a dictionary": lambda x, g: {"noisy": noisy(x, g)},
    "a nested list": lambda x, g: noisy(x, g).tolist(),
    "writing into the argument": lambda x, g: x.add_(laplace(x, g)),
    "one buffer again and again": lambda x, g: torch.add(
        x, laplace(x, g), out=BUFFERS.setdefault((x.shape, x.dtype), torch.empty_like(x))
    ),
    "ignoring the generator": lambda x, g: x + laplace(x, None),
    "keeping the graph": lambda x, g: x.requires_grad_() + laplace(x.detach(), g),
    "a subclass": lambda x, g: noisy(x, g).as_subclass(Subclass),
    "a lazily negated view": lambda x, g: torch.complex(torch.zeros_like(x), noisy(x, g)).conj().imag,
    "an array in reverse order": lambda x, g: noisy(x, g).numpy()[:, ::-1],
    "geometric noise as int64": lambda x, g: whole(x, g).long(),
    "geometric noise above 2^53": lambda x, g: (whole(x, g).long() << 55) + 1,
    "geometric noise in cents": lambda x, g: whole(x, g) / 100.0,
    "randomised response as booleans": lambda x, g: (torch.rand(x.shape, generator=g) < 0.62) ^ (x < 0),
    "complex noise": lambda x, g: torch.complex(noisy(x, g), laplace(x, g)),
    "noise rounded to float16": lambda x, g: noisy(x, g).half(),
    "noise rounded to float8": lambda x, g: noisy(x, g).to(torch.float8_e5m2),
    "everything is nan": lambda x, g: torch.full_like(x, torch.nan),
    "a warning each time": warning,
    "no name": partial(noisy),
}

LEAKS: dict[str, Any] = {  # no matter of floating point
    "texts": lambda x, g: x.numpy().astype(str),
    "objects": lambda x, g: x.numpy().astype(object),
    "no generator": lambda x: x,
    "the argument itself": lambda x, g: x,
    "the lowest bit of int64 above 2^53": lambda x, g: even(x, g) | upper(x),
    "the lowest bit of few int64 above 2^53": lambda x, g: (torch.randint(0, 9, x.shape, generator=g) << 54) | upper(x),
    "the lowest bit of uint64 above 2^63": lambda x, g: (even(x, g) | -(2**63) | upper(x)).to(torch.uint64),
    "bit 40 of int64": lambda x, g: (even(x, g) & ~(1 << 40)) | (upper(x) << 40),
    "the residue modulo 3 of int64": lambda x, g: even(x, g) // 3 * 3 + upper(x),
    "parity of whole floats": lambda x, g: 2.0 * geometric(x, g, 1e-9) + upper(x),
    "parity of whole float32": lambda x, g: (2.0 * geometric(x, g, 1e-4) + upper(x)).float(),
    "parity of halves": lambda x, g: geometric(x, g, 1e-7) + 0.5 * upper(x),
    "parity of cents": lambda x, g: (2.0 * geometric(x, g, 1e-2) + upper(x)) / 100.0,
    "the imaginary part": lambda x, g: torch.complex(laplace(x, g), x),
    "the imaginary part in halves": lambda x, g: torch.complex(laplace(x, g).half(), x.half()),
    "nan or infinity": lambda x, g: torch.where(x > 0, torch.nan, torch.inf),
    "a boolean": lambda x, g: x > 0,
    "an int8": lambda x, g: upper(x).to(torch.int8),
    "a uint16": lambda x, g: (40_000 + upper(x)).to(torch.uint16),
    "a float16": lambda x, g: x.half(),
    "a float8": lambda x, g: x.to(torch.float8_e4m3fn),
    "a NumPy array": lambda x, g: x.numpy(),
    "a seed of its own": lambda x, g: noisy(x, g.manual_seed(7)),
}

FAILS: dict[str, tuple[str, Any]] = {
    "nothing": ("must return one release a record: for 37, got None", lambda x, g: None),
    "a text": ("one release a record: for 37, got 7", lambda x, g: "private"),
    "a float": ("one release a record: for 37, got a float", lambda x, g: 0.5),
    "long floats": ("at most 64 bits, got an array of", lambda x, g: x.numpy().astype(np.longdouble)),
    "a masked array": ("got MaskedArray", lambda x, g: np.ma.masked_array(x.numpy())),
    "a ragged tensor": ("of its own layout", ragged),
    "a sparse tensor": ("must return a dense tensor, got a sparse_coo one", lambda x, g: x.to_sparse()),
    "no values": ("device meta, which has no values", lambda x, g: x.to("meta")),
    "no columns": ("releases without elements", lambda x, g: x[:, :0]),
    "one number for all": ("one release a record: for 2, got shape ()", lambda x, g: x.sum()),
    "one record too few": ("one release a record: for 2, got shape (1, 2)", lambda x, g: x[1:]),
    "another width": ("one is float64 of shape (4,)", lambda x, g: noisy(x, g).repeat(1, min(next(CALLS), 2))),
    "another type": ("one is float32 of shape", lambda x, g: noisy(x, g) if len(x) == 2 else noisy(x, g).float()),
    "a lazy terabyte": ("GB of memory", lambda x, g: x[:, :1].expand(-1, 1 << 40)),
    "an error in the middle": ("RuntimeError: out of order", fails(RuntimeError("out of order"), every=100)),
    "an exit with code 0": ("SystemExit: 0", fails(SystemExit(0))),
    "an exit with a text": ("SystemExit: thank you", fails(SystemExit("thank you"))),
    "a float32 network": (
        "records are float64 here, and a check gives float32 ones by --dtype float32",
        lambda x, g: torch.nn.functional.linear(x, torch.eye(2)),
    ),
    "no memory": ("MemoryError", fails(MemoryError())),
    "an endless recursion": ("RecursionError", endless),
    "an exception that cannot be named": ("Unspeakable", fails(Unspeakable())),
    "a number": ("a check takes a mechanism or a function, got float", 3.0),
}
ALSO = {"Ctrl-C": fails(KeyboardInterrupt()), "the end of the process": lambda x, g: os._exit(0)}


def __getattr__(name: str) -> Any:
    """The functions of these tables are attributes of this module, by their names."""
    tables = HONEST | LEAKS | {key: function for key, (_, function) in FAILS.items()} | ALSO
    if name not in tables:
        raise AttributeError(name)
    return tables[name]


CLAIM = ["--claim-epsilon", "1", "--shape", "2", "--box", "-1", "1", "--confidence", "0.999999"]
SMALL = ["--samples", "400", "--rounds", "1", "--starts", "1", "--minutes", "10", "--dtypes", "float64"]
SCRIPT = "import os, signal, sys, time; from tensorldp.commands.watch import watched\n"


def checked(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, set[str], str]:
    """The exit code, the kinds of what is found, and what is told beside."""
    code = exit_code(("check", f"{__name__}:{name}", *CLAIM, *SMALL))
    told = capsys.readouterr()
    errors = "".join(line for line in told.err.splitlines(keepends=True) if not line.startswith("round "))
    assert (told.out == "") == (code not in (0, 1))
    assert ("not refuted" in told.out) == (code == 0)
    return code, set(re.findall(r"^  (guarantee|locality|independence|floating point): ", told.out, re.M)), errors


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", HONEST)
def test_nothing_is_wrong_with(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, kinds, _ = checked(name, capsys)
    assert (code, kinds - {"floating point"}) == (0, set())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("name", LEAKS)
def test_the_record_is_seen_in(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, kinds, _ = checked(name, capsys)
    assert (code, kinds) == (1, {"guarantee"})


@pytest.mark.parametrize("name", FAILS)
def test_no_verdict_comes_of(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "CALLS", itertools.count(1))
    code, _, told = checked(name, capsys)
    assert code == 2
    assert FAILS[name][0] in told
    assert told.count("\n") == 1


def test_records_are_handed_out_in_the_format_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("check", f"{__name__}:a float32 network", *CLAIM, *SMALL[:-2], "--dtype", "float32")
    assert exit_code(command) == 1
    assert "float32 number" in capsys.readouterr().out


WITHOUT_CURVE = """from tensorldp.mechanisms import Mechanism
class f(Mechanism):
    name = "f"
    def _randomize(self, x, generator): return x
    def squared_error(self): return None
"""


def test_ctrl_c_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert checked("Ctrl-C", capsys) == (130, set(), "interrupted\n")


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
        ("def __getattr__(name): raise SystemExit(0)", "cannot be looked up: SystemExit: 0"),
        ("g = 1", "has no 'f'"),
        ("from tensorldp.mechanisms import Mechanism as f", "Mechanism lacks the methods _randomize, curve and"),
        (WITHOUT_CURVE, "f lacks the method curve, which every mechanism has"),
        ("class f: pass", "is not a mechanism's class: it takes no --epsilon"),
    ],
)
def test_a_module_may_end_as_it_likes_and_the_exit_code_is_2(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ending.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ending", raising=False)
    for command in (("check", "ending:f", "--epsilon", "1", *CLAIM), ("guarantee", "ending:f", "--epsilon", "1")):
        assert exit_code(command) == 2
        told = capsys.readouterr().err
        assert message in told or (command[0] == "guarantee" and "is not a mechanism" in told)
        assert told.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("the end of the process", 2, "error: the process ended without an answer: it ended itself with exit code 0"),
        ("the argument itself", 1, ""),
    ],
)
def test_a_process_cannot_take_its_verdict_along(name: str, code: int, message: str) -> None:
    command = [sys.executable, "-m", "tensorldp", "check", f"{__name__}:{name}", *CLAIM, *SMALL]
    found = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    assert found.returncode == code
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ("0", 0, ""),
        ("1", 1, ""),
        ("130", 130, ""),
        ("os.abort()", 2, "without an answer: signal 6"),
        ("os.kill(os.getpid(), 9)", 2, "signal 9 (Killed) ended it, as the system sends when memory runs out"),
    ],
)
def test_a_process_that_is_watched_gives_its_answer(answer: str, code: int, message: str) -> None:
    script = f"{SCRIPT}sys.exit(watched(lambda: {answer}))"
    found = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert found.returncode == code
    assert message in found.stderr
    assert ("without an answer" in found.stderr) == bool(message)


@pytest.mark.slow
def test_a_check_that_does_not_return_is_ended_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("def f(x, generator):\n    while True:\n        pass\n")
    program = """import sys
import tensorldp.commands.check as command
from tensorldp.commands.check import wall_limit
from tensorldp.commands.main import exit_code
from tensorldp.commands.watch import ended_after, watched
def quick():
    with ended_after(0.2):
        pass
    command.wall_limit = lambda minutes: 0.5
    return exit_code()
sys.exit(watched(quick))
"""
    command = [sys.executable, "-c", program, "check", "endless:f", *CLAIM]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert found.returncode == 2
    assert found.stderr.endswith("did not return within many times the minutes that it was given\n")
    assert "error: " in found.stderr
    assert wall_limit(2.0) == 3000.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_process_that_watches_ends_both(number: int) -> None:
    script = f"""{SCRIPT}
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
def run():
    try:
        time.sleep(0.3)  # until the other process watches
        print(os.getpid(), flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        return 130
sys.exit(watched(run))
"""
    watching = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    child = int(watching.stdout.readline())
    watching.send_signal(number)
    assert watching.wait(30) == (130 if number == signal.SIGINT else -signal.SIGTERM)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
