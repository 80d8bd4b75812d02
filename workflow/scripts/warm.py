"""Run a stage's script in a process that already has the heavy libraries: python warm.py SCRIPT [ARGUMENT ...]

Importing torch and scikit-learn costs seconds, most of the time of a small cell. The first call starts a server
that imports them once; every call sends it the script's arguments, directory, environment and standard streams, and
the server forks a child that runs the script. Nothing of this project is imported before the fork, so a child
always runs the code as it is on disk. The server stays in the caller's process group, holds no work of its own, kills
the child of a caller that goes away, and ends after IDLE_SECONDS without work. TENSORLDP_WARM=0 runs the script
directly, with the same results.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

IDLE_SECONDS = 20.0
START_SECONDS = 120.0
# torch._dynamo is what the first optimiser of a process would import, at the cost of a second
PRELOAD = ("numpy", "torch", "torch._dynamo", "sklearn.metrics", "scipy.special", "scipy.optimize", "scipy.stats",
           "safetensors.numpy", "opacus")


def folder() -> Path:
    """A private folder for the socket of this user, interpreter and environment."""
    # what a fork cannot take over from its caller's environment
    fixed = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")
    state = [sys.executable, *(os.environ.get(key, "") for key in fixed)]
    name = f"tensorldp-{os.getuid()}-{os.getpgrp()}-{hashlib.sha256(repr(state).encode()).hexdigest()[:12]}"
    path = Path(tempfile.gettempdir()) / name
    path.mkdir(mode=0o700, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise OSError(f"{path} belongs to another user")
    return path


def connect(address: Path) -> socket.socket | None:
    """A connection to the server, or None if there is none."""
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(str(address))
    except OSError:
        link.close()
        return None
    return link


def reach(place: Path) -> socket.socket | None:
    """A connection to the server, which is started if need be; None if it cannot be."""
    address = place / "socket"
    if (link := connect(address)) is not None:
        return link
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (link := connect(address)) is not None:
            return link
        with (place / "log").open("w") as log:
            server = subprocess.Popen([sys.executable, __file__, "--serve", str(address)], stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and server.poll() is None:
            if (link := connect(address)) is not None:
                return link
            time.sleep(0.02)
    return None


def call(arguments: list[str]) -> int:
    """Run a script through the server, or directly where there is none; its exit code."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    link = None
    if os.environ.get("TENSORLDP_WARM", "1") != "0":
        with contextlib.suppress(OSError):
            link = reach(folder())
    if link is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    request = json.dumps({"argv": arguments, "cwd": str(Path.cwd()), "env": dict(os.environ)}).encode()
    socket.send_fds(link, [len(request).to_bytes(8, "big")], [0, 1, 2])
    link.sendall(request)
    try:
        answer = link.recv(16)
    except KeyboardInterrupt:
        return 130
    return int(answer) if answer else 1


def receive(link: socket.socket) -> tuple[dict[str, object], list[int]]:
    """A caller's request and its standard streams."""
    link.settimeout(10.0)
    header, streams, _, _ = socket.recv_fds(link, 8, 3)
    wanted, body = int.from_bytes(header, "big"), b""
    while len(body) < wanted:
        part = link.recv(wanted - len(body))
        if not part:
            raise OSError("the caller went away")
        body += part
    return json.loads(body), streams


def become(request: dict[str, object], streams: list[int]) -> None:
    """In a forked child: take the caller's place and run its script; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        os.chdir(str(request["cwd"]))
        os.environ.clear()
        os.environ.update(request["env"])  # type: ignore[arg-type]
        sys.argv = list(request["argv"])  # type: ignore[call-overload]
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


def serve(address: Path) -> None:
    """Import the libraries, then fork a child for each caller until there is nothing to do."""
    for module in PRELOAD:
        import_module(module)
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
                return
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
                    link.sendall(str(abs(os.waitstatus_to_exitcode(status))).encode())
                link.close()
                del callers[link]
                used = time.monotonic()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]))
    elif len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
    else:
        sys.exit(call(sys.argv[1:]))
