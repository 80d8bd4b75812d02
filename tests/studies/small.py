"""What the tests of studies share: small records, their files, and cells of any method."""

import math
from pathlib import Path
from typing import Any

import torch

from tensorldp.files import sha256, write_arrays, write_json
from tensorldp_papers.run.cell import Cell, parse_cell
from tensorldp_papers.run.records import Records

CPU = torch.device("cpu")


def fixed(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(count: int = 40, shape: tuple[int, ...] = (8, 8), classes: int = 4) -> Records:
    """Random whole numbers from 0 to 16, and the classes in turn."""
    x = torch.randint(0, 17, (count, *shape), generator=fixed(), dtype=torch.uint8)
    return Records(x, torch.arange(count) % classes, "d", classes, 0.0, 16.0, "image")


def table(x: torch.Tensor, kind: str = "tabular", **changes: Any) -> Records:
    """Records of two classes without a public range."""
    facts = {"y": torch.arange(len(x)) % 2, "name": "d", "classes": 2, "low": -math.inf, "high": math.inf, **changes}
    return Records(x=x, kind=kind, **facts)


def save(folder: Path, records: Records, *splits: str) -> Path:
    """A data set as `prepare` writes it, with the same records in each split."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"dataset": records.name, "classes": records.classes, "low": records.low, "high": records.high}
    metadata = {key: str(value) for key, value in {**facts, "kind": records.kind}.items()}
    for split in splits or ("train", "test"):
        write_arrays(folder / f"{split}.safetensors", {"x": records.x.numpy(), "y": records.y.numpy()}, metadata)
    write_json(folder / "digest.json", {path.stem: sha256(path) for path in folder.glob("*.safetensors")})
    return folder


def make_cell(
    method: str, mechanism: str = "none", epsilon: str = "inf", *, seeds: tuple[int, ...] = (0,), **settings: Any
) -> Cell[Any, Any]:
    """A cell with such `training`, `factors` or other settings."""
    key = {"study": "s", "dataset": "d", "variant": "v", "mechanism": mechanism, "epsilon": epsilon}
    raw = {**key, "method": method, "release": "data", "delta": 1e-5, "training": {}, "factors": {}, **settings}
    return parse_cell({**raw, "seeds": list(seeds)})
