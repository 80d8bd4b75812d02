"""Releases, guarantees and audits are the same bits whatever the networks compute in."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tensorldp.files import write_arrays
from tensorldp_papers.run.cell import parse_cell
from tensorldp_papers.run.method import ReleaseMethod, method
from tensorldp_papers.run.privacy import audit_mechanism
from tensorldp_papers.run.records import read_records

CPU = torch.device("cpu")
RAW: dict[str, Any] = {
    "study": "s",
    "dataset": "d",
    "variant": "v",
    "epsilon": "2",
    "release": "data",
    "delta": 1e-5,
    "training": {},
    "seeds": [0],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    source = np.random.default_rng(0)
    for split in ("train", "test"):
        arrays: dict[str, Any] = {"x": source.random((40, 28, 28), dtype=np.float32), "y": np.arange(40) % 10}
        write_arrays(
            tmp_path / f"{split}.safetensors",
            arrays,
            {"dataset": "d", "kind": "image", "low": "0", "high": "1", "classes": "10", "vocabulary": "0"},
        )
    return tmp_path


@pytest.mark.parametrize(
    ("name", "mechanism", "factors"),
    [
        ("learning", "tldp-l", {"model": "small_cnn"}),
        ("learning", "privunit", {"model": "small_cnn"}),
    ],
)
def test_a_release_its_guarantee_and_its_audit_are_the_same_bits(
    name: str, mechanism: str, factors: dict[str, Any], data: Path
) -> None:
    exact = parse_cell({**RAW, "method": name, "mechanism": mechanism, "factors": factors})
    reduced = exact.computing_in(["bfloat16"])
    assert (exact.precision, reduced.precision) == ("float32", "bfloat16")
    kind: ReleaseMethod[Any, Any] = method(name)  # type: ignore[assignment]
    records = read_records(data / "train.safetensors")
    for split in ("train", "test"):
        first, second = (kind.release(cell, records, 0, split, CPU) for cell in (exact, reduced))
        assert all(np.array_equal(first[key], second[key]) and first[key].dtype == second[key].dtype for key in first)
    assert kind.guarantee(exact, data) == kind.guarantee(reduced, data)
    rows = []
    for cell in (exact, reduced):
        audited, note = kind.audited(cell, data)
        assert audited is not None
        rows.append(audit_mechanism(audited, cell, [1e-5], note))
    assert rows[0] == rows[1]
