"""A split that is not the one that was noted is refused, and a cell's mechanism has the options of its arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp.files import sha256, write_arrays, write_json
from tensorldp.mechanisms import Box
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.records import read_records
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.streams import mechanism_on


def test_a_split_that_was_changed_after_its_digest_was_noted_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "train.safetensors"
    told = {"dataset": "digits", "classes": "2", "low": "0", "high": "1", "kind": "tabular"}
    arrays: dict[str, NDArray[Any]] = {"x": np.zeros((4, 2), np.float32), "y": np.arange(4) % 2}
    write_arrays(path, arrays, told)
    write_json(tmp_path / "digest.json", {"train": sha256(path)})
    assert len(read_records(path).x) == 4
    write_arrays(path, {**arrays, "x": np.ones((4, 2), np.float32)}, told)
    with pytest.raises(InputError, match=r"train\.safetensors is not the one that .* was made with: delete it"):
        read_records(path)


def test_a_cells_mechanism_has_the_options_of_its_arm() -> None:
    cells = make_plan(parse_settings({"studies": ["tldp_type1"], "mechanisms": {"tldp_type1": ["gaussian"]}})).cells
    scales = {
        bool(cell.options): mechanism_on(cell, Box(0.0, 16.0, (8, 8))).squared_error()
        for cell in cells
        if cell.epsilon == "1"
    }
    assert scales[True] != scales[False]
