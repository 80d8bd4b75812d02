"""Run a command without any network but the loopback interface: python offline.py COMMAND [ARGUMENT ...]

Needs Linux and the right to make a network namespace, as root has, and others where user namespaces are allowed; exit
code 77 where none can be made.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path
from typing import NoReturn

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
IMPOSSIBLE = 77


def cut() -> None:
    """Leave this process with a loopback interface alone.

    Raises:
        OSError: if that is not allowed here.
    """
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    user, group = os.getuid(), os.getgid()
    if unshare(CLONE_NEWNET):
        if unshare(CLONE_NEWUSER | CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "no network namespace can be made")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def main(command: list[str]) -> NoReturn:
    """Cut the network off and become the command."""
    try:
        cut()
    except (OSError, AttributeError) as error:
        print(error, file=sys.stderr)
        sys.exit(IMPOSSIBLE)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
