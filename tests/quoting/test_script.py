"""workflow/scripts/quotes.py tells a changed number with its line, and writes it back."""

import runpy
import shutil
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.quoting.values import Quotes, Table, read_as

ROOT = Path(__file__).parents[2]
ASKED = "latent model=cnn none inf"


def test_check_tells_a_changed_number_and_write_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(ROOT / "workflow" / "scripts" / "quotes.py"))["main"]

    def run(option: str) -> None:
        main(["--root", str(tmp_path), option])

    templates, readme = tmp_path / "docs" / "templates", tmp_path / "README.md"
    page = tmp_path / "docs" / "papers" / "tldp.md"  # in a folder that is not there
    (templates / "papers").mkdir(parents=True)
    (tmp_path / "results").symlink_to(ROOT / "results")
    shutil.copy(ROOT / "docs" / "quotes.yaml", tmp_path / "docs")
    (templates / "README.md.j2").write_text(f'first line\nthe CNN: {{{{ q("{ASKED}") }}}}\n')
    (templates / "papers" / "tldp.md.j2").write_text('{{ printed_table("tldp") }}\n\n{{ verdict_table("tldp") }}\n')
    value = Quotes(read_as(ROOT / "docs" / "quotes.yaml", Table), ROOT / "results" / "reference")(ASKED)
    run("--write")
    right, table = f"first line\nthe CNN: {value}\n", page.read_text()
    assert readme.read_text() == right
    assert " seeds" in table
    assert "| theorems |" in table
    run("--check")
    capsys.readouterr()

    readme.write_text(right.replace(value, "0.999"))
    page.write_text(table + "more\n")
    with pytest.raises(InputError, match=r"2 page\(s\) differ"):
        run("--check")
    told, lines = capsys.readouterr().out, table.count("\n") + 1
    assert f"README.md, line 2: has 'the CNN: 0.999', computed 'the CNN: {value}'" in told
    assert f"docs/papers/tldp.md, {lines + 1} lines, computed {lines}" in told

    run("--write")
    assert (readme.read_text(), page.read_text()) == (right, table)
    run("--check")
