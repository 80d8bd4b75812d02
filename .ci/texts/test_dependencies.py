"""docs/dependencies.md lists what pyproject.toml installs, no more and no less, and all of it is used."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import packages_distributions

from references import ROOT

PAGE = (ROOT / "docs" / "dependencies.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALLED = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pipeline"]]
# used by name, not by an import: pandas reads Parquet with pyarrow, a notebook's kernel is ipykernel, and `snakemake`
# is the command
NAMED = {"pyarrow": "engine|parquet", "snakemake": r"snakemake\.utils", "ipykernel": "ipykernel_launcher"}


def names(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=!~ ]", requirement)[0] for requirement in requirements]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_page_lists_each_dependency_once() -> None:
    parts = re.split(r"^## (?:The library|The pipeline|Other extras)$", PAGE, flags=re.MULTILINE)[1:]
    rows = [re.findall(r"^\| ([\w-]+) \| [^|]+ \| [^|]+ \|$", part, re.MULTILINE) for part in parts]
    extras = dict(PROJECT["optional-dependencies"])
    wanted = [PROJECT["dependencies"], extras.pop("pipeline"), [one for extra in extras.values() for one in extra]]
    assert [[name for name in part if name != "package"] for part in rows] == [names(part) for part in wanted]


def test_every_dependency_is_used() -> None:
    files = [path for top in ("src", "workflow") for path in (ROOT / top).rglob("*") if path.suffix in {".py", ".smk"}]
    texts = {path: path.read_text() for path in [*files, *(ROOT / "workflow").glob("*.smk")]}
    imported: set[str] = set()
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    known = packages_distributions()
    used = {normal(distribution) for module in imported for distribution in known.get(module, ())}
    unused = [name for name in names(INSTALLED) if normal(name) not in used and name not in NAMED]
    assert unused == []
    for name, pattern in NAMED.items():
        assert any(re.search(pattern, text) for text in texts.values()), name
