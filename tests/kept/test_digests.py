"""Digests of settings and of code, now and at a commit."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from kept_runs import ROOT, tiny

from tensorldp.kept.digests import scripts_of, settings_digest, source_digests, training_text


def test_settings_count_and_seeds_and_precision_do_not() -> None:
    (cell, other, *_) = tiny()
    assert settings_digest(replace(cell, seeds=(7,), precision="bfloat16")) == settings_digest(cell)
    assert settings_digest(other) != settings_digest(cell)
    assert training_text(other) == training_text(cell)
    (longer, *_) = tiny(training={"tldp_type1": {"epochs": 9}})
    assert settings_digest(longer) != settings_digest(cell)
    assert training_text(longer) != training_text(cell)


def test_a_setting_with_its_default_counts_as_absent() -> None:
    (cell, *_) = tiny()
    default = type(cell.training).model_fields["users"].default
    (same, *_) = tiny(training={"tldp_type1": {"users": default}})
    assert settings_digest(same) == settings_digest(cell)


def test_scripts_are_those_that_the_numbers_pass_through() -> None:
    (cell, *_) = tiny()
    assert scripts_of(cell) == ("perturb", "train", "evaluate")
    assert scripts_of(replace(cell, release="features"))[0] == "extract_features"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits: the package, and a change of one mechanism."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("src/tensorldp", "workflow/scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("tag", "first")
    path = folder / "src/tensorldp/mechanisms/mvg.py"
    path.write_text(path.read_text() + "\n\nCHANGED = 1\n")
    git("commit", "-q", "-a", "-m", "second")
    return folder


def test_a_commit_has_the_digests_of_its_own_code(checkout: Path) -> None:
    cells = tiny()
    now, then = source_digests(cells, checkout), source_digests(cells, checkout, "first")
    assert all(then.values())
    assert {cell.mechanism for cell in cells if now[cell] != then[cell]} == {"mvg"}


def test_a_commit_that_is_not_to_be_had_has_none(checkout: Path) -> None:
    cells = tiny()[:1]
    for commit in ("0123456789ab", "unknown", "abc+", "--output=x"):
        assert set(source_digests(cells, checkout, commit).values()) == {""}
    assert not (checkout / "x").exists()


def test_the_readers_of_code_import_nothing_that_an_older_commit_may_lack() -> None:
    """They are put into the trees of older commits, and must run there."""
    own = ("sources", "syntax")
    for name in own:
        for node in ast.walk(ast.parse((ROOT / "src" / "tensorldp" / "config" / f"{name}.py").read_text())):
            found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            allowed = {*sys.stdlib_module_names, *(f"tensorldp.config.{other}" for other in own)}
            assert all(one in allowed or one.split(".")[0] in allowed for one in found), (name, found)
