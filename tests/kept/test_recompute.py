"""Kept runs are drawn, computed anew and compared, and those without a version get one by that evidence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from kept_runs import ROOT, WORKFLOW, Cells, Kept, planned, tiny

from tensorldp.errors import InputError
from tensorldp_papers.kept.merge import merge_runs
from tensorldp_papers.kept.plan import computed
from tensorldp_papers.kept.recompute import compare_with_then, draw, equal, give_versions, recompute, snakemake


class Computer:
    """What computes cells, as `finish` makes them up, and remembers which."""

    def __init__(self, value: float = 0.5, isa: str = "avx2") -> None:
        self.value, self.isa, self.asked = value, isa, list[tuple[dict[str, Any], list[str]]]()

    def __call__(self, config: dict[str, Any], cells: list[str]) -> list[dict[str, Any]]:
        self.asked.append((config, cells))
        (seed,) = config["seeds"]
        single = {"seed": seed, "metric": "accuracy", "value": self.value}
        series = {"seed": seed, "metric": "accuracy_by_round", "round": 5, "value": 0.5}
        run = {"device": "cpu", "isa": self.isa, "precision": "float32", "seconds": 1.0}
        return [{"rows": [single, series], "runs": {str(seed): run}} for _ in cells]


def states(cells: Cells, reference: Path) -> set[str]:
    return set(computed(cells, reference / "no run", reference, WORKFLOW)[0]["state"])


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """Rows of four cells and two seeds, whose versions are not known."""
    kept = Kept(tmp_path)
    kept.merge(tiny())
    noted = kept.table("provenance.parquet").assign(method_version=0, mechanism_version=0)
    noted.to_parquet(kept.folder / "provenance.parquet")
    assert states(tiny(), kept.folder) == {"other"}
    return kept.folder


def again(reference: Path, computer: Computer, by: int = 3) -> list[str]:
    return list(recompute(reference, draw(reference, by, 300.0), computer, by))


def test_one_run_is_drawn_for_each_mechanism_all_with_one_seed(reference: Path) -> None:
    computer = Computer()
    assert len(again(reference, computer)) == 3
    ((config, cells),) = computer.asked
    assert len(config["seeds"]) == 1
    assert {cell.split("/")[3] for cell in cells} == {"none", "tldp-g", "mvg"}
    again(reference, computer)
    assert len(computer.asked) == 1  # what is noted is not computed again
    assert {tuple(draw(reference, by, 300.0)["seed"]) for by in range(9)} == {(0, 0, 0), (1, 1, 1)}
    assert draw(reference, 0, 1.0).empty  # the runs took two seconds


def test_equal_runs_give_all_like_them_todays_versions_and_leave_their_commits(reference: Path) -> None:
    before = pd.read_parquet(reference / "metrics.parquet")
    again(reference, Computer())
    assert give_versions(reference, 0.0).empty
    assert states(tiny(), reference) == {"kept"}
    pd.testing.assert_frame_equal(pd.read_parquet(reference / "metrics.parquet"), before)
    noted = pd.read_csv(reference / "recomputed.csv")
    assert set(noted["drawn_by"]) == {3}
    assert (noted["largest_difference"] == 0).all()
    assert set(pd.read_csv(reference / "pieces.csv")["method_version"]) == {1}


@pytest.mark.parametrize(
    ("computer", "tolerance", "state"),
    [
        (Computer(0.50000001), 0.1, "other"),  # a tolerance is for other processors
        (Computer(0.51, "arm64"), 0.001, "other"),
        (Computer(0.51, "arm64"), 0.1, "kept"),
        (Computer(float("nan"), "arm64"), 0.1, "other"),
    ],
)
def test_a_run_that_differs_leaves_all_like_it_without_a_version(
    reference: Path, computer: Computer, tolerance: float, state: str
) -> None:
    again(reference, computer)
    differ = give_versions(reference, tolerance)
    assert states(tiny(), reference) == {state}
    assert len(differ) == (3 if state == "other" else 0)
    assert set(differ["of"]) <= {"accuracy"}


def test_the_difference_is_relative_to_the_larger_value(reference: Path) -> None:
    again(reference, Computer(0.4, "arm64"))
    noted = pd.read_csv(reference / "recomputed.csv")
    assert noted["largest_difference"].tolist() == pytest.approx([0.2] * 3)
    assert equal(noted, 0.21).all()
    assert not equal(noted, 0.19).any()


@pytest.mark.parametrize(
    ("isa", "then", "state", "asked"),
    [
        ("arm64", 0.4, "kept", 3),  # the code of then gives on this machine what today's does: the processor differs
        ("arm64", 0.45, "other", 3),  # it gives something else: the code has changed the numbers
        ("avx2", 0.4, "other", 0),  # on the same kind of processor nothing explains a difference
    ],
)
def test_what_a_processor_takes_far_away_is_compared_with_the_code_of_its_own_commit(
    reference: Path, isa: str, then: float, state: str, asked: int
) -> None:
    configs = []

    def compute(commit: str, config: dict[str, Any]) -> pd.DataFrame:
        configs.append((commit, config))
        return pd.read_parquet(reference / "metrics.parquet").assign(value=then)

    again(reference, Computer(0.4, isa))
    told = list(compare_with_then(reference, 0.01, compute))
    assert len(told) == len(configs) == asked
    give_versions(reference, 0.01)
    assert states(tiny(), reference) == {state}
    assert list(compare_with_then(reference, 0.01, compute)) == []  # what is noted is not computed again
    for commit, config in configs:
        assert commit in set(pd.read_csv(reference / "recomputed.csv")["kept_commit"])
        (mechanism,) = config["mechanisms"]["tldp_type1"]
        assert ("epsilons" in config) == (mechanism != "none")


def test_runs_are_drawn_from_each_way_of_training_and_trained_as_is_noted(tmp_path: Path) -> None:
    def one(tau: str, **changes: Any) -> Cells:
        fixed = {"eps": ["e3"], "tau": [tau], "centre": ["zero"], "participation": ["without"]}
        grid = {"factors": {"pldp_fl": fixed}, "mechanisms": {"pldp_fl": ["pdpm"]}, "seeds": [0, 1]}
        return planned(studies=["pldp_fl"], **grid, **changes)

    kept, computer = Kept(tmp_path), Computer()
    longer = one("t2", training={"pldp_fl": {"rounds": 9}})
    kept.merge([*one("t1"), *longer])
    again(kept.folder, computer)
    rounds = [(config["training"].get("pldp_fl", {}).get("rounds"), cells) for config, cells in computer.asked]
    assert rounds == [(None, [cell.path for cell in one("t1")]), (9, [cell.path for cell in longer])]


def test_without_kept_or_computed_runs_one_sentence_says_so(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no metrics\.parquet: merge a run first"):
        draw(tmp_path, 0, 1.0)
    with pytest.raises(InputError, match=r"has no recomputed\.csv: compute some runs anew first"):
        give_versions(reference, 0.0)


@pytest.mark.workflow
@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_a_real_run_is_merged_computed_anew_by_the_workflow_and_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = "pldp_synthetic"
    small = {"epsilons": [1], "factors": {"eps": ["same"]}, "mechanisms": ["pdpm", "piecewise"]}
    grid: dict[str, Any] = {key: {study: value} for key, value in small.items()}
    grid |= {"studies": [study], "seeds": [0, 1], "device": "cpu"}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"scale": "quick", **grid}))
    reference, cells = tmp_path / "reference", planned(**grid)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "-s", str(ROOT / "Snakefile"), "--directory"]
    subprocess.run([*command, str(tmp_path), "--", "results/metrics.parquet"], check=True)
    merge_runs([tmp_path / "results"], reference, allow_dirty=True)
    assert states(cells, reference) == {"kept"}
    monkeypatch.chdir(tmp_path)
    told = list(recompute(reference, draw(reference, 0, 300.0), snakemake(WORKFLOW, 1), 0))
    assert told
    assert all(line.endswith("largest difference 0") for line in told)
    text = (tmp_path / "results" / "code").glob("*.json")
    assert all("workflow" not in json.loads(path.read_text()) for path in text)
