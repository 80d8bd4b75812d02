"""Reference results keep the largest run of each study."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.runtime.files import read_json
from tensorldp.studies.reference import add_run


def finished(folder: Path, scale: str, studies: list[str], value: float, verdict: str, commit: str = "c") -> Path:
    (folder / "privacy").mkdir(parents=True)
    rows = [
        {
            "study": study,
            "dataset": "d",
            "variant": "base",
            "mechanism": "none",
            "epsilon": float("inf"),
            "seed": seed,
            "metric": "accuracy",
            "value": value,
            "scale": scale,
            "seconds": 2.0,
            "commit": commit,
            "device": "cpu",
        }
        for study in studies
        for seed in (0, 1)
    ]
    pd.DataFrame(rows).to_parquet(folder / "metrics.parquet", index=False)
    rounds = [{"study": study, "metric": "accuracy_by_round", "round": 5, "value": value} for study in studies]
    pd.DataFrame(rounds).to_parquet(folder / "series.parquet", index=False)
    pd.DataFrame([{"study": study, "epsilon_lower": value} for study in studies]).to_csv(
        folder / "privacy" / "audits.csv", index=False
    )
    pd.DataFrame([{"id": "T01", "verdict": "refuted"}, {"id": "T02", "verdict": verdict}]).to_csv(
        folder / "claims.csv", index=False
    )
    return folder


def test_a_larger_run_replaces_a_smaller_one_and_not_the_other_way(tmp_path: Path) -> None:
    kept = tmp_path / "reference"
    assert add_run(finished(tmp_path / "1", "quick", ["a", "b"], 0.1, "not run at this scale"), kept) == ["a", "b"]
    assert add_run(finished(tmp_path / "2", "desk", ["a"], 0.2, "reproduced"), kept) == ["a"]
    assert add_run(finished(tmp_path / "3", "quick", ["a", "c"], 0.3, "not run at this scale"), kept) == ["c"]
    values = pd.read_parquet(kept / "metrics.parquet").groupby("study")["value"].first()
    assert values.to_dict() == {"a": 0.2, "b": 0.1, "c": 0.3}
    series = pd.read_parquet(kept / "series.parquet").set_index("study")["value"]
    assert series.sort_index().to_dict() == values.to_dict()
    assert pd.read_csv(kept / "audits.csv").set_index("study")["epsilon_lower"].to_dict() == values.to_dict()
    facts = read_json(kept / "runs.json")
    assert facts["a"] == {
        "scale": "desk",
        "datasets": ["d"],
        "cells": 1,
        "seeds": [0, 1],
        "commits": ["c"],
        "devices": ["cpu"],
        "seconds": 4.0,
    }


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    folder = finished(tmp_path / "1", "quick", ["a"], 0.1, "refuted")
    (folder / "claims.csv").unlink()
    with pytest.raises(InputError, match=r"has no claims\.csv: let it finish first"):
        add_run(folder, tmp_path / "reference")


def test_pictures_are_kept_with_the_rows_that_they_belong_to(tmp_path: Path) -> None:
    kept, run = tmp_path / "reference", finished(tmp_path / "1", "quick", ["a", "b"], 0.1, "refuted")
    (run / "pictures").mkdir()
    (run / "pictures" / "a.safetensors").write_bytes(b"first")
    add_run(run, kept)
    assert (kept / "a.safetensors").read_bytes() == b"first"
    assert not (kept / "b.safetensors").exists()
    add_run(finished(tmp_path / "2", "desk", ["a"], 0.2, "refuted"), kept)  # a larger run without pictures
    assert not (kept / "a.safetensors").exists()
    add_run(run, kept)
    assert not (kept / "a.safetensors").exists()


def test_results_that_no_commit_made_are_refused_unless_allowed(tmp_path: Path) -> None:
    folder, kept = finished(tmp_path / "1", "quick", ["a"], 0.1, "refuted", commit="c+"), tmp_path / "reference"
    with pytest.raises(InputError, match=r"no commit has \(c\+\): run them again from a clean tree"):
        add_run(folder, kept)
    assert not kept.exists()
    assert add_run(folder, kept, allow_dirty=True) == ["a"]
