"""One process of a run imports PyTorch, pandas and Matplotlib, and every stage is forked from it.

    python -P forked.py --serve DESCRIPTOR    forks until its standard input ends, and what it has forked ends with it
    python -IS forked.py SCRIPT ...           runs a script, or `-m MODULE`, forked; by itself where nothing serves

None of the project's own modules is imported before the fork, and nothing else is kept, so that a stage computes what
it computes in a new process. Linux only, as its processes can end with the one that made them. With the variable
TENSORLDP_FORKED set to nothing, there is no such process, and each stage imports for itself.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # what a caller does not import, and `typing`, would take it longer than all the rest
    import subprocess
    from collections.abc import Sequence

SOCKET = "TENSORLDP_FORKED"  # the environment variable that says where to ask
FIRST = "torch"  # which nearly all need: nobody is served before
# most needed first: PyTorch imports its compiler, which takes as long again, for the first step of an optimizer
LATER = (
    "torch._dynamo pandas scipy.stats sklearn.metrics pydantic "
    "matplotlib.figure seaborn IPython.display ipykernel.kernelapp papermill.cli"
)
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 60  # characters of a folder in which sockets can be: with their own names they may have 107


def folder_for_sockets() -> str:
    """Returns the folder for temporary files, or /tmp where its name is too long for sockets."""
    import tempfile

    place = tempfile.gettempdir()
    return place if len(os.fsencode(place)) <= LONGEST else "/tmp"


def start(modules: str = LATER) -> subprocess.Popen[bytes] | None:
    """Starts the process for all that this one starts from now on; it ends with what is returned.

    Args:
        modules: names, imported after PyTorch whenever there is nothing else to do.

    Returns:
        None where there is such a process already, none is wanted, or the system is not Linux.
    """
    import subprocess
    import tempfile

    if sys.platform != "linux" or SOCKET in os.environ:
        return None
    path = os.path.join(tempfile.mkdtemp(prefix="tensorldp-", dir=folder_for_sockets()), "fork")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(256)
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--serve", str(server.fileno()), *modules.split()],
            stdin=subprocess.PIPE,
            pass_fds=[server.fileno()],
            start_new_session=True,
            env={"OMP_NUM_THREADS": "1"} | environment,
        )
    os.environ[SOCKET] = path
    return process


def _call(argv: Sequence[str]) -> int:
    """Runs a script in a fork, passes signals on to it, and returns its exit code, negative for a signal.

    Raises:
        OSError: if nothing serves.
        ConnectionResetError: if what serves has ended.
    """
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(os.environ[SOCKET])
        variables = [f"{name}={value}" for name, value in os.environ.items()]
        wish = os.fsencode("\0".join([os.getcwd(), str(len(argv)), *argv, *variables]))
        socket.send_fds(asked, [len(wish).to_bytes(8, "big")], [0, 1, 2])
        asked.sendall(wish)
        for number in FORWARDED:
            if signal.getsignal(number) != signal.SIG_IGN:  # as of Ctrl-C in what a shell runs in the background
                signal.signal(number, lambda number, _: asked.send(bytes([number])))
        asked.settimeout(1)
        caller = os.getppid()
        while os.getppid() == caller:  # a kernel ends with the notebook that started it, even if that is killed
            try:
                if status := asked.recv(4):
                    return os.waitstatus_to_exitcode(int.from_bytes(status, "big"))
                raise ConnectionResetError("the process that forks the stages of this run has ended")
            except TimeoutError:
                continue
        return 1


def _serve(server: socket.socket, modules: Sequence[str]) -> list[str]:
    """Forks a process for each that asks, and returns in the fork, with what it is to run."""
    left = [FIRST, *modules]
    _import(left.pop(0))
    ended, note = os.pipe()
    for descriptor in (ended, note):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(note)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asking: dict[socket.socket, int] = {}
    with selectors.DefaultSelector() as ready:
        for source in (server, ended, 0):
            ready.register(source, selectors.EVENT_READ)
        while True:
            found = ready.select(0 if left else None)
            if not found and left:
                _import(left.pop(0))
            for key, _ in found:
                if key.fileobj is server:
                    asked = server.accept()[0]
                    wish, given = _read(asked)
                    if pid := os.fork():
                        asking[asked] = pid
                        ready.register(asked, selectors.EVENT_READ)
                        _close(given)
                        continue
                    for i, descriptor in enumerate(given):
                        os.dup2(descriptor, i)
                    _close([ended, note, *given])
                    for one in (server, asked, *asking):
                        one.close()
                    return _become(wish)
                if key.fileobj == ended:
                    os.read(ended, 1 << 16)
                    _tell_the_ended(asking, ready)
                elif key.fileobj == 0:
                    os.unlink(server.getsockname())
                    os.rmdir(os.path.dirname(server.getsockname()))
                    os._exit(0)
                elif key.fileobj in asking:
                    _pass_on(key.fileobj, asking[key.fileobj], ready)


def _import(module: str) -> None:
    try:
        __import__(module)
    except ImportError:  # an installation without it: who needs it will say so
        return


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _read(asked: socket.socket) -> tuple[list[str], list[int]]:
    """Reads what a process asks for (see `_call`), and its three descriptors."""
    head, given, _, _ = socket.recv_fds(asked, 8, 3)
    size, text = int.from_bytes(head, "big"), b""
    while len(text) < size and (more := asked.recv(size - len(text))):
        text += more
    return os.fsdecode(text).split("\0"), given


def _tell_the_ended(asking: dict[socket.socket, int], ready: selectors.BaseSelector) -> None:
    of = {pid: asked for asked, pid in asking.items()}
    while of:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        asked = of.pop(pid)
        del asking[asked]
        with asked:
            if asked in ready.get_map():  # else its caller is gone
                ready.unregister(asked)
                _send(asked, status)


def _send(asked: socket.socket, status: int) -> None:
    try:
        asked.send(status.to_bytes(4, "big"))
    except OSError:  # its caller goes right now
        return


def _pass_on(asked: socket.socket, pid: int, ready: selectors.BaseSelector) -> None:
    """Sends the signals that a caller had on to its process, and kills that if the caller is gone."""
    try:
        signals = asked.recv(64)
    except OSError:
        signals = b""
    for number in signals or [signal.SIGKILL]:
        os.kill(pid, number)
    if not signals:
        ready.unregister(asked)


def _become(wish: list[str]) -> list[str]:
    """Makes a fork what a new process would be: its folder, variables, signals and the places that it imports from."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the caller sends no signal that it ignores itself
    folder, count, *words = wish
    argv, environment = words[: int(count)], dict(word.split("=", 1) for word in words[int(count) :])
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    script = os.getcwd() if argv[0] == "-m" else os.path.dirname(os.path.abspath(argv[0]))
    sys.path[:0] = [script, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return argv


def _run(argv: list[str]) -> None:
    """Runs a script and ends, without taking apart what was imported, which would take a second."""
    import atexit
    import runpy
    import threading
    import traceback

    code: object = 0
    try:
        if argv[0] == "-m":
            sys.argv[:] = argv[1:]
            runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv[:] = argv
            runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    except BaseException as error:
        traceback.print_exc()
        code = error if isinstance(error, KeyboardInterrupt) else 1
    threading._shutdown()  # type: ignore[attr-defined]  # as a process of multiprocessing ends
    atexit._run_exitfuncs()
    if not isinstance(code, int | KeyboardInterrupt):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if isinstance(code, int):
        os._exit(code & 0xFF)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def _as_called(argv: list[str]) -> None:
    """Ends as the script does that this process asks for, or becomes it where nothing serves."""
    if SOCKET in os.environ:
        try:
            code = _call(argv)
        except ConnectionResetError as error:
            sys.exit(f"error: {error}; run again, everything finished is kept")
        except OSError:
            pass
        else:
            if code < 0:
                if -code in FORWARDED:
                    signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            sys.exit(code)
    os.execv(sys.executable, [sys.executable, *argv])


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        _run(_serve(socket.socket(fileno=int(sys.argv[2])), sys.argv[3:]))
    else:
        _as_called(sys.argv[1:])
