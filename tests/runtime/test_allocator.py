"""How the C library hands out memory."""

import platform
import subprocess
import sys

import pytest

from tensorldp import memory

GLIBC = platform.libc_ver()[0] == "glibc"
FAULTS = """
import resource, sys, numpy as np
if sys.argv[1] == "kept":
    from tensorldp.memory import keep_freed_memory
    assert keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    arrays = [np.ones(2_500_000, np.float32) for _ in range(3)]
work(), work()
before = faults()
for _ in range(10):
    work()
print(faults() - before)
"""


@pytest.mark.skipif(not GLIBC, reason="another C library")
def test_freed_memory_is_used_again() -> None:
    def faults(word: str) -> int:
        done = subprocess.run([sys.executable, "-c", FAULTS, word], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert faults("kept") < 100  # 30 arrays of 2,441 pages of 4 KiB are 73,000 of them


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert not memory.keep_freed_memory()
