"""A file that is read at a sitting: none is long."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST = 320  # lines
KINDS = (".py", ".smk", ".js", ".sh")


def test_no_file_is_long() -> None:
    files = [path for top in ("src", "workflow", "tests") for path in (ROOT / top).rglob("*") if path.suffix in KINDS]
    assert len(files) > 300
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in files}
    assert not {name: lines for name, lines in lengths.items() if lines > MOST}
