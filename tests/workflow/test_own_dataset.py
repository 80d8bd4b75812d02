"""A user's own file, named in config.yaml alone, goes through the real workflow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import make_project
from sklearn.datasets import load_digits

from tensorldp.files import read_arrays

MINE = {"path": "my digits.csv", "label": "digit", "range": [0, 16], "shape": [8, 8], "test": 0.25, "seed": 1}
TYPE1, TYPE2 = "tldp_type1", "tldp_type2"


@pytest.mark.workflow
def test_a_csv_file_runs_through_to_guarantees_and_figures(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    digits = load_digits()
    table = pd.DataFrame(digits.data[:240].astype(int)).assign(digit=digits.target[:240])
    table.to_csv(tmp_path / "my digits.csv", index=False)
    settings = {
        "studies": [TYPE1, TYPE2],
        "seeds": [0],
        "own_datasets": {"my_digits": MINE},
        "datasets": {TYPE1: ["my_digits"], TYPE2: ["my_digits"]},
        "mechanisms": {TYPE1: ["none", "laplace"], TYPE2: ["laplace"]},
        "epsilons": {TYPE1: [2], TYPE2: [2]},
        "training": {TYPE1: {"epochs": 1}, TYPE2: {"epochs": 1}},
    }
    project.configure(**settings)
    done = project.snakemake("--", "results/metrics.parquet", f"results/figures/{TYPE1}.png")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    found = pd.read_parquet(tmp_path / "results" / "metrics.parquet")
    assert set(found["dataset"]) == {"my_digits"}
    assert set(found["study"]) == {TYPE1, TYPE2}
    noisy = found[(found["study"] == TYPE1) & (found["mechanism"] == "laplace")]
    assert noisy["guarantee_pure_epsilon"].tolist() == pytest.approx([2.0] * len(noisy))  # of the stated range
    arrays, told = read_arrays(tmp_path / "resources" / "datasets" / "my_digits" / "train.safetensors")
    assert (arrays["x"].shape, told["high"]) == ((180, 8, 8), "16.0")
    assert set(pd.read_csv(tmp_path / "results" / "figures" / f"{TYPE1}.csv")["dataset"]) == {"my_digits"}
    # a copy of it is none, whatever its times: of a large file Snakemake itself would look at nothing else
    (tmp_path / "my digits.csv").touch()
    assert project.planned("--max-checksum-file-size", "1", "--", "results/metrics.parquet") == []
    # another file is another data set: everything that read it runs again
    table.iloc[::-1].to_csv(tmp_path / "my digits.csv", index=False)
    assert ("prepare_own", "dataset=my_digits") in project.planned("--", "results/metrics.parquet")
    # and a value outside the stated range ends the run with a sentence
    table.iloc[3, 5] = 17
    table.to_csv(tmp_path / "my digits.csv", index=False)
    refused = project.snakemake("--", "results/metrics.parquet")
    assert refused.returncode != 0
    kept, alone, last = refused.stderr.splitlines()[-3:]
    assert kept.startswith("Done and kept: what was finished. To go on")
    assert kept.endswith(": snakemake --cores 2 -- results/metrics.parquet")
    assert alone == ""
    assert last.startswith("error: own_datasets.my_digits.range = [0, 16] does not hold 17")


@pytest.mark.workflow
def test_a_table_with_ranges_by_column_trains_a_network_for_tables(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.uniform(0, 120, 60), "income": rng.uniform(0, 1e6, 60)})
    table.assign(group=table["age"] > 60).to_parquet(tmp_path / "people.parquet")
    project.configure(
        studies=[TYPE1],
        seeds=[0],
        own_datasets={
            "people": {"path": "people.parquet", "label": "group", "range": {"age": [0, 120], "income": [0, 1000000]}}
        },
        datasets={TYPE1: ["people"]},
        mechanisms={TYPE1: ["laplace"]},
        epsilons={TYPE1: [1]},
        factors={TYPE1: {"model": ["mlp"]}},
        training={TYPE1: {"epochs": 1}},
    )
    done = project.snakemake("--", "results/metrics.parquet")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    found = pd.read_parquet(tmp_path / "results" / "metrics.parquet")
    assert (found["dataset"] == "people").all()
    assert found["value"].notna().all()


@pytest.mark.workflow
def test_a_mistake_in_the_entry_ends_the_plan_with_a_sentence(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.configure(own_datasets={"mine": MINE})
    done = project.snakemake("--dry-run")
    assert done.returncode != 0
    assert "error: own_datasets.mine.path = 'my digits.csv': there is no such file or folder" in done.stderr
    assert "Traceback" not in done.stderr
