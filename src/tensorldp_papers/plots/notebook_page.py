"""The page of a notebook that was run, which needs no network. It starts fast: every figure's job makes one."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tensorldp.errors import InputError
from tensorldp.pages import rendered

INTO_REPOSITORY = re.compile(r'<a href="\.\./[^"]*">(.*?)</a>')  # the page of a run may lie elsewhere


def _output(output: dict[str, Any]) -> str:
    """Returns a picture, a table or the text of an output."""
    data = output.get("data", {})
    if "image/png" in data:
        png = "".join(data["image/png"]).strip()
        alt = output.get("metadata", {}).get("image/png", {}).get("alt", "figure of this notebook")
        return f'<img class="light" alt="{html.escape(alt)}" src="data:image/png;base64,{png}">'
    if "text/html" in data:
        table = "".join(data["text/html"])
        return f'<div class="scroll" role="group" aria-label="Table of this notebook" tabindex="0">{table}</div>'
    text = output.get("text") or data.get("text/plain") or ""
    return f'<pre tabindex="0">{html.escape("".join(text))}</pre>' if text else ""


def page(notebook: dict[str, Any], title: str) -> str:
    """Builds the page of a notebook, given its JSON in format 4."""
    words = MarkdownIt("commonmark")
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(INTO_REPOSITORY.sub(r"\1", words.render(source)))
        elif cell["cell_type"] == "code":
            code = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
            parts += filter(None, (_output(output) for output in cell.get("outputs", [])))
            parts.append(f'<details><summary>Code</summary><pre tabindex="0">{code}</pre></details>')
    light, dark = (Markup(HtmlFormatter(style=style).get_style_defs("pre")) for style in ("default", "github-dark"))
    shown = [Markup(part) for part in parts]
    folder = files("tensorldp_papers.plots")
    return rendered(folder, "notebook.html", title=title, parts=shown, colours=light, dark_colours=dark)


def page_of(path: Path) -> str:
    """Builds the page of the notebook in a file.

    Raises:
        InputError: if the file is missing or is no notebook.
    """
    try:
        notebook = json.loads(path.read_text())
        return page(notebook, path.stem)
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a notebook that can be read") from None
