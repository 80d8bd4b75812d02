"""envs/lock.txt has the pinned versions, and a hash for each file that pip may take."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement
from references import ROOT
from test_dependencies import PROJECT, names, normal

ENTRY = re.compile(
    r"^(?P<requirement>[^\s#][^\\\n]*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)
LINUX = {
    "python_version": "3.11",
    "python_full_version": "3.11.9",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "os_name": "posix",
}


def locked() -> list[Requirement]:
    return [Requirement(entry["requirement"]) for entry in ENTRY.finditer((ROOT / "envs" / "lock.txt").read_text())]


def test_every_requirement_has_hashes() -> None:
    text = (ROOT / "envs" / "lock.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", " "))]
    assert len(lines) == len(locked()) > 100


def test_versions_are_the_pinned_ones() -> None:
    lines = (ROOT / "envs" / "constraints.txt").read_text().splitlines()
    pinned = {normal(name): version for name, version in (line.split("==") for line in lines if line)}
    here = [one for one in locked() if one.marker is None or one.marker.evaluate(LINUX)]
    versions = {normal(one.name): str(one.specifier).removeprefix("==") for one in here}
    assert {name: version for name, version in versions.items() if pinned.get(name, version) != version} == {}
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["pipeline"], *extras["dev"], *extras["slurm"]]
    assert {normal(name) for name in names(wanted)} <= versions.keys()


def _needed(name: str, extras: frozenset[str]) -> set[tuple[str, frozenset[str]]]:
    """The packages, with their extras, that an installed one needs; nothing where it is not installed."""
    try:
        lines = [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return set()
    return {
        (normal(line.name), frozenset(line.extras))
        for line in lines
        if line.marker is None or any(line.marker.evaluate(LINUX | {"extra": extra}) for extra in {"", *extras})
    }


def test_nothing_that_a_locked_package_needs_is_left_out() -> None:
    # LOCK=1 installs without dependencies, as pip would look for smart-open[http] beside the locked smart-open.
    here = {normal(one.name) for one in locked() if one.marker is None or one.marker.evaluate(LINUX)}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = {(name, frozenset[str]()) for name in here}
    while waiting:
        seen |= waiting
        waiting = {need for name, extras in waiting for need in _needed(name, extras)} - seen
    assert len(seen) > 100
    assert {name for name, _ in seen} <= here
