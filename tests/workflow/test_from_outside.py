"""What a user adds beside config.yaml runs in the workflow as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from conftest import Project, make_project

MECHANISM = r'''
from tensorldp.mechanisms import Mechanism, register
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.randomness import add_laplace


@register
class HalfLaplace(Mechanism):
    """Lap(0, 2 I R / epsilon) for each of the I elements: half of the budget is thrown away."""

    name, label, domain_kind = "half-laplace", "Laplace at half its budget", "box"
    formula, source = r"x + \mathrm{Lap}(2 I R / \varepsilon)^I", "a test"

    @property
    def scale(self):
        return 2 * self.size * self.domain.width / self.epsilon

    def _randomize(self, x, generator):
        return add_laplace(x, self.scale, generator)

    def squared_error(self):
        return 2 * self.size * self.scale**2

    def curve(self):
        return LaplaceCurve(self.domain.width / self.scale, self.size)

    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)
'''

OTHERS = """
import numpy as np
from torch import nn

from tensorldp_papers.claims.base import Claim, Finding, claim
from tensorldp_papers.run.method_plan import MEASURE, Factors, MethodPlan, Training
from tensorldp_papers.data.catalogue import Dataset, register_dataset
from tensorldp_papers.data.split import Parsed
from tensorldp.mechanisms import Box, make
from tensorldp_papers.nets import register_model
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.method import register_method
from tensorldp_papers.run.method import MeasureMethod

LIGHTS = Dataset(
    "lights", "tabular", 2, (2,), 0, 1, (40, 20), "https://example.org", "made here", embedded=True
)


@register_dataset(LIGHTS)
def parse_lights(files, options):
    rng = np.random.default_rng(options.seed)
    x, y = rng.random((60, 2), dtype=np.float32), np.arange(60) % 2
    return Parsed((x[:40], y[:40]), (x[40:], y[40:]))


@register_model("two_layers")
def two_layers(task):
    return nn.Sequential(nn.Flatten(), nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, task.classes))


@register_method(MethodPlan("closed_form", Training, Factors, MEASURE))
class ClosedForm(MeasureMethod):
    def mechanism(self, cell):
        return make(cell.mechanism, epsilon=cell.nominal_epsilon, domain=Box(0, 1, (2,)))

    def measure(self, cell, data, seed, device):
        return [{"metric": "squared_error", "value": self.mechanism(cell).squared_error()}]

    def guarantee(self, cell, data):
        return describe(self.mechanism(cell).curve(), "record", [])

    def audited(self, cell, data):
        return self.mechanism(cell), ""


STATEMENT = Claim("L1", "lights", "here", "half of the budget gives four times the squared error", "theorem")


@claim(STATEMENT, expected="a ratio of 4")
def four_times(found):
    table = found.rows("lights_error", "squared_error", mechanism=("laplace", "half-laplace"))
    error = table.groupby("mechanism")["value"].mean()
    ratio = error["half-laplace"] / error["laplace"]
    return Finding(bool(abs(ratio - 4) < 1e-9), f"a ratio of {ratio:g}")
"""

LOOK = """
import sys
from pathlib import Path

from tensorldp_papers.papers.pldp_fl import figures as pldp
from tensorldp_papers.plots.curves import draw_every_mechanism, draw_study
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.plots.style import FURTHER_COLOURS
from tensorldp_papers.papers.tvg.figures import draw_tvg
from tensorldp.mechanisms.catalogue import page
from tensorldp.registry import import_plugins

import_plugins()
table = read_metrics(Path(sys.argv[1]))
names = ("tldp_type1", "tldp_type2", "tldp_type3")
figures = {name: draw_study(table, name, source="TLDP") for name in names}
figures |= {f"{name}_mechanisms": draw_every_mechanism(table, name, source="TLDP") for name in names}
figures["tvg_testing"] = draw_tvg(table, "tvg_testing")
compared = table.replace({"variant": {"model=mlp": "model=mlp,eps=e2,tau=2.0"}})
figures["pldp_fl_comparison"] = pldp.draw_comparison(compared)
for name, figure in figures.items():
    lines = [line for ax in figure.axes for line in ax.get_lines()]
    print(name, *{line.get_color() for line in lines if str(line.get_label()).startswith("Laplace at half its budget")})
print("further colours", *FURTHER_COLOURS)
print(page(["half-laplace"]))
"""

STUDIES: dict[str, dict[str, Any]] = {
    "lights_training": {
        "release": "data",
        "arms": [{"mechanisms": ["none", "half-laplace"]}],
        "factors": {"model": ["two_layers"]},
        "training": {"epochs": 1},
    },
    "lights_error": {
        "release": "data",
        "method": "closed_form",
        "arms": [{"mechanisms": ["laplace", "half-laplace"]}],
    },
}

TYPES = {
    "tldp_type1": {"epochs": 1, "limit": 100},
    "tldp_type2": {"epochs": 1, "limit": 100},
    "tldp_type3": {"rounds": 1, "limit": 100},
    "pldp_fl": {"rounds": 1, "clients": 2, "limit": 100},
    "tvg_testing": {"epochs": 1, "limit": 100, "test_limit": 50},
}


def looks(project: Project) -> list[str]:
    """What LOOK prints of the figures and the catalogue's page of a project with results."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, "results/metrics.parquet"],
        cwd=project.folder,
        env={**os.environ, "TENSORLDP_PLUGINS": "half_laplace", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def write_study(
    project: Project, name: str, *, factors: object = None, training: object = None, **study: object
) -> None:
    scale = {
        "datasets": ["lights"],
        "epsilons": [1],
        "seeds": [0],
        "factors": factors or {},
        "training": training or {},
    }
    about = {"study": name, "title": name, "source": "ours", "figure": "none", "paper": "lights"}
    path = project.folder / "studies" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    shutil.copy(project.folder / "notebooks" / "tldp_type1.ipynb", project.folder / "notebooks" / f"{name}.ipynb")
    path.write_text(yaml.safe_dump({**about, **study, "scales": {"quick": scale}}))


def metrics(project: Project, plugins: list[str], targets: list[str], **settings: object) -> pd.DataFrame:
    settings = {"mechanisms": {}, "epsilons": {}, "training": {}, **settings}
    project.configure(plugins=plugins, seeds=[0], **settings)
    done = project.snakemake("--", "results/metrics.parquet", *targets)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return pd.read_parquet(project.folder / "results" / "metrics.parquet")


@pytest.mark.workflow
def test_a_mechanism_of_forty_lines_runs_in_every_type_of_study(tmp_path: Path) -> None:
    assert len(MECHANISM.strip().splitlines()) <= 40
    project = make_project(tmp_path)
    (tmp_path / "half_laplace.py").write_text(MECHANISM)
    every = {study: ["half-laplace"] for study in TYPES}
    table = metrics(
        project,
        ["half_laplace"],
        [],
        datasets={study: ["digits"] for study in TYPES},
        studies=[*TYPES],
        mechanisms=every,
        epsilons={study: [8] for study in TYPES},
        training=TYPES,
    )
    mine = table[table["mechanism"] == "half-laplace"]
    assert set(mine["study"]) == set(TYPES)
    assert (mine["value"].notna() & mine["guarantee_pure_epsilon"].notna()).all()
    found = looks(project)
    colours = next(line.split()[2:] for line in found if line.startswith("further colours"))
    for name in (*(study for study in TYPES if study != "pldp_fl"), "pldp_fl_comparison"):
        (drawn,) = {line.split()[1] for line in found if line.startswith(f"{name} #")} or {f"no line in {name}"}
        assert drawn in colours
    assert any("half-laplace`" in line and "| Laplace at half its budget |  | pure |" in line for line in found)
    once = mine[mine["study"].isin(["tldp_type1", "tldp_type2"])]  # one release of one record, nominally at 8
    assert once["guarantee_pure_epsilon"].tolist() == pytest.approx([4.0] * len(once))


@pytest.mark.workflow
def test_a_data_set_a_model_a_method_and_a_claim_from_outside(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "half_laplace.py").write_text(MECHANISM)
    (tmp_path / "lights.py").write_text(OTHERS)
    for name, study in STUDIES.items():
        write_study(project, name, **study)
    table = metrics(project, ["half_laplace", "lights"], ["results/claims.csv"], studies=[*STUDIES])
    trained = table[table["study"] == "lights_training"]
    assert set(trained["dataset"]) == {"lights"}
    assert set(trained["variant"]) == {"model=two_layers"}
    assert set(trained["mechanism"]) == {"none", "half-laplace"}
    error = table[(table["study"] == "lights_error")].set_index("mechanism")["value"]
    assert error["laplace"] == pytest.approx(2 * 2 * 2.0**2)  # I 2 b^2 with b = I R / epsilon
    assert error["half-laplace"] == pytest.approx(2 * 2 * 4.0**2)
    claims = pd.read_csv(tmp_path / "results" / "claims.csv").set_index("id")
    assert claims.loc["L1", "verdict"] == "reproduced"
    assert claims.loc["L1", "observed"] == "a ratio of 4"


@pytest.mark.workflow
def test_a_study_without_a_notebook_ends_in_one_sentence(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (project.folder / "notebooks" / "tldp_type2.ipynb").unlink()
    done = project.snakemake("--dry-run")
    assert done.returncode == 1
    text = done.stdout + done.stderr
    assert "error: the study tldp_type2 has no notebook: add notebooks/tldp_type2.ipynb" in text
    assert "Traceback" not in text
