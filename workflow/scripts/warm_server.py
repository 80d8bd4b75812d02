"""The process with the heavy libraries that warm.py starts and that forks itself for jobs.

Nothing of this project is imported before the fork, and a child that serves another caller first looks whether a file
that it has imported was changed, so that jobs run the code as it is on disk. The server stays in the caller's process
group, holds no work of its own, kills the child of a caller that goes away, and ends after IDLE_SECONDS without work.
"""

from __future__ import annotations

import ast
import contextlib
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
SHORT_SECONDS = 1.0  # a child that was busy for less serves the next caller too: a fork costs a tenth of a second
WAITING_SECONDS = 5.0  # how long it waits for one
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
    """A caller's request (arguments, folder, environment) and its standard streams."""
    link.settimeout(timeout)
    header, streams, _, _ = socket.recv_fds(link, 8, 3)
    wanted, body = int.from_bytes(header, "big"), b""
    while len(body) < wanted:
        part = link.recv(wanted - len(body))
        if not part:
            raise OSError("the caller went away")
        body += part
    return ast.literal_eval(body.decode("utf-8", "surrogateescape")), streams


def send(link: socket.socket, request: Request, streams: list[int]) -> None:
    """Pass a request on to a worker."""
    body = repr(request).encode("utf-8", "surrogateescape")
    socket.send_fds(link, [len(body).to_bytes(8, "big")], streams)
    link.sendall(body)


def take_place(request: Request, streams: list[int]) -> None:
    """Take the caller's place: its streams, folder, environment and arguments."""
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
    """In a forked child: run the caller's script, and others as long as they are short; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        libraries = set(sys.modules)
        while True:
            take_place(request, streams)
            start = time.monotonic()
            code = run_script()
            if code or time.monotonic() - start > SHORT_SECONDS or threading.active_count() > 1:
                break
            with contextlib.suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")  # the next one's peak of memory is its own
            seen = sources(libraries)
            nowhere = os.open(os.devnull, os.O_RDWR)
            take_place((sys.argv, "/", request[2]), [nowhere, os.dup(nowhere), os.dup(nowhere)])
            link.sendall(DONE)
            request, streams = receive(link, None)
            code = 1
            if sources(libraries) != seen:
                take_place(request, streams)
                os.execv(sys.executable, [sys.executable, *request[0]])
    finally:
        os._exit(code)


def leave(place: Path) -> None:
    """Remove the server's own folder; a caller who is just looking for it starts another server or runs alone."""
    with contextlib.suppress(OSError):
        for name in ("lock", "log"):
            (place / name).unlink(missing_ok=True)
        place.rmdir()


def preload() -> None:
    """Import the libraries, with what they do at their first use."""
    for module in PRELOAD:
        import_module(module)
    import_module("pydantic").create_model("First", field=(int, 0))  # looks for pydantic's plugins
    for name in ("peak_signal_noise_ratio", "structural_similarity"):
        getattr(import_module("skimage.metrics"), name)  # skimage imports what is asked for


@dataclass(eq=False)
class Worker:
    """A forked child: whom it serves, from where on it waits, and the link that ends when it does."""

    process: int
    link: socket.socket
    place: tuple[str, dict[str, str]]
    guest: socket.socket | None = None
    since: float = 0.0
    gone: bool = False

    def answer(self, code: int) -> None:
        """Tell the caller how its script ended."""
        if self.guest is not None:
            with contextlib.suppress(OSError):
                self.guest.sendall(str(code).encode())
            self.guest.close()
            self.guest, self.since = None, time.monotonic()


class Server:
    """Gives each caller a child: one that waits in the same folder and environment, or a new one."""

    def __init__(self, door: socket.socket) -> None:
        self.door = door
        self.workers: list[Worker] = []

    def admit(self) -> None:
        """Let the caller at the door in."""
        guest, _ = self.door.accept()
        try:
            request, streams = receive(guest, 10.0)
        except (OSError, ValueError):
            guest.close()
            return
        worker = self.waiting(request, streams) or self.fork(guest, request, streams)
        worker.guest = guest
        for stream in streams:
            os.close(stream)

    def waiting(self, request: Request, streams: list[int]) -> Worker | None:
        """A child that waits and took the request, if there is one."""
        for worker in self.workers:
            if worker.guest is None and not worker.gone and worker.place == request[1:]:
                try:
                    send(worker.link, request, streams)
                except OSError:
                    worker.gone = True
                else:
                    return worker
        return None

    def fork(self, guest: socket.socket, request: Request, streams: list[int]) -> Worker:
        """A new child with the request, which holds nothing else that the server has open."""
        mine, other = socket.socketpair()
        if (process := os.fork()) == 0:
            for held in (
                self.door,
                guest,
                mine,
                *(w.link for w in self.workers),
                *(w.guest for w in self.workers if w.guest),
            ):
                held.close()
            work(other, request, streams)
        other.close()
        self.workers.append(Worker(process, mine, request[1:]))
        return self.workers[-1]

    def heard(self, worker: Worker) -> None:
        """A child sent that it is done, or ended."""
        with contextlib.suppress(OSError):
            if worker.link.recv(1) == DONE:
                worker.answer(0)
                return
        worker.gone = True

    def tidy(self) -> None:
        """Let go who waited in vain, and bury the dead."""
        for worker in list(self.workers):
            if worker.guest is None and time.monotonic() - worker.since > WAITING_SECONDS:
                worker.link.close()
                worker.gone = True
            done, status = os.waitpid(worker.process, os.WNOHANG) if worker.gone else (0, 0)
            if done:
                worker.answer(os.waitstatus_to_exitcode(status))
                worker.link.close()
                self.workers.remove(worker)

    def round(self) -> bool:
        """Wait for news and deal with them; whether there was anything to do."""
        guests = {w.guest: w for w in self.workers if w.guest is not None}
        links = {w.link: w for w in self.workers if not w.gone}
        patience = 0.01 if any(w.gone for w in self.workers) else 0.5
        ready, _, _ = select.select([self.door, *guests, *links], [], [], patience)
        for news in ready:
            if news is self.door:
                self.admit()
            elif news in links:
                self.heard(links[news])
            else:  # the caller went away
                guests[news].gone = True
                os.kill(guests[news].process, signal.SIGKILL)
        self.tidy()
        return bool(ready or self.workers)


def serve(address: Path) -> None:
    """Serve callers until there is nothing to do."""
    preload()
    gc.collect()
    gc.freeze()  # a child's collector would touch, and so copy, every object of the libraries
    address.unlink(missing_ok=True)
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(address))
    door.listen(64)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = Server(door)
    used, closing = time.monotonic(), False
    while True:
        if server.round():
            used = time.monotonic()
        elif time.monotonic() - used > IDLE_SECONDS:
            if closing:
                return leave(address.parent)
            address.unlink(missing_ok=True)
            closing = True  # once more round: a caller may already be at the door


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
