"""Which source files a job depends on."""

import subprocess
import sys
from pathlib import Path

import pytest

from tensorldp.config import sources
from tensorldp.config.methods import METHODS
from tensorldp.config.sources import AROUND, imported, source_digest

# Python loads these with any curve, because `privacy/__init__.py` shows them; no module that uses a curve calls them
SHOWN = ("privacy/auditing/", "privacy/composition.py", "privacy/randomizer.py")
LOADED = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(name)
print(*(name for name in sys.modules if name.startswith("tensorldp.")))
"""


def test_nothing_that_the_methods_load_is_missed() -> None:
    """Python itself is the oracle: what the modules import while they load is among what is found in their text."""
    modules = [plan.module for plan in METHODS.values()]
    names = [module.removesuffix(".py").replace("/", ".") for module in modules]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *(f"tensorldp.{name}" for name in names)],
        capture_output=True,
        text=True,
        check=True,
    )
    files = {f"{name.removeprefix('tensorldp.').replace('.', '/')}.py" for name in done.stdout.split()}
    files = {file for file in files if (sources.ROOT / file).is_file() and not file.startswith((*AROUND, *SHOWN))}
    found = {file for module in modules for file in imported((module,))}
    assert len(files) > 40
    assert files - found == set()


@pytest.mark.parametrize(
    ("module", "needs"),
    [
        ("studies/methods/pldp_synthetic.py", "training/mean.py"),
        ("studies/methods/private_sgd.py", "mechanisms/tvg_budget.py"),
        ("studies/methods/private_sgd.py", "privacy/curves/dp_sgd.py"),
        ("studies/methods/testing.py", "privacy/auditing/ceiling.py"),
        ("studies/audit.py", "privacy/auditing/likelihood.py"),  # `from tensorldp import privacy`
    ],
)
def test_what_imports_reach_is_found(module: str, needs: str) -> None:
    assert needs in imported((module,))


def test_the_digest_changes_with_any_imported_file_and_with_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("from tensorldp.b import (\n    x,\n    y as z,\n)\n")
    (tmp_path / "b.py").write_text("def f():\n    from tensorldp import c\n")
    (tmp_path / "c.py").write_text("")
    (tmp_path / "other.py").write_text("")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)

    def digest() -> str:
        for cached in (sources._imports, sources._sha256, imported, source_digest):
            cached.cache_clear()
        return source_digest(("a.py",), plugins=("mine",))

    seen = [digest()]
    assert imported(("a.py",)) == ["a.py", "b.py", "c.py"]
    assert imported(("a.py",), ("b.py",)) == ["a.py"]  # with what only it imports
    (tmp_path / "other.py").write_text("1")
    assert digest() == seen[0]
    for name in ("a.py", "b.py", "c.py", "mine.py"):
        with (tmp_path / name).open("a") as file:
            file.write("# changed\n")
        seen.append(digest())
    assert len(set(seen)) == 5
    for cached in (sources._imports, sources._sha256, imported, source_digest):
        cached.cache_clear()
