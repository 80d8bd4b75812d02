"""A plug-in that claims a hundredth of its true epsilon, in the real workflow: the run stops, and nothing is lost."""

import re
from pathlib import Path

import pandas as pd
import pytest
from conftest import make_project

from tensorldp.mechanisms import names

LIAR = r'''
from tensorldp.mechanisms import Mechanism, register
from tensorldp.curves.discrete import PureCurve
from tensorldp.randomness import add_laplace


@register
class Liar(Mechanism):
    """Laplace noise of a hundredth of the scale that its curve speaks of, and no density to audit it by."""

    name, label, domain_kind = "liar", "Liar", "box"
    formula, source = r"x + \mathrm{Lap}(I R / 100 \varepsilon)^I", "a test"

    def _randomize(self, x, generator):
        return add_laplace(x, self.size * self.domain.width / self.epsilon / 100, generator)

    def squared_error(self):
        return None

    def curve(self):
        return PureCurve(self.epsilon)

    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)
'''


@pytest.mark.workflow
def test_a_refuted_guarantee_stops_claims_and_report_and_keeps_what_was_computed(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "liars.py").write_text(LIAR)
    chosen = {"studies": ["tldp_type1"], "seeds": [0], "training": {"tldp_type1": {"epochs": 1, "limit": 100}}}
    chosen |= {"epsilons": {"tldp_type1": [1]}, "plugins": ["liars"]}
    project.configure(**chosen, mechanisms={"tldp_type1": ["none", "laplace", "liar"]})
    done = project.snakemake("--keep-going")
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "error: the guarantee of liar is refuted in 1 cell" in text
    results = tmp_path / "results"
    banner = (results / "report.html").read_text()
    assert 'role="alert"' in banner
    assert "The guarantee of liar is refuted" in banner
    assert not (results / "claims.csv").exists()
    standing = pd.read_csv(results / "standing.csv").set_index("mechanism")["standing"].to_dict()
    assert standing == {"none": "nothing guaranteed", "laplace": "audited", "liar": "refuted"}
    assert set(pd.read_parquet(results / "metrics.parquet")["mechanism"]) == {"none", "laplace", "liar"}
    drawn = (results / "figures" / "tldp_type1.svg").read_text()
    assert "An audit refutes the guarantee of Liar." in " ".join(re.findall(r"<text[^>]*>(.*?)</text>", drawn))

    project.configure(**chosen, mechanisms={"tldp_type1": ["none", "laplace"]})
    again = project.snakemake()
    assert again.returncode == 0, (again.stdout + again.stderr)[-4000:]
    assert 'role="alert"' not in (results / "report.html").read_text()
    assert "refutes" not in (results / "figures" / "tldp_type1.svg").read_text()


@pytest.mark.workflow
def test_the_target_checks_tries_every_mechanism_of_a_config_and_a_run_takes_account_of_it(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "liars.py").write_text(LIAR)
    chosen = {"studies": ["tldp_type1"], "seeds": [0], "plugins": ["liars"], "check_minutes": 0.01}
    chosen |= {"epsilons": {"tldp_type1": [1]}, "training": {"tldp_type1": {"epochs": 1, "limit": 100}}}
    project.configure(**chosen, mechanisms={"tldp_type1": ["none", "gaussian", "liar"]})
    done = project.snakemake("--", "checks")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    checks = tmp_path / "results" / "checks"
    made = {"gaussian", "gaussian+form=table5", "liar"}
    assert {path.name for path in checks.iterdir() if path.is_dir()} == made
    for name in made:
        page = (checks / name / "verdict.html").read_text()
        assert ("The claim is refuted." in page) == (name == "liar")
        assert "http" not in page
    index = (checks / "index.html").read_text()
    assert index.index("liar") < index.index("gaussian")
    assert project.planned("--", "checks") == []  # all are kept
    others = [rule for rule, _ in project.planned("--", "all_checks")]  # of the whole package, whatever the config has
    assert sorted(others) == ["all_checks"] + ["check"] * (len(names()) - len({"none", "gaussian"}))
    (checks / "gaussian" / "verdict.json").unlink()
    (checks / "index.html").unlink()
    assert [rule for rule, _ in project.planned("--", "checks")] == ["check", "checks"]
