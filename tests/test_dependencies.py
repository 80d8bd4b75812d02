"""docs/dependencies.md lists what pyproject.toml installs, no more and no less, and all of it is used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

from references import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# used by name, not by an import: pandas reads Parquet with pyarrow, `snakemake` is the command
NAMED = {"pyarrow": 'engine|parquet', "snakemake": r"snakemake\.utils"}  # fmt: skip


def names(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=!~ ]", requirement)[0] for requirement in requirements]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_page_lists_each_dependency_once() -> None:
    base, extras = (ROOT / "docs" / "dependencies.md").read_text().split("## Extras")
    rows = [re.findall(r"^\| ([\w-]+) \| [^|]+ \| [^|]+ \|$", part, re.MULTILINE) for part in (base, extras)]
    assert [name for name in rows[0] if name != "package"] == names(PROJECT["dependencies"])
    optional = [name for extra in PROJECT["optional-dependencies"].values() for name in names(extra)]
    assert [name for name in rows[1] if name != "package"] == optional


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
    unused = [name for name in names(PROJECT["dependencies"]) if normal(name) not in used and name not in NAMED]
    assert unused == []
    for name, pattern in NAMED.items():
        assert any(re.search(pattern, text) for text in texts.values()), name


def test_mechanisms_and_curves_load_none_of_the_pipelines_packages() -> None:
    code = (
        "import sys\nfrom tensorldp import mechanisms, privacy\n"
        "[mechanisms.mechanism_class(name) for name in mechanisms.names()]\n"
        "heavy = {'torchvision', 'pandas', 'sklearn', 'skimage', 'pydantic', 'matplotlib', 'PIL', 'opacus', 'spacy',"
        " 'dp_accounting', 'snakemake', 'papermill'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
