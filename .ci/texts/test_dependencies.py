"""docs/dependencies.md and envs/lock.txt have what pyproject.toml installs, and all of it is used."""

from __future__ import annotations

import ast
import re
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as normal
from texts import data, files, read, tree

PROJECT = data("pyproject.toml")["project"]
EXTRAS = PROJECT["optional-dependencies"]
# used by name, not by an import: pandas reads Parquet with pyarrow, a notebook's kernel is ipykernel, and `snakemake`
# is the command
NAMED = {"pyarrow": "engine|parquet", "snakemake": r"snakemake\.utils", "ipykernel": "ipykernel_launcher"}
ENTRY = re.compile(r"^([^\s#][^\\\n]*?) \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", re.MULTILINE)
LOCK = read("envs/lock.txt")
LOCKED = [Requirement(text) for text in ENTRY.findall(LOCK)]
HERE = {normal(one.name): one for one in LOCKED if one.marker is None or one.marker.evaluate()}


def names(requirements: list[str]) -> list[str]:
    return [Requirement(text).name for text in requirements]


def test_the_page_lists_each_dependency_once() -> None:
    parts = re.split(r"\n## (?:The library|The pipeline|Other extras)\n", read("docs/dependencies.md"))[1:]
    rows = [re.findall(r"^\| (?!package )([\w-]+) \| [^|]+ \| [^|]+ \|$", part, re.MULTILINE) for part in parts]
    others = [one for name, extra in EXTRAS.items() if name != "pipeline" for one in extra]
    assert rows == [names(PROJECT["dependencies"]), names(EXTRAS["pipeline"]), names(others)]


def test_every_dependency_is_used() -> None:
    imported: set[str] = set()
    for node in (node for path in files("src", "workflow", suffixes={".py"}) for node in ast.walk(tree(path))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.add(node.module.split(".")[0])
    known = packages_distributions()
    used = {normal(distribution) for module in imported for distribution in known.get(module, ())}
    installed = {normal(name) for name in names([*PROJECT["dependencies"], *EXTRAS["pipeline"]])}
    assert installed - used - NAMED.keys() == set()
    text = "\n".join(map(read, files("src", "workflow", suffixes={".py", ".smk"})))
    assert [name for name, pattern in NAMED.items() if not re.search(pattern, text)] == []


def test_every_locked_requirement_has_hashes() -> None:
    lines = [line for line in LOCK.splitlines() if line and not line.startswith(("#", " "))]
    assert len(lines) == len(LOCKED) > 100


def test_locked_versions_are_the_pinned_ones_and_everything_is_locked() -> None:
    pinned = {normal(name): f"=={version}" for name, version in re.findall(r"(.+)==(.+)", read("envs/constraints.txt"))}
    versions = {name: str(one.specifier) for name, one in HERE.items()}
    assert {name: version for name, version in versions.items() if pinned.get(name, version) != version} == {}
    wanted = [*PROJECT["dependencies"], *EXTRAS["pipeline"], *EXTRAS["dev"], *EXTRAS["slurm"]]
    assert {normal(name) for name in names(wanted)} <= versions.keys()


def needed(name: str, extras: frozenset[str]) -> set[tuple[str, frozenset[str]]]:
    """The packages, with their extras, that an installed one needs; nothing where it is not installed."""
    try:
        lines = map(Requirement, requires(name) or ())
    except PackageNotFoundError:
        return set()
    wanted = (one for one in lines if not one.marker or any(one.marker.evaluate({"extra": e}) for e in {"", *extras}))
    return {(normal(one.name), frozenset(one.extras)) for one in wanted}


def test_nothing_that_a_locked_package_needs_is_left_out() -> None:
    # LOCK=1 installs without dependencies, as pip would look for smart-open[http] beside the locked smart-open.
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = {(str(name), frozenset[str]()) for name in HERE}
    while waiting:
        seen |= waiting
        waiting = {need for name, extras in waiting for need in needed(name, extras)} - seen
    assert len(seen) > 100
    assert {name for name, _ in seen} <= HERE.keys()
