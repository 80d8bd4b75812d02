"""All studies, small, with a user's mechanism, network and files; and a mechanism that lies.

One process computes them all. Snakemake runs a study of each kind, and is killed, doubled and interrupted on its way
(`everything_in`). The workflow lies in one folder and runs in another, both with names that need care, and the last
part has no network where that can be cut off.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from everything import EVERYTHING, MADE, RUN, TYPE1
from outside import OWN
from project import METRICS, Planned, Project, copy_of, edited, plan_of

from tensorldp.files import read_arrays
from tensorldp_papers.run.table import COLUMNS, KEY

pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("forks"), pytest.mark.xdist_group("everything")]


def results(project: Project, name: str) -> Path:
    return project.folder / "results" / name


def test_a_disturbed_run_has_the_numbers_of_an_undisturbed_computation_in_one_process(
    everything: Project, calm_everything: Project
) -> None:
    found, wanted = everything.stored().keys(), calm_everything.stored().keys()
    assert found == {name for name in wanted if name.partition("/")[0] in RUN["studies"]}  # their names have the keys
    for name in ("metrics.parquet", "series.parquet", "guarantees.csv", "audits.csv", "standing.csv"):
        for study in RUN["studies"]:
            ours, theirs = (project.table(f"studies/{study}/{name}") for project in (everything, calm_everything))
            pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_every_study_has_scores_and_guarantees_of_each_seed_once(calm_everything: Project) -> None:
    table = calm_everything.metrics()
    assert list(table.columns) == COLUMNS
    assert set(table["study"]) == set(EVERYTHING["studies"])
    assert not table.duplicated(KEY).any()
    assert table["value"].notna().all()
    assert (table.groupby("study")["seed"].agg(set) == {0, 1}).all()
    accuracy = table[(table["metric"] == "accuracy") & (table["mechanism"] != "none")]
    names = ["study", "dataset", "variant", "mechanism", "epsilon"]
    by_seed = accuracy.pivot_table(index=names, columns="seed", values="value")
    assert (by_seed[0] != by_seed[1]).mean() > 0.5  # no seed is another one's again
    assert (table["peak_mb"] > 0).all()


def test_privacy_is_told_for_the_whole_record(calm_everything: Project) -> None:
    table = calm_everything.metrics()
    nothing = table[(table["mechanism"] == "none") & table["study"].str.startswith(("tldp_", "tvg_"))]
    assert (nothing["guarantee_epsilon"] == float("inf")).all()
    assert set(table[table["study"] == "tldp_type3"]["guarantee_unit"]) == {"run"}
    type1 = table[table["study"] == TYPE1].set_index(["mechanism", "epsilon"])["guarantee_pure_epsilon"]
    assert type1["tldp-l", 1].unique().tolist() == pytest.approx([64.0], rel=1e-12)  # 64 pixels at 1 each
    assert type1["laplace", 5].unique().tolist() == pytest.approx([5.0], rel=1e-12)  # of the stated range, too
    trusting = table[(table["study"] == "latent") & (table["variant"] == "model=ann,reading=B")]
    assert (trusting["guarantee_pure_epsilon"] > 2800).all()


def test_a_mechanism_from_outside_runs_in_every_type_of_study(everything: Project, calm_everything: Project) -> None:
    table = calm_everything.metrics()
    mine = table[table["mechanism"] == "half-laplace"]
    assert set(mine["study"]) == {"tldp_type1", "tldp_type2", "tldp_type3", "pldp_fl", "tvg_testing"}
    once = mine[mine["study"].isin(["tldp_type1", "tldp_type2"])]  # one release of one record
    assert once["guarantee_pure_epsilon"].tolist() == pytest.approx((once["epsilon"] / 2).tolist())
    drawn = " ".join(re.findall(r"<text[^>]*>(.*?)</text>", results(everything, "figures/tldp_type1.svg").read_text()))
    assert "Laplace at half its budget" in drawn
    assert "refutes" not in drawn


def test_a_users_own_files_run_through_to_guarantees_and_figures(everything: Project, calm_everything: Project) -> None:
    table = calm_everything.metrics()
    assert set(table[table["study"] == TYPE1]["dataset"]) == {"my_digits"}
    arrays, told = read_arrays(everything.folder / "resources" / "datasets" / "my_digits" / "train.safetensors")
    assert (arrays["x"].shape, told["high"]) == ((180, 8, 8), "16.0")
    assert set(pd.read_csv(results(everything, "figures/tldp_type1.csv"))["dataset"]) == {"my_digits"}
    federated = table[table["study"] == "pldp_fl"]
    assert set(federated["dataset"]) == {"people"}
    assert federated["variant"].str.contains("model=two_layers").all()
    assert not [*everything.folder.rglob("pwned"), *everything.home.rglob("pwned")]  # a shell has not run the name


def test_no_audit_finds_more_than_is_guaranteed_and_each_belongs_to_its_cell(calm_everything: Project) -> None:
    audits = pd.read_csv(results(calm_everything, "privacy/audits.csv"))
    audits = audits[audits["samples"] > 0]
    assert not audits["refuted"].any()
    guarantees = pd.read_csv(results(calm_everything, "privacy/guarantees.csv"))
    names = ["study", "dataset", "variant", "mechanism", "epsilon"]
    both = audits.merge(guarantees, on=names, validate="many_to_one")
    of_records = both[(both["unit_x"] == both["unit_y"]) & (both["study"] == TYPE1)]
    assert len(of_records) >= 12
    assert np.allclose(of_records["guarantee_pure_epsilon"], of_records["pure_epsilon"])
    over = audits[(audits["mechanism"] == "latent") & (audits["epsilon_lower"] > audits["epsilon"])]
    assert set(over["variant"]) == {"model=ann,reading=B"}  # refuted as a mechanism of its nominal epsilon


def test_models_that_cells_share_are_trained_once_a_seed(everything: Project) -> None:
    models = [name for name in everything.stored() if "/model~" in name]
    assert {name.rpartition("/")[2].split(".")[0] for name in models} == {"model~0", "model~1"}
    assert len(models) == 2


def test_no_intermediate_or_half_written_file_is_left(everything: Project) -> None:
    assert not everything.leftovers()
    assert not everything.locks()
    assert not results(everything, "../../the workflow/results").exists()


def test_snakemakes_report_shows_each_figure_once(everything: Project, tmp_path: Path) -> None:
    everything.ran("--report", str(tmp_path / "jobs.zip"), "--", "results/figures/tldp_type1.svg")
    with zipfile.ZipFile(tmp_path / "jobs.zip") as page:
        shown = sorted(Path(name).name for name in page.namelist() if name.endswith((".png", ".svg")))
    assert shown == ["tldp_type1.png", "tldp_type1_mechanisms.png"]


def ask(project: Project, *arguments: str, **changes: Any) -> Planned:
    """What a run would do with entries of the config's keys replaced."""
    changed = {key: RUN[key] | value if isinstance(value, dict) else value for key, value in changes.items()}
    project.configure(**RUN | changed)
    try:
        return plan_of(project, "--", *(arguments or MADE))
    finally:
        project.configure(**RUN)


def cells_of(planned: Planned) -> set[str]:
    """Study and mechanism of the results that are not there."""
    return {" ".join(name.split("/")[0:4:3]) for name in planned.pending}


def test_touched_files_comments_and_a_copy_of_ones_own_file_run_nothing(everything: Project) -> None:
    files = [*everything.home.glob("src/**/*.py"), *everything.home.glob("workflow/scripts/*.py")]
    assert len(files) > 150
    names = [str(path.relative_to(everything.home)) for path in files]
    for path in (everything.folder / OWN["my_digits"]["path"], *everything.folder.glob("resources/datasets/*/*")):
        path.touch()
    with edited(everything, dict.fromkeys(names, '\n# a comment\n\n"""A text that stands alone."""\n')):
        assert ask(everything).jobs == {}
    assert ask(everything).jobs == {}  # as after a checkout and back: all have new times


def test_what_is_added_to_the_grid_is_computed_alone(everything: Project) -> None:
    planned = ask(
        everything,
        mechanisms={"tldp_type2": [*EVERYTHING["mechanisms"]["tldp_type2"], "laplace"]},
        epsilons={"tvg_covariance": [1, 2]},
        datasets={"tldp_type1": ["my_digits", "digits"]},
    )
    found = {(*name.split("/")[:2], *name.split("/")[3:]) for name in planned.pending if TYPE1 not in name}
    parts = ("seed~0", "seed~1", "guarantee", "audit")
    assert found == {
        *(("tldp_type2", "digits", "laplace", "epsilon~1", part) for part in parts),
        *(("tvg_covariance", "digits", name, "epsilon~2", part) for name in ("idn", "udn") for part in parts),
    }
    assert {name.split("/")[1] for name in planned.pending if TYPE1 in name} == {"digits"}


def test_a_further_seed_is_computed_alone_and_one_less_runs_tables_alone(everything: Project) -> None:
    more = ask(everything, seeds=[0, 1, 2])
    assert {name.rpartition("/")[2] for name in more.pending} == {"seed~2", "model~2", "guarantee~2"}
    less = ask(everything, seeds=[0], studies=[TYPE1, "tvg_testing"])
    assert less.pending == set()
    assert {"collect_study", "collect", "figure_tldp_type1"} <= less.rules


def test_another_batch_or_setting_computes_what_depends_on_it(everything: Project) -> None:
    assert ask(everything, cells_per_job=1).pending == set()
    longer = ask(everything, training={"tldp_type2": {"epochs": 2, "limit": 200}})
    assert {cell.split()[0] for cell in cells_of(longer)} == {"tldp_type2"}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("tensorldp/mechanisms/tldp.py", {"tldp_type1 tldp-l", "tldp_type2 tldp-g", "tldp_type3 tldp-l"}),
        ("tensorldp_papers/papers/tvg/covariance.py", {"tvg_covariance idn", "tvg_covariance udn"}),
    ],
)
def test_an_edited_file_computes_the_cells_that_may_import_it(everything: Project, name: str, cells: set[str]) -> None:
    with edited(everything, {f"src/{name}": "\n_edited = 1\n"}):
        assert cells_of(ask(everything)) == cells


def test_edited_scripts_tables_and_figures_run_what_they_make(everything: Project) -> None:
    with edited(everything, {"workflow/scripts/privacy.py": "\n_edited = 1\n"}):
        planned = ask(everything)
    assert {re.split(r"[~.]", name.rpartition("/")[2])[0] for name in planned.pending} == {"guarantee", "audit"}
    with edited(everything, {"src/tensorldp_papers/plots/style.py": "\n_edited = 1\n"}):
        assert ask(everything).rules == {"figure_tldp_type1"}


def test_another_file_is_another_data_set(everything: Project) -> None:
    path = everything.folder / OWN["my_digits"]["path"]
    content = path.read_bytes()
    try:
        pd.read_csv(path).iloc[::-1].to_csv(path, index=False)
        planned = ask(everything)
    finally:
        path.write_bytes(content)
    assert ("prepare_own", "dataset=my_digits") in planned.jobs
    assert {name.split("/")[1] for stage in ("perturb", "train", "evaluate") for name in planned.cells[stage]} == {
        "my_digits"
    }


def test_a_figure_waits_for_no_study_that_it_does_not_draw(everything: Project) -> None:
    planned = ask(everything, "results/figures/tldp_type3.svg", "results/figures/accuracy_ceiling.svg")
    found = [re.search(r"study=(\w+)", wildcards) for _, wildcards in planned.jobs]
    assert {match[1] for match in found if match} <= {"tldp_type1", "tldp_type3"}
    assert planned.rules == {"figure_tldp_type3", "figure_accuracy_ceiling"}
    assert planned.pending == set()


def test_a_change_is_seen_where_snakemake_has_no_record_of_a_file(everything: Project, tmp_path: Path) -> None:
    """As of a file whose job began when Ctrl-C was pressed, or of results that are copied without their .snakemake."""
    project = copy_of(everything, tmp_path / "copy")
    shutil.rmtree(project.folder / ".snakemake" / "metadata")
    assert ask(project, METRICS).pending == set()
    longer = ask(project, METRICS, training={"tldp_type2": {"epochs": 2, "limit": 200}})
    assert {cell.split()[0] for cell in cells_of(longer)} == {"tldp_type2"}
    assert "collect" in ask(project, METRICS, studies=[TYPE1]).rules
    other = OWN["my_digits"] | {"test": 0.5}
    assert ("prepare_own", "dataset=my_digits") in ask(project, METRICS, own_datasets={"my_digits": other}).jobs


@pytest.fixture(scope="module")
def refuted(everything: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A copy whose first study has a mechanism that lies, and what its run says."""
    base = tmp_path_factory.mktemp("refuted")
    shutil.copytree(everything.folder, base / "mine")
    project = Project(base / "mine", everything.home)
    project.configure(**RUN | {"studies": [TYPE1], "seeds": [0], "mechanisms": {TYPE1: ["none", "laplace", "liar"]}})
    code, text = project.snakemake("--keep-going", "--", "results/claims.csv")
    assert code == 1
    return project, text


def test_a_refuted_guarantee_stops_the_claims_and_keeps_what_was_computed(refuted: tuple[Project, str]) -> None:
    project, text = refuted
    assert "error: the guarantee of liar is refuted in " in text
    assert not results(project, "claims.csv").exists()
    page = results(project, "report.html").read_text()
    assert 'role="alert"' in page
    assert "The guarantee of liar is refuted" in page
    standing = pd.read_csv(results(project, "standing.csv")).set_index("mechanism")["standing"].to_dict()
    assert standing == {"none": "nothing guaranteed", "laplace": "audited", "liar": "refuted"}
    assert set(project.metrics()["mechanism"]) == {"none", "laplace", "liar"}
