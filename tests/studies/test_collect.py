"""A study's tables, gathered some cells at a time, and read a study at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from kept_runs import finish, tiny
from small import make_cell

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp_papers.run.sealed import write_sealed
from tensorldp_papers.run.store import Store, Task, read_manifests, read_tasks, write_batch, write_manifest
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


KEPT = ["metrics.parquet", "series.parquet", "guarantees.csv", "audits.csv", "standing.csv", "collected.json"]


class Collected:
    """A study whose tables are made again and again; some cells have values in a series, or several audits."""

    def __init__(self, collect: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.collect, self.folder, self.store = collect, folder, Store(folder / "results")
        self.listed: dict[str, str] = {}
        self.read: list[str] = []
        monkeypatch.setattr(collect, "AT_ONCE", 2)
        read = Store.read

        def noted(store: Store, found: Any) -> Any:
            self.read.extend(found)
            return read(store, found)

        monkeypatch.setattr(Store, "read", noted)
        for number, epsilon in enumerate(("1", "2", "0.5", "inf", "1e-05")):
            self.compute(epsilon, float(number))

    def compute(self, epsilon: str, value: float) -> None:
        """Writes the results of a cell."""
        cell = make_cell("learning", "laplace", epsilon, variant="model=linear,part=NA", factors={"model": "linear"})
        one, number = Task(cell, cell.settings(), "c"), int(value)
        rows = [{"metric": "accuracy", "value": value}, {"metric": "accuracy_by_round", "value": value, "round": 3}]
        run = {"seconds": number, "peak_mb": 2.5, "device": "cpu", "commit": "NA"}
        self.store.write(one, "seed~0", {"rows": rows[: 1 + number % 2], "run": run})
        audits = [
            {**AUDIT, "event": 'a,"b"\n', "claimed": claimed, "note": "None"} for claimed in (None, 1, value, "inf")
        ]
        self.store.write(one, "audit", {"audit": audits[: 1 + number % 4]})
        self.store.write(one, "guarantee", {"guarantee": {**GUARANTEE, "note": "null", "profile": {"0": value / 3}}})
        self.listed[cell.path] = one.key

    def path(self, epsilon: str) -> str:
        return next(path for path in self.listed if path.endswith(f"~{epsilon}"))

    def file(self, epsilon: str, part: str) -> Path:
        return self.store.path(self.path(epsilon), part, self.listed[self.path(epsilon)])

    def tables(self, out: Path, *more: str) -> dict[str, bytes]:
        lists = [out / "batches" / f"{kind}.json" for kind in ("scores", "privacy")]
        for path, parts in zip(lists, (["seed~0"], ["guarantee", "audit"]), strict=True):
            write_manifest(path, {cell: dict.fromkeys(parts, key) for cell, key in self.listed.items()})
        words = ["--scores", lists[0], "--privacy", lists[1], "--results", self.store.results, "--scale", "quick"]
        self.collect.main([*map(str, words), "--out", str(out), "--code", "c", *more])
        return {name: (out / name).read_bytes() for name in KEPT[:-1]}

    def reads(self, *more: str) -> list[str]:
        """Makes the tables after Snakemake has deleted them, and from nothing; whose results the former needs."""
        for name in KEPT[:-1]:
            (self.folder / "out" / name).unlink(missing_ok=True)
        self.read.clear()
        found, read = self.tables(self.folder / "out", *more), [path.rpartition("~")[2] for path in self.read]
        self.read.clear()
        assert self.tables(Path(mkdtemp(dir=self.folder)), *more) == found
        assert sorted(self.read) == sorted(self.listed)
        return read


@pytest.fixture
def collected(collect: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collected:
    """One whose tables have been made once."""
    study = Collected(collect, tmp_path, monkeypatch)
    assert sorted(study.reads()) == ["0.5", "1", "1e-05", "2", "inf"]
    return study


def test_what_is_unchanged_since_its_tables_were_made_is_not_read_again(collected: Collected) -> None:
    assert collected.reads() == []


def test_results_that_are_new_or_written_again_are_read_alone(collected: Collected) -> None:
    collected.compute("3", 7.0)
    assert collected.reads() == ["3"]
    collected.compute("inf", 5.0)
    assert collected.reads() == ["inf"]
    same = collected.file("2", "audit")
    write_text(same, same.read_text())
    assert collected.reads() == ["2"]


def test_rows_of_cells_that_are_gone_go(collected: Collected) -> None:
    for epsilon in ("1", "inf"):
        del collected.listed[collected.path(epsilon)]
        assert collected.reads() == []
    collected.compute("1", 1.0)
    assert collected.reads() == ["1"]


def test_a_result_that_is_missing_or_damaged_is_named_whether_or_not_its_rows_were_kept(collected: Collected) -> None:
    path = collected.file("2", "seed~0")
    content = path.read_text()
    path.write_text(content.replace("2.5", "3.5"))
    with pytest.raises(InputError, match=f"the file {re.escape(str(path))} is not what was computed for its place"):
        collected.reads()
    path.unlink()
    with pytest.raises(InputError, match=f"the file {re.escape(str(path))} is missing"):
        collected.reads()
    path.write_text(content)
    assert collected.reads() == ["2"]


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("damage", [lambda _: b"", lambda content: content[:-9] + b"?" + content[-8:], None])
def test_all_is_read_again_where_a_kept_table_is_damaged_or_missing(
    collected: Collected, name: str, damage: Callable[[bytes], bytes] | None
) -> None:
    path = collected.folder / "out" / ".collected" / name
    content = path.read_bytes()
    path.unlink()
    if damage:
        path.write_bytes(damage(content))
    assert len(collected.reads()) == 5
    assert collected.reads() == []


@pytest.mark.parametrize("option", ["--code", "--scale", "--checks"])
def test_all_is_read_again_by_other_code_for_another_scale_or_with_another_check(
    collected: Collected, option: str
) -> None:
    values = {"--code": "d", "--scale": "desk", "--checks": str(collected.folder / "laplace" / "verdict.json")}
    verdict = {"refuted": True, "tried": True, "reason": "so", "mechanism": "laplace"}
    write_sealed(collected.folder / "laplace" / "verdict.json", verdict, "laplace")
    assert len(collected.reads(option, values[option])) == 5
    assert collected.reads(option, values[option]) == []


def test_without_the_digest_of_its_code_nothing_is_kept(collected: Collected) -> None:
    assert len(collected.reads("--code", "")) == 5
    assert len(collected.reads("--code", "")) == 5
