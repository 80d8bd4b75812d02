"""What Snakemake's catalogue and its users expect to find, and that it is true."""

from __future__ import annotations

import re

import pytest
import yaml
from conftest import ROOT, Project

from tensorldp.config.settings import Settings

RULE = re.compile(r"^( *)rule(?: \w+)?:\n((?:\1 +.*\n|\n)+)", re.MULTILINE)
RULES = {
    f"{path.stem}-{number}": match[2]
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk"))
    for number, match in enumerate(RULE.finditer(path.read_text() + "\n"))
    if "shell:" in match[2]
}


def test_rules_are_found() -> None:
    text = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    assert len(RULES) == len(re.findall(r"^ +shell:$", text, re.MULTILINE)) > 20


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_states_its_threads_and_its_time(rule: str) -> None:
    assert re.search(r"^ +threads: \d+", RULES[rule], re.MULTILINE)
    assert re.search(r"^ +runtime=.+,", RULES[rule], re.MULTILINE)


def test_the_guide_has_every_key_of_the_config_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", (ROOT / "config" / "README.md").read_text(), re.MULTILINE)
    assert [key for key, _, _ in rows] == list(Settings.model_fields)
    for key, _, default in rows:
        field = Settings.model_fields[key]
        if field.is_required():
            assert default == "required"
        elif isinstance(field.default, str | float):
            assert default.split(":")[0].strip("`") == str(field.default).removesuffix(".0"), key


def test_the_catalogue_is_told_what_it_asks_for() -> None:
    entry = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    assert entry.keys() == {"usage"}
    assert entry["usage"].keys() == {"mandatory-flags", "software-stack-deployment", "report"}
    assert entry["usage"]["mandatory-flags"].keys() == {"desc", "flags"}
    assert entry["usage"]["software-stack-deployment"] == {"conda": False}


@pytest.mark.workflow
def test_both_snakefiles_make_the_same(project: Project) -> None:
    project.configure(studies=["tldp_type2"], mechanisms={"tldp_type2": ["none", "tldp-g"]}, training={}, epsilons={})
    top, inner = project.planned(), project.planned("-s", "workflow/Snakefile")
    assert top == inner
    assert {"all", "report", "train"} <= {rule for rule, _ in top}
