"""Kept rows get the digest of today's code if some of them, computed anew, are equal."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from kept_runs import ROOT, WORKFLOW, Cells, Kept, planned, tiny

from tensorldp.errors import InputError
from tensorldp_papers.kept.merge import merge_run
from tensorldp_papers.kept.plan import computed
from tensorldp_papers.kept.requalify import requalify, snakemake


class Computer:
    """What computes cells, as `finish` makes them up, and remembers which."""

    def __init__(self, value: float = 0.5, isa: str = "avx2") -> None:
        self.value, self.isa = value, isa

    def __call__(self, config: dict[str, Any], cells: list[str]) -> list[dict[str, Any]]:
        (seed,) = config["seeds"]
        self.asked = seed, tuple(cells)
        single = {"seed": seed, "metric": "accuracy", "value": self.value}
        series = {"seed": seed, "metric": "accuracy_by_round", "round": 5, "value": 0.5}
        run = {"device": "cpu", "isa": self.isa, "precision": "float32"}
        return [{"rows": [single, series], "runs": {str(seed): run}} for _ in cells]


def states(cells: Cells, reference: Path) -> set[str]:
    return set(computed(cells, reference / "no run", reference, WORKFLOW)[0]["state"])


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """Rows of four cells and two seeds, kept with other code than today's."""
    kept = Kept(tmp_path)
    kept.merge(tiny(), code="old")
    assert states(tiny(), kept.folder) == {"other"}
    return kept.folder


def requalified(reference: Path, computer: Computer, count: int = 2, drawn_by: int = 3, within: float = 0.0) -> str:
    return requalify(reference, WORKFLOW, ("tldp_type1", "digits"), computer, count, drawn_by, within)


def test_equal_rows_have_todays_code_afterwards_and_their_own_commit(reference: Path) -> None:
    before = pd.read_parquet(reference / "metrics.parquet")
    told = requalified(reference, Computer())
    assert told.startswith("2 cells of tldp_type1 on digits, drawn by seed 3 and computed with seed ")
    assert "equal to the last bit" in told
    assert states(tiny(), reference) == {"kept"}
    pd.testing.assert_frame_equal(pd.read_parquet(reference / "metrics.parquet"), before)
    (noted,) = pd.read_csv(reference / "requalified.csv").to_dict("records")
    assert (noted["drawn_by"], noted["compared"], noted["runs"]) == (3, "equal to the last bit", len(before))
    assert len(noted["cells"].split()) == 2
    assert pd.read_csv(reference / "pieces.csv")["source"].notna().all()
    requalified(reference, Computer(), count=1, drawn_by=4)
    assert pd.read_csv(reference / "requalified.csv")["drawn_by"].tolist() == [3, 4]


def test_the_same_seed_draws_the_same_cells(reference: Path) -> None:
    computer, draws = Computer(), []
    for seed in (0, 0, 1, 2, 3):
        requalified(reference, computer, drawn_by=seed)
        draws.append(computer.asked)
    assert draws[0] == draws[1]
    assert len(set(draws)) > 1


@pytest.mark.parametrize(
    ("computer", "within", "told"),
    [
        # a tolerance is for other processors
        (
            Computer(0.50000001),
            0.1,
            r"^accuracy of tldp_type1/digits/.*, seed \d, is kept as 0\.5 and now 0\.50000001 ",
        ),
        (Computer(0.51, "arm64"), 0.001, r"then on cpu avx2 float32, now on cpu arm64 float32"),
    ],
)
def test_a_changed_value_is_named_and_nothing_is_written(
    reference: Path, computer: Computer, within: float, told: str
) -> None:
    before = {path: path.read_bytes() for path in reference.iterdir()}
    with pytest.raises(InputError, match=told):
        requalified(reference, computer, within=within)
    assert {path: path.read_bytes() for path in reference.iterdir()} == before


def test_values_of_another_processor_are_compared_with_the_tolerance_that_is_given(reference: Path) -> None:
    told = requalified(reference, Computer(0.51, "arm64"), within=0.1)
    assert "within 0.1, on another kind of processor" in told
    assert states(tiny(), reference) == {"kept"}


def test_cells_are_drawn_from_each_way_of_training_and_trained_as_is_noted(tmp_path: Path) -> None:
    def one(tau: str, **changes: Any) -> Cells:
        fixed = {"eps": ["e3"], "tau": [tau], "centre": ["zero"], "participation": ["without"]}
        grid = {"factors": {"pldp_fl": fixed}, "mechanisms": {"pldp_fl": ["pdpm"]}, "seeds": [0, 1]}
        return planned(studies=["pldp_fl"], **grid, **changes)

    kept, asked = Kept(tmp_path), []
    longer = one("t2", training={"pldp_fl": {"rounds": 9}})
    kept.merge([*one("t1"), *longer], code="old")

    def compute(config: dict[str, Any], cells: list[str]) -> list[dict[str, Any]]:
        asked.append((config["training"].get("pldp_fl", {}).get("rounds"), cells))
        return Computer()(config, cells)

    told = requalify(kept.folder, WORKFLOW, ("pldp_fl", "digits"), compute, 1, 0, 0.0)
    assert asked == [(None, [cell.path for cell in one("t1")]), (9, [cell.path for cell in longer])]
    assert told.count("equal to the last bit") == 2
    assert told.endswith("0 have other settings")
    assert states(longer, kept.folder) == {"kept"}
    assert kept.table("requalified.csv")["runs"].tolist() == [2, 2]


def test_what_no_file_plans_is_not_requalified_and_no_cells_are_no_evidence(reference: Path) -> None:
    with pytest.raises(InputError, match="nothing is kept for tldp_type1 on mnist with the settings in today"):
        requalify(reference, WORKFLOW, ("tldp_type1", "mnist"), Computer(), 2, 0, 0.0)
    for count, tolerance in ((0, 0.0), (1, -1.0), (1, float("inf"))):
        with pytest.raises(InputError, match=r"give at least one cell"):
            requalified(reference, Computer(), count, within=tolerance)


@pytest.mark.workflow
@pytest.mark.slow
def test_a_real_run_is_merged_and_requalified_after_a_change_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = {"studies": ["pldp_synthetic"], "epsilons": {"pldp_synthetic": [1]}, "seeds": [0, 1], "device": "cpu"}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"scale": "quick", **grid}))
    reference, cells = tmp_path / "reference", planned(**grid)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "-s", str(ROOT / "Snakefile"), "--directory"]
    subprocess.run([*command, str(tmp_path), "--", "results/metrics.parquet"], check=True)
    merge_run(tmp_path / "results", reference, allow_dirty=True)
    assert states(cells, reference) == {"kept"}
    for module in ("plan", "requalify"):
        monkeypatch.setattr(f"tensorldp_papers.kept.{module}.code_of_cell", lambda *_: "changed")
    monkeypatch.chdir(tmp_path)
    assert states(cells, reference) == {"other"}
    told = requalify(reference, WORKFLOW, ("pldp_synthetic", "synthetic"), snakemake(WORKFLOW, 1), 1, 0, 0.0)
    assert "equal to the last bit" in told
    assert states(cells, reference) == {"kept"}
