"""The recipes of the page about libraries are short, pin what they install and have the verdicts that it says.

Each runs in an environment that has this package with its own requirements and nothing else, so that a recipe installs
all that it needs. Half the noise, or a gradient in place of another, is refuted in the same way, and no recipe is one
that would refute everything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from importlib import metadata
from pathlib import Path

import pytest
from blocks import Block, blocks
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "checking-a-library.md"
RECIPES = blocks(PAGE)
sys.path.insert(0, str(ROOT / "benchmarks" / "libraries"))
import run as survey  # noqa: E402

LIBRARIES = {"opendp", "diffprivlib", "pure-ldp", "multi-freq-ldpy", "opacus", "flwr", "pfl", "jax-privacy"}
MOST_LINES = 10
VERDICTS = {"# refuted": 1, "# not refuted": 0}  # the last line of a recipe, and the exit code that it stands for
CHECK = "PYTHONPATH=lib:$PYTHONPATH tensorldp check"
SUBSETS = "multi_freq_ldpy.pure_frequency_oracles.SS"
UNORDERED = f"""cat > mine.py <<'END'
from {SUBSETS} import SS_Client
def unordered(input_data, **options): return set(SS_Client(input_data, **options))
END
"""
OTHERWISE = {  # what makes an honest recipe a lie of twice its epsilon, and the recipe that is refuted an honest one
    "pure-ldp": [("--option epsilon=1 ", "--option epsilon=2 ")],
    "multi-freq-ldpy": [(f"{CHECK} {SUBSETS}:SS_Client", f"{UNORDERED}{CHECK} mine:unordered")],
    "diffprivlib": [("--option epsilon=1 ", "--option epsilon=2 ")],
    "opendp": [("scale=1.0", "scale=0.5")],
    "opacus": [("noise_multiplier=sigma,", "noise_multiplier=sigma / 2,"), ("--ball 0.5 ", "--ball 1 ")],
    "flwr": [("1.0, 1.0, 0.01)", "1.0, 4.0, 0.01)")],  # at half its noise epsilon is 1.29, and is not refuted in time
    "pfl": [("epsilon=1.0)", "epsilon=2.0)"), ("--shape 1 ", "--shape 1 --box -1 1 ")],
    "jax-privacy": [("stddev=sigma,", "stddev=sigma / 2,"), ("--ball 0.5 ", "--ball 1 ")],
}
each_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"line {recipe.line}")


def installed(recipe: Block) -> list[str]:
    """What a recipe installs, in the way in which the survey of libraries does."""
    install, _, _ = recipe.text.replace("\\\n", " ").partition("\n")
    start = f"python {' '.join(survey.INSTALL)} lib "
    assert install.startswith(start)
    return install.removeprefix(start).split()


def library(recipe: Block) -> str:
    """The name of the library that a recipe checks."""
    return installed(recipe)[0].partition("==")[0]


def test_every_library_has_a_recipe_and_a_lie_is_among_them() -> None:
    assert set(map(library, RECIPES)) == LIBRARIES == OTHERWISE.keys()
    lies = [one for one in RECIPES if "LHClient" in one.text and "epsilon=8 " in one.text]
    assert [one.text.splitlines()[-1] for one in lies] == ["# refuted"]


@each_recipe
def test_a_recipe_has_ten_lines_at_most_and_pins_what_it_installs(recipe: Block) -> None:
    lines = recipe.text.splitlines()
    assert lines[-1] in VERDICTS
    assert len(lines) - 1 <= MOST_LINES
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", pin) for pin in installed(recipe))


def required(*names: str) -> set[str]:
    """The distributions that these need, themselves included, as far as they are installed."""
    found: set[str] = set()
    wanted = list(names)
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop()).lower()
        if name in found:
            continue
        try:
            needs = map(Requirement, metadata.requires(name) or [])
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        wanted += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip and what this package requires, linked from ours, as PyTorch alone is gigabytes."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for name in required("tensorldp", "pip") - {"tensorldp"}:
        for file in metadata.files(name) or ():
            top = Path(str(file)).parts[0]
            if top != ".." and top != "__pycache__" and not (packages / top).exists():
                (packages / top).symlink_to(Path(str(metadata.distribution(name).locate_file(top))))
    (packages / "ours.pth").write_text(f"{ROOT / 'src'}\n")
    command = folder / "bin" / "tensorldp"
    command.write_text(f'#!/bin/sh\nexec "{folder}/bin/python" -m tensorldp "$@"\n')
    command.chmod(0o755)
    return folder


def verdict(text: str, environment: Path, folder: Path) -> tuple[int, str]:
    """The exit code and the output of a recipe in that environment."""
    path = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ended = subprocess.run(
        ["bash", "-ec", text],
        cwd=folder,
        env=variables | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert re.search(r"^\S+: (not )?refuted", ended.stdout, re.MULTILINE | re.IGNORECASE), said
    return ended.returncode, said


@pytest.mark.weekly
def test_a_recipe_has_nothing_but_what_this_package_requires(environment: Path) -> None:
    """So that what else a recipe needs is among its pins."""
    code = "import importlib.util as u; print([n for n in ('torch', 'pandas', 'sklearn', 'absl') if u.find_spec(n)])"
    said = subprocess.run([environment / "bin" / "python", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "['torch']\n"


@pytest.mark.weekly
@each_recipe
def test_a_recipe_has_the_verdict_that_the_page_says_and_another_one_for_a_lie(
    recipe: Block, environment: Path, tmp_path: Path
) -> None:
    """In a folder of its own; packages come from the index. With the lie in its place the same call is refuted."""
    *_, last = recipe.text.splitlines()
    found, said = verdict(recipe.text, environment, tmp_path)
    assert found == VERDICTS[last], said
    _, _, without_install = recipe.text.replace("\\\n", " ").partition("\n")
    for before, after in OTHERWISE[library(recipe)]:
        if before not in recipe.text:  # the page's own lie, whose honest form is the recipe above it
            continue
        assert without_install.count(before) == 1
        found, said = verdict(without_install.replace(before, after), environment, tmp_path)
        assert found == 1 - VERDICTS[last], said
