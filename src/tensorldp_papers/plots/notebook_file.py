"""Files of notebooks: whether one can be run with parameters, whether it ran to its end, and one with its outputs."""

from __future__ import annotations

import ast
import base64
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.validator import iter_validate
from PIL import Image

from tensorldp.errors import InputError

TAG, INJECTED = "parameters", "injected-parameters"  # papermill's
COLOURS = 48  # of a stored picture, which makes it half as large


def _read(path: Path) -> Any:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"the notebook {path} cannot be read as text") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("<<<<<<<", ">>>>>>>")):
            raise InputError(f"the notebook {path} has conflict marks of Git at line {number}: resolve them")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"the notebook {path} is no JSON at line {error.lineno}: restore or save it again") from None


def _cells(path: Path) -> list[dict[str, Any]]:
    notebook = _read(path)
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or not isinstance(notebook.get("cells"), list):
        raise InputError(f"{path} is not a notebook of format 4: save it with a current Jupyter")
    cells, metadata, minor = notebook["cells"], notebook.get("metadata"), notebook.get("nbformat_minor")
    for number, cell in enumerate(cells):
        if isinstance(cell, dict):
            cell.setdefault("id", f"cell{number}")  # which older ones lack, and papermill adds
    later = {**notebook, "nbformat_minor": max(minor, 5)} if isinstance(minor, int) else notebook
    places = ["/".join(map(str, error.absolute_path)) for error in iter_validate(later)]
    if isinstance(metadata, dict) and not isinstance(metadata.get("papermill", {}), dict):
        places.append("metadata/papermill")
    if places:
        where = f" at {places[0]}" if places[0] else ""
        raise InputError(f"the notebook {path} is not as Jupyter writes it{where}: open and save it with Jupyter")
    return list(cells)


def _code(cell: dict[str, Any]) -> str:
    return "".join(cell["source"]) if cell["cell_type"] == "code" else ""


def _tags(cell: dict[str, Any]) -> list[str]:
    return list(cell["metadata"].get("tags", []))


def _set_by(code: str) -> set[str]:
    """Returns the names that code assigns."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # running it will say so
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def check_notebook(path: Path, parameters: Sequence[str]) -> None:
    """Refuses a notebook that cannot be run, or in which these parameters would not take effect.

    It would then read and write where its own defaults say, which may be another folder.

    Args:
        path: the file.
        parameters: names that get other values than in the file.
    """
    cells = _cells(path)
    if not parameters:
        return
    if any(INJECTED in _tags(cell) for cell in cells):
        raise InputError(f"the notebook {path} has the values of an earlier run: delete the cell tagged {INJECTED}")
    tagged = [cell for cell in cells if TAG in _tags(cell)]
    if len(tagged) != 1:
        found = "no cell has" if not tagged else f"{len(tagged)} cells have"
        raise InputError(
            f"the notebook {path} would not take {', '.join(parameters)}: {found} the tag {TAG}, which belongs to the "
            "one that sets them"
        )
    if missing := [name for name in parameters if name not in _set_by(_code(tagged[0]))]:
        names = ", ".join(missing)
        raise InputError(f"the notebook {path} would not take {names}: its cell tagged {TAG} sets no such name")


def check_ended(path: Path, source: Path) -> None:
    """Refuses a notebook that ended by itself: papermill takes sys.exit(0) for success, though the rest did not run.

    Args:
        path: what papermill wrote.
        source: the notebook that it ran, for the message.
    """
    code = [cell for cell in _cells(path) if _code(cell).strip() and INJECTED not in _tags(cell)]
    for number, cell in enumerate(code, 1):
        if cell["execution_count"] is None or any(output.get("ename") == "SystemExit" for output in cell["outputs"]):
            raise InputError(
                f"the notebook {source} ended by itself in code cell {number} of {len(code)} (sys.exit or the like), "
                "so what it draws may be incomplete: take that out"
            )


def with_outputs(source: Path, executed: Path) -> str:
    """Returns the text of a notebook with the outputs of its run, which are small and the same after every run.

    Args:
        source: the notebook; outputs that it has go.
        executed: what papermill wrote of it.
    """
    notebook, ran = (nbformat.read(path, as_version=4) for path in (source, executed))
    done = (cell for cell in ran.cells if cell.cell_type == "code" and INJECTED not in _tags(cell))
    for cell, run in zip((cell for cell in notebook.cells if cell.cell_type == "code"), done, strict=True):
        cell.execution_count, cell.outputs = None, run.outputs
        for data in (output.data for output in run.outputs if "image/png" in output.get("data", {})):
            data["image/png"] = _small(data["image/png"])
    return str(nbformat.writes(notebook)) + "\n"


def _small(png: str) -> str:
    """Returns a picture of two pixels for one of the page with one, in few colours."""
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB").reduce(2)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(stream := io.BytesIO(), "PNG", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()
