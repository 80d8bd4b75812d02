"""Run a stage's script in a process that already has the heavy libraries: python client.py SCRIPT [ARGUMENT ...]

Importing torch and scikit-learn costs seconds, most of the time of a small cell. The first call starts a server
(server.py) that imports them once; every call sends it the script's arguments, directory, environment and standard
streams, and a child of the server runs the script. TENSORLDP_WARM=0 runs the script directly, with the same results.

This file runs once a job, so it imports little: another twenty milliseconds a job are half a minute of a large run.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from binascii import crc32

START_SECONDS = 120.0
FOLDER = 0o040000  # the type of a folder that is no link; the last six bits of its mode are what others may do
FIXED = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")  # what a fork cannot take over from its client


def folder() -> str:
    """A private folder for the socket of this user, interpreter, umask and environment."""
    os.umask(umask := os.umask(0o077))
    state = [sys.executable, umask, *(os.environ.get(key, "") for key in FIXED)]
    group = os.environ.get("TENSORLDP_WARM_GROUP") or os.getpgrp()
    name = f"tensorldp-{os.getuid()}-{group}-{crc32(repr(state).encode()):08x}"
    path = os.path.join(os.environ.get("TMPDIR") or "/tmp", name)  # noqa: PTH118
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102
    except FileExistsError:
        found = os.lstat(path)
        if found.st_uid != os.getuid() or found.st_mode & 0o170077 != FOLDER:
            raise OSError(f"{path} belongs to another user, or others may enter it") from None
    return path


def connect(address: str) -> socket.socket | None:
    """A connection to the server, or None if there is none."""
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(address)
    except OSError:
        link.close()
        return None
    return link


def reach(place: str) -> socket.socket | None:
    """A connection to the server, which is started if need be; None if it cannot be, or may not be from here."""
    address = f"{place}/socket"
    if (link := connect(address)) is not None:
        return link
    if os.environ.get("TENSORLDP_WARM_GROUP", str(os.getpgrp())) != str(os.getpgrp()):
        return None  # Jupyter interrupts a kernel's process group at its end: a server in it would pass that on
    import fcntl
    import subprocess

    with open(f"{place}/lock", "w") as lock:  # noqa: PTH123
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (link := connect(address)) is not None:
            return link
        with open(f"{place}/log", "w") as log:  # noqa: PTH123
            program = f"{os.path.dirname(os.path.abspath(__file__))}/server.py"  # noqa: PTH100, PTH120
            server = subprocess.Popen(
                [sys.executable, program, address], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
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
        try:
            link = reach(folder())
        except OSError:
            link = None
    if link is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    request = repr((arguments, os.getcwd(), dict(os.environ))).encode("utf-8", "surrogateescape")  # noqa: PTH109
    try:
        socket.send_fds(link, [len(request).to_bytes(8, "big")], [0, 1, 2])
        link.sendall(request)
        answer = link.recv(16)
    except (KeyboardInterrupt, ConnectionError) as end:
        if isinstance(end, KeyboardInterrupt):
            return 130
        answer = b""
    code = int(answer) if answer else -9
    if code < 0:
        what = f"killed by signal {-code}" if answer else "lost with the process that ran it"
        print(
            f"error: the job was {what}, most likely for want of memory; run again with fewer --cores, "
            "everything finished is kept",
            file=sys.stderr,
        )
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
    else:
        sys.exit(call(sys.argv[1:]))
