"""The library works with PyTorch, NumPy and SciPy alone; the same is done with a wheel by `bash .ci/wheel`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alone.environment import ROOT, link_dependencies

RUN = "import sys, runpy; sys.path.append(sys.argv[1]); runpy.run_path(sys.argv[2])"


@pytest.mark.workflow  # imports PyTorch twice, in processes of their own
def test_mechanisms_privacy_and_checks_need_no_other_packages(tmp_path: Path) -> None:
    linked = link_dependencies(tmp_path)
    assert {"torch", "numpy", "scipy"} <= linked.keys()
    assert not {"pandas", "scikit-learn", "snakemake", "safetensors", "pydantic"} & linked.keys()
    (tmp_path / "tensorldp").symlink_to(ROOT / "src" / "tensorldp")
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", RUN, str(tmp_path), str(Path(__file__).with_name("use.py"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
