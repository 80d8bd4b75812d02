"""What Snakemake's catalogue and its users expect to find, and that it is true."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from references import ROOT

from tensorldp_papers.run.settings import Settings

RULES = ROOT / "workflow" / "rules"
RULE = re.compile(r"^( *)rule(?: (\w+))?:\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


def rules(path: Path) -> dict[str, str]:
    """The texts of a file's rules that run a job."""
    found = [match.groups() for match in RULE.finditer(path.read_text() + "\n")]
    return {name or f"rule {i} of {path.name}": text for i, (_, name, text) in enumerate(found) if "shell:" in text}


def test_every_job_has_a_log_and_an_environment() -> None:
    found = {name: text for path in RULES.glob("*.smk") for name, text in rules(path).items()}
    assert len(found) > 20
    for name, text in found.items():
        assert re.search(r"^ +log: ", text, re.MULTILINE), name
        assert re.search(r"^ +conda: ", text, re.MULTILINE), name


def test_jobs_on_cells_state_their_memory_and_a_time_that_grows_with_their_cells() -> None:
    found = {name: text for name, text in rules(RULES / "cells.smk").items() if "localrule" not in text}
    assert found.keys() == {"perturb", "train", "train_shared", "evaluate", "measure", "privacy"}
    for name, text in found.items():
        assert re.search(r"^ +resources: .*\bmem_mb=\d+, runtime=minutes\(\d+\)", text, re.MULTILINE), name


def test_the_guide_has_every_key_of_the_config_with_its_default() -> None:
    text = (ROOT / "config" / "README.md").read_text()
    table = text[text.index("| `scale` |") :].split("\n\n")[0]  # another one has the keys of clients
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", table, re.MULTILINE)
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
