"""workflow/scripts/quotes.py finds a changed number and writes it back."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.quoting.values import Quotes, Table, read_as

ROOT = Path(__file__).parents[2]


def test_check_finds_a_changed_number_and_write_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("quotes_script", ROOT / "workflow" / "scripts" / "quotes.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shutil.copytree(ROOT / "results" / "reference", tmp_path / "results" / "reference")
    (tmp_path / "docs").mkdir()
    for name in ("quotes.yaml", "printed-numbers.md", "evidence.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs")
    mark = "latent model=cnn none inf"
    value = Quotes(read_as(ROOT / "docs" / "quotes.yaml", Table), ROOT / "results" / "reference")(mark)
    right = f"the CNN: <!-- q: {mark} -->{value}<!-- /q -->\n"
    wrong = right.replace(value, "0.999")
    (tmp_path / "README.md").write_text("first line\n" + wrong)
    with pytest.raises(InputError, match=r"1 quoted number\(s\) differ"):
        script.main(["--root", str(tmp_path), "--check"])
    assert f"README.md, line 2: {mark}: written 0.999, computed {value}" in capsys.readouterr().out
    script.main(["--root", str(tmp_path), "--write"])
    assert (tmp_path / "README.md").read_text() == "first line\n" + right
    script.main(["--root", str(tmp_path), "--check"])
    for name, part in (("printed-numbers.md", " seeds"), ("evidence.md", "| desk |")):
        page = tmp_path / "docs" / name
        text = page.read_text()
        page.write_text(text.replace(part, "changed"))
        with pytest.raises(InputError, match=rf"docs/{name} differs"):
            script.main(["--root", str(tmp_path), "--check"])
        script.main(["--root", str(tmp_path), "--write"])
        assert page.read_text() == text
