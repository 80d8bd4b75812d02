"""An environment with the library's own dependencies and nothing else: python tests/alone/environment.py FOLDER

Packages are linked from the environment that runs this, so that neither the network nor a second PyTorch is needed.
FOLDER is then a folder of packages for `sys.path`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def normal(name: str) -> str:
    """A distribution's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements: list[str]) -> dict[str, Distribution]:
    """The distributions that are installed to satisfy the requirements, and those that they need, by name."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        wanted = waiting.pop()
        if normal(wanted.name) in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        try:
            found[normal(wanted.name)] = distribution(wanted.name)
        except PackageNotFoundError:
            continue  # what this platform does not have, such as CUDA's packages
        waiting += [Requirement(text) for text in found[normal(wanted.name)].requires or ()]
    return found


def link_dependencies(folder: Path) -> dict[str, Distribution]:
    """Link the library's dependencies, without extras, into a folder; what was linked."""
    folder.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = closure(project["dependencies"])
    for package in found.values():
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            target = Path(str(package.locate_file(top)))
            if target.exists() and not (folder / top).exists():
                (folder / top).symlink_to(target)
    return found


if __name__ == "__main__":
    print(*sorted(link_dependencies(Path(sys.argv[1]))), sep="\n")
