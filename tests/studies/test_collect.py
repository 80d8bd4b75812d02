"""A study's tables, gathered some cells at a time, and read a study at a time."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from kept_runs import finish, tiny

from tensorldp_papers.run.store import Store, read_manifests, read_tasks, write_batch, write_manifest
from tensorldp_papers.run.table import read_rows, read_table

ROOT = Path(__file__).parents[2]
GUARANTEE = {"unit": "record", "epsilon": 1.0, "delta": 1e-5, "pure_epsilon": "inf", "atom": 0.0, "exact": True}

AUDIT = {"kind": "k", "epsilon_lower": 0.5, "delta": 0.0, "confidence": 0.9, "samples": 9, "event": "e"}
AUDIT |= {"unit": "record", "note": "", "claimed": 1.0, "refuted": False}


@pytest.fixture
def collect() -> ModuleType:
    """The script."""
    spec = spec_from_file_location("collect", ROOT / "workflow" / "scripts" / "collect.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gathered(collect: ModuleType, results: Path, out: Path) -> dict[str, bytes]:
    """The tables of a finished run, by name."""
    lists = [str(path) for kind in ("scores", "privacy") for path in (f"--{kind}", *results.rglob(f"{kind}.json"))]
    collect.main([*lists, "--results", str(results), "--scale", "quick", "--out", str(out)])
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_tables_are_the_same_however_many_cells_are_read_at_once(
    collect: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = tiny()
    results = finish(tmp_path / "results", cells)
    (scores,) = results.rglob("scores.json")
    store, found = Store(results), read_manifests([scores])
    described = [{"settings": cell.settings(), "code": "c"} for cell in cells]
    privacy = {}
    for task in read_tasks(write_batch(tmp_path, described)):
        store.write(task, "guarantee", {"guarantee": GUARANTEE})
        store.write(task, "audit", {"audit": [AUDIT]})
        privacy[task.cell.path] = dict.fromkeys(("guarantee", "audit"), task.key)
    assert privacy.keys() == found.keys()
    write_manifest(scores.with_name("privacy.json"), privacy)
    whole = gathered(collect, results, tmp_path / "whole")
    monkeypatch.setattr(collect, "AT_ONCE", 1)
    assert gathered(collect, results, tmp_path / "parts") == whole
    assert len(read_table(tmp_path / "whole" / "audits.csv")) == len(cells) > 1


def test_the_rows_of_a_study_are_those_of_the_whole_table_in_texts_or_in_categories() -> None:
    path = ROOT / "results" / "reference" / "metrics.parquet"
    rows = read_rows(path, ["pldp_fl"])
    whole = read_rows(path)
    expected = whole[whole["study"] == "pldp_fl"].reset_index(drop=True)
    assert expected["round"].notna().any()  # else it has no series
    pd.testing.assert_frame_equal(rows, expected, check_exact=True)
    compact = read_rows(path, ["pldp_fl"], compact=True)
    texts = compact.columns[compact.dtypes == "category"]
    assert {"study", "metric", "commit"} <= {*texts}
    pd.testing.assert_frame_equal(compact.astype(dict.fromkeys(texts, "str")), expected, check_exact=True)
