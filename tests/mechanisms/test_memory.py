"""What a release needs beyond its input and its output."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys, torch
from tensorldp import mechanisms
name, epsilon, clip, ball = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "clip", sys.argv[4] == "ball"
shape, records = ((28, 28), 40_000) if epsilon < 9 else ((1,), 30_000_000)
torch.set_num_threads(1)
domain = mechanisms.Ball(1.0, shape) if ball else mechanisms.Box(0, 255, shape)
m = mechanisms.make(name, epsilon=epsilon, domain=domain, clip=clip)
m.privatize(torch.zeros(8, *shape), torch.Generator())  # imports and first uses
x = torch.full((records, *shape), 300.0 if clip else 0.0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
y = m.privatize(x, torch.Generator())
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) / 1024 - y.numel() * y.element_size() / 2**20)
"""


@pytest.mark.parametrize(
    ("name", "epsilon", "clip", "ball"),
    [
        ("laplace", 1.0, "", ""),
        ("laplace", 1.0, "clip", ""),
        ("gaussian-analytic", 1.0, "clip", "ball"),
        ("tldp-l", 500.0, "", ""),
        ("tldp-l-w", 500.0, "clip", ""),  # single elements, about half of which are kept
        ("idn", 1.0, "", ""),
        ("privunit", 4.0, "", "ball"),
        ("pdpm", 1.0, "clip", ""),
    ],
)
def test_a_release_needs_64_mb_beyond_input_and_output(name: str, epsilon: float, clip: str, ball: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, str(epsilon), clip, ball],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
    )
    assert float(done.stdout) < 64
