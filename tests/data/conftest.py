"""The mirror of real files, if there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def mirror() -> Path:
    """The folder of real data files."""
    beside = Path(__file__).parents[2].parent / "shared" / "data"
    for folder in filter(None, [os.environ.get("TENSORLDP_MIRROR"), str(beside)]):
        if Path(folder).is_dir():
            return Path(folder)
    pytest.skip("no mirror folder: set TENSORLDP_MIRROR to a folder with the data sets' files")
