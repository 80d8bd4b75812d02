"""The warm server's socket is its user's alone: another user cannot connect, and cannot lay a folder in its way."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

WARM = Path(__file__).parents[2] / "workflow" / "warm"
NOBODY = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


@pytest.fixture(scope="module")
def client() -> Iterator[ModuleType]:
    sys.path.insert(0, str(WARM))
    try:
        yield import_module("client")
    finally:
        sys.path.remove(str(WARM))
        sys.modules.pop("client", None)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /tmp, where everybody may make files and enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o1777)
        monkeypatch.setenv("TMPDIR", name)
        yield folder


def as_nobody(act: Callable[[], object]) -> bool:
    """Whether a child process without rights can do it; OSError is its no."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            act()
            code = 0
        except OSError:
            code = 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, 1}
    return code == 0


def listening(path: Path) -> socket.socket:
    """A socket that the file's own mode lets everybody use."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    path.chmod(0o777)
    return listener


@needs_root
def test_another_user_cannot_connect(shared: Path, client: ModuleType) -> None:
    place = Path(client.folder())
    assert place.parent == shared
    (shared / "open").mkdir(mode=0o755)
    with listening(place / "socket"), listening(shared / "open" / "socket"):
        assert client.connect(f"{place}/socket") is not None
        assert not as_nobody(lambda: socket.socket(socket.AF_UNIX).connect(f"{place}/socket"))
        assert not as_nobody(lambda: list(place.iterdir()))
        assert as_nobody(lambda: socket.socket(socket.AF_UNIX).connect(f"{shared}/open/socket"))


@needs_root
def test_a_folder_of_another_user_is_refused(shared: Path, client: ModuleType) -> None:
    place = Path(client.folder())
    place.rmdir()
    assert as_nobody(lambda: place.mkdir(mode=0o700))
    with pytest.raises(OSError, match="another user"):
        client.folder()


def test_a_folder_that_others_may_enter_and_a_link_are_refused(shared: Path, client: ModuleType) -> None:
    place = Path(client.folder())
    assert client.folder() == str(place)
    place.chmod(0o755)
    with pytest.raises(OSError, match="others may enter"):
        client.folder()
    place.rmdir()
    (shared / "elsewhere").mkdir(mode=0o700)
    place.symlink_to(shared / "elsewhere")
    with pytest.raises(OSError, match="others may enter"):
        client.folder()
