"""Nothing but `download` uses the network: the run that other tests look at had none (conftest.py, offline.py)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CUT_OFF, ROOT, Project
from offline import IMPOSSIBLE

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
CONNECT = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
with socket.socket() as outside:
    print(outside.connect_ex(("192.0.2.1", 80)))  # an address for documentation
"""


def without_network(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"}
    done = subprocess.run([*CUT_OFF, *command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode == IMPOSSIBLE:
        pytest.skip(f"the network cannot be cut off here: {done.stderr.strip()}")
    return done


def test_the_network_is_cut_off() -> None:
    done = without_network(sys.executable, "-c", CONNECT)
    assert done.stdout.strip() == str(errno.ENETUNREACH), done.stderr


def test_a_whole_run_needs_no_network(finished: Project) -> None:
    without_network("true")
    assert finished.cut_off
    assert (finished.folder / "results" / "report.html").is_file()


def test_a_download_without_network_ends_in_one_sentence(tmp_path: Path) -> None:
    script = str(ROOT / "workflow" / "scripts" / "download.py")
    done = without_network(sys.executable, script, "--dataset", "mnist", "--out", str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("error: the data set mnist cannot be fetched"), done.stderr
    assert "cannot be reached" in done.stderr
