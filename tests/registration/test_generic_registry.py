"""One registry for members of a package, of plug-ins and of entry points, and what the package itself registers."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS, TABLE
from tensorldp.registry import Registry, import_plugins
from tensorldp_papers.claim_registry import CLAIMS
from tensorldp_papers.data import catalogue
from tensorldp_papers.registries import MODELS, PARSERS

Shapes = Registry[Callable[[], str]]
SHAPES = "from tensorldp_test_shapes import SHAPES\n"
STAR = SHAPES + '@SHAPES.register("star")\ndef draw(): return "star"\n'


@pytest.fixture
def shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shapes]:
    """The registry of a package with two members; the modules that tests write find it under `SHAPES`."""
    folder = tmp_path / "shapes_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in ("round", "square"):
        (folder / f"{name}.py").write_text(STAR.replace("star", name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("TENSORLDP_PLUGINS", raising=False)
    before = set(sys.modules)
    registry: Shapes = Registry(
        "shape", group="tensorldp.test_shapes", own={f"shapes_package.{name}": [name] for name in ("round", "square")}
    )
    (tmp_path / "tensorldp_test_shapes.py").touch()
    importlib.import_module("tensorldp_test_shapes").SHAPES = registry  # type: ignore[attr-defined]
    yield registry
    for module in set(sys.modules) - before:
        if module.startswith(("shapes_package", "tensorldp_test_shapes", "mine")):
            del sys.modules[module]


def test_names_import_nothing_and_get_imports_one_module(shapes: Shapes) -> None:
    assert shapes.names() == ["round", "square"]
    assert shapes.module("round") == "shapes_package.round"
    assert not {"shapes_package.round", "shapes_package.square"} & set(sys.modules)
    assert shapes.get("round")() == "round"
    assert "shapes_package.square" not in sys.modules
    assert list(shapes.all()) == ["round", "square"]


def test_a_plugin_is_found_through_the_environment(
    shapes: Shapes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_star.py").write_text(STAR)
    with pytest.raises(InputError, match="unknown shape 'star'"):
        shapes.get("star")
    monkeypatch.setenv("TENSORLDP_PLUGINS", "mine_star")
    assert shapes.get("star")() == "star"
    assert shapes.names() == ["round", "square", "star"]
    assert shapes.module("star") is None
    shapes.remove("star")
    monkeypatch.delenv("TENSORLDP_PLUGINS")
    assert shapes.names() == ["round", "square"]


def test_an_entry_point_is_listed_unloaded_and_loaded_when_asked_for(shapes: Shapes, tmp_path: Path) -> None:
    (tmp_path / "mine_point.py").write_text(STAR)
    info = tmp_path / "mine-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 0.1\n")
    lines = "star = mine_point\nmoon = mine_point\nhole = mine_nowhere"
    (info / "entry_points.txt").write_text(f"[tensorldp.test_shapes]\n{lines}\n")
    assert shapes.names() == ["hole", "moon", "round", "square", "star"]
    assert "mine_point" not in sys.modules
    assert shapes.get("star")() == "star"
    with pytest.raises(InputError, match=r"'mine_point' of tensorldp.test_shapes registers no shape 'moon'"):
        shapes.get("moon")
    with pytest.raises(InputError, match=r"'mine_nowhere' of tensorldp.test_shapes cannot be loaded: ModuleNotFound"):
        shapes.get("hole")


@pytest.mark.parametrize("loaded", [True, False])
def test_a_name_is_taken_whether_or_not_its_module_is_imported(shapes: Shapes, loaded: bool) -> None:
    if loaded:
        shapes.get("round")
    with pytest.raises(InputError, match=r"a shape named 'round' is already registered by shapes_package.round"):
        shapes.add("round", lambda: "oval")
    shapes.add("oval", str)
    shapes.add("oval", str)
    with pytest.raises(InputError, match="a shape named 'oval' is already registered"):
        shapes.add("oval", b"".hex)
    for name in ("round", "no such"):  # only members from outside can be removed
        with pytest.raises(InputError, match="unknown shape from outside"):
            shapes.remove(name)
    with pytest.raises(InputError, match="did you mean 'square'"):
        shapes.get("SQUARE")


def test_a_module_that_is_imported_again_registers_its_members_again(shapes: Shapes, tmp_path: Path) -> None:
    (tmp_path / "mine_twice.py").write_text(STAR)
    import_plugins(["mine_twice"])
    first = shapes.get("star")
    del sys.modules["mine_twice"]
    import_plugins(["mine_twice"])
    assert shapes.get("star") is not first


@pytest.mark.parametrize("name", ["", None, 3, "a/b", "../a", "a b", ".a", "a,b"])
def test_a_member_needs_a_name(shapes: Shapes, name: object) -> None:
    with pytest.raises(InputError, match="a shape needs a name"):
        shapes.add(name, str)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1 / 0", "raise SystemExit(3)", "import no_such_module"])
def test_a_plugin_that_fails_is_one_sentence(shapes: Shapes, tmp_path: Path, text: str) -> None:
    (tmp_path / "mine_broken.py").write_text(text)
    with pytest.raises(InputError, match=r"the plugin 'mine_broken' cannot be imported: [^\n]*$"):
        import_plugins(["mine_broken"])


@pytest.mark.parametrize("name", ["statistics", "sys", "json.tool", "mine_installed"])
def test_a_plugin_named_like_another_module_is_refused_with_both_files(
    shapes: Shapes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "mine_installed.py").touch()  # found first, as `tmp_path` is before the folder of the config
    (tmp_path / "config" / "json").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "config")
    own = tmp_path / "config" / f"{name.replace('.', '/')}.py"
    own.write_text(STAR)
    with pytest.raises(InputError) as told:
        import_plugins([name])
    found = sys.modules[name].__file__ if name != "sys" else "a module of Python itself"
    assert str(told.value) == (
        f"the plugin {name!r} is {found}, which Python finds before {own}: give yours another name"
    )


def test_a_plugin_that_registers_nothing_is_named_with_its_file(shapes: Shapes, tmp_path: Path) -> None:
    (tmp_path / "mine_empty.py").touch()
    for _ in range(2):
        with pytest.raises(InputError) as told:
            import_plugins(["mine_empty"])
        assert str(told.value) == f"the plugin 'mine_empty' is {tmp_path / 'mine_empty.py'}, which registers nothing"


def test_a_plugin_may_be_imported_before_and_may_be_a_package(shapes: Shapes, tmp_path: Path) -> None:
    (tmp_path / "mine_package").mkdir()
    (tmp_path / "mine_package" / "__init__.py").touch()
    (tmp_path / "mine_package" / "inner.py").write_text(STAR)
    importlib.import_module("mine_package.inner")
    import_plugins(["mine_package", "mine_package.inner"])
    assert "star" in shapes


KINDS = [CLAIMS, MECHANISMS, MODELS, PARSERS]


@pytest.mark.parametrize("registry", KINDS, ids=lambda registry: registry.kind)
def test_the_names_read_are_those_registered(registry: Registry[object]) -> None:
    read = registry.names()
    for name in read:
        assert registry.get(name) is not None
    assert sorted(registry._members) == read
    assert {registry.module(name) for name in read} == set(registry.modules())
    assert registry is not PARSERS or read == catalogue.names()


def test_names_are_listed_without_torch() -> None:
    code = "import sys; from tensorldp.mechanism_table import MECHANISMS; "
    code += "from tensorldp_papers.claim_registry import CLAIMS; "
    code += "assert 'tldp-l' in MECHANISMS.names() and 'T08' in CLAIMS.names(); "
    code += "sys.exit('torch' in sys.modules or 'tensorldp.mechanisms' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_table_says_of_a_mechanism_what_its_class_says() -> None:
    for name, listed in TABLE.items():
        cls = MECHANISMS.get(name)
        assert (cls.integer, cls.only_for) == (listed.integer, listed.only_for), name
        assert (cls.label, cls.family, cls.variant_labels) == listed[1:4], name
        assert cls.options() == {"clip", *listed.options}, name
