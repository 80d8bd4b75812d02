"""The process with the heavy libraries that warm.py starts and that forks itself for every job.

Nothing of this project is imported before the fork, so a child always runs the code as it is on disk. The server stays
in the caller's process group, holds no work of its own, kills the child of a caller that goes away, and ends after
IDLE_SECONDS without work.
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
import time
import traceback
from importlib import import_module
from pathlib import Path

IDLE_SECONDS = 20.0
# torch._dynamo is what the first optimiser of a process would import, at the cost of a second
PRELOAD = ("numpy", "torch", "torch._dynamo", "sklearn.metrics", "scipy.special", "scipy.optimize", "scipy.stats",
           "safetensors.numpy", "opacus", "pydantic.functional_validators", "pydantic.types", "seaborn",
           "papermill.cli", "ipykernel.kernelapp")

Request = tuple[list[str], str, dict[str, str]]


def receive(link: socket.socket) -> tuple[Request, list[int]]:
    """A caller's request (arguments, folder, environment) and its standard streams."""
    link.settimeout(10.0)
    header, streams, _, _ = socket.recv_fds(link, 8, 3)
    wanted, body = int.from_bytes(header, "big"), b""
    while len(body) < wanted:
        part = link.recv(wanted - len(body))
        if not part:
            raise OSError("the caller went away")
        body += part
    return ast.literal_eval(body.decode("utf-8", "surrogateescape")), streams


def become(request: Request, streams: list[int]) -> None:
    """In a forked child: take the caller's place and run its script; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        arguments, folder, environment = request
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = arguments
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
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


def serve(address: Path) -> None:
    """Fork a child for each caller until there is nothing to do."""
    preload()
    gc.collect()
    gc.freeze()  # a child's collector would touch, and so copy, every object of the libraries
    address.unlink(missing_ok=True)
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(address))
    door.listen(64)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    callers: dict[socket.socket, int] = {}
    used, closing = time.monotonic(), False
    while True:
        ready, _, _ = select.select([door, *callers], [], [], 0.01 if callers else 0.5)
        if not ready and not callers and time.monotonic() - used > IDLE_SECONDS:
            if closing:
                return leave(address.parent)
            address.unlink(missing_ok=True)
            closing = True  # once more round: a caller may already be at the door
        for link in ready:
            if link is not door:  # the caller went away
                os.kill(callers[link], signal.SIGKILL)
                continue
            guest, _ = door.accept()
            try:
                request, streams = receive(guest)
            except (OSError, ValueError):
                guest.close()
                continue
            child = os.fork()
            if child == 0:
                door.close()
                become(request, streams)
            for stream in streams:
                os.close(stream)
            callers[guest] = child
        for link, child in list(callers.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                with contextlib.suppress(OSError):
                    link.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                link.close()
                del callers[link]
                used = time.monotonic()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
