"""The process with the heavy libraries, which client.py starts and which forks a worker for each job.

Nothing of this project is imported before the fork, and a worker that serves another client first looks whether a file
that it has imported was changed, so that jobs run the code as it is on disk. The server stays in the client's process
group, runs no job itself, kills the worker of a client that disconnects, and ends after IDLE_SECONDS without work.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import gc
import os
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

IDLE_SECONDS = 20.0
SHORT_SECONDS = 1.0  # a worker that was busy for less serves the next client too: a fork costs a tenth of a second
WAITING_SECONDS = 5.0  # how long an idle worker is kept
DONE = b"0"
# torch._dynamo is what the first optimiser of a process would import, at the cost of a second
PRELOAD = (
    "numpy",
    "torch",
    "torch._dynamo",
    "sklearn.metrics",
    "scipy.special",
    "scipy.optimize",
    "scipy.stats",
    "safetensors.numpy",
    "opacus",
    "pydantic.functional_validators",
    "pydantic.types",
    "seaborn",
    "papermill.cli",
    "ipykernel.kernelapp",
)

Request = tuple[list[str], str, dict[str, str]]


def receive(link: socket.socket, timeout: float | None) -> tuple[Request, list[int]]:
    """A client's request (arguments, folder, environment) and its standard streams."""
    link.settimeout(timeout)
    header, streams, _, _ = socket.recv_fds(link, 8, 3)
    wanted, body = int.from_bytes(header, "big"), b""
    while len(body) < wanted:
        part = link.recv(wanted - len(body))
        if not part:
            raise OSError("the client disconnected")
        body += part
    return ast.literal_eval(body.decode("utf-8", "surrogateescape")), streams


def send(link: socket.socket, request: Request, streams: list[int]) -> None:
    """Pass a request on to a worker."""
    body = repr(request).encode("utf-8", "surrogateescape")
    socket.send_fds(link, [len(body).to_bytes(8, "big")], streams)
    link.sendall(body)


def adopt(request: Request, streams: list[int]) -> None:
    """Take over a client's streams, folder, environment and arguments."""
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    sys.argv, folder, environment = list(request[0]), request[1], request[2]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def run_script() -> int:
    """Run the script that sys.argv names; its exit code."""
    code = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def sources(libraries: set[str]) -> dict[str, tuple[int, int]]:
    """Time and size of the files of all modules but `libraries`, to notice that one was edited."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name not in libraries and (file := getattr(module, "__file__", None)):
            with contextlib.suppress(OSError):
                state = os.stat(file)  # noqa: PTH116
                found[file] = (state.st_mtime_ns, state.st_size)
    return found


def work(link: socket.socket, request: Request, streams: list[int]) -> None:
    """In a worker: run the client's script, and others as long as they are short; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        libraries = set(sys.modules)
        while True:
            adopt(request, streams)
            start = time.monotonic()
            code = run_script()
            if code or time.monotonic() - start > SHORT_SECONDS or threading.active_count() > 1:
                break
            with contextlib.suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")  # the next one's peak of memory is its own
            seen = sources(libraries)
            null = os.open(os.devnull, os.O_RDWR)
            adopt((sys.argv, "/", request[2]), [null, os.dup(null), os.dup(null)])
            link.sendall(DONE)
            request, streams = receive(link, None)
            code = 1
            if sources(libraries) != seen:
                adopt(request, streams)
                os.execv(sys.executable, [sys.executable, *request[0]])
    finally:
        os._exit(code)


def remove_folder(folder: Path) -> None:
    """Remove the server's own folder, unless a client holds its lock, who is starting the next server there."""
    with contextlib.suppress(OSError), (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in ("lock", "log"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def preload() -> None:
    """Import the libraries, with what they do at their first use."""
    for module in PRELOAD:
        import_module(module)
    import_module("pydantic").create_model("First", field=(int, 0))  # looks for pydantic's plugins
    for name in ("peak_signal_noise_ratio", "structural_similarity"):
        getattr(import_module("skimage.metrics"), name)  # skimage imports what is asked for


@dataclass(eq=False)
class Worker:
    """A forked child.

    Attributes:
        process: its id.
        link: the connection to it, which closes when it ends.
        state: the folder and the environment that it was started in; only clients in the same get it.
        client: the connection that it serves; None while it is idle.
        since: when it became idle.
        ended: whether it has ended, or was told to, and is still to be reaped.
    """

    process: int
    link: socket.socket
    state: tuple[str, dict[str, str]]
    client: socket.socket | None = None
    since: float = 0.0
    ended: bool = False

    def answer(self, code: int) -> None:
        """Tell the client how its script ended."""
        if self.client is not None:
            with contextlib.suppress(OSError):
                self.client.sendall(str(code).encode())
            self.client.close()
            self.client, self.since = None, time.monotonic()


class Server:
    """Gives each client a worker: an idle one of the same folder and environment, or a new one."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.workers: list[Worker] = []

    def accept(self) -> None:
        """Take the next client and give its request to a worker."""
        client, _ = self.listener.accept()
        try:
            request, streams = receive(client, 10.0)
        except (OSError, ValueError):
            client.close()
            return
        worker = self.idle(request, streams) or self.fork(client, request, streams)
        worker.client = client
        for stream in streams:
            os.close(stream)

    def idle(self, request: Request, streams: list[int]) -> Worker | None:
        """An idle worker that took the request, if there is one."""
        for worker in self.workers:
            if worker.client is None and not worker.ended and worker.state == request[1:]:
                try:
                    send(worker.link, request, streams)
                except OSError:
                    worker.ended = True
                else:
                    return worker
        return None

    def fork(self, client: socket.socket, request: Request, streams: list[int]) -> Worker:
        """A new worker with the request, which holds nothing else that the server has open."""
        mine, other = socket.socketpair()
        if (process := os.fork()) == 0:
            for held in (
                self.listener,
                client,
                mine,
                *(w.link for w in self.workers),
                *(w.client for w in self.workers if w.client),
            ):
                held.close()
            work(other, request, streams)
        other.close()
        self.workers.append(Worker(process, mine, request[1:]))
        return self.workers[-1]

    def finish(self, worker: Worker) -> None:
        """A worker sent that its script is done, or ended."""
        with contextlib.suppress(OSError):
            if worker.link.recv(1) == DONE:
                worker.answer(0)
                return
        worker.ended = True

    def reap(self) -> None:
        """Close workers that were idle for too long, and collect those that have ended."""
        for worker in list(self.workers):
            if worker.client is None and time.monotonic() - worker.since > WAITING_SECONDS:
                worker.link.close()
                worker.ended = True
            done, status = os.waitpid(worker.process, os.WNOHANG) if worker.ended else (0, 0)
            if done:
                worker.answer(os.waitstatus_to_exitcode(status))
                worker.link.close()
                self.workers.remove(worker)

    def step(self) -> bool:
        """Wait for what happens next and deal with it; whether there was anything to do."""
        clients = {w.client: w for w in self.workers if w.client is not None}
        links = {w.link: w for w in self.workers if not w.ended}
        timeout = 0.01 if any(w.ended for w in self.workers) else 0.5
        ready, _, _ = select.select([self.listener, *clients, *links], [], [], timeout)
        for readable in ready:
            if readable is self.listener:
                self.accept()
            elif readable in links:
                self.finish(links[readable])
            else:  # the client disconnected
                clients[readable].ended = True
                os.kill(clients[readable].process, signal.SIGKILL)
        self.reap()
        return bool(ready or self.workers)


def serve(address: Path) -> None:
    """Serve clients until there is nothing to do."""
    preload()
    gc.collect()
    gc.freeze()  # a worker's collector would touch, and so copy, every object of the libraries
    address.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(address))
    listener.listen(64)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = Server(listener)
    used, closing = time.monotonic(), False
    while True:
        if server.step():
            used = time.monotonic()
        elif time.monotonic() - used > IDLE_SECONDS:
            if closing:
                return remove_folder(address.parent)
            address.unlink(missing_ok=True)
            closing = True  # one step more: a client may already have connected


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
