"""A script in a fork does what it does in a new process, and ends with those that it works for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorldp_papers.run import forked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends processes with their parent")

TELLS = """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ["WORD"], sys.path[:2], __name__, sys.stdin.read())
print("torch" in sys.modules, [name for name in sys.modules if name.startswith("tensorldp")], file=sys.stderr)
sys.exit(int(os.environ["CODE"]))
"""
WAITS = """
import os, pathlib, time
pathlib.Path("pid").write_text(str(os.getpid()))
time.sleep(60)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[bytes]]:
    """What serves in these tests alone."""
    before = os.environ.pop(forked.SOCKET, None)
    process = forked.start(modules="")
    assert process is not None
    assert process.stdin is not None
    yield process
    process.stdin.close()
    process.wait(20)
    folder = Path(os.environ.pop(forked.SOCKET)).parent
    assert not folder.exists()
    if before:
        os.environ[forked.SOCKET] = before


def command(script: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-IS", forked.__file__, str(script), *arguments]


def is_forked(pid: int) -> bool:
    return b"--serve" in Path(f"/proc/{pid}/cmdline").read_bytes()


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def waiting(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A script that waits in a fork, and the number of its process."""
    (folder / "waits.py").write_text(WAITS)
    process = subprocess.Popen(
        command(folder / "waits.py"),
        cwd=folder,
        stderr=subprocess.PIPE,
        # where tests run in the background, the signal of Ctrl-C is ignored, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    told, deadline = folder / "pid", time.monotonic() + 60
    while not (told.exists() and told.read_text()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process, int(told.read_text())


@pytest.mark.parametrize("code", [0, 3])
def test_a_fork_is_what_a_new_process_would_be(server: subprocess.Popen[bytes], tmp_path: Path, code: int) -> None:
    script = tmp_path / "tells.py"
    script.write_text(TELLS)
    told = []
    for serves in (True, False):
        environment = {**os.environ, "WORD": "a = b\nc", "CODE": str(code), "PYTHONPATH": str(tmp_path / "mine")}
        if not serves:
            del environment[forked.SOCKET]
        done = subprocess.run(
            command(script, "an argument", ""),
            cwd=tmp_path,
            env=environment,
            input="typed",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        assert done.stderr.split()[0] == str(serves)  # PyTorch is there before the script asks for it
        assert done.stderr.split()[1] == "[]"  # and nothing of the project, which may have changed
        told.append(done.stdout)
    assert told[0] == told[1]


def test_whoever_wants_no_forks_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(forked.SOCKET, "")
    assert forked.start() is None
    (tmp_path / "alone.py").write_text("import sys\nprint('torch' in sys.modules)")
    done = subprocess.run(command(tmp_path / "alone.py"), capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_module_runs_as_with_python_m(server: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nprint(__name__, sys.argv[1:])")
    asked = [sys.executable, "-IS", forked.__file__, "-m", "mine", "word"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "__main__ ['word']\n"


def test_an_error_ends_with_its_traceback(server: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("raise ValueError('a word')")
    done = subprocess.run(command(tmp_path / "fails.py"), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: a word\n")


def test_what_a_script_asks_for_at_its_end_is_done(server: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(
        "import atexit, sys, threading, time\n"
        "atexit.register(print, 'at the end')\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), print('by a thread'))).start()\n"
        "sys.exit('a sentence')\n"
    )
    done = subprocess.run(command(tmp_path / "ends.py"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "by a thread\nat the end\n", "a sentence\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_script(server: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals) -> None:
    process, pid = waiting(tmp_path)
    assert is_forked(pid)
    process.send_signal(number)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == -number
    assert gone(pid)
    assert (b"KeyboardInterrupt" in said) == (number == signal.SIGINT)


def test_a_script_ends_with_its_caller(server: subprocess.Popen[bytes], tmp_path: Path) -> None:
    process, pid = waiting(tmp_path)
    process.kill()
    process.communicate()
    assert gone(pid)


def test_a_killed_script_is_told(server: subprocess.Popen[bytes], tmp_path: Path) -> None:
    process, pid = waiting(tmp_path)
    os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_scripts_end_with_what_serves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(forked.SOCKET, raising=False)
    served = forked.start(modules="")
    assert served is not None
    process, pid = waiting(tmp_path)
    assert is_forked(pid)
    served.kill()
    served.communicate()
    said = process.communicate(timeout=20)[1].decode()
    assert gone(pid)
    assert process.returncode == 1
    assert (
        said
        == "error: the process that forks the stages of this run has ended; run again, everything finished is kept\n"
    )
    again = subprocess.run(  # and who asks later runs by itself
        [sys.executable, "-IS", forked.__file__, "-m", "this"], capture_output=True, check=True, env=os.environ
    )
    assert again.stdout
