"""The reduced default run, end to end."""

import re

import pandas as pd
import pytest
from conftest import Project
from faults import leftovers

from tensorldp_papers.run.table import COLUMNS, KEY

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
STUDIES = ["tldp_type1", "tldp_type2", "tldp_type3"]


def metrics(project: Project) -> pd.DataFrame:
    return pd.read_parquet(project.folder / "results" / "metrics.parquet")


def test_the_run_makes_every_figure_the_table_and_an_offline_page(finished: Project) -> None:
    results = finished.folder / "results"
    for study in STUDIES:
        for view in ("", "_mechanisms"):
            for theme in ("", "_dark"):
                assert (results / "figures" / f"{study}{view}{theme}.png").read_bytes()[:4] == b"\x89PNG"
            for sheet in ("", "_phone"):
                assert "<svg" in (results / "figures" / f"{study}{view}{sheet}.svg").read_text()
        assert len(pd.read_csv(results / "figures" / f"{study}.csv")) > 0
    page = (results / "report.html").read_text()
    assert page.count("<picture>") == 2 * len(STUDIES) + 2 + 1  # privacy and the first picture
    without_sources = re.sub(r'<a href="https://(doi|arxiv)\.org/', "", page)
    assert not re.search(r"https?://", without_sources)
    table = metrics(finished)
    assert list(table.columns) == COLUMNS
    assert not table.duplicated(KEY).any()
    assert table["value"].between(0, 1).all()
    assert set(table["seed"]) == {0, 1}


def test_no_intermediate_or_half_written_file_is_left(finished: Project) -> None:
    assert not leftovers(finished)


def test_privacy_is_told_for_the_whole_record(finished: Project) -> None:
    table = metrics(finished)
    tldp = table[(table["mechanism"] == "tldp-l") & (table["study"] == "tldp_type1") & (table["epsilon"] == 1)]
    assert tldp["guarantee_pure_epsilon"].unique().tolist() == pytest.approx([64.0], rel=1e-12)  # 64 pixels at 1 each
    assert (tldp["guarantee_epsilon"] < 64).all()
    laplace = table[(table["mechanism"] == "laplace") & (table["epsilon"] == 5)]
    assert laplace["guarantee_pure_epsilon"].unique().tolist() == pytest.approx([5.0], rel=1e-12)
    assert (table[table["mechanism"] == "none"]["guarantee_epsilon"] == float("inf")).all()
    assert set(table[table["study"] == "tldp_type3"]["guarantee_unit"]) == {"run"}


def test_a_second_run_has_nothing_to_do(finished: Project) -> None:
    assert finished.planned() == []


def test_touching_any_file_reruns_nothing(finished: Project) -> None:
    for name in (
        "resources/datasets/digits/train.safetensors",
        "results/features/digits/tanh_cnn/train.safetensors",
        "src/tensorldp/mechanisms/tldp.py",
        "src/tensorldp_papers/nets/classify.py",
        "config.yaml",
        "src/tensorldp_papers/papers/tldp/tldp_type1.yaml",
        "resources/datasets/digits/digest.json",
        "workflow/scripts/train.py",
    ):
        (finished.folder / name).touch()
    assert finished.planned() == []
