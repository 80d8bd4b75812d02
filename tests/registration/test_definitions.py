"""Keys read from syntax trees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tensorldp.definitions import definitions
from tensorldp.errors import InputError


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> str:
    """A package whose modules would fail if they were imported."""
    name = f"lettered_{folder.name.replace('-', '_')}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    for module, text in modules.items():
        (folder / name / f"{module}.py").write_text(f"raise SystemExit('imported')\n{text}")
    monkeypatch.syspath_prepend(str(folder))
    return name


def test_every_way_to_write_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = package(
        tmp_path,
        monkeypatch,
        classes='@register\nclass A:\n    name = "a"\n\n@other\n@register\nclass B(A):\n    kind, name = "box", "b"\n',
        annotated='@register\nclass C:\n    name: ClassVar[str] = "c"\n',
        called='@register("d")\ndef build(task): ...\n\n@register("e", more=1)\nclass E: ...\n',
        others='# @register\n@unregister\nclass F:\n    name = "f"\n',
    )
    homes = {"a": "classes", "b": "classes", "c": "annotated", "d": "called", "e": "called"}
    assert definitions(name, "register") == {key: f"{name}.{module}" for key, module in homes.items()}
    assert not any(module.startswith(f"{name}.") for module in sys.modules)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('@register\nclass A:\n    name = "a" + ""\n', "@register on A needs a literal name"),
        ("@register\nclass A: ...\n", "@register on A needs a literal name"),
        ("@register(KEY)\ndef f(): ...\n", "@register on f needs a literal name"),
        ('@register("a")\ndef f(): ...\n\n@register("a")\ndef g(): ...\n', "on g registers 'a' a second time"),
    ],
)
def test_a_key_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        definitions(package(tmp_path, monkeypatch, module=text), "register")


def test_no_package() -> None:
    with pytest.raises(InputError, match=r"json.decoder is not a package"):
        definitions("json.decoder", "register")
