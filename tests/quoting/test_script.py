"""workflow/scripts/quotes.py tells a changed number with its line, and writes it back."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.quoting.values import Quotes, Table, read_as

ROOT = Path(__file__).parents[2]
ASKED = "latent model=cnn none inf"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quotes_script", ROOT / "workflow" / "scripts" / "quotes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A repository with the kept results, and a template of a page in a folder that is not there."""
    shutil.copytree(ROOT / "results" / "reference", tmp_path / "results" / "reference")
    (tmp_path / "docs" / "templates" / "papers").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "quotes.yaml", tmp_path / "docs")
    templates = tmp_path / "docs" / "templates"
    (templates / "README.md.j2").write_text(f'first line\nthe CNN: {{{{ q("{ASKED}") }}}}\n')
    (templates / "papers" / "tldp.md.j2").write_text('{{ printed_table("tldp") }}\n\n{{ verdict_table("tldp") }}\n')
    return tmp_path


def test_check_tells_a_changed_number_and_write_mends_it(
    copy: Path, script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    value = Quotes(read_as(ROOT / "docs" / "quotes.yaml", Table), ROOT / "results" / "reference")(ASKED)
    script.main(["--root", str(copy), "--write"])
    right = f"first line\nthe CNN: {value}\n"
    table = (copy / "docs" / "papers" / "tldp.md").read_text()
    assert (copy / "README.md").read_text() == right
    assert " seeds" in table
    assert "| theorems |" in table
    script.main(["--root", str(copy), "--check"])
    capsys.readouterr()

    (copy / "README.md").write_text(right.replace(value, "0.999"))
    with pytest.raises(InputError, match=r"1 page\(s\) differ"):
        script.main(["--root", str(copy), "--check"])
    told = capsys.readouterr().out
    assert f"README.md, line 2: has 'the CNN: 0.999', computed 'the CNN: {value}'" in told

    (copy / "docs" / "papers" / "tldp.md").write_text(table + "more\n")
    with pytest.raises(InputError, match=r"2 page\(s\) differ"):
        script.main(["--root", str(copy), "--check"])
    lines = table.count("\n") + 1
    assert f"docs/papers/tldp.md, {lines + 1} lines, computed {lines}" in capsys.readouterr().out

    script.main(["--root", str(copy), "--write"])
    assert (copy / "README.md").read_text() == right
    assert (copy / "docs" / "papers" / "tldp.md").read_text() == table
    script.main(["--root", str(copy), "--check"])
