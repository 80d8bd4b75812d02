"""Where the rooms lie: ours in `papers`, and those of plug-ins; `rooms` has what they say of themselves.

A plug-in that is a package is a room, which may have a room.yaml like ours.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tensorldp.registry import plugin_modules
from tensorldp_papers.strict import read_yaml

OURS = Path(__file__).parent / "papers"
ROOM = "room.yaml"


@cache
def own_folders() -> dict[str, Path]:
    """Returns the folders of this package's rooms by module, sorted."""
    found = sorted(path.parent for path in OURS.glob(f"*/{ROOM}"))
    return {f"tensorldp_papers.papers.{folder.name}": folder for folder in found}


def _outside() -> dict[str, Path]:
    folders = {name: Path.cwd() / name.replace(".", "/") for name in plugin_modules()}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}


def room_folders() -> dict[str, Path]:
    """Returns the folders of all rooms by module: ours, then those of plug-ins."""
    return own_folders() | _outside()


def _files(name: str, folders: dict[str, Path]) -> dict[str, Path]:
    return {module: folder / name for module, folder in folders.items() if (folder / name).is_file()}


@cache
def _own_files(name: str) -> dict[str, Path]:
    return _files(name, own_folders())


def room_files(name: str) -> dict[str, Path]:
    """Returns the files of this name by module of their room.

    The digest of a job's code has the files of our rooms if a module that it imports calls this.
    """
    return _own_files(name) | _files(name, _outside())


def own_methods() -> dict[str, list[str]]:
    """Returns the methods of our rooms by the module that registers them; no digest of code counts the whole files."""
    return {
        f"{module}.settings": read_yaml(folder / ROOM, "the room file").get("methods", [])
        for module, folder in own_folders().items()
    }
