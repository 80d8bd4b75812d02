"""Compiling C++ for this machine: once, and with one sentence where it cannot be."""

import stat
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run import native


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(native, "build", native.build.__wrapped__)
    monkeypatch.setattr(native, "available", native.available.__wrapped__)


def source(folder: Path, text: str) -> Path:
    path = folder / "code.cpp"
    path.write_text(text)
    return path


@pytest.mark.skipif(native.compiler() is None, reason="no C++ compiler here")
def test_what_is_compiled_is_kept_until_it_changes_and_a_mistake_is_told(tmp_path: Path) -> None:
    path = source(tmp_path, 'extern "C" int one() { return 1; }')
    made = native.build(path)
    then = made.stat().st_mtime_ns
    assert native.build(path) == made
    assert made.stat().st_mtime_ns == then
    assert [found.name for found in made.parent.iterdir()] == [made.name]
    assert native.build(source(tmp_path, 'extern "C" int one() { return 2; }')) != made
    path = source(tmp_path, "this is no C++")
    with pytest.raises(InputError, match=r"the C\+\+ compiler .* cannot compile code.cpp: "):
        native.build(path)
    assert not native.available(path)


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    path = source(tmp_path, "")
    assert native.compiler() is None
    with pytest.raises(InputError, match=r"there is no C\+\+ compiler"):
        native.build(path)
    assert not native.available(path)


def test_a_cache_that_others_can_write_or_none_can_make_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = native._cache_folder()
    assert own == tmp_path / "cache" / "tensorldp"
    own.chmod(0o777)
    temporary = native._cache_folder()
    assert temporary.parent == tmp_path
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
    assert native._cache_folder() == temporary
    temporary.rmdir()
    temporary.symlink_to(own)  # somebody was there first
    assert native._cache_folder() not in (own, temporary)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert native._cache_folder().parent == tmp_path
