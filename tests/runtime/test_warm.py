"""The warm process runs a script as a fresh process would."""

import fcntl
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

WARM = Path(__file__).parents[2] / "workflow" / "warm" / "client.py"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("warm")]

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
    return subprocess.run(
        [sys.executable, "-S", "-E", WARM, script, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


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


def test_a_script_has_the_umask_of_its_caller(tmp_path: Path) -> None:
    script = tmp_path / "umask.py"
    script.write_text("import os; umask = os.umask(0); os.umask(umask); print(oct(umask))")
    for umask in (0o022, 0o077):
        done = subprocess.run(
            [sys.executable, "-S", "-E", WARM, script], umask=umask, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == oct(umask)


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


def test_a_call_from_another_process_group_runs_alone_where_there_is_no_server(tmp_path: Path) -> None:
    """A notebook's kernel is one: Jupyter interrupts its group, and a server in it would take every job along."""
    (tmp_path / "script.py").write_text("import os; print(os.getppid())")
    environment = os.environ | {"TENSORLDP_WARM_GROUP": str(os.getpgrp()), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-S", "-E", str(WARM), str(tmp_path / "script.py")]
    for session in (True, False):
        done = subprocess.run(
            command, env=environment, start_new_session=session, capture_output=True, text=True, check=True
        )
        assert (int(done.stdout) == os.getpid()) is session  # the server's worker is a child of the server
        assert bool(list(tmp_path.glob("*/log"))) is not session


def test_a_server_that_ends_leaves_its_folder_to_a_client_that_is_starting_the_next_one(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("server", WARM.with_name("server.py"))
    assert spec
    assert spec.loader
    server = importlib.util.module_from_spec(spec)
    sys.modules["server"] = server  # its dataclass looks there
    try:
        spec.loader.exec_module(server)
    finally:
        del sys.modules["server"]
    for name in ("lock", "log"):
        (tmp_path / "own" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "own" / name).touch()
    with (tmp_path / "own" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server.remove_folder(tmp_path / "own")
        assert sorted(path.name for path in (tmp_path / "own").iterdir()) == ["lock", "log"]
    server.remove_folder(tmp_path / "own")
    assert not (tmp_path / "own").exists()


def lines(folder: Path, script: str, **environment: str) -> list[str]:
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-S", "-E", WARM, folder / "script.py"],
        cwd=folder,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(folder)} | environment,
        capture_output=True,
    )
    return done.stdout.split()


def test_a_short_script_leaves_its_process_to_the_next_one(tmp_path: Path) -> None:
    script = "import os; print(os.getpid())"
    first = lines(tmp_path, script)
    assert lines(tmp_path, script) == first
    assert lines(tmp_path, script, MARK="other") != first  # what is imported may have looked at the environment
    assert lines(tmp_path, "import os, time; time.sleep(1.2); print(os.getpid())") == first
    assert lines(tmp_path, script) != first  # a long one may have left much memory behind


def test_a_process_that_serves_again_runs_the_code_as_it_is_on_disk(tmp_path: Path) -> None:
    script = "import os, mine; print(os.getpid(), mine.value)"
    (tmp_path / "mine.py").write_text("value = 1")
    first = lines(tmp_path, script)
    assert lines(tmp_path, script) == first
    (tmp_path / "mine.py").write_text("value = 22")
    assert lines(tmp_path, script)[1] == "22"
    assert lines(tmp_path, script)[1] == "22"


def test_the_peak_of_memory_of_a_script_is_not_that_of_the_one_before(tmp_path: Path) -> None:
    script = "import os, resource as r; x = b'x' * {}; print(os.getpid(), r.getrusage(r.RUSAGE_SELF).ru_maxrss)"
    for _ in range(5):  # a process that took long, on a machine with other work, does not serve again
        (first, large), (second, small) = (lines(tmp_path, script.format(size)) for size in (300_000_000, 1))
        if first == second:
            break
    assert first == second
    assert int(large) - int(small) > 250_000


@pytest.mark.parametrize("argument", ["3", "fail", "raise", "kill"])
def test_a_failure_does_not_reach_the_next_caller(tmp_path: Path, argument: str) -> None:
    assert run(tmp_path, "0").returncode == 0
    assert run(tmp_path, argument).returncode != 0
    done = run(tmp_path, "0")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("out ['0']")
    assert done.stderr.splitlines()[-1] == "err"


def test_many_callers_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, time; time.sleep(0.05); print(sys.argv[1]); sys.exit(int(sys.argv[1]) % 3)")
    for _ in range(3):
        callers = [
            subprocess.Popen([sys.executable, "-S", "-E", WARM, script, str(i)], stdout=subprocess.PIPE, text=True)
            for i in range(12)
        ]
        found = [(caller.communicate(timeout=60)[0].strip(), caller.returncode) for caller in callers]
        assert found == [(str(i), i % 3) for i in range(12)]


def run_notebook(folder: Path, *cells: str, warm: str = "1", **environment: str) -> tuple[int, str, list[str]]:
    """Run a notebook of these cells with `number` = 41: exit code, stderr and what is printed."""
    parameters = nbformat.v4.new_code_cell("number = 1", metadata={"tags": ["parameters"]})
    notebook = nbformat.v4.new_notebook(
        cells=[parameters, *map(nbformat.v4.new_code_cell, cells)],
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, folder / "in.ipynb")
    out = folder / "out.ipynb"
    program = [sys.executable, "-S", "-E", str(WARM), str(WARM.with_name("notebook.py"))]
    done = subprocess.run(
        [*program, "in.ipynb", str(out), "-p", "number", "41"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"TENSORLDP_WARM": warm} | environment,
    )
    printed = [
        output.text for cell in nbformat.read(out, 4).cells for output in cell.get("outputs", []) if "text" in output
    ]
    return done.returncode, done.stderr, printed


def test_a_notebook_draws_the_same_in_a_warm_kernel(tmp_path: Path) -> None:
    cells = ("import os, torch, matplotlib\nprint(os.getcwd(), matplotlib.get_backend())", "print(number + 1)")
    found = [run_notebook(tmp_path, *cells, warm=warm) for warm in "10"]
    assert found[0] == found[1]
    assert (found[0][0], found[0][2][-1]) == (0, "42\n")


CONNECTION = "from ipykernel.connect import get_connection_info as found\nprint(found(unpack=True)['transport'])"


@pytest.mark.parametrize("longer", [False, True], ids=["", "whose temporary files lie deep"])
def test_a_kernel_takes_no_network_port_that_another_could_take_first(tmp_path: Path, longer: bool) -> None:
    deep = tmp_path / ("deep" * 30)
    deep.mkdir()
    code, said, printed = run_notebook(tmp_path, CONNECTION, warm="0", **({"TMPDIR": str(deep)} if longer else {}))
    assert (code, printed) == (0, ["ipc\n"]), said
    assert not list(deep.iterdir())


def test_what_goes_wrong_in_a_notebook_ends_in_a_sentence(tmp_path: Path) -> None:
    mistake = "from tensorldp.errors import InputError\nraise InputError('no such column')"
    code, said, _ = run_notebook(tmp_path, mistake)
    assert (code, said.splitlines()[-1]) == (1, "error: no such column")
    assert "Traceback" not in said
    code, said, _ = run_notebook(tmp_path, "import os; os._exit(1)")
    assert code == 1
    assert said.splitlines()[-1].startswith("error: the kernel of in.ipynb died, most likely for want of memory")
    assert "Traceback" not in said
    code, said, _ = run_notebook(tmp_path, "1 / 0")  # a fault of the code, whose place has to be found
    assert code == 1
    assert said.rstrip().endswith("ZeroDivisionError: division by zero")
