"""The recipes of the page about libraries are short, pin what they install and have the verdicts that it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import Block, blocks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "checking-a-library.md"
RECIPES = blocks(PAGE)
LIBRARIES = {"opendp", "diffprivlib", "pure-ldp", "multi-freq-ldpy", "opacus", "flwr", "pfl", "jax-privacy"}
MOST_LINES = 10
VERDICTS = {"# refuted": 1, "# not refuted": 0}  # the last line of a recipe, and the exit code that it stands for
each_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"line {recipe.line}")


def installed(recipe: Block) -> list[str]:
    """What a recipe installs."""
    joined = recipe.text.replace("\\\n", " ")
    found = re.match(r"python -m pip install --no-deps --target lib (.*)\n", joined)
    assert found
    return found[1].split()


def test_every_library_has_a_recipe_and_a_lie_is_among_them() -> None:
    assert {installed(recipe)[0].partition("==")[0] for recipe in RECIPES} == LIBRARIES
    lies = [one for one in RECIPES if "LHClient" in one.text and "epsilon=8 " in one.text]
    assert [one.text.splitlines()[-1] for one in lies] == ["# refuted"]


@each_recipe
def test_a_recipe_has_ten_lines_at_most_and_pins_what_it_installs(recipe: Block) -> None:
    lines = recipe.text.splitlines()
    assert lines[-1] in VERDICTS
    assert len(lines) - 1 <= MOST_LINES
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", pin) for pin in installed(recipe))


@pytest.mark.weekly
@each_recipe
def test_a_recipe_has_the_verdict_that_the_page_says(recipe: Block, tmp_path: Path) -> None:
    """In a folder of its own; packages come from the index."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["bash", "-ec", recipe.text],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert ended.returncode == VERDICTS[recipe.text.splitlines()[-1]], ended.stdout + ended.stderr
    assert re.search(r"^\S+: (not )?refuted", ended.stdout, re.MULTILINE | re.IGNORECASE), ended.stdout
