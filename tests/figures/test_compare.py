"""Two made-up runs: what the page of their comparison says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.report.compare import (
    guarantees_table,
    read_run,
    render_comparison,
    settings_table,
    values_table,
    verdicts_table,
)

SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "compare.py"


def write(folder: Path, *, seeds: int = 2, shift: float = 0.0, bound: float = 1.0, verdict: str = "reproduced") -> Path:
    """A run of two mechanisms at two epsilons; `shift` moves one mechanism's score at epsilon 2."""
    rows = [
        {
            "study": "s<1>",
            "dataset": "digits",
            "variant": "base",
            "mechanism": mechanism,
            "epsilon": epsilon,
            "seed": seed,
            "metric": "score",
            "value": 0.1 * epsilon + 0.01 * seed + (shift if (mechanism, epsilon) == ("laplace", 2.0) else 0.0),
            "guarantee_epsilon": bound * epsilon,
            "guarantee_pure_epsilon": np.inf if mechanism == "gaussian" else epsilon,
            "guarantee_delta": 1e-5,
            "guarantee_unit": "record",
            "guarantee_exact": True,
            "scale": "quick",
        }
        for mechanism in ("laplace", "gaussian")
        for epsilon in (1.0, 2.0)
        for seed in range(seeds)
    ]
    folder.mkdir()
    pd.DataFrame(rows).to_parquet(folder / "metrics.parquet")
    claims = {"id": ["C1"], "claim": ["one"], "verdict": [verdict], "observed": ["3 & more"]}
    pd.DataFrame(claims).to_csv(folder / "claims.csv", index=False)
    return folder


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    first, second = (read_run(write(tmp_path / name), name) for name in "ab")
    for table in (settings_table, values_table, guarantees_table, verdicts_table):
        assert table(first, second).empty
    page = render_comparison(first, second)
    assert page.count("no differences") == 4
    assert "<img" not in page


def test_each_difference_is_found_and_nothing_else(tmp_path: Path) -> None:
    first = read_run(write(tmp_path / "a"), "a")
    second = read_run(write(tmp_path / "b", seeds=3, bound=2, verdict="refuted"), "b")
    third = read_run(write(tmp_path / "c", shift=0.05), "c")
    changed = values_table(first, third)
    assert changed[["mechanism", "epsilon"]].to_numpy().tolist() == [["laplace", 2.0]]
    assert changed["difference"].tolist() == pytest.approx([0.05])
    assert changed["standard error"].tolist() == pytest.approx(
        [0.005 * np.sqrt(2)]
    )  # variance 5e-5 of two seeds, twice
    assert settings_table(first, second).to_numpy().tolist() == [["s<1>", "seed", "nothing further", "2", 2]]
    found = guarantees_table(first, second)
    assert set(found["guarantee"]) == {"epsilon"}  # the infinite pure one is equal
    assert sorted(zip(found["a"], found["b"], strict=True)) == [(1.0, 2.0), (1.0, 2.0), (2.0, 4.0), (2.0, 4.0)]
    assert verdicts_table(first, second)[["id", "a", "b"]].to_numpy().tolist() == [["C1", "reproduced", "refuted"]]


@pytest.mark.slow
def test_the_script_writes_a_page_that_needs_no_network(tmp_path: Path) -> None:
    write(tmp_path / "a")
    (tmp_path / "other").mkdir()
    write(tmp_path / "other" / "results", shift=0.05, verdict="refuted")
    arguments = [
        str(tmp_path / "a"),
        str(tmp_path / "other"),
        "--names",
        "old",
        "new",
        "--out",
        str(tmp_path / "p.html"),
    ]
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "p.html").read_text()
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)
    assert "url(" not in page
    assert "Of 4 means over seeds that both runs have, 1 differ." in page
    assert page.count("<figure>") == 1
    assert "s&lt;1&gt;" in page
    assert "s<1>" not in page


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere has no readable .*metrics.parquet"):
        read_run(tmp_path / "nowhere", "a")
    run = read_run(write(tmp_path / "a"), "a")
    with pytest.raises(InputError, match="both be called 'a'"):
        render_comparison(run, run)
    pd.DataFrame({"value": [1]}).to_parquet(tmp_path / "a" / "metrics.parquet")
    with pytest.raises(InputError, match="is not a table of metrics, it lacks the column dataset"):
        read_run(tmp_path / "a", "a")
