"""The warm process runs a script as a fresh process would."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

WARM = Path(__file__).parents[2] / "workflow" / "scripts" / "warm.py"
pytestmark = pytest.mark.xdist_group("warm")

SCRIPT = """
import os, sys
print("out", sys.argv[1:], os.getcwd(), os.environ.get("MARK"))
print("err", file=sys.stderr)
if sys.argv[1] == "fail": sys.exit("a sentence")
if sys.argv[1] == "raise": raise ValueError("broken")
if sys.argv[1] == "kill": os.kill(os.getpid(), 9)
sys.exit(int(sys.argv[1]))
"""


def run(folder: Path, *arguments: str, warm: bool = True) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "TENSORLDP_WARM": str(int(warm)), "MARK": "m"}
    return subprocess.run([sys.executable, "-S", "-E", WARM, script, *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.parametrize("argument", ["0", "3", "fail", "raise"])
def test_streams_arguments_folder_environment_and_exit_code_pass_through(tmp_path: Path, argument: str) -> None:
    warm, plain = run(tmp_path, argument, "b c"), run(tmp_path, argument, "b c", warm=False)
    assert warm.returncode == plain.returncode
    assert warm.stdout == plain.stdout
    assert warm.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


def test_a_killed_script_is_a_failure(tmp_path: Path) -> None:
    done = run(tmp_path, "kill")
    assert done.returncode == 128 + 9
    assert done.stderr.splitlines()[-1].startswith("error: the job was killed by signal 9, most likely for want of")


def test_a_second_call_costs_a_fraction_of_the_import(tmp_path: Path) -> None:
    run(tmp_path, "0")
    start = time.perf_counter()
    assert run(tmp_path, "0").returncode == 0
    assert time.perf_counter() - start < 1.0


def test_modules_are_found_where_the_caller_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "which.py"
    script.write_text("import mine; print(mine.__file__)")
    run(tmp_path, "0")  # a server without the caller's path
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").touch()
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / name))
        done = subprocess.run([sys.executable, "-S", "-E", WARM, script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(tmp_path / name / "mine.py")


def test_the_script_dies_with_its_caller(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text("import os, time, pathlib; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)")
    caller = subprocess.Popen([sys.executable, "-S", "-E", WARM, script], cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pid = int((tmp_path / "pid").read_text())
    caller.kill()
    caller.wait()
    while time.monotonic() < deadline and Path(f"/proc/{pid}").exists():
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
