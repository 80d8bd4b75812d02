"""The page of a notebook that was run, which needs no network. It starts fast: every figure's job makes one."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tensorldp.errors import InputError

STYLE = """:root { color-scheme: light; }
body { font: 1rem/1.55 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 62rem; margin: 0 auto;
  padding: 1rem 1.25rem 3rem; }
img { max-width: 100%; height: auto; } pre { overflow-x: auto; font-size: .85rem; } summary { cursor: pointer; }
p, li { max-width: 46rem; } details { color: #4d4d4d; margin: .25rem 0 1rem; } a { color: #0b4f94; }
"""


def _output(output: dict[str, Any]) -> str:
    """A picture or the text of an output."""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="figure of this notebook" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    text = output.get("text") or data.get("text/plain") or ""
    return f'<pre tabindex="0">{html.escape("".join(text))}</pre>' if text else ""


def page(notebook: dict[str, Any], title: str) -> str:
    """The page of a notebook.

    Args:
        notebook: its JSON, format 4.
        title: of the page.
    """
    words = MarkdownIt("commonmark")
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(words.render(source))
        elif cell["cell_type"] == "code":
            code = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
            parts += filter(None, (_output(output) for output in cell.get("outputs", [])))
            parts.append(f'<details><summary>Code</summary><pre tabindex="0">{code}</pre></details>')
    colours = HtmlFormatter(style="default").get_style_defs("pre")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f'<link rel="icon" href="data:,">\n<style>\n{STYLE}{colours}\n</style>\n</head>\n<body>\n'
        f'<p><a href="../report.html">Report of this run</a></p>\n<main>\n{"".join(parts)}\n</main>\n</body>\n</html>\n'
    )


def page_of(path: Path) -> str:
    """The page of the notebook in a file.

    Raises:
        InputError: if the file is missing or is no notebook.
    """
    try:
        notebook = json.loads(path.read_text())
        return page(notebook, path.stem)
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a notebook that can be read") from None
